#include "optimized/runtime/host/provenance_moves.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "optimized/launch.h"
#include "optimized/runtime/host/memory.h"

namespace graphgate::optimized {
namespace {

using spec::BaseType;
using Names = std::vector<std::string_view>;
using Moves = std::unordered_map<std::string, MovingOp>;

// By family.
Moves make_moves() {
  Moves moves;
  const auto add = [&](const Names& arguments, std::optional<std::size_t> copied,
                       std::initializer_list<const char*> ops) {
    for (const char* op : ops)
      moves.emplace(std::string("aten.") + op, MovingOp{arguments, copied});
  };
  // Copies and copies of views, of all elements in their order, or of some.
  add({"self"}, 0,
      {"_reshape_copy", "_to_copy", "_unsafe_view", "alias_copy", "clone", "contiguous",
       "detach_copy", "flatten", "lift_fresh_copy", "reshape", "squeeze_copy", "unsqueeze_copy",
       "view_copy"});
  moves.emplace("graphgate.clone_preserve_strides", MovingOp{{"self"}, 0});
  add({"self"}, std::nullopt,
      {"as_strided_copy", "diagonal_copy", "expand_copy", "narrow_copy", "permute_copy",
       "select_copy", "slice_copy", "split_copy", "split_with_sizes_copy", "t_copy",
       "transpose_copy", "unbind_copy", "unfold_copy", "unsafe_split"});
  add({"self", "src"}, 1, {"copy"});  // src, into self
  add({"self", "other"}, 0, {"to", "type_as"});
  // Other orders and places.
  add({"self"}, std::nullopt,
      {"constant_pad_nd", "diag_embed", "flip", "pad", "reflection_pad1d", "reflection_pad2d",
       "reflection_pad3d", "repeat", "replication_pad1d", "replication_pad2d", "replication_pad3d",
       "roll", "rot90", "tril", "triu"});
  add({"tensors"}, std::nullopt, {"block_diag", "cat", "stack"});
  // By an index or a mask.
  add({"self"}, std::nullopt,
      {"gather", "index", "index_select", "masked_select", "repeat_interleave", "take"});
  add({"weight"}, std::nullopt, {"embedding"});
  // Into parts of self.
  add({"self", "src"}, std::nullopt,
      {"as_strided_scatter", "diagonal_scatter", "scatter", "select_scatter", "slice_scatter"});
  add({"self", "source"}, std::nullopt, {"index_copy", "masked_scatter", "put"});
  add({"self", "value"}, std::nullopt, {"index_fill"});
  add({"self", "values"}, std::nullopt, {"index_put"});
  return moves;
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
  // Over words that nobody writes.
  Tensor over(Tensor tensor, const Words& words) {
    memory_.push_back(nullptr);
    tensor.dtype = spec::DType::kInt64;
    tensor.storage = static_cast<StorageIndex>(memory_.size());
    tensor.bytes = reinterpret_cast<std::byte*>(const_cast<Word*>(words->data()));
    return tensor;
  }
  // The words of a placed tensor, row-major; its memory may be gone afterwards.
  std::vector<Word> take(const Tensor& tensor);
  std::byte* scratch(std::int64_t bytes) {
    if (bytes == 0) return nullptr;
    scratch_ = std::make_unique<HostMemory>(bytes, 64);
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

std::vector<Word> Stage::take(const Tensor& tensor) {
  const auto count = static_cast<std::size_t>(tensor.count());
  if (tensor.offset == 0 && is_contiguous(tensor)) {
    for (auto& memory : memory_) {
      if (!memory || reinterpret_cast<std::byte*>(memory->data()) != tensor.bytes) continue;
      memory->resize(count);
      return std::move(*memory);
    }
  }
  std::vector<Word> out;
  out.reserve(count);
  for_each_word(tensor, [&](Word word) { out.push_back(word); });
  return out;
}

// The arguments of a moving call on the stage.
class Staging {
 public:
  Staging(const Move& move, DerivedWords& derived)
      : move_(move),
        call_(move.call),
        dtype_(move.outputs.front().tensor->dtype),
        derived_(derived) {
    arguments_.reserve(call_.arguments.size());
    placed_.reserve(move.inputs.size());
    for (std::size_t a = 0; a < call_.arguments.size(); ++a) {
      arguments_.push_back(replaced(a, call_.arguments[a]));
    }
  }
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  [[nodiscard]] const Tensor& input(std::size_t k) const { return placed_[k]; }
  std::vector<Word> take(const Tensor& tensor) { return stage_.take(tensor); }

  // Runs the kernel; its results, lists unpacked.
  std::vector<Tensor> run() {
    const Kernel& kernel = *find_kernel(*call_.row);
    Inference inference = infer_call(kernel, *call_.row, std::move(arguments_), true);
    for (Made& made : inference.results()) {
      is_complete_ &= made.kind != Made::Kind::kNew || made.tensor.dtype == spec::DType::kInt64;
      place(made);
    }
    std::vector<Tensor> results = flat_tensors(std::move(inference.results()));
    const Launch launch = bind_call(kernel, *call_.row, std::move(inference.arguments()), results,
                                    stage_.scratch(inference.workspace_bytes()));
    if (launch) launch();
    return results;
  }

 private:
  void place(Made& made) {
    if (made.kind == Made::Kind::kNew) made.tensor = stage_.place(std::move(made.tensor));
    for (Made& element : made.list) place(element);
  }

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
    const std::size_t k = placed_.size();
    const std::string& name = call_.row->schema.arguments[argument].name;
    if (!names(move_.op.moved, name) && !call_.row->writes(argument)) {
      is_complete_ &= tensor.bytes != nullptr || tensor.count() == 0;
      placed_.push_back(tensor);
      return tensor;
    }
    const Words words = derived_.converted(move_.operands[k], tensor.dtype, dtype_, move_.producer);
    const bool is_plain = tensor.offset == 0 && is_contiguous(tensor);
    if (is_plain && !call_.row->writes(argument)) {
      placed_.push_back(stage_.over(tensor, words));
    } else {
      placed_.push_back(stage_.place(tensor));
      std::size_t next = 0;
      for_each_word(placed_.back(), [&](Word& word) { word = (*words)[next++]; });
    }
    kept_.push_back(words);
    return placed_.back();
  }

  const Move& move_;
  const BoundCall& call_;
  const spec::DType dtype_;
  DerivedWords& derived_;
  Stage stage_;
  std::vector<Item> arguments_;
  std::vector<Tensor> placed_;  // by input
  std::vector<Words> kept_;     // what tensors on the stage lie over
  bool is_complete_ = true;
};

}  // namespace

const MovingOp* find_moving_op(const BoundCall& call, const std::string& family) {
  static const Moves kMoves = make_moves();
  const auto found = kMoves.find(family);
  const spec::OpSchema& schema = call.row->schema;
  if (found == kMoves.end() || !schema.find_argument(found->second.moved.front())) return nullptr;
  // Bytes of a view of another dtype move, not elements.
  if (schema.name == "view_copy" && schema.overload == "dtype") return nullptr;
  if (schema.find_argument("reduce")) return nullptr;
  const auto accumulate = schema.find_argument("accumulate");
  const auto* adds = accumulate ? call.arguments[*accumulate].as<bool>() : nullptr;
  return adds && *adds ? nullptr : &found->second;
}

std::optional<std::vector<Words>> move_words(const Move& move, DerivedWords& derived) {
  const WordOutput& first = move.outputs.front();
  const auto& copied = move.op.copied;
  if (copied && *copied < move.operands.size() && move.outputs.size() == 1) {
    const Words& words = move.operands[*copied];
    if (words->size() == static_cast<std::size_t>(first.tensor->count())) {
      const spec::DType dtype = move.inputs[*copied].tensor->dtype;
      return std::vector{derived.converted(words, dtype, first.tensor->dtype, move.producer)};
    }
  }
  std::vector<Words> out;
  try {
    Staging staging(move, derived);
    if (!staging.is_complete()) return std::nullopt;
    const std::vector<Tensor> results = staging.run();
    if (!staging.is_complete()) return std::nullopt;
    for (std::size_t o = 0; o < move.outputs.size(); ++o) {
      const WordOutput& output = move.outputs[o];
      const Tensor& tensor =
          output.result ? results.at(*output.result) : staging.input(*output.input);
      if (tensor.count() != output.tensor->count()) return std::nullopt;
      std::vector<Word> words = staging.take(tensor);
      std::replace(words.begin(), words.end(), kNoWord, move.fillers[o]);
      out.push_back(make_words(std::move(words)));
    }
  } catch (const OpError&) {
    return std::nullopt;
  } catch (const Unsupported&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace graphgate::optimized
