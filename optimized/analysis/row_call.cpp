// RowCall: arguments and results of a node, as rules of rows ask for them.
#include "optimized/analysis/padding_rules.h"
#include "optimized/binding.h"

namespace graphgate::optimized {

using Integers = std::vector<std::optional<std::int64_t>>;

RowCall::RowCall(const spec::OpRow& row, const spec::Node& node, FactOf fact_of)
    : row_(row), node_(node), fact_of_(std::move(fact_of)) {
  spec::for_each_operand(node, [&](spec::ValueId id) {
    if (const RowFact* fact = fact_of_(id)) operands_.push_back(fact);
  });
  for (const spec::ValueId id : flat_results(node)) {
    if (const RowFact* fact = fact_of_(id)) results_.push_back(fact);
  }
}

const spec::Argument* RowCall::argument(std::string_view name) const {
  return find_argument(node_.arguments, name);
}

const RowFact* RowCall::tensor(std::string_view name) const {
  const spec::Argument* argument = this->argument(name);
  const auto* id = argument ? argument->as<spec::ValueId>() : nullptr;
  return id ? fact_of_(*id) : nullptr;
}

std::vector<const RowFact*> RowCall::tensors(std::string_view name) const {
  std::vector<const RowFact*> out;
  const spec::Argument* argument = this->argument(name);
  const auto* list = argument ? argument->as<spec::Argument::List>() : nullptr;
  if (!list) return out;
  for (const spec::Argument& element : *list) {
    const auto* id = element.as<spec::ValueId>();
    out.push_back(id ? fact_of_(*id) : nullptr);
  }
  return out;
}

const spec::SchemaDefault* RowCall::default_of(std::string_view name) const {
  const auto at = row_.schema.find_argument(name);
  if (!at || !row_.schema.arguments[*at].default_value) return nullptr;
  return &*row_.schema.arguments[*at].default_value;
}

std::optional<std::int64_t> RowCall::integer(std::string_view name) const {
  if (const spec::Argument* argument = this->argument(name)) {
    if (const auto* flag = argument->as<bool>()) return *flag ? 1 : 0;
    const auto* number = argument->as<std::int64_t>();
    return number ? std::optional(*number) : std::nullopt;
  }
  const spec::SchemaDefault* fallback = default_of(name);
  if (!fallback) return {};
  if (const auto* flag = std::get_if<bool>(&fallback->value.data)) return *flag ? 1 : 0;
  const auto* number = std::get_if<std::int64_t>(&fallback->value.data);
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<Integers> RowCall::integers(std::string_view name) const {
  const spec::Argument* argument = this->argument(name);
  if (argument) {
    const auto* list = argument->as<spec::Argument::List>();
    if (!list) {
      if (argument->as<spec::None>()) return {};
      return Integers{integer(name)};
    }
    Integers out;
    for (const spec::Argument& element : *list) {
      const auto* number = element.as<std::int64_t>();
      out.push_back(number ? std::optional(*number) : std::nullopt);
    }
    return out;
  }
  const spec::SchemaDefault* fallback = default_of(name);
  const auto* list =
      fallback ? std::get_if<std::vector<spec::SchemaValue>>(&fallback->value.data) : nullptr;
  if (!list) {
    const auto lone = integer(name);
    return lone ? std::optional(Integers{lone}) : std::nullopt;
  }
  Integers out;
  for (const spec::SchemaValue& value : *list) {
    const auto* number = std::get_if<std::int64_t>(&value.data);
    out.push_back(number ? std::optional(*number) : std::nullopt);
  }
  return out;
}

}  // namespace graphgate::optimized
