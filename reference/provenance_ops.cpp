#include "reference/provenance_ops.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace graphgate::reference {
namespace {

using spec::BaseType;
using spec::mix_provenance;
using spec::provenance_hash;

// An out= argument: its old contents mean nothing.
bool is_out(const spec::OpRow& row, std::size_t argument) {
  return row.effects.mutates(argument) && !row.effects.arguments[argument].reads;
}

std::uint64_t mix_datum(std::uint64_t hash, const Datum& datum) {
  const auto tagged = [&](std::string_view kind, std::uint64_t word) {
    return mix_provenance(mix_provenance(hash, kind), word);
  };
  if (const auto* b = datum.as<bool>()) return tagged("bool", *b ? 1 : 0);
  if (const auto* i = datum.as<std::int64_t>()) {
    return tagged("int", static_cast<std::uint64_t>(*i));
  }
  if (const auto* x = datum.as<double>()) return tagged("float", std::bit_cast<std::uint64_t>(*x));
  if (const auto* text = datum.as<std::string>()) {
    return mix_provenance(mix_provenance(hash, "str"), *text);
  }
  if (const auto* dtype = datum.as<spec::DType>()) {
    return mix_provenance(mix_provenance(hash, "dtype"), spec::torch_name(*dtype));
  }
  if (const auto* z = datum.as<spec::ComplexNumber>()) {
    hash = tagged("complex", std::bit_cast<std::uint64_t>(z->real));
    return mix_provenance(mix_provenance(hash, "imag"), std::bit_cast<std::uint64_t>(z->imag));
  }
  if (datum.as<TensorRef>()) return mix_provenance(hash, "tensor");
  if (const auto* list = datum.as<Datum::List>()) {
    hash = mix_provenance(hash, "list");
    for (const Datum& element : *list) hash = mix_datum(hash, element);
    return mix_provenance(hash, list->size());
  }
  return mix_provenance(hash, "none");
}

// The operands whose elements count.
using Inputs = std::vector<const WordOperand*>;
Inputs read_operands(const WordCall& call) {
  Inputs out;
  out.reserve(call.operands.size());
  for (const WordOperand& operand : call.operands) {
    if (!is_out(call.row, operand.argument)) out.push_back(&operand);
  }
  return out;
}

// With producer, and version: one more than what is written over; of a new tensor, the first.
SharedWords finish(const WordCall& call, const WordTarget& target, Words hashes) {
  const SharedWords old = target.written ? call.operands[*target.written].words : SharedWords();
  const std::size_t kept = std::min(old.size(), hashes.size());
  for (std::size_t i = 0; i < kept; ++i) {
    const std::uint32_t version = spec::provenance_version(old.data()[i]) + 1;
    hashes[i] = spec::make_provenance(hashes[i], call.producer, version);
  }
  const spec::ProvenanceWord first = spec::make_provenance(0, call.producer, 1);
  for (std::size_t i = kept; i < hashes.size(); ++i) {
    hashes[i] = (hashes[i] << spec::kProvenanceHashShift) | first;
  }
  return hashes;
}

// What tells one result from another.
std::uint64_t mix_target(std::uint64_t hash, const WordCall& call, const WordTarget& target) {
  if (target.result) return mix_provenance(hash, *target.result);
  const std::size_t argument = call.operands[*target.written].argument;
  hash = mix_provenance(hash, call.row.schema.arguments[argument].name);
  std::uint64_t element = 0;
  for (std::size_t k = 0; k < *target.written; ++k) {
    if (call.operands[k].argument == argument) ++element;
  }
  return mix_provenance(hash, element);
}

Words as_vector(const SharedWords& words) { return {words.begin(), words.end()}; }

bool broadcasts(const Sizes& from, const Sizes& to) {
  if (from.size() > to.size()) return false;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::int64_t wanted = to[to.size() - from.size() + d];
    if (from[d] != 1 && from[d] != wanted) return false;
  }
  return true;
}

SharedWords pointwise_words(const WordCall& call, const WordTarget& target, const Inputs& inputs,
                            std::uint64_t key) {
  const auto count = static_cast<std::size_t>(target.tensor->count());
  Words hashes(count, mix_target(key, call, target));
  for (const WordOperand* operand : inputs) {
    SharedWords stretched = operand->words;
    if (operand->tensor->sizes != target.tensor->sizes) {
      Array<spec::ProvenanceWord> words;
      words.sizes = operand->tensor->sizes;
      words.data = as_vector(operand->words);
      stretched = broadcast_to(words, target.tensor->sizes).data;
    }
    const spec::ProvenanceWord* word = stretched.data();
    for (std::uint64_t& hash : hashes) hash = mix_provenance(hash, provenance_hash(*word++));
  }
  return finish(call, target, std::move(hashes));
}

// Of all elements of one operand: eight histories that take turns, mixed into one.
std::uint64_t digest_of(const SharedWords& words) {
  std::uint64_t turns[8] = {};
  std::size_t p = 0;
  for (const spec::ProvenanceWord word : words) {
    std::uint64_t& turn = turns[p++ % 8];
    turn = mix_provenance(turn, provenance_hash(word));
  }
  std::uint64_t digest = 0;
  for (const std::uint64_t turn : turns) digest = mix_provenance(digest, turn);
  return digest;
}

std::uint64_t digest_of(const Inputs& inputs, std::uint64_t key) {
  for (const WordOperand* operand : inputs) {
    key = mix_provenance(key, operand->words.size());
    key = mix_provenance(key, digest_of(operand->words));
  }
  return key;
}

SharedWords whole_words(const WordCall& call, const WordTarget& target, std::uint64_t digest) {
  Words hashes(static_cast<std::size_t>(target.tensor->count()));
  const std::uint64_t base = mix_target(digest, call, target);
  for (std::size_t p = 0; p < hashes.size(); ++p) hashes[p] = mix_provenance(base, p);
  return finish(call, target, std::move(hashes));
}

// An int64 tensor of that geometry.
TensorRef blank_like(const Tensor& like) {
  if (like.offset == 0 && like.count() > 0) {
    return new_tensor(spec::DType::kInt64, like.sizes, like.strides, like.device);
  }
  std::int64_t extent = like.offset + 1;
  for (std::size_t d = 0; d < like.sizes.size(); ++d) {
    extent += std::max<std::int64_t>(like.sizes[d] - 1, 0) * like.strides[d];
  }
  const TensorRef whole = new_tensor(spec::DType::kInt64, {extent}, like.device);
  return view_of(*whole, like.sizes, like.strides, like.offset);
}

// Such a tensor whose elements are the words.
TensorRef as_tensor(const Tensor& like, const SharedWords& words) {
  TensorRef tensor = blank_like(like);
  std::byte* bytes = tensor->storage->writable_bytes();
  const spec::ProvenanceWord* word = words.data();
  for_each_row(*tensor, [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
    if (stride == 1) {
      std::memcpy(bytes + position * 8, word, static_cast<std::size_t>(count) * 8);
      word += count;
      return;
    }
    for (; count > 0; --count, position += stride) std::memcpy(bytes + position * 8, word++, 8);
  });
  return tensor;
}

Words words_in(const Tensor& tensor) {
  Words words(static_cast<std::size_t>(tensor.count()));
  const std::byte* bytes = tensor.storage->bytes();
  spec::ProvenanceWord* word = words.data();
  for_each_row(tensor, [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
    if (stride == 1) {
      std::memcpy(word, bytes + position * 8, static_cast<std::size_t>(count) * 8);
      word += count;
      return;
    }
    for (; count > 0; --count, position += stride) std::memcpy(word++, bytes + position * 8, 8);
  });
  return words;
}

// The arguments of a moving op with words in the place of elements, and nothing where it fills in a
// number.
class WordArguments {
 public:
  WordArguments(const WordCall& call, spec::DType dtype, Origins& origins)
      : call_(call), dtype_(dtype), origins_(origins) {
    data_.reserve(call.arguments.size());
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      data_.push_back(substitute(i, call.arguments[i]));
    }
  }
  [[nodiscard]] const std::vector<Datum>& data() const { return data_; }
  // The stand-in of operand k; null for one that is read for what it is.
  [[nodiscard]] TensorRef stand_in(std::size_t k) const { return stand_ins_[k]; }

 private:
  Datum substitute(std::size_t argument, const Datum& datum) {
    const spec::SchemaArgument& declared = call_.row.schema.arguments[argument];
    if (datum.as<TensorRef>()) {
      const std::size_t k = stand_ins_.size();
      const WordOperand& operand = call_.operands[k];
      const bool moves = call_.rule.moves->has(declared.name) || call_.row.writes(argument);
      stand_ins_.push_back(moves ? as_tensor(*operand.tensor, converted(operand)) : nullptr);
      return moves ? Datum{stand_ins_.back()} : datum;
    }
    if (const auto* list = datum.as<Datum::List>()) {
      Datum::List out;
      for (const Datum& element : *list) out.push_back(substitute(argument, element));
      return {std::move(out)};
    }
    if (datum.as<spec::DType>()) return {spec::DType::kInt64};
    const bool is_filler = declared.type.base == BaseType::kScalar && !datum.is_none();
    if (is_filler) return {std::int64_t{0}};
    if (declared.type.base == BaseType::kFloat && !datum.is_none()) return {0.0};
    return datum;
  }

  SharedWords converted(const WordOperand& operand) {
    const spec::DType from = operand.tensor->dtype;
    if (from == dtype_) return operand.words;
    Words words = as_vector(operand.words);
    for (auto& word : words) word = origins_.cast(word, from, dtype_, call_.producer);
    return words;
  }

  const WordCall& call_;
  spec::DType dtype_;
  Origins& origins_;
  std::vector<Datum> data_;
  std::vector<TensorRef> stand_ins_;
};

// Nothing where the body does not take int64.
std::optional<std::vector<SharedWords>> moved_words(const WordCall& call,
                                                    const std::vector<WordTarget>& targets,
                                                    std::uint64_t key, Origins& origins) {
  const WordArguments arguments(call, targets.front().tensor->dtype, origins);
  Call run(Mode::kEager, call.row, arguments.data());
  try {
    call.body(run);
  } catch (const OpError&) {
    return std::nullopt;
  }
  std::vector<TensorRef> results;
  for (const Datum& result : run.results()) {
    if (const auto* tensor = result.as<TensorRef>()) results.push_back(*tensor);
    if (const auto* list = result.as<Datum::List>()) {
      for (const Datum& element : *list) results.push_back(*element.as<TensorRef>());
    }
  }
  std::vector<SharedWords> out;
  for (const WordTarget& target : targets) {
    const TensorRef tensor =
        target.result ? results.at(*target.result) : arguments.stand_in(*target.written);
    if (!tensor || tensor->dtype != spec::DType::kInt64) return std::nullopt;
    Words words = words_in(*tensor);
    if (words.size() != static_cast<std::size_t>(target.tensor->count())) return std::nullopt;
    const auto filler = spec::make_provenance(mix_target(mix_provenance(key, "fill"), call, target),
                                              call.producer, 1);
    std::replace(words.begin(), words.end(), spec::ProvenanceWord{0}, filler);
    out.emplace_back(std::move(words));
  }
  return out;
}

// Integers that are added 0 to, or multiplied with 1, are what they were.
bool keeps_integers(const WordCall& call, const WordTarget& target) {
  if (!call.rule.other || call.operands.empty()) return false;
  const auto* number = call.arguments[*call.rule.other].as<std::int64_t>();
  const WordOperand& self = call.operands.front();
  return number && *number == call.rule.neutral && self.tensor->dtype == target.tensor->dtype &&
         spec::is_integral(self.tensor->dtype) && self.tensor->dtype != spec::DType::kBool &&
         self.tensor->sizes == target.tensor->sizes;
}

}  // namespace

std::uint64_t key_of(const spec::OpRow& row, const WordRule& rule,
                     const std::vector<Datum>& arguments) {
  std::uint64_t key = rule.base;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const spec::SchemaArgument& declared = row.schema.arguments[i];
    const BaseType type = declared.type.base;
    const bool places_only = type == BaseType::kDevice || type == BaseType::kLayout ||
                             type == BaseType::kMemoryFormat || type == BaseType::kGenerator;
    if (places_only || is_out(row, i)) continue;
    key = mix_datum(mix_provenance(key, declared.name), arguments[i]);
  }
  return key;
}

std::vector<SharedWords> words_after(const WordCall& call, const std::vector<WordTarget>& targets,
                                     Origins& origins) {
  if (targets.empty()) return {};
  const std::uint64_t key = call.key;
  if (call.rule.moves_words(call.arguments)) {
    auto moved = moved_words(call, targets, key, origins);
    if (moved) return std::move(*moved);
  }
  const Inputs inputs = read_operands(call);
  std::optional<std::uint64_t> digest;
  std::vector<SharedWords> out;
  for (const WordTarget& target : targets) {
    const bool fits = std::all_of(inputs.begin(), inputs.end(), [&](const WordOperand* operand) {
      return broadcasts(operand->tensor->sizes, target.tensor->sizes);
    });
    if (keeps_integers(call, target)) {
      out.push_back(call.operands.front().words);
    } else if (call.rule.is_pointwise && fits) {
      out.push_back(pointwise_words(call, target, inputs, key));
    } else {
      if (!digest) digest = digest_of(inputs, key);
      out.push_back(whole_words(call, target, *digest));
    }
  }
  return out;
}

}  // namespace graphgate::reference
