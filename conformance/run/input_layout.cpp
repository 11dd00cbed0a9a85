#include "conformance/run/input_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace graphgate::conformance {
namespace {

using spec::HostTensor;
using Sizes = std::vector<std::int64_t>;

// The declared strides at these symbols; empty where they cannot be told.
Sizes declared_strides(const spec::TensorType& type, const spec::SymbolValues& symbols) {
  Sizes strides;
  for (const spec::SymExpr& stride : type.strides) {
    const auto value = spec::evaluate(stride, symbols);
    if (!value.ok() || value.value() < 0) return {};
    strides.push_back(value.value());
  }
  return strides;
}

constexpr std::int64_t kMostElements = std::int64_t{1} << 30U;  // of a storage, gaps included

// Whether every element has a place of its own, not too far out: from the innermost dimension
// outwards, each stride steps over all that lies inside.
bool is_injective(const Sizes& sizes, const Sizes& strides) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  std::int64_t reach = 0;
  for (const std::size_t d : order) {
    if (sizes[d] < 2) continue;
    if (strides[d] <= reach || strides[d] > kMostElements / sizes[d]) return false;
    reach += (sizes[d] - 1) * strides[d];
  }
  return reach < kMostElements;
}

// The declared offset at these symbols; 0 where it cannot be told or lies too far out.
std::int64_t declared_offset(const spec::TensorType& type, const spec::SymbolValues& symbols) {
  const auto value = spec::evaluate(type.storage_offset, symbols);
  return value.ok() && value.value() > 0 && value.value() < kMostElements ? value.value() : 0;
}

HostTensor with_layout(const HostTensor& packed, const Sizes& strides, std::int64_t offset) {
  HostTensor out = packed;
  out.strides = strides;
  out.storage_offset = offset;
  const std::int64_t count = spec::element_count(packed.sizes);
  if (count == 0) return out;
  std::int64_t last = offset;
  for (std::size_t d = 0; d < strides.size(); ++d) last += (packed.sizes[d] - 1) * strides[d];
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(packed.dtype));
  out.storage = std::make_shared<spec::HostStorage>();
  out.storage->bytes.resize((static_cast<std::size_t>(last) + 1) * item);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t at = offset;
    for (std::size_t d = strides.size(); d-- > 0;) {
      at += rest % packed.sizes[d] * strides[d];
      rest /= packed.sizes[d];
    }
    std::memcpy(out.storage->bytes.data() + static_cast<std::size_t>(at) * item,
                packed.storage->bytes.data() + static_cast<std::size_t>(i) * item, item);
  }
  return out;
}

bool is_packed(const HostTensor& tensor) {
  const auto bytes = static_cast<std::size_t>(spec::element_count(tensor.sizes) *
                                              spec::item_size_bytes(tensor.dtype));
  return tensor.storage_offset == 0 && tensor.storage->bytes.size() == bytes &&
         tensor.strides == spec::contiguous_strides(tensor.sizes);
}

// Lays a packed tensor out, where its strides can be told and give every element a place.
void lay_out(HostTensor& tensor, const spec::TensorType& type, const spec::SymbolValues& symbols) {
  const Sizes strides = declared_strides(type, symbols);
  const bool fits = strides.size() == tensor.sizes.size() &&
                    (spec::element_count(tensor.sizes) == 0 || is_injective(tensor.sizes, strides));
  if (!fits) return;
  const std::int64_t offset = declared_offset(type, symbols);
  if (strides != tensor.strides || offset != 0) tensor = with_layout(tensor, strides, offset);
}

}  // namespace

std::size_t reach_bytes(const HostTensor& tensor) {
  std::int64_t last = tensor.storage_offset;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == 0) return 0;
    last += (tensor.sizes[d] - 1) * tensor.strides[d];
  }
  return static_cast<std::size_t>((last + 1) * spec::item_size_bytes(tensor.dtype));
}

bool shares_storage(const std::vector<spec::InputValue>& inputs, std::size_t index) {
  const auto& storage = std::get<HostTensor>(inputs[index]).storage;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto* other = std::get_if<HostTensor>(&inputs[i]);
    if (i != index && other && other->storage == storage) return true;
  }
  return false;
}

std::vector<const spec::ProgramInput*> passed_inputs(const spec::Program& program) {
  std::vector<const spec::ProgramInput*> inputs;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind == spec::InputKind::kUserInput && !input.constant) inputs.push_back(&input);
  }
  return inputs;
}

spec::SymbolValues symbols_of(const spec::Program& program,
                              const std::vector<spec::InputValue>& inputs) {
  spec::SymbolValues symbols;
  const auto passed = passed_inputs(program);
  for (std::size_t i = 0; i < inputs.size() && i < passed.size(); ++i) {
    const spec::Value& value = program.graph.value(passed[i]->value);
    const auto* number = std::get_if<std::int64_t>(&inputs[i]);
    if (number && value.expr && value.expr->op() == spec::SymOp::kSymbol) {
      symbols.emplace(value.expr->name(), *number);
    }
    const auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    if (!tensor || !value.type) continue;
    const auto& declared = value.type->sizes;
    for (std::size_t d = 0; d < declared.size() && d < tensor->sizes.size(); ++d) {
      if (declared[d].op() != spec::SymOp::kSymbol) continue;
      symbols.emplace(declared[d].name(), tensor->sizes[d]);
    }
  }
  return symbols;
}

HostTensor laid_out(const HostTensor& packed, const spec::TensorType& type,
                    const spec::SymbolValues& symbols) {
  HostTensor out = packed;
  lay_out(out, type, symbols);
  return out;
}

void lay_out_inputs(const spec::Program& program, std::vector<spec::InputValue>& inputs) {
  const auto passed = passed_inputs(program);
  if (passed.size() != inputs.size()) return;  // the executors say what is wrong
  const spec::SymbolValues symbols = symbols_of(program, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    const auto& type = program.graph.value(passed[i]->value).type;
    if (!tensor || !type || !is_packed(*tensor) || shares_storage(inputs, i)) continue;
    lay_out(*tensor, *type, symbols);
  }
}

}  // namespace graphgate::conformance
