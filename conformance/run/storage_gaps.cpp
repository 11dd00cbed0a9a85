#include "conformance/run/storage_gaps.h"

#include <algorithm>
#include <optional>

#include "conformance/run/input_layout.h"

namespace graphgate::conformance {
namespace {

using spec::Argument;
using spec::HostTensor;
using spec::Node;
using spec::ValueId;

// as_strided, and functionalized ops that write such a view of a base.
bool addresses_storage(const Node& node) {
  return node.op.find("as_strided") != std::string::npos ||
         std::ranges::any_of(node.arguments, [](const spec::NamedArgument& named) {
           return named.name.ends_with("storage_offset");
         });
}

bool addresses_storage(const spec::Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [](const Node& node) { return addresses_storage(node); }) ||
         std::ranges::any_of(graph.subgraphs,
                             [](const spec::Graph& inner) { return addresses_storage(inner); });
}

const Argument* argument_of(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.arguments, name, &spec::NamedArgument::name);
  return found == node.arguments.end() ? nullptr : &found->argument;
}

// How many bytes of an input's storage the nodes of a program address.
class AddressedBytes {
 public:
  AddressedBytes(const spec::Program& program, const spec::OpTable& ops,
                 const std::vector<spec::InputValue>& inputs)
      : graph_(program.graph), ops_(ops), symbols_(symbols_of(program, inputs)) {}

  // Of the input with this value; 0 where no node says.
  [[nodiscard]] std::size_t of(ValueId input) const {
    std::size_t most = 0;
    for (const Node& node : graph_.nodes) {
      const Argument* self = argument_of(node, "self");
      const auto* id = self ? self->as<ValueId>() : nullptr;
      if (!id || !addresses_storage(node) || base_of(*id) != input) continue;
      most = std::max(most, bytes_of(node, *id));
    }
    return most;
  }

 private:
  // The value whose storage a chain of views shows.
  [[nodiscard]] ValueId base_of(ValueId id) const {
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      const auto is_it = [&](const spec::NodeResult& result) {
        return std::ranges::find(result.values, id) != result.values.end();
      };
      const auto made = std::ranges::find_if(node->results, is_it);
      if (made == node->results.end()) continue;
      const spec::OpRow* row = ops_.find(node->op);
      const auto index = static_cast<std::size_t>(made - node->results.begin());
      if (!row || index >= row->effects.returns.size()) return id;
      const std::vector<std::size_t>& aliases = row->effects.returns[index].aliases;
      if (aliases.size() != 1) return id;
      const Argument* shown = argument_of(*node, row->schema.arguments[aliases.front()].name);
      const auto* shown_id = shown ? shown->as<ValueId>() : nullptr;
      if (!shown_id) return id;
      id = *shown_id;
    }
    return id;
  }

  [[nodiscard]] std::optional<std::int64_t> number_of(const Argument& argument) const {
    if (const auto* number = argument.as<std::int64_t>()) return *number;
    const auto* id = argument.as<ValueId>();
    if (!id || !graph_.value(*id).expr) return std::nullopt;
    const auto number = spec::evaluate(*graph_.value(*id).expr, symbols_);
    return number.ok() ? std::optional(number.value()) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers_of(const Argument* list) const {
    const auto* elements = list ? list->as<Argument::List>() : nullptr;
    if (!elements) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const Argument& element : *elements) {
      const auto number = number_of(element);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }

  // The bytes up to the last element that the node addresses; 0 where that cannot be told, or is
  // too far out for a storage.
  [[nodiscard]] std::size_t bytes_of(const Node& node, ValueId self) const {
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 32U;
    const auto& type = graph_.value(self).type;
    const auto sizes = numbers_of(argument_of(node, "size"));
    const auto strides = numbers_of(argument_of(node, "stride"));
    if (!type || !sizes || !strides) return 0;
    const Argument* given = argument_of(node, "storage_offset");
    std::optional<std::int64_t> offset;
    if (given && !given->as<spec::None>()) {
      offset = number_of(*given);
    } else if (const auto own = spec::evaluate(type->storage_offset, symbols_); own.ok()) {
      offset = own.value();
    }
    if (!offset) return 0;
    const HostTensor view{type->dtype, *sizes, *strides, *offset, {}, nullptr};
    if (!spec::geometry_fits(view, kMostBytes) || spec::element_count(*sizes) == 0) return 0;
    std::int64_t last = *offset;
    for (std::size_t d = 0; d < sizes->size(); ++d) last += ((*sizes)[d] - 1) * (*strides)[d];
    return static_cast<std::size_t>((last + 1) * spec::item_size_bytes(type->dtype));
  }

  const spec::Graph& graph_;
  const spec::OpTable& ops_;
  const spec::SymbolValues symbols_;
};

// Whether a tensor's elements are all that its storage holds.
bool fills_storage(const HostTensor& tensor) {
  const std::int64_t bytes =
      spec::element_count(tensor.sizes) * spec::item_size_bytes(tensor.dtype);
  return tensor.storage->bytes.size() == static_cast<std::size_t>(bytes);
}

}  // namespace

void widen_storages(const spec::Program& program, const spec::OpTable& ops,
                    const std::vector<spec::InputValue>& packed,
                    std::vector<spec::InputValue>& inputs) {
  const auto passed = passed_inputs(program);
  if (passed.size() != inputs.size() || !addresses_storage(program.graph)) return;
  const AddressedBytes addressed(program, ops, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    if (!tensor || !fills_storage(std::get<HostTensor>(packed[i])) || shares_storage(inputs, i)) {
      continue;
    }
    const std::size_t bytes = addressed.of(passed[i]->value);
    if (bytes <= tensor->storage->bytes.size()) continue;
    tensor->storage = std::make_shared<spec::HostStorage>(*tensor->storage);
    tensor->storage->bytes.resize(bytes);
  }
}

std::vector<std::size_t> inputs_with_unknown_gaps(const spec::Program& program,
                                                  const std::vector<spec::InputValue>& packed,
                                                  const std::vector<spec::InputValue>& inputs) {
  std::vector<std::size_t> out;
  if (packed.size() != inputs.size() || !addresses_storage(program.graph)) return out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto* before = std::get_if<HostTensor>(&packed[i]);
    const auto* now = std::get_if<HostTensor>(&inputs[i]);
    if (before && now && fills_storage(*before) && !fills_storage(*now)) out.push_back(i);
  }
  return out;
}

}  // namespace graphgate::conformance
