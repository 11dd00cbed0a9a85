#include "optimized/partition/options.h"

namespace graphgate::optimized {
namespace {

// "ns::name" as "ns.name".
std::string dotted(std::string name) {
  const std::size_t colons = name.find("::");
  if (colons != std::string::npos) name.replace(colons, 2, ".");
  return name;
}

bool is_known(const std::string& option, const spec::OpTable& ops) {
  const std::string name = dotted(option);
  if (name.find('.') == std::string::npos) return false;
  if (ops.find(name)) return true;
  const auto overloads = ops.find_overloads(name);
  return !overloads.empty() && names_op(option, overloads.front()->schema.qualified_name());
}

}  // namespace

bool names_op(const std::string& option, const std::string& op) {
  if (option.empty() || op.empty() || option.front() != op.front()) return false;  // as most
  const std::string_view whole = op;
  const std::string_view family = whole.substr(0, whole.rfind('.'));
  // "ns::name" is "ns.name"; the rest is as it stands.
  const std::string_view name = option;
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos) return name == whole || name == family;
  const auto is_named = [&](std::string_view other) {
    return other.size() + 1 == name.size() && other.starts_with(name.substr(0, colons)) &&
           other[colons] == '.' && other.substr(colons + 1) == name.substr(colons + 2);
  };
  return is_named(whole) || is_named(family);
}

Result<void> validate_op_names(const std::string& option, const std::vector<std::string>& names,
                               const spec::OpTable& ops) {
  for (const std::string& name : names) {
    if (is_known(name, ops)) continue;
    std::string message = option;
    message.append(" '").append(name);
    return bad_input(message.append("': there is no such op; expected ns.name[.overload]"));
  }
  return {};
}

Result<void> validate_options(const PartitionOptions& options, const spec::OpTable& ops) {
  GRAPHGATE_TRY_VOID(validate_op_names("split op", options.split_ops, ops));
  return validate_op_names("unsafe unbacked op", options.unsafe_unbacked_ops, ops);
}

}  // namespace graphgate::optimized
