#include "optimized/analysis/composite.h"

#include <unordered_map>

#include "optimized/binding.h"
#include "optimized/synonym_table.h"

namespace graphgate::optimized {

using spec::Argument;
using spec::NamedArgument;

Parts::Parts(const spec::OpRow& row, std::vector<Item> items,
             const std::vector<NamedArgument>& named, const spec::OpTable& ops,
             const Target& target)
    : KernelCall(row, std::move(items)), named_(named), ops_(ops), target_(target) {}

namespace {

// A default as an argument; no default holds a tensor.
Argument argument_of(const Item& item) {
  return std::visit(
      [](const auto& value) -> Argument {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          return {spec::None{}};
        } else if constexpr (std::is_same_v<T, Item::List>) {
          Argument::List list;
          for (const Item& element : value) list.push_back(argument_of(element));
          return {std::move(list)};
        } else {
          return {value};
        }
      },
      item.value);
}

}  // namespace

Argument Parts::operator[](std::string_view name) const {
  if (const Argument* given = find_argument(named_, name)) return *given;
  const Item* const item = find(name);
  if (item == nullptr) throw OpError("the op has no argument '" + std::string(name) + "'");
  return argument_of(*item);
}

std::vector<Argument> Parts::values(std::string_view name) const {
  const Argument argument = (*this)[name];
  const auto* const list = argument.as<Argument::List>();
  if (list == nullptr || list->empty()) throw OpError("expected a non-empty list of tensors");
  return *list;
}

const Tensor& Parts::of(const Argument& value) const {
  const auto* const id = value.as<spec::ValueId>();
  if (id == nullptr) throw OpError("expected a tensor");
  return target_.tensor_of(*id);
}

std::optional<Argument> Parts::written(std::size_t index) const {
  if (index >= row().effects.returns.size()) return std::nullopt;
  for (const std::size_t argument : row().effects.returns[index].aliases) {
    if (row().effects.mutates(argument)) return (*this)[row().schema.arguments[argument].name];
  }
  return std::nullopt;
}

Argument Parts::view(const Tensor& tensor, Turn turn) { return target_.view(tensor, turn); }

std::vector<Argument> Parts::all(std::string_view op, std::vector<Argument> arguments) {
  const std::string name(op);
  const spec::OpRow* const row = ops_.find(name);
  GRAPHGATE_CHECK(row != nullptr && arguments.size() <= row->schema.arguments.size());
  std::vector<NamedArgument> named;
  named.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    named.push_back({row->schema.arguments[i].name, std::move(arguments[i])});
  }
  return target_.step(name, std::move(named));
}

Argument Parts::run(std::string_view op, std::vector<Argument> arguments) {
  return all(op, std::move(arguments)).front();
}

TakeApart find_composite(const spec::OpRow& row) {
  static const auto kTable = [] {
    std::unordered_map<std::string_view, CompositeOp> table;
    for (const auto& ops :
         {composite_moves(), composite_arithmetic(), composite_layers(), composite_linalg(),
          composite_losses(), composite_recurrent(), composite_statistics(), composite_complex(),
          composite_gradients(), composite_slopes()}) {
      for (const CompositeOp& op : ops) table.emplace(op.base_name, op);
    }
    add_same_ops(table);
    return table;
  }();
  const auto found = kTable.find(row.schema.ns + "." + row.schema.base_name());
  if (found == kTable.end()) return nullptr;
  const CompositeOp& op = found->second;
  const bool is_meant = !op.only_overload || row.schema.overload == *op.only_overload;
  return is_meant ? op.take_apart : nullptr;
}

}  // namespace graphgate::optimized
