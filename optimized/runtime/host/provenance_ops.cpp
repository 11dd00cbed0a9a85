#include "optimized/runtime/host/provenance_ops.h"

#include <algorithm>
#include <bit>

#include "optimized/runtime/host/provenance_moves.h"
#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

using spec::BaseType;
using spec::mix_provenance;
using spec::provenance_hash;
using Words = std::vector<Word>;

std::string family_name(const spec::OpRow& row) {
  return row.schema.ns + "." + row.schema.base_name();
}

// A history of an argument that is no tensor.
class Attributes {
 public:
  explicit Attributes(std::uint64_t hash) : hash_(hash) {}
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  void add(std::string_view text) { hash_ = mix_provenance(hash_, text); }
  void add(const Item& item) { std::visit(*this, item.value); }

  void operator()(spec::None) { add("none"); }
  void operator()(bool value) { number("bool", value ? 1 : 0); }
  void operator()(std::int64_t value) { number("int", static_cast<std::uint64_t>(value)); }
  void operator()(double value) { number("float", std::bit_cast<std::uint64_t>(value)); }
  void operator()(const std::string& text) {
    add("str");
    add(text);
  }
  void operator()(spec::DType dtype) {
    add("dtype");
    add(spec::torch_name(dtype));
  }
  // Where a result lies changes nothing of what it is; such arguments are left out before.
  void operator()(const spec::Device&) { add("none"); }
  void operator()(spec::Layout) { add("none"); }
  void operator()(spec::MemoryFormat) { add("none"); }
  void operator()(const Tensor&) { add("tensor"); }
  void operator()(const Item::List& list) {
    add("list");
    for (const Item& element : list) add(element);
    hash_ = mix_provenance(hash_, list.size());
  }

 private:
  void number(std::string_view kind, std::uint64_t bits) {
    add(kind);
    hash_ = mix_provenance(hash_, bits);
  }
  std::uint64_t hash_;
};

bool says_only_where(BaseType type) {
  return type == BaseType::kDevice || type == BaseType::kLayout ||
         type == BaseType::kMemoryFormat || type == BaseType::kGenerator;
}

bool has_pointwise_tag(const spec::OpRow& row) {
  if (row.has_tag("pointwise")) return true;
  // In-place forms that PyTorch has not tagged are what their functional form is.
  if (row.schema.name == row.schema.base_name()) return false;
  spec::OpSchema schema = row.schema;
  schema.name = row.schema.base_name();
  const spec::OpRow* functional = spec::builtin_op_table().find(schema.qualified_name());
  return functional != nullptr && functional->has_tag("pointwise");
}

bool can_stretch(const Sizes& from, const Sizes& to) {
  if (to.size() < from.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](std::int64_t f, std::int64_t t) { return f == 1 || f == t; });
}

// Hashes the words of one call.
class CallWords {
 public:
  CallWords(const BoundCall& call, const std::vector<WordInput>& inputs)
      : call_(call), inputs_(inputs), producer_(spec::provenance_tag(call.node->name)) {
    Attributes attributes(mix_provenance(0, family_name(*call.row)));
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
      const spec::SchemaArgument& declared = call.row->schema.arguments[a];
      if (says_only_where(declared.type.base) || !counts(a)) continue;
      attributes.add(std::string_view(declared.name));
      attributes.add(call.arguments[a]);
    }
    key_ = attributes.hash();
  }

  [[nodiscard]] std::uint32_t producer() const { return producer_; }
  [[nodiscard]] Word filler(const WordOutput& output) const {
    return spec::make_provenance(with_output(mix_provenance(key_, "fill"), output), producer_, 1);
  }

  [[nodiscard]] Words of(const WordOutput& output) {
    if (changes_nothing(output)) return inputs_.front().words;
    const bool fits = std::all_of(inputs_.begin(), inputs_.end(), [&](const WordInput& input) {
      return !counts(input.argument) || can_stretch(input.tensor.sizes, output.tensor.sizes);
    });
    Words words = fits && has_pointwise_tag(*call_.row) ? by_element(output) : by_digest(output);
    const Words* old = output.input ? &inputs_[*output.input].words : nullptr;
    for (std::size_t p = 0; p < words.size(); ++p) {
      const bool has_old = old != nullptr && p < old->size();
      const std::uint32_t version = has_old ? spec::provenance_version((*old)[p]) + 1 : 1;
      words[p] = spec::make_provenance(words[p], producer_, version);
    }
    return words;
  }

 private:
  // What an out= argument held before does not.
  [[nodiscard]] bool counts(std::size_t argument) const {
    const spec::Effects& effects = call_.row->effects;
    return effects.arguments[argument].reads || !effects.mutates(argument);
  }

  [[nodiscard]] std::uint64_t with_output(std::uint64_t hash, const WordOutput& output) const {
    if (output.result) return mix_provenance(hash, *output.result);
    const WordInput& input = inputs_[*output.input];
    return mix_provenance(mix_provenance(hash, call_.row->schema.arguments[input.argument].name),
                          input.element);
  }

  [[nodiscard]] Words by_element(const WordOutput& output) const {
    Words hashes(static_cast<std::size_t>(output.tensor.count()), with_output(key_, output));
    for (const WordInput& input : inputs_) {
      if (!counts(input.argument)) continue;
      if (input.words.size() == hashes.size()) {
        for (std::size_t p = 0; p < hashes.size(); ++p) {
          hashes[p] = mix_provenance(hashes[p], provenance_hash(input.words[p]));
        }
      } else {
        mix_stretched(input, output.tensor.sizes, hashes);
      }
    }
    return hashes;
  }

  static void mix_stretched(const WordInput& input, const Sizes& sizes, Words& hashes) {
    Tensor rows = input.tensor;
    rows.strides = row_major_strides(rows.sizes);
    const Sizes strides = broadcast_strides(rows, sizes);
    Sizes index(sizes.size(), 0);
    std::int64_t at = 0;
    for (std::uint64_t& hash : hashes) {
      hash = mix_provenance(hash, provenance_hash(input.words[static_cast<std::size_t>(at)]));
      for (std::size_t d = sizes.size(); d-- > 0;) {
        at += strides[d];
        if (++index[d] < sizes[d]) break;
        at -= strides[d] * sizes[d];
        index[d] = 0;
      }
    }
  }

  [[nodiscard]] Words by_digest(const WordOutput& output) {
    if (!digest_) {
      std::uint64_t hash = key_;
      for (const WordInput& input : inputs_) {
        if (!counts(input.argument)) continue;
        hash = mix_provenance(hash, input.words.size());
        for (const Word word : input.words) hash = mix_provenance(hash, provenance_hash(word));
      }
      digest_ = hash;
    }
    const std::uint64_t base = with_output(*digest_, output);
    Words hashes(static_cast<std::size_t>(output.tensor.count()));
    for (std::size_t p = 0; p < hashes.size(); ++p) hashes[p] = mix_provenance(base, p);
    return hashes;
  }

  // Integers plus or minus 0, or times 1, which passes take out.
  [[nodiscard]] bool changes_nothing(const WordOutput& output) const {
    const auto other = call_.row->schema.find_argument("other");
    const auto* number = other ? call_.arguments[*other].as<std::int64_t>() : nullptr;
    if (number == nullptr || inputs_.empty()) return false;
    const std::string family = family_name(*call_.row);
    const bool is_sum = (family == "aten.add" || family == "aten.sub") && *number == 0;
    if (!is_sum && !(family == "aten.mul" && *number == 1)) return false;
    const Tensor& self = inputs_.front().tensor;
    return spec::is_integral(self.dtype) && self.dtype != spec::DType::kBool &&
           self.dtype == output.tensor.dtype && self.sizes == output.tensor.sizes;
  }

  const BoundCall& call_;
  const std::vector<WordInput>& inputs_;
  const std::uint32_t producer_;
  std::uint64_t key_ = 0;
  std::optional<std::uint64_t> digest_;
};

// The input that result `result` is written into, by the schema.
std::optional<std::size_t> place_of_result(const BoundCall& call,
                                           const std::vector<WordInput>& inputs,
                                           std::size_t result) {
  const auto& returns = call.row->effects.returns;
  const bool is_list = returns.size() == 1 && call.results.size() != 1;
  const std::size_t which = is_list ? 0 : result;
  if (which >= returns.size()) return std::nullopt;
  for (const std::size_t argument : returns[which].aliases) {
    if (!call.row->effects.mutates(argument)) continue;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].argument == argument && inputs[k].element == (is_list ? result : 0)) return k;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<WordOutput> word_outputs(const BoundCall& call, const std::vector<WordInput>& inputs) {
  std::vector<WordOutput> out;
  if (call.row->has_tag("inplace_view")) return out;
  std::vector<bool> is_returned(inputs.size(), false);
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    if (call.results[r].storage == kNoStorage) continue;  // a number, or nothing
    const auto place = place_of_result(call, inputs, r);
    if (place) is_returned[*place] = true;
    out.push_back({r, place, call.results[r]});
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (is_returned[k] || !call.row->writes(inputs[k].argument)) continue;
    out.push_back({std::nullopt, k, inputs[k].tensor});
  }
  return out;
}

std::optional<std::vector<Words>> words_of_call(const BoundCall& call,
                                                const std::vector<WordInput>& inputs,
                                                const std::vector<WordOutput>& outputs,
                                                DerivedWords& derived) {
  if (find_kernel(*call.row)->bind == nullptr) return std::nullopt;
  std::vector<Words> out;
  if (outputs.empty()) return out;
  CallWords words(call, inputs);
  if (only_moves(call)) {
    auto moved = move_words(call, inputs, outputs, words.producer(), derived);
    if (moved) {
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        std::replace((*moved)[o].begin(), (*moved)[o].end(), Word{0}, words.filler(outputs[o]));
      }
      return moved;
    }
  }
  for (const WordOutput& output : outputs) out.push_back(words.of(output));
  return out;
}

}  // namespace graphgate::optimized
