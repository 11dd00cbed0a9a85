#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

// A default as an Item. Schemas spell most enumerations as integers; the only memory format among
// them is contiguous_format, 0, the only dtype int64, 4.
struct DefaultReader {
  const spec::SchemaArgument& argument;

  Item operator()(std::monostate) const { return {spec::None{}}; }
  Item operator()(std::int64_t number) const {
    if (argument.type.base == spec::BaseType::kMemoryFormat && !argument.type.is_list()) {
      if (number == 0) return {spec::MemoryFormat::kContiguous};
      throw OpError("argument '" + argument.name + "' has an unknown default");
    }
    if (argument.type.base == spec::BaseType::kScalarType && !argument.type.is_list()) {
      if (number == 4) return {spec::DType::kInt64};
      throw OpError("argument '" + argument.name + "' has an unknown default");
    }
    return {number};
  }
  Item operator()(const spec::EnumName& word) const {
    if (const auto format = spec::parse_memory_format(word.name)) return {*format};
    if (const auto dtype = spec::parse_dtype(word.name)) return {*dtype};
    return {word.name};
  }
  Item operator()(const std::vector<spec::SchemaValue>& elements) const {
    Item::List list;
    for (const spec::SchemaValue& element : elements)
      list.push_back(std::visit(*this, element.data));
    return {std::move(list)};
  }
  template <class Plain>
  Item operator()(const Plain& value) const {
    return {value};
  }
};

Item default_of(const spec::SchemaArgument& argument) {
  if (!argument.default_value) {
    throw OpError("argument '" + argument.name + "' is required and missing");
  }
  return std::visit(DefaultReader{argument}, argument.default_value->value.data);
}

}  // namespace

const spec::Argument* find_argument(const std::vector<spec::NamedArgument>& named,
                                    std::string_view name) {
  for (const spec::NamedArgument& candidate : named) {
    if (candidate.name == name) return &candidate.argument;
  }
  return nullptr;
}

ValueIds flat_results(const spec::Node& node) {
  ValueIds out;
  for (const spec::NodeResult& result : node.results) {
    out.insert(out.end(), result.values.begin(), result.values.end());
  }
  return out;
}

Item bind_argument(const spec::Argument& argument, const Lookup& lookup) {
  if (const auto* id = argument.as<spec::ValueId>()) return lookup(*id);
  if (const auto* list = argument.as<spec::Argument::List>()) {
    Item::List out;
    out.reserve(list->size());
    for (const spec::Argument& element : *list) out.push_back(bind_argument(element, lookup));
    return {std::move(out)};
  }
  return std::visit(
      [](const auto& value) -> Item {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_constructible_v<decltype(Item::value), const T&> &&
                      !std::is_same_v<T, spec::Argument::List>) {
          return {value};
        } else {
          throw OpError("an op or a subgraph is no argument of an ordinary op");
        }
      },
      argument.value);
}

std::vector<Item> bind_arguments(const spec::OpSchema& schema,
                                 const std::vector<spec::NamedArgument>& named,
                                 const Lookup& lookup) {
  std::vector<Item> out;
  out.reserve(schema.arguments.size());
  ArgumentFinder finder(named);
  for (const spec::SchemaArgument& parameter : schema.arguments) {
    const spec::Argument* given = finder.find(parameter.name);
    out.push_back(given ? bind_argument(*given, lookup) : default_of(parameter));
  }
  return out;
}

}  // namespace graphgate::optimized
