#include "optimized/runtime/host/provenance_moves.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "optimized/launch.h"
#include "optimized/runtime/host/memory.h"

namespace graphgate::optimized {
namespace {

using spec::BaseType;
bool moves_argument(const Moves& moves, std::string_view argument) {
  return std::ranges::find(moves.arguments, argument) != moves.arguments.end();
}

// Int64 memory in the shape of a tensor, with addresses of its own.
class Stage {
 public:
  Tensor place(Tensor tensor) {
    tensor.dtype = spec::DType::kInt64;
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(byte_range(tensor).end, 8));
    memory_.push_back(std::make_unique<std::vector<Word>>((bytes + 7) / 8, 0));
    return at(memory_.back()->data(), std::move(tensor));
  }
  // Over words that nobody writes.
  Tensor over(Tensor tensor, const Words& words) {
    memory_.push_back(nullptr);
    tensor.dtype = spec::DType::kInt64;
    return at(const_cast<Word*>(words->data()), std::move(tensor));
  }
  // The words of a placed tensor, row-major; its memory may be gone afterwards.
  std::vector<Word> take(const Tensor& tensor);
  // All memory as new.
  void clear() {
    for (auto& memory : memory_) {
      if (memory) std::ranges::fill(*memory, kNoWord);
    }
  }
  std::byte* scratch(std::int64_t bytes) {
    if (bytes == 0) return nullptr;
    scratch_ = std::make_unique<HostMemory>(bytes, 64);
    return scratch_->data();
  }

 private:
  Tensor at(Word* first, Tensor tensor) const {
    tensor.storage = static_cast<StorageIndex>(memory_.size());
    tensor.bytes = reinterpret_cast<std::byte*>(first);
    return tensor;
  }

  std::vector<std::unique_ptr<std::vector<Word>>> memory_;
  std::unique_ptr<HostMemory> scratch_;
};

// The places of all elements of an int64 tensor, row-major.
template <class Visit>
void for_each_word(const Tensor& tensor, Visit&& visit) {
  auto* const first = reinterpret_cast<Word*>(tensor.bytes);
  const std::int64_t count = tensor.count();
  if (is_contiguous(tensor)) {
    std::for_each_n(first + tensor.offset, count, visit);
    return;
  }
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

void put(const Words& words, const Tensor& tensor) {
  std::size_t next = 0;
  for_each_word(tensor, [&](Word& word) { word = (*words)[next++]; });
}

std::vector<Word> words_of(const Tensor& tensor) {
  std::vector<Word> out;
  out.reserve(static_cast<std::size_t>(tensor.count()));
  for_each_word(tensor, [&](Word word) { out.push_back(word); });
  return out;
}

std::vector<Word> Stage::take(const Tensor& tensor) {
  if (tensor.offset == 0 && is_contiguous(tensor)) {
    for (auto& memory : memory_) {
      if (!memory || reinterpret_cast<std::byte*>(memory->data()) != tensor.bytes) continue;
      memory->resize(static_cast<std::size_t>(tensor.count()));
      return std::move(*memory);
    }
  }
  return words_of(tensor);
}

// Of an argument of more words the stage takes those that are there, and cannot stay.
constexpr std::int64_t kMostOwned = 4096;

}  // namespace

// A moving call on the stage: its kernel bound to words.
class StagedMove {
 public:
  StagedMove(const Move& move, DerivedWords& derived)
      : call_(move.call), dtype_(move.outputs.front().tensor->dtype) {
    std::vector<Item> arguments;
    arguments.reserve(call_.arguments.size());
    placed_.reserve(move.inputs.size());
    for (std::size_t a = 0; a < call_.arguments.size(); ++a) {
      arguments.push_back(replaced(a, call_.arguments[a], move, derived));
    }
    if (is_complete_) bind(std::move(arguments));
  }

  // False where an index is not at hand, or the kernel does not take int64.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  // Whether other words may take the place of those that are on the stage.
  [[nodiscard]] bool can_stay() const { return owns_all_ && !hangs_on_data_; }

  void put_words(const Move& move, DerivedWords& derived) {
    stage_.clear();
    for (std::size_t k = 0; k < placed_.size(); ++k) {
      if (is_moved_[k]) put(converted(k, move, derived), placed_[k]);
    }
  }

  // The words of the outputs. What is taken may be gone from a stage that cannot stay.
  std::optional<std::vector<Words>> run(const Move& move) {
    if (launch_.run) launch_.run();
    std::vector<Words> out;
    out.reserve(move.outputs.size());
    for (std::size_t o = 0; o < move.outputs.size(); ++o) {
      const WordOutput& output = move.outputs[o];
      const Tensor& tensor = output.result ? results_.at(*output.result) : placed_[*output.input];
      if (tensor.count() != output.tensor->count()) return std::nullopt;
      std::vector<Word> words = can_stay() ? words_of(tensor) : stage_.take(tensor);
      std::ranges::replace(words, kNoWord, move.fillers[o]);
      out.push_back(make_words(std::move(words)));
    }
    return out;
  }

 private:
  Item replaced(std::size_t argument, const Item& item, const Move& move, DerivedWords& derived) {
    const spec::SchemaArgument& declared = call_.row->schema.arguments[argument];
    if (const auto* list = item.as<Item::List>()) {
      Item::List out;
      for (const Item& element : *list) out.push_back(replaced(argument, element, move, derived));
      return {std::move(out)};
    }
    if (const auto* tensor = item.as<Tensor>()) {
      place(argument, *tensor, move, derived);
      return {placed_.back()};
    }
    if (item.as<spec::None>()) return item;
    if (item.as<spec::DType>()) return {spec::DType::kInt64};
    if (declared.type.base == BaseType::kScalar) return {std::int64_t{0}};
    if (declared.type.base == BaseType::kFloat) return {0.0};
    return item;
  }

  void place(std::size_t argument, const Tensor& tensor, const Move& move, DerivedWords& derived) {
    const std::size_t k = placed_.size();
    const bool is_written = call_.row->writes(argument);
    is_moved_.push_back(is_written ||
                        moves_argument(move.moves, call_.row->schema.arguments[argument].name));
    if (!is_moved_[k]) {
      is_complete_ &= tensor.bytes != nullptr || tensor.count() == 0;
      placed_.push_back(tensor);
      return;
    }
    const Words words = converted(k, move, derived);
    const bool is_plain = tensor.offset == 0 && is_contiguous(tensor);
    if (is_plain && !is_written && tensor.count() > kMostOwned) {
      placed_.push_back(stage_.over(tensor, words));
      lent_.push_back(words);
      owns_all_ = false;
      return;
    }
    placed_.push_back(stage_.place(tensor));
    put(words, placed_.back());
  }

  [[nodiscard]] Words converted(std::size_t k, const Move& move, DerivedWords& derived) const {
    return derived.converted(move.operands[k], move.inputs[k].tensor->dtype, dtype_, move.producer);
  }

  void bind(std::vector<Item> arguments) {
    const Kernel& kernel = *find_kernel(*call_.row);
    Inference inference = infer_call(kernel, *call_.row, std::move(arguments), true);
    hangs_on_data_ = inference.asks_for_data();
    for (Made& made : inference.results()) {
      is_complete_ &= made.kind != Made::Kind::kNew || made.tensor.dtype == spec::DType::kInt64;
      place(made);
    }
    results_ = flat_tensors(std::move(inference.results()));
    launch_ = bind_call(kernel, *call_.row, std::move(inference.arguments()), results_,
                        stage_.scratch(inference.workspace_bytes()));
  }

  void place(Made& made) {
    if (made.kind == Made::Kind::kNew) made.tensor = stage_.place(std::move(made.tensor));
    for (Made& element : made.list) place(element);
  }

  const BoundCall& call_;
  const spec::DType dtype_;
  Stage stage_;
  std::vector<Tensor> placed_;   // by input
  std::vector<bool> is_moved_;   // by input
  std::vector<Words> lent_;      // what tensors on the stage lie over
  std::vector<Tensor> results_;  // lists unpacked
  Launch launch_;
  bool owns_all_ = true;
  bool hangs_on_data_ = false;
  bool is_complete_ = true;
};

const Moves* find_moves(const BoundCall& call) {
  const Kernel* const kernel = find_kernel(*call.row);
  if (kernel == nullptr || kernel->moved.arguments.front().empty()) return nullptr;
  const spec::OpSchema& schema = call.row->schema;
  if (!schema.find_argument(kernel->moved.arguments.front())) return nullptr;
  // Bytes of a view of another dtype move, not elements.
  if (schema.name == "view_copy" && schema.overload == "dtype") return nullptr;
  if (schema.find_argument("reduce")) return nullptr;
  const auto accumulate = schema.find_argument("accumulate");
  const auto* adds = accumulate ? call.arguments[*accumulate].as<bool>() : nullptr;
  return adds && *adds ? nullptr : &kernel->moved;
}

std::optional<std::vector<Words>> move_words(const Move& move, DerivedWords& derived) {
  const WordOutput& first = move.outputs.front();
  const auto& declared = move.call.row->schema.arguments;
  const auto copied = std::ranges::find_if(move.inputs, [&](const auto& input) {
    return declared[input.argument].name == move.moves.arguments.front();
  });
  if (move.moves.is_copy && copied != move.inputs.end() && move.outputs.size() == 1) {
    const Words& words = move.operands[static_cast<std::size_t>(copied - move.inputs.begin())];
    if (words->size() == static_cast<std::size_t>(first.tensor->count())) {
      const spec::DType dtype = copied->tensor->dtype;
      return std::vector{derived.converted(words, dtype, first.tensor->dtype, move.producer)};
    }
  }
  try {
    if (move.kept) {
      move.kept->put_words(move, derived);
      return move.kept->run(move);
    }
    auto staged = std::make_shared<StagedMove>(move, derived);
    if (!staged->is_complete()) return std::nullopt;
    if (staged->can_stay()) move.kept = staged;
    return staged->run(move);
  } catch (const OpError&) {
    return std::nullopt;
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace graphgate::optimized
