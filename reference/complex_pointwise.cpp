#include "reference/complex_pointwise.h"

namespace graphgate::reference {

spec::DType common_complex(const Operands& operands) {
  if (spec::is_complex(operands.common)) return operands.common;
  return complex_dtype(operands.common);
}

}  // namespace graphgate::reference
