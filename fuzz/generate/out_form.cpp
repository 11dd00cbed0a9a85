#include "fuzz/generate/out_form.h"

#include <map>
#include <optional>

#include "spec/op_table.h"

namespace graphgate::fuzz {
namespace {

// Where the row writes one argument, and takes otherwise what the functional one does, save for
// what the written tensor says already.
std::optional<OutForm> match(const spec::OpRow& functional, const spec::OpRow& row) {
  OutForm form;
  form.op = row.schema.qualified_name();
  for (std::size_t a = 0; a < row.schema.arguments.size(); ++a) {
    const spec::SchemaArgument& argument = row.schema.arguments[a];
    if (row.writes(a)) {
      if (!form.out.empty() || !argument.kwarg_only || argument.type.is_list()) return std::nullopt;
      form.out = argument.name;
      continue;
    }
    const auto same = functional.schema.find_argument(argument.name);
    if (!same || functional.schema.arguments[*same].type != argument.type) return std::nullopt;
    form.taken.push_back(argument.name);
  }
  if (form.out.empty()) return std::nullopt;
  return form;
}

std::optional<OutForm> find_form(std::string_view op) {
  const spec::OpRow* const row = spec::builtin_op_table().find(op);
  // What is not filled has no out= form worth the name.
  if (row == nullptr || row->effects.mutates() || row->schema.returns.size() != 1 ||
      row->schema.name.find("empty") != std::string::npos) {
    return std::nullopt;
  }
  const std::string base = row->schema.ns + "." + row->schema.base_name();
  for (const spec::OpRow* other : spec::builtin_op_table().find_by_base_name(base)) {
    if (other->schema.name != row->schema.name || other == row) continue;
    if (auto form = match(*row, *other)) return form;
  }
  return std::nullopt;
}

}  // namespace

const OutForm* out_form_of(std::string_view op) {
  // Of the ops that this thread asked for: all rows of the table would have to be read for all.
  thread_local std::map<std::string, std::optional<OutForm>, std::less<>> known;
  auto found = known.find(op);
  if (found == known.end()) found = known.emplace(op, find_form(op)).first;
  return found->second ? &*found->second : nullptr;
}

}  // namespace graphgate::fuzz
