#include "reference/registry.h"

namespace graphgate::reference {

std::span<const OpBody> resampling_ops() { return {}; }

}  // namespace graphgate::reference
