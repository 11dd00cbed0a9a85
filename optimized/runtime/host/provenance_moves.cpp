#include "optimized/runtime/host/provenance_moves.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "optimized/launch.h"
#include "optimized/runtime/host/memory.h"

namespace graphgate::optimized {
namespace {

using spec::BaseType;
using Names = std::vector<std::string_view>;

// By base name: the arguments whose elements move. The others are read for their values.
const Names* moved_arguments(const spec::OpRow& row) {
  static const auto kTable = [] {
    std::map<std::string, Names, std::less<>> table;
    const auto add = [&](const Names& arguments, std::initializer_list<const char*> ops) {
      for (const char* op : ops) table.emplace(std::string("aten.") + op, arguments);
    };
    // Copies and copies of views.
    add({"self"}, {"_reshape_copy",
                   "_to_copy",
                   "_unsafe_view",
                   "alias_copy",
                   "as_strided_copy",
                   "clone",
                   "contiguous",
                   "detach_copy",
                   "diagonal_copy",
                   "expand_copy",
                   "flatten",
                   "lift_fresh_copy",
                   "narrow_copy",
                   "permute_copy",
                   "reshape",
                   "select_copy",
                   "slice_copy",
                   "split_copy",
                   "split_with_sizes_copy",
                   "squeeze_copy",
                   "t_copy",
                   "transpose_copy",
                   "unbind_copy",
                   "unfold_copy",
                   "unsafe_split",
                   "unsqueeze_copy",
                   "view_copy"});
    add({"self", "src"}, {"copy"});
    add({"self", "other"}, {"to", "type_as"});
    // Other orders and places.
    add({"self"}, {"constant_pad_nd", "diag_embed", "flip", "pad", "reflection_pad1d",
                   "reflection_pad2d", "reflection_pad3d", "repeat", "replication_pad1d",
                   "replication_pad2d", "replication_pad3d", "roll", "rot90", "tril", "triu"});
    add({"tensors"}, {"block_diag", "cat", "stack"});
    // By an index or a mask.
    add({"self"},
        {"gather", "index", "index_select", "masked_select", "repeat_interleave", "take"});
    add({"weight"}, {"embedding"});
    // Into parts of self.
    add({"self", "src"},
        {"as_strided_scatter", "diagonal_scatter", "scatter", "select_scatter", "slice_scatter"});
    add({"self", "source"}, {"index_copy", "masked_scatter", "put"});
    add({"self", "value"}, {"index_fill"});
    add({"self", "values"}, {"index_put"});
    table.emplace("graphgate.clone_preserve_strides", Names{"self"});
    return table;
  }();
  const auto found = kTable.find(row.schema.ns + "." + row.schema.base_name());
  return found == kTable.end() ? nullptr : &found->second;
}

bool names(const Names& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Int64 memory in the shape of a tensor, with addresses of its own.
class Stage {
 public:
  Tensor place(Tensor tensor) {
    tensor.dtype = spec::DType::kInt64;
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(byte_range(tensor).end, 8));
    auto& memory = memory_.emplace_back(std::make_unique<std::vector<Word>>((bytes + 7) / 8, 0));
    tensor.storage = static_cast<StorageIndex>(memory_.size());
    tensor.bytes = reinterpret_cast<std::byte*>(memory->data());
    return tensor;
  }
  std::byte* scratch(std::int64_t bytes) {
    scratch_ = std::make_unique<HostMemory>(std::max<std::int64_t>(bytes, 64), 64);
    return scratch_->data();
  }

 private:
  std::vector<std::unique_ptr<std::vector<Word>>> memory_;
  std::unique_ptr<HostMemory> scratch_;
};

// The places of all elements of an int64 tensor, row-major.
template <class Visit>
void for_each_word(const Tensor& tensor, Visit&& visit) {
  auto* const first = reinterpret_cast<Word*>(tensor.bytes);
  const std::int64_t count = tensor.count();
  Sizes index(tensor.sizes.size(), 0);
  std::int64_t at = tensor.offset;
  for (std::int64_t n = 0; n < count; ++n) {
    visit(first[at]);
    for (std::size_t d = index.size(); d-- > 0;) {
      at += tensor.strides[d];
      if (++index[d] < tensor.sizes[d]) break;
      at -= tensor.strides[d] * tensor.sizes[d];
      index[d] = 0;
    }
  }
}

// The arguments of a moving call on the stage.
class Staging {
 public:
  Staging(const BoundCall& call, const std::vector<WordInput>& inputs, spec::DType dtype,
          std::uint32_t producer, DerivedWords& derived)
      : call_(call), inputs_(inputs), dtype_(dtype), producer_(producer), derived_(derived) {
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
      arguments_.push_back(replaced(a, call.arguments[a]));
    }
  }
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  [[nodiscard]] const std::vector<Item>& arguments() const { return arguments_; }
  [[nodiscard]] const Tensor& input(std::size_t k) const { return placed_[k]; }

  // Runs the kernel; its results, lists unpacked.
  std::vector<Tensor> run() {
    const Kernel& kernel = *find_kernel(*call_.row);
    Inference inference = infer_call(kernel, *call_.row, arguments_, true);
    std::vector<Tensor> results;
    const std::function<void(Made&)> place = [&](Made& made) {
      if (made.kind == Made::Kind::kNew) made.tensor = stage_.place(std::move(made.tensor));
      for (Made& element : made.list) place(element);
    };
    for (Made& made : inference.results()) {
      is_complete_ &= made.kind != Made::Kind::kNew || made.tensor.dtype == spec::DType::kInt64;
      place(made);
    }
    results = flat_tensors(inference.results());
    const Launch launch = bind_call(kernel, *call_.row, std::move(inference.arguments()), results,
                                    stage_.scratch(inference.workspace_bytes()));
    if (launch) launch();
    return results;
  }

 private:
  Item replaced(std::size_t argument, const Item& item) {
    const spec::SchemaArgument& declared = call_.row->schema.arguments[argument];
    if (const auto* list = item.as<Item::List>()) {
      Item::List out;
      for (const Item& element : *list) out.push_back(replaced(argument, element));
      return {std::move(out)};
    }
    if (const auto* tensor = item.as<Tensor>()) return {replaced(argument, *tensor)};
    if (item.as<spec::None>()) return item;
    if (item.as<spec::DType>()) return {spec::DType::kInt64};
    if (declared.type.base == BaseType::kScalar) return {std::int64_t{0}};
    if (declared.type.base == BaseType::kFloat) return {0.0};
    return item;
  }

  Tensor replaced(std::size_t argument, const Tensor& tensor) {
    const WordInput& input = inputs_[placed_.size()];
    const std::string& name = call_.row->schema.arguments[argument].name;
    if (!names(*moved_arguments(*call_.row), name) && !call_.row->writes(argument)) {
      is_complete_ &= tensor.bytes != nullptr || tensor.count() == 0;
      placed_.push_back(tensor);
      return tensor;
    }
    Tensor stand_in = stage_.place(tensor);
    std::size_t next = 0;
    for_each_word(stand_in, [&](Word& word) {
      word = derived_.converted(input.words[next++], tensor.dtype, dtype_, producer_);
    });
    placed_.push_back(stand_in);
    return stand_in;
  }

  const BoundCall& call_;
  const std::vector<WordInput>& inputs_;
  const spec::DType dtype_;
  const std::uint32_t producer_;
  DerivedWords& derived_;
  Stage stage_;
  std::vector<Item> arguments_;
  std::vector<Tensor> placed_;  // by input
  bool is_complete_ = true;
};

}  // namespace

bool only_moves(const BoundCall& call) {
  const Names* moved = moved_arguments(*call.row);
  const spec::OpSchema& schema = call.row->schema;
  if (!moved || !schema.find_argument(moved->front())) return false;
  // Bytes of a view of another dtype move, not elements.
  if (schema.name == "view_copy" && schema.overload == "dtype") return false;
  if (schema.find_argument("reduce")) return false;
  const auto accumulate = schema.find_argument("accumulate");
  const auto* adds = accumulate ? call.arguments[*accumulate].as<bool>() : nullptr;
  return !adds || !*adds;
}

std::optional<std::vector<std::vector<Word>>> move_words(const BoundCall& call,
                                                         const std::vector<WordInput>& inputs,
                                                         const std::vector<WordOutput>& outputs,
                                                         std::uint32_t producer,
                                                         DerivedWords& derived) {
  Staging staging(call, inputs, outputs.front().tensor.dtype, producer, derived);
  if (!staging.is_complete()) return std::nullopt;
  std::vector<std::vector<Word>> out;
  try {
    const std::vector<Tensor> results = staging.run();
    if (!staging.is_complete()) return std::nullopt;
    for (const WordOutput& output : outputs) {
      const Tensor& tensor =
          output.result ? results.at(*output.result) : staging.input(*output.input);
      if (tensor.count() != output.tensor.count()) return std::nullopt;
      for_each_word(tensor, [words = &out.emplace_back()](Word word) { words->push_back(word); });
    }
  } catch (const OpError&) {
    return std::nullopt;
  } catch (const Unsupported&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace graphgate::optimized
