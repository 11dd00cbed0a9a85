#include "reference/ops/composition.h"

#include "reference/binding.h"
#include "reference/complex_calls.h"

namespace graphgate::reference {

std::vector<Datum> Composition::all(std::string_view op, std::vector<Datum> arguments) const {
  const spec::OpRow* row = spec::builtin_op_table().find(op);
  GRAPHGATE_CHECK(row != nullptr && arguments.size() <= row->schema.arguments.size());
  const Body body = find_body(*row);
  GRAPHGATE_CHECK(body != nullptr);
  for (std::size_t i = arguments.size(); i < row->schema.arguments.size(); ++i) {
    arguments.push_back(default_datum(row->schema.arguments[i]));
  }
  Call call(mode_, *row, arguments);
  run_call(body, call);
  return std::move(call.results());
}

}  // namespace graphgate::reference
