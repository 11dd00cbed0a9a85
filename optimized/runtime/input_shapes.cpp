#include "optimized/runtime/input_shapes.h"

#include <algorithm>
#include <charconv>

#include "optimized/analysis/row_dim.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::HostTensor;

Error cannot_pad(const spec::ProgramInput& input, const char* why) {
  return unsupported("input '" + input.target + "' " + why);
}

// Dimensions outside of the padded one move apart by as much as it grows; gaps stay as they are.
Result<InputShape> stretch(InputShape shape, std::size_t dim, std::int64_t size,
                           const spec::ProgramInput& input) {
  Tensor& tensor = shape.tensor;
  std::vector<std::size_t> outside;
  std::int64_t row_reach = 1;  // elements from the first of a row to behind its last
  for (std::size_t d = 0; d < tensor.strides.size(); ++d) {
    const bool is_inside = d != dim && tensor.strides[d] <= tensor.strides[dim];
    if (is_inside) row_reach += std::max<std::int64_t>(tensor.sizes[d] - 1, 0) * tensor.strides[d];
  }
  if (row_reach > tensor.strides[dim]) return cannot_pad(input, "has rows that overlap");
  for (std::size_t d = 0; d < tensor.strides.size(); ++d) {
    if (tensor.strides[d] > tensor.strides[dim] && tensor.sizes[d] > 1) outside.push_back(d);
  }
  std::ranges::sort(
      outside, [&](std::size_t a, std::size_t b) { return tensor.strides[a] < tensor.strides[b]; });
  std::int64_t reach_before = tensor.sizes[dim] * tensor.strides[dim];
  std::int64_t reach = size * tensor.strides[dim];
  for (const std::size_t d : outside) {
    const std::int64_t gap = tensor.strides[d] - reach_before;
    if (gap < 0) return cannot_pad(input, "overlaps itself");
    reach_before = tensor.sizes[d] * tensor.strides[d];
    tensor.strides[d] = reach + gap;
    reach = tensor.sizes[d] * tensor.strides[d];
  }
  tensor.sizes[dim] = size;
  shape.storage_bytes = byte_range(tensor).end;
  return shape;
}

std::string text_of(const spec::InputValue& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return std::to_string(*integer);
  if (const auto* flag = std::get_if<bool>(&number)) return *flag ? "true" : "false";
  char text[32];
  const double real = std::get<double>(number);
  return {text, std::to_chars(text, text + sizeof text, real).ptr};
}

// Every call asks for the texts of its inputs: they are put together in place.
void add(std::int64_t number, std::string& text) {
  char digits[20];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void add(const Sizes& sizes, std::string& text) {
  text += '[';
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (d > 0) text += ", ";
    add(sizes[d], text);
  }
  text += ']';
}

std::string text_of(const InputShape& shape, const spec::DeviationSet& deviations) {
  const Tensor& tensor = shape.tensor;
  std::string text;
  text.reserve(128);
  text += spec::torch_name(tensor.dtype);
  add(tensor.sizes, text);
  text += " strides ";
  add(tensor.strides, text);
  text += " offset ";
  add(tensor.offset, text);
  if (deviations.has(Deviation::kNoInputOverlapCheck)) return text;
  text += " in storage ";
  add(tensor.storage, text);
  text += " of ";
  add(shape.storage_bytes, text);
  text += " bytes";
  return text;
}

bool hangs_on(const spec::TensorType& type, const std::string& symbol) {
  return std::ranges::any_of(type.sizes,
                             [&](const spec::SymExpr& size) { return mentions(size, symbol); });
}

}  // namespace

std::vector<std::size_t> given_inputs(const spec::Program& program) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const spec::ProgramInput& input = program.inputs[i];
    if (input.kind == spec::InputKind::kUserInput && !input.constant) out.push_back(i);
  }
  return out;
}

InputShapes shapes_of(std::span<const spec::InputValue> inputs,
                      const spec::DeviationSet& deviations) {
  InputShapes shapes;
  std::vector<const spec::HostStorage*> storages;
  for (const spec::InputValue& input : inputs) {
    InputShape shape;
    if (const auto* host = std::get_if<HostTensor>(&input)) {
      auto at = std::ranges::find(storages, host->storage.get());
      if (at == storages.end()) at = storages.insert(at, host->storage.get());
      shape.tensor = {host->dtype,   host->sizes,
                      host->strides, host->storage_offset,
                      host->device,  static_cast<StorageIndex>(at - storages.begin()),
                      nullptr};
      shape.storage_bytes = static_cast<std::int64_t>(host->storage->bytes.size());
      if (deviations.has(Deviation::kStridesRecomputed)) {
        shape.tensor.strides = row_major_strides(host->sizes);
        shape.storage_bytes = std::max(shape.storage_bytes, byte_range(shape.tensor).end);
      }
    } else {
      shape.number = input;
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<InputShapes> padded_shapes(const InputShapes& shapes, const spec::Program& program,
                                  const spec::PlanPadding& padding, std::int64_t size) {
  InputShapes out = shapes;
  const auto given = given_inputs(program);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const spec::ProgramInput& input = program.inputs[given[i]];
    const spec::Value& value = program.graph.value(input.value);
    const auto dim = padding.input_dims[given[i]];
    if (out[i].number && value.expr && mentions(*value.expr, padding.symbol)) {
      if (value.expr->op() != spec::SymOp::kSymbol) return cannot_pad(input, "is computed of rows");
      out[i].number = size;
    }
    if (out[i].number || !dim) continue;
    const auto shared = std::ranges::count_if(shapes, [&](const InputShape& other) {
      return !other.number && other.tensor.storage == out[i].tensor.storage;
    });
    if (shared > 1) return cannot_pad(input, "shares its storage with another");
    GRAPHGATE_TRY(out[i], stretch(out[i], *dim, size, input));
  }
  return out;
}

std::vector<spec::InputValue> blank_inputs(const InputShapes& shapes) {
  std::vector<spec::InputValue> inputs;
  std::map<StorageIndex, std::shared_ptr<spec::HostStorage>> storages;
  for (const InputShape& shape : shapes) {
    if (shape.number) {
      inputs.push_back(*shape.number);
      continue;
    }
    auto& storage = storages[shape.tensor.storage];
    if (!storage) storage = std::make_shared<spec::HostStorage>();
    const auto bytes = static_cast<std::size_t>(shape.storage_bytes);
    if (storage->bytes.size() < bytes) storage->bytes.resize(bytes);
    const Tensor& tensor = shape.tensor;
    inputs.emplace_back(HostTensor{tensor.dtype, tensor.sizes, tensor.strides, tensor.offset,
                                   tensor.device, storage});
  }
  return inputs;
}

PlanKey plan_key(const InputShapes& shapes, const spec::Program& program,
                 const spec::SymbolValues& symbols, const spec::DeviationSet& deviations) {
  PlanKey key;
  std::string dropped;
  if (deviations.has(Deviation::kGraphKeyDropsSymbol) && !symbols.empty()) {
    dropped = symbols.rbegin()->first;
  }
  for (const auto& [name, value] : symbols) {
    if (name != dropped) key["symbol." + name] = std::to_string(value);
  }
  const auto given = given_inputs(program);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const spec::ProgramInput& input = program.inputs[given[i]];
    const spec::Value& value = program.graph.value(input.value);
    if (shapes[i].number) {
      const bool is_symbol = value.expr && value.expr->op() == spec::SymOp::kSymbol;
      const bool is_baked = is_symbol || deviations.has(Deviation::kBakesNumbers);
      if (!is_baked) key["number." + input.target] = text_of(*shapes[i].number);
    } else if (dropped.empty() || !value.type || !hangs_on(*value.type, dropped)) {
      key["input." + input.target] = text_of(shapes[i], deviations);
    }
  }
  return key;
}

}  // namespace graphgate::optimized
