#include "reference/binding.h"

#include <algorithm>

namespace graphgate::reference {
namespace {

Datum from_schema_value(const spec::SchemaValue& value, const spec::SchemaType& type) {
  return std::visit(
      [&type](const auto& data) -> Datum {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {spec::None{}};
        } else if constexpr (std::is_same_v<T, spec::EnumName>) {
          if (const auto format = spec::parse_memory_format(data.name)) return {*format};
          if (const auto dtype = spec::parse_dtype(data.name)) return {*dtype};
          return {data.name};
        } else if constexpr (std::is_same_v<T, std::vector<spec::SchemaValue>>) {
          Datum::List list;
          for (const auto& element : data) list.push_back(from_schema_value(element, type));
          return {std::move(list)};
        } else {
          return {data};
        }
      },
      value.data);
}

}  // namespace

Datum default_datum(const spec::SchemaArgument& argument) {
  if (!argument.default_value) {
    throw OpError("argument '" + argument.name + "' is required and missing");
  }
  // PyTorch spells enumerations in defaults as integers; every such default of a memory format is
  // contiguous_format, which is 0, and every one of a dtype is int64, which is 4.
  const auto* number = std::get_if<std::int64_t>(&argument.default_value->value.data);
  if (number && argument.type.base == spec::BaseType::kScalarType) {
    if (*number != 4) throw OpError("argument '" + argument.name + "' has an unknown default");
    return {spec::DType::kInt64};
  }
  if (number && argument.type.base == spec::BaseType::kMemoryFormat) {
    if (*number != 0) throw OpError("argument '" + argument.name + "' has an unknown default");
    return {spec::MemoryFormat::kContiguous};
  }
  return from_schema_value(argument.default_value->value, argument.type);
}

Datum evaluate_argument(const spec::Argument& argument, const Environment& environment) {
  return std::visit(
      [&environment](const auto& value) -> Datum {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, spec::ValueId>) {
          return environment.at(value.index);
        } else if constexpr (std::is_same_v<T, spec::Argument::List>) {
          Datum::List list;
          for (const auto& element : value) list.push_back(evaluate_argument(element, environment));
          return {std::move(list)};
        } else if constexpr (std::is_same_v<T, spec::OpName> ||
                             std::is_same_v<T, spec::SubgraphId>) {
          throw OpError("an op or a subgraph is not an argument of an ordinary op");
        } else {
          return {value};
        }
      },
      argument.value);
}

Given find_given(const spec::OpSchema& schema, const std::vector<spec::NamedArgument>& named) {
  Given out;
  out.reserve(schema.arguments.size());
  for (const spec::SchemaArgument& parameter : schema.arguments) {
    const auto given = std::find_if(named.begin(), named.end(), [&](const auto& argument) {
      return argument.name == parameter.name;
    });
    out.push_back(given == named.end() ? nullptr : &given->argument);
  }
  return out;
}

std::vector<Datum> bind_arguments(const spec::OpSchema& schema, const Given& given,
                                  const Environment& environment) {
  std::vector<Datum> out;
  out.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) {
      out.push_back(default_datum(schema.arguments[i]));
    } else if (const auto* value = given[i]->as<spec::ValueId>()) {
      out.push_back(environment.at(value->index));
    } else {
      out.push_back(evaluate_argument(*given[i], environment));
    }
  }
  return out;
}

}  // namespace graphgate::reference
