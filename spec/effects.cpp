#include "spec/effects.h"

#include <algorithm>

namespace graphgate::spec {
namespace {

// A generator may be a tensor that holds its state.
bool holds_bytes(const SchemaType& type) {
  return type.base == BaseType::kTensor || type.base == BaseType::kStorage ||
         type.base == BaseType::kGenerator || type.base == BaseType::kAny;
}

bool share_a_set(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  return std::find_first_of(left.begin(), left.end(), right.begin(), right.end()) != left.end();
}

// A return is in its set when the op ends; the argument may have been in it at the start, and may
// have moved (`a -> *`): both count.
bool may_share(const AliasInfo& result, const AliasInfo& argument) {
  return share_a_set(result.before, argument.before) || share_a_set(result.before, argument.after);
}

bool may_share(const SchemaType& result, const SchemaType& argument) {
  return may_share(result.alias, argument.alias) || may_share(result.alias, argument.list_alias) ||
         may_share(result.list_alias, argument.alias) ||
         may_share(result.list_alias, argument.list_alias);
}

bool is_returned(const Effects& effects, std::size_t argument) {
  return std::any_of(effects.returns.begin(), effects.returns.end(), [&](const ReturnEffect& r) {
    return std::find(r.aliases.begin(), r.aliases.end(), argument) != r.aliases.end();
  });
}

bool is_named_in_place(const OpSchema& schema) { return schema.base_name() != schema.name; }

std::string join_names(const OpSchema& schema, const std::vector<std::size_t>& arguments) {
  std::string joined;
  for (const std::size_t argument : arguments) {
    if (!joined.empty()) joined += ", ";
    joined += schema.arguments[argument].name;
  }
  return joined;
}

std::string print_kinds(const Effects& effects) {
  std::string kinds;
  const auto add = [&](bool holds, std::string_view kind) {
    if (!holds) return;
    if (!kinds.empty()) kinds += ' ';
    kinds += kind;
  };
  add(effects.is_view, "view");
  add(effects.is_in_place, "in_place");
  add(effects.is_out, "out");
  add(effects.is_effect_only, "effect_only");
  if (kinds.empty() && effects.mutates()) return "mutates";
  return kinds.empty() ? "pure" : kinds;
}

std::string print_returns(const OpSchema& schema, const Effects& effects) {
  std::string text;
  for (std::size_t index = 0; index < effects.returns.size(); ++index) {
    const std::vector<std::size_t>& aliases = effects.returns[index].aliases;
    if (aliases.empty()) continue;
    std::string names;
    for (const std::size_t argument : aliases) {
      names += (names.empty() ? "" : "|") + schema.arguments[argument].name;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(index) + "=" + names;
  }
  return text;
}

}  // namespace

bool Effects::mutates() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const ArgumentEffect& argument) { return argument.writes; });
}

bool Effects::mutates(std::size_t argument) const {
  GRAPHGATE_CHECK(argument < arguments.size());
  return arguments[argument].writes;
}

std::vector<std::size_t> Effects::mutated() const {
  std::vector<std::size_t> indices;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (arguments[index].writes) indices.push_back(index);
  }
  return indices;
}

Effects derive_effects(const OpSchema& schema) {
  Effects effects;
  for (const SchemaReturn& result : schema.returns) {
    ReturnEffect& effect = effects.returns.emplace_back();
    for (std::size_t index = 0; index < schema.arguments.size(); ++index) {
      if (may_share(result.type, schema.arguments[index].type)) effect.aliases.push_back(index);
    }
  }
  for (std::size_t index = 0; index < schema.arguments.size(); ++index) {
    const SchemaArgument& argument = schema.arguments[index];
    const bool writes = argument.type.writes();
    const bool returned = is_returned(effects, index);
    const bool is_out = argument.kwarg_only && writes && returned;
    effects.arguments.push_back({.reads = holds_bytes(argument.type) && !is_out, .writes = writes});
    effects.is_out = effects.is_out || is_out;
    effects.is_view = effects.is_view || (returned && !writes);
    const bool is_in_place =
        writes && !argument.kwarg_only && (returned || (index == 0 && is_named_in_place(schema)));
    effects.is_in_place = effects.is_in_place || is_in_place;
  }
  effects.is_effect_only = schema.returns.empty() && effects.mutates();
  return effects;
}

std::string print_effects(const OpSchema& schema, const Effects& effects) {
  std::vector<std::size_t> reads;
  for (std::size_t index = 0; index < effects.arguments.size(); ++index) {
    if (effects.arguments[index].reads) reads.push_back(index);
  }
  std::string line = schema.qualified_name() + ": " + print_kinds(effects);
  if (!reads.empty()) line += "; reads " + join_names(schema, reads);
  if (effects.mutates()) line += "; writes " + join_names(schema, effects.mutated());
  const std::string returns = print_returns(schema, effects);
  if (!returns.empty()) line += "; " + returns;
  return line;
}

}  // namespace graphgate::spec
