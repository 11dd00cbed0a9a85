#include "reference/provenance.h"

#include <algorithm>

#include "reference/movement.h"
#include "reference/provenance_ops.h"
#include "spec/provenance_words.h"

namespace graphgate::reference {
namespace {

using spec::mix_provenance;
using spec::provenance_hash;
using spec::ProvenanceRow;
using spec::ProvenanceWord;

template <class Visit>
void for_each_tensor(const Datum& datum, Visit&& visit) {
  if (const auto* tensor = datum.as<TensorRef>()) visit(*tensor);
  if (const auto* list = datum.as<Datum::List>()) {
    for (const Datum& element : *list) for_each_tensor(element, visit);
  }
}

// A cast of integers that loses nothing.
bool widens_integers(spec::DType from, spec::DType to) {
  if (!spec::is_integral(from) || !spec::is_integral(to)) return false;
  if (from == spec::DType::kBool || to == spec::DType::kBool) return false;
  return to != spec::DType::kUInt8 && spec::item_size_bytes(to) > spec::item_size_bytes(from);
}

// The names of the tensors that a node gives an op, in the order in which the op gets them.
std::vector<std::string> operand_names(const spec::OpRow& row, const spec::Node& node,
                                       const spec::Graph& graph,
                                       const std::vector<Datum>& arguments) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::size_t tensors = 0;
    for_each_tensor(arguments[i], [&](const TensorRef&) { ++tensors; });
    std::vector<std::string> own;
    for (const spec::NamedArgument& named : node.arguments) {
      if (named.name != row.schema.arguments[i].name) continue;
      for_each_value(named.argument, [&](spec::ValueId id) {
        if (graph.value(id).kind == spec::ValueKind::kTensor) own.push_back(graph.value(id).name);
      });
    }
    own.resize(tensors);
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset &&
         a.sizes == b.sizes && a.strides == b.strides;
}

// The names of a node's results, at least `count`.
std::vector<std::string> result_names(const spec::Node& node, const spec::Graph& graph,
                                      std::size_t count) {
  std::vector<std::string> names;
  for (const spec::NodeResult& result : node.results) {
    for (const spec::ValueId id : result.values) names.push_back(graph.value(id).name);
  }
  names.resize(std::max(names.size(), count));
  return names;
}

}  // namespace

ProvenanceWord Origins::part(ProvenanceWord whole, std::uint8_t size, std::uint8_t index) {
  if (size == 1) return whole;
  std::uint64_t hash = mix_provenance(mix_provenance(0, "byte"), provenance_hash(whole));
  hash = mix_provenance(mix_provenance(hash, size), index);
  const ProvenanceWord word = spec::make_provenance(hash, spec::provenance_producer(whole),
                                                    spec::provenance_version(whole));
  parts_[word] = {whole, size, index, {}};
  return word;
}

ProvenanceWord Origins::join(const Words& parts) const {
  if (parts.size() == 1) return parts.front();
  const auto first = parts_.find(parts.front());
  bool is_whole = first != parts_.end() && first->second.size == parts.size();
  std::uint64_t hash = mix_provenance(0, "joined");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    hash = mix_provenance(hash, provenance_hash(parts[i]));
    const auto found = parts_.find(parts[i]);
    is_whole = is_whole && found != parts_.end() && found->second.index == i &&
               found->second.size == parts.size() && found->second.word == first->second.word;
  }
  if (is_whole) return first->second.word;
  return spec::make_provenance(hash, spec::provenance_producer(parts.back()),
                               spec::provenance_version(parts.back()));
}

ProvenanceWord Origins::cast(ProvenanceWord word, spec::DType from, spec::DType to,
                             std::uint32_t producer) {
  if (from == to) return word;
  const auto origin = casts_.find(word);
  if (origin != casts_.end() && origin->second.dtype == to) return origin->second.word;
  std::uint64_t hash = mix_provenance(mix_provenance(0, "cast"), spec::torch_name(to));
  hash = mix_provenance(hash, provenance_hash(word));
  const ProvenanceWord made = spec::make_provenance(hash, producer, 1);
  if (widens_integers(from, to)) casts_[made] = {word, 0, 0, from};
  return made;
}

Provenance::Cells& Provenance::cells_of(const std::shared_ptr<Storage>& storage) {
  Cells& cells = cells_[storage.get()];
  if (cells.storage.lock() != storage) cells = {storage, {}};
  cells.bytes.resize(static_cast<std::size_t>(storage->size_bytes()));
  return cells;
}

Words Provenance::read(const Tensor& tensor) {
  if (!keeps_words_) return {};
  const std::vector<ByteWord>& bytes = cells_of(tensor.storage).bytes;
  const auto size = static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
  Words words;
  words.reserve(static_cast<std::size_t>(tensor.count()));
  Words parts(size);
  for (const std::int64_t position : element_positions(tensor)) {
    const ByteWord* at = bytes.data() + static_cast<std::size_t>(position) * size;
    bool is_whole = true;
    bool is_written = false;
    for (std::size_t i = 0; i < size; ++i) {
      is_whole = is_whole && at[i].size == size && at[i].index == i && at[i].word == at[0].word;
      is_written = is_written || at[i].size != 0;
    }
    if (is_whole || !is_written) {
      words.push_back(is_whole ? at[0].word : spec::kUnwrittenWord);
      continue;
    }
    for (std::size_t i = 0; i < size; ++i) {
      parts[i] = at[i].size == 0 ? spec::kUnwrittenWord
                                 : origins_.part(at[i].word, at[i].size, at[i].index);
    }
    words.push_back(origins_.join(parts));
  }
  return words;
}

void Provenance::write(const Tensor& tensor, const Words& words) {
  if (!keeps_words_) return;
  std::vector<ByteWord>& bytes = cells_of(tensor.storage).bytes;
  const auto size = static_cast<std::uint8_t>(spec::item_size_bytes(tensor.dtype));
  std::size_t next = 0;
  for (const std::int64_t position : element_positions(tensor)) {
    ByteWord* at = bytes.data() + position * size;
    for (std::uint8_t i = 0; i < size; ++i) at[i] = {words[next], size, i};
    ++next;
  }
}

void Provenance::begin(const Tensor& tensor, std::string_view kind, std::string_view name,
                       std::uint64_t times) {
  if (!keeps_words_) return;
  std::vector<ByteWord>& bytes = cells_of(tensor.storage).bytes;
  const auto size = static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
  const spec::InitialWords initial(kind, name, times);
  for (std::size_t b = 0; b < bytes.size();) {
    const ProvenanceWord word = initial.at(static_cast<std::int64_t>(b / size));
    for (std::size_t i = 0; i < size && b < bytes.size(); ++i, ++b) {
      bytes[b] = {word, static_cast<std::uint8_t>(size), static_cast<std::uint8_t>(i)};
    }
  }
}

void Provenance::duplicate(const Storage& original, const std::shared_ptr<Storage>& copy) {
  const auto found = cells_.find(&original);
  if (found == cells_.end()) return;
  const std::vector<ByteWord> bytes = found->second.bytes;
  cells_of(copy).bytes = bytes;
}

void Provenance::assign(const Tensor& target, const Tensor& source) {
  if (!keeps_words_) return;
  Array<ProvenanceWord> words;
  words.sizes = source.sizes;
  words.data = read(source);
  for (auto& word : words.data) word = origins_.cast(word, source.dtype, target.dtype, 0);
  write(target, broadcast_to(words, target.sizes).data);
}

ProvenanceRow Provenance::row_for(const Tensor& tensor, std::string port, std::string value) {
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  const auto [number, is_new] = numbers_.emplace(tensor.storage.get(), next);
  if (is_new) numbered_.push_back(tensor.storage);
  ProvenanceRow row;
  row.port = std::move(port);
  row.value = std::move(value);
  row.storage = number->second;
  row.dtype = tensor.dtype;
  row.sizes = tensor.sizes;
  row.strides = tensor.strides;
  row.storage_offset = tensor.offset;
  return row;
}

namespace {

// One op as it runs: what it is given, then what it has made.
class Operation {
 public:
  std::vector<TensorRef> tensors;     // the operands, as objects
  std::vector<WordOperand> operands;  // as they were before
  std::vector<WordTarget> targets;

  [[nodiscard]] std::optional<std::size_t> operand_over(const Tensor& tensor,
                                                        const spec::OpRow& row) const {
    std::optional<std::size_t> found;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].tensor.storage != tensor.storage) continue;
      const bool is_better = row.writes(operands[k].argument) || !found;
      if (is_better) found = k;
    }
    return found;
  }
  // What the op has made and written. The results that are tensors, lists unpacked.
  std::vector<TensorRef> take_results(const spec::OpRow& row, const std::vector<Datum>& results) {
    std::vector<TensorRef> made;
    for (const Datum& result : results) {
      for_each_tensor(result, [&](const TensorRef& tensor) { made.push_back(tensor); });
    }
    if (row.has_tag("inplace_view")) return made;
    for (std::size_t r = 0; r < made.size(); ++r) add_result(row, r, *made[r]);
    add_written(row);
    return made;
  }
  [[nodiscard]] bool has_made(std::size_t result) const {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const WordTarget& target) { return target.result == result; });
  }

 private:
  // A result: new, a written operand, or a view, which makes no words.
  void add_result(const spec::OpRow& row, std::size_t result, const Tensor& tensor) {
    const auto over = operand_over(tensor, row);
    if (over && !row.writes(operands[*over].argument)) return;
    targets.push_back({result, over, tensor});
  }
  // Written operands that are no results.
  void add_written(const spec::OpRow& row) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool is_there =
          std::any_of(targets.begin(), targets.end(),
                      [&](const WordTarget& target) { return target.written == k; });
      if (!row.writes(operands[k].argument) || is_there) continue;
      targets.push_back({std::nullopt, k, *tensors[k]});
    }
  }
};

// Indices and masks that the op may overwrite while it uses them.
std::vector<Datum> as_read(const spec::OpRow& row, const std::vector<Datum>& arguments) {
  if (!row.effects.mutates() || !moves_words(row, arguments)) return arguments;
  std::vector<Datum> out = arguments;
  const std::function<void(Datum&)> keep = [&](Datum& datum) {
    if (auto* tensor = std::get_if<TensorRef>(&datum.value)) *tensor = copy_of(**tensor);
    if (auto* list = std::get_if<Datum::List>(&datum.value)) {
      for (Datum& element : *list) keep(element);
    }
  };
  for (Datum& datum : out) keep(datum);
  return out;
}

}  // namespace

std::vector<Datum> Provenance::operate(
    const spec::OpRow& row, Body body, std::vector<Datum> arguments, const spec::Node& node,
    const spec::Graph& graph, const std::function<std::vector<Datum>(std::vector<Datum>)>& run) {
  Operation operation;
  const bool moves_nothing = row.effects.is_view && !moves_words(row, arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for_each_tensor(arguments[i], [&](const TensorRef& tensor) {
      operation.tensors.push_back(tensor);
      operation.operands.push_back({i, *tensor, moves_nothing ? Words{} : read(*tensor)});
    });
  }
  const std::string op = row.schema.qualified_name();
  const auto add_row = [&](const Tensor& tensor, const char* kind, std::size_t number,
                           std::string value, SharedWords words) {
    rows_.push_back(row_for(tensor, kind + std::to_string(number), std::move(value)));
    rows_.back().node = node.name;
    rows_.back().op = op;
    rows_.back().words = std::move(words);
  };
  const auto names = operand_names(row, node, graph, arguments);
  for (std::size_t k = 0; k < operation.operands.size(); ++k) {
    const WordOperand& operand = operation.operands[k];
    add_row(operand.tensor, "operand ", k, names[k], operand.words);
  }
  const std::vector<Datum> before = keeps_words_ ? as_read(row, arguments) : std::vector<Datum>();
  std::vector<Datum> results = run(std::move(arguments));
  const std::vector<TensorRef> made = operation.take_results(row, results);
  SharedWords alone;  // of the only target
  if (keeps_words_ && !leaves_unwritten(row)) {
    const WordCall call{row, body, before, operation.operands, spec::provenance_tag(node.name)};
    auto words = words_after(call, operation.targets, origins_);
    for (std::size_t t = 0; t < words.size(); ++t) write(operation.targets[t].tensor, words[t]);
    if (words.size() == 1) alone = std::move(words.front());
  }
  const auto words_now = [&](const Tensor& tensor) -> SharedWords {
    const bool is_target = !alone.empty() && same_elements(tensor, operation.targets[0].tensor);
    return is_target ? alone : read(tensor);
  };
  const auto values = result_names(node, graph, made.size());
  for (std::size_t r = 0; r < made.size(); ++r) {
    const bool is_new = operation.has_made(r);
    add_row(*made[r], "result ", r, values[r], is_new ? words_now(*made[r]) : SharedWords());
  }
  for (std::size_t k = 0; k < names.size() && !row.has_tag("inplace_view"); ++k) {
    if (!row.writes(operation.operands[k].argument)) continue;
    add_row(*operation.tensors[k], "written ", k, names[k], words_now(*operation.tensors[k]));
  }
  return results;
}

void Provenance::note_end(std::string port, const Tensor& tensor) {
  ProvenanceRow row = row_for(tensor, std::move(port), "");
  row.words = read(tensor);
  rows_.push_back(std::move(row));
}

std::vector<ProvenanceRow> Provenance::take_rows() {
  numbers_.clear();
  numbered_.clear();
  std::erase_if(cells_, [](const auto& entry) { return entry.second.storage.expired(); });
  std::vector<ProvenanceRow> rows = std::exchange(rows_, {});
  rows_.reserve(rows.size());  // the next call has as many
  return rows;
}

}  // namespace graphgate::reference
