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
  void operator()(const spec::ComplexNumber& value) {
    number("complex", std::bit_cast<std::uint64_t>(value.real));
    number("imag", std::bit_cast<std::uint64_t>(value.imag));
  }
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
  spec::OpSchema schema;  // as far as its name goes
  schema.ns = row.schema.ns;
  schema.name = row.schema.base_name();
  schema.overload = row.schema.overload;
  const spec::OpRow* functional = spec::builtin_op_table().find(schema.qualified_name());
  return functional != nullptr && functional->has_tag("pointwise");
}

bool can_stretch(const Sizes& from, const Sizes& to) {
  if (to.size() < from.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](std::int64_t f, std::int64_t t) { return f == 1 || f == t; });
}

void flatten(const Item& item, std::size_t argument, std::vector<WordInput>& out) {
  if (const auto* tensor = item.as<Tensor>()) {
    const bool is_next = !out.empty() && out.back().argument == argument;
    out.push_back({argument, is_next ? out.back().element + 1 : 0, tensor});
  }
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) flatten(element, argument, out);
  }
}

// Whether an argument's old contents count: what an out= argument held before does not.
bool is_looked_at(const spec::OpRow& row, std::size_t argument) {
  return row.effects.arguments[argument].reads || !row.effects.mutates(argument);
}

// Integers plus or minus 0, or times 1, which passes take out.
bool changes_nothing(const BoundCall& call, const std::string& family,
                     const std::vector<WordInput>& inputs, const WordOutput& output) {
  const auto other = call.row->schema.find_argument("other");
  const auto* number = other ? call.arguments[*other].as<std::int64_t>() : nullptr;
  if (number == nullptr || (*number != 0 && *number != 1) || inputs.empty()) return false;
  const bool is_sum = (family == "aten.add" || family == "aten.sub") && *number == 0;
  if (!is_sum && !(family == "aten.mul" && *number == 1)) return false;
  const Tensor& self = *inputs.front().tensor;
  return spec::is_integral(self.dtype) && self.dtype != spec::DType::kBool &&
         self.dtype == output.tensor->dtype && self.sizes == output.tensor->sizes;
}

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

// Mixes the words of a tensor of sizes `from` into hashes of sizes `to`, to which it is stretched.
void mix_stretched(const WordArray& words, const Sizes& from, const Sizes& to,
                   std::vector<Word>& hashes) {
  Tensor rows{.sizes = from, .strides = row_major_strides(from)};
  const Sizes strides = broadcast_strides(rows, to);
  const std::size_t rank = to.size();
  const std::int64_t inner = rank == 0 ? 1 : to[rank - 1];
  const std::int64_t step = rank == 0 ? 0 : strides[rank - 1];
  Sizes index(rank, 0);
  const Word* at = words.data();
  for (std::size_t p = 0; p < hashes.size();) {
    for (std::int64_t i = 0; i < inner; ++i, ++p) {
      hashes[p] = mix_provenance(hashes[p], provenance_hash(at[i * step]));
    }
    for (std::size_t d = rank < 2 ? 0 : rank - 1; d-- > 0;) {
      at += strides[d];
      if (++index[d] < to[d]) break;
      at -= strides[d] * to[d];
      index[d] = 0;
    }
  }
}

// New words of one or two operands (`b` may be null) of as many elements.
std::vector<Word> even_words(std::uint64_t key, std::uint32_t producer, const WordArray& a,
                             const WordArray* b) {
  std::vector<Word> words(a.size());
  const Word* first = a.data();
  if (b == nullptr) {
    for (std::size_t p = 0; p < words.size(); ++p) {
      const std::uint64_t hash = mix_provenance(key, provenance_hash(first[p]));
      words[p] = spec::make_provenance(hash, producer, 1);
    }
    return words;
  }
  const Word* second = b->data();
  for (std::size_t p = 0; p < words.size(); ++p) {
    const std::uint64_t hash = mix_provenance(key, provenance_hash(first[p]));
    words[p] = spec::make_provenance(mix_provenance(hash, provenance_hash(second[p])), producer, 1);
  }
  return words;
}

// Hashes as words: one version more than what they are written over.
Words with_labels(std::vector<Word> hashes, std::uint32_t producer, const WordArray* old) {
  const std::size_t count = old ? std::min(old->size(), hashes.size()) : 0;
  for (std::size_t p = 0; p < count; ++p) {
    hashes[p] = spec::make_provenance(hashes[p], producer, spec::provenance_version((*old)[p]) + 1);
  }
  for (std::size_t p = count; p < hashes.size(); ++p) {
    hashes[p] = spec::make_provenance(hashes[p], producer, 1);
  }
  return make_words(std::move(hashes));
}

}  // namespace

WordRule::WordRule(const BoundCall& call)
    : call_(call), producer_(spec::provenance_tag(call.node->name)) {
  for (std::size_t a = 0; a < call.arguments.size(); ++a) flatten(call.arguments[a], a, inputs_);
  counts_.reserve(inputs_.size());
  for (const WordInput& input : inputs_) counts_.push_back(is_looked_at(*call.row, input.argument));
  find_outputs();
  if (find_kernel(*call.row)->bind == nullptr) {
    allocates_ = true;
    return;
  }
  const std::string family = family_name(*call.row);
  moves_ = find_moves(call);
  find_key(family);
  for (const WordOutput& output : outputs_) {
    hashing_.push_back(hashing_of(output, family));
    element_keys_.push_back(with_output(key_, output));
    const std::uint64_t filled = with_output(mix_provenance(key_, "fill"), output);
    fillers_.push_back(spec::make_provenance(filled, producer_, 1));
  }
}

void WordRule::find_outputs() {
  if (call_.row->has_tag("inplace_view")) return;
  std::vector<bool> is_returned(inputs_.size(), false);
  for (std::size_t r = 0; r < call_.results.size(); ++r) {
    if (call_.results[r].storage == kNoStorage) continue;  // a number, or nothing
    const auto place = place_of_result(call_, inputs_, r);
    if (place) is_returned[*place] = true;
    outputs_.push_back({r, place, &call_.results[r]});
  }
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (is_returned[k] || !call_.row->writes(inputs_[k].argument)) continue;
    outputs_.push_back({std::nullopt, k, inputs_[k].tensor});
  }
}

void WordRule::find_key(const std::string& family) {
  Attributes attributes(mix_provenance(0, family));
  for (std::size_t a = 0; a < call_.arguments.size(); ++a) {
    const spec::SchemaArgument& declared = call_.row->schema.arguments[a];
    if (says_only_where(declared.type.base) || !is_looked_at(*call_.row, a)) continue;
    attributes.add(std::string_view(declared.name));
    attributes.add(call_.arguments[a]);
  }
  key_ = attributes.hash();
}

WordRule::Hashing WordRule::hashing_of(const WordOutput& output, const std::string& family) const {
  if (changes_nothing(call_, family, inputs_, output)) return Hashing::kKept;
  bool fits = has_pointwise_tag(*call_.row);
  for (std::size_t k = 0; k < inputs_.size() && fits; ++k) {
    fits = !counts_[k] || can_stretch(inputs_[k].tensor->sizes, output.tensor->sizes);
  }
  return fits ? Hashing::kByElement : Hashing::kByDigest;
}

std::uint64_t WordRule::with_output(std::uint64_t hash, const WordOutput& output) const {
  if (output.result) return mix_provenance(hash, *output.result);
  const WordInput& input = inputs_[*output.input];
  return mix_provenance(mix_provenance(hash, call_.row->schema.arguments[input.argument].name),
                        input.element);
}

Words WordRule::by_element(std::size_t output, const std::vector<Words>& operands) const {
  const WordOutput& made = outputs_[output];
  const auto count = static_cast<std::size_t>(made.tensor->count());
  const WordArray* old = made.input ? operands[*made.input].get() : nullptr;
  const bool is_even =
      std::ranges::count(counts_, false) == 0 &&
      std::ranges::all_of(operands, [&](const Words& words) { return words->size() == count; });
  if (is_even && old == nullptr && (operands.size() == 1 || operands.size() == 2)) {
    const WordArray* second = operands.size() == 2 ? operands[1].get() : nullptr;
    return make_words(even_words(element_keys_[output], producer_, *operands[0], second));
  }
  std::vector<Word> hashes(count, element_keys_[output]);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!counts_[k]) continue;
    if (operands[k]->size() != count) {
      mix_stretched(*operands[k], inputs_[k].tensor->sizes, made.tensor->sizes, hashes);
      continue;
    }
    const Word* words = operands[k]->data();
    for (std::size_t p = 0; p < count; ++p) {
      hashes[p] = mix_provenance(hashes[p], provenance_hash(words[p]));
    }
  }
  return with_labels(std::move(hashes), producer_, old);
}

std::uint64_t WordRule::digest_of(const std::vector<Words>& operands) const {
  std::uint64_t hash = key_;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!counts_[k]) continue;
    hash = mix_provenance(mix_provenance(hash, operands[k]->size()), operands[k]->digest());
  }
  return hash;
}

std::optional<std::vector<Words>> WordRule::apply(const std::vector<Words>& operands,
                                                  DerivedWords& derived) const {
  if (allocates_) return std::nullopt;
  if (outputs_.empty()) return std::vector<Words>();
  if (moves_) {
    auto moved = move_words(
        {*moves_, call_, inputs_, operands, outputs_, fillers_, producer_, staged_}, derived);
    if (moved) return moved;
  }
  std::vector<Words> out;
  std::optional<std::uint64_t> digest;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const WordOutput& output = outputs_[o];
    if (hashing_[o] == Hashing::kKept) {
      out.push_back(operands.front());
    } else if (hashing_[o] == Hashing::kByElement) {
      out.push_back(by_element(o, operands));
    } else {
      if (!digest) digest = digest_of(operands);
      const std::uint64_t base = with_output(*digest, output);
      const WordArray* old = output.input ? operands[*output.input].get() : nullptr;
      std::vector<Word> hashes(static_cast<std::size_t>(output.tensor->count()));
      for (std::size_t p = 0; p < hashes.size(); ++p) hashes[p] = mix_provenance(base, p);
      out.push_back(with_labels(std::move(hashes), producer_, old));
    }
  }
  return out;
}

}  // namespace graphgate::optimized
