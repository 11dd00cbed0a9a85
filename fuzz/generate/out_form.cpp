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

std::map<std::string, OutForm, std::less<>> all_forms() {
  std::map<std::string, OutForm, std::less<>> forms;
  for (const auto& [name, row] : spec::builtin_op_table().rows()) {
    // What is not filled has no out= form worth the name.
    if (row->effects.mutates() || row->schema.returns.size() != 1 ||
        row->schema.name.find("empty") != std::string::npos) {
      continue;
    }
    const std::string base = row->schema.ns + "." + row->schema.base_name();
    for (const spec::OpRow* other : spec::builtin_op_table().find_by_base_name(base)) {
      if (other->schema.name != row->schema.name || other == row.get()) continue;
      if (auto form = match(*row, *other)) forms.emplace(name, std::move(*form));
    }
  }
  return forms;
}

}  // namespace

const OutForm* out_form_of(std::string_view op) {
  static const std::map<std::string, OutForm, std::less<>> kForms = all_forms();
  const auto found = kForms.find(op);
  return found == kForms.end() ? nullptr : &found->second;
}

}  // namespace graphgate::fuzz
