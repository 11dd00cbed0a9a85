#include "reference/provenance.h"

#include <algorithm>

#include "reference/movement.h"
#include "reference/provenance_ops.h"
#include "spec/provenance_words.h"

namespace graphgate::reference {
namespace {

using spec::ProvenanceRow;
using spec::ProvenanceWord;

template <class Visit>
void for_each_tensor(const Datum& datum, Visit&& visit) {
  if (const auto* tensor = datum.as<TensorRef>()) visit(*tensor);
  if (const auto* list = datum.as<Datum::List>()) {
    for (const Datum& element : *list) for_each_tensor(element, visit);
  }
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset &&
         a.sizes == b.sizes && a.strides == b.strides;
}

// The name of the k-th tensor that a node gives for an argument of its op; empty if it has none.
std::string operand_name(const spec::Node& node, const spec::Graph& graph,
                         const std::string& argument, std::size_t k) {
  std::string name;
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.name != argument) continue;
    for_each_value(named.argument, [&](spec::ValueId id) {
      const spec::Value& value = graph.value(id);
      if (value.kind == spec::ValueKind::kTensor && k-- == 0) name = value.name;
    });
  }
  return name;
}

// The name of a node's k-th result, lists unpacked; empty if it has none.
std::string result_name(const spec::Node& node, const spec::Graph& graph, std::size_t k) {
  for (const spec::NodeResult& result : node.results) {
    if (k < result.values.size()) return graph.value(result.values[k]).name;
    k -= result.values.size();
  }
  return {};
}

}  // namespace

Cells& Provenance::cells_of(const std::shared_ptr<Storage>& storage) {
  Known& known = cells_[storage.get()];
  if (known.storage.lock() != storage) known = {storage, {}};
  known.cells.resize(static_cast<std::size_t>(storage->size_bytes()));
  return known.cells;
}

const WordRule& Provenance::rule_of(const spec::OpRow& row) {
  return rules_.try_emplace(&row, row).first->second;
}

SharedWords Provenance::read(const Tensor& tensor) {
  if (!keeps_words_) return {};
  return cells_of(tensor.storage).read(tensor, origins_);
}

void Provenance::write(const Tensor& tensor, const SharedWords& words) {
  if (keeps_words_) cells_of(tensor.storage).write(tensor, words);
}

void Provenance::begin(const Tensor& tensor, std::string_view kind, std::string_view name,
                       std::uint64_t times) {
  if (!keeps_words_) return;
  const auto bytes = static_cast<std::size_t>(tensor.storage->size_bytes());
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
  const spec::InitialWords initial(kind, name, times);
  Words words((bytes + item - 1) / item);
  std::int64_t position = 0;
  for (ProvenanceWord& word : words) word = initial.at(position++);
  cells_of(tensor.storage).begin(std::move(words), item);
}

void Provenance::duplicate(const Storage& original, const std::shared_ptr<Storage>& copy) {
  const auto found = cells_.find(&original);
  if (found == cells_.end()) return;
  Cells cells = found->second.cells;
  cells_of(copy) = std::move(cells);
}

void Provenance::assign(const Tensor& target, const Tensor& source) {
  if (!keeps_words_) return;
  const SharedWords given = read(source);
  Array<ProvenanceWord> words;
  words.sizes = source.sizes;
  words.data.assign(given.begin(), given.end());
  for (auto& word : words.data) word = origins_.cast(word, source.dtype, target.dtype, 0);
  write(target, broadcast_to(words, target.sizes).data);
}

ProvenanceRow& Provenance::add_row(const Tensor& tensor, std::string port) {
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  const auto [number, is_new] = numbers_.try_emplace(tensor.storage.get(), next);
  if (is_new) numbered_.push_back(tensor.storage);
  ProvenanceRow& row = rows_.emplace_back();
  row.port = std::move(port);
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
    for (std::size_t r = 0; r < made.size(); ++r) add_result(row, r, made[r]);
    add_written(row);
    return made;
  }
  [[nodiscard]] bool has_made(std::size_t result) const {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const WordTarget& target) { return target.result == result; });
  }

 private:
  // A result: new, a written operand, or a view, which makes no words.
  void add_result(const spec::OpRow& row, std::size_t result, const TensorRef& tensor) {
    const auto over = operand_over(*tensor, row);
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
      targets.push_back({std::nullopt, k, tensors[k]});
    }
  }
};

// Indices and masks that the op may overwrite while it uses them.
std::vector<Datum> as_read(const spec::OpRow& row, const WordRule& rule,
                           const std::vector<Datum>& arguments) {
  if (!row.effects.mutates() || !rule.moves_words(arguments)) return arguments;
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
  const WordRule& rule = rule_of(row);
  Operation operation;
  const auto add_row_of = [&](const Tensor& tensor, const char* kind, std::size_t number,
                              std::string value, SharedWords words) {
    ProvenanceRow& made = add_row(tensor, kind + std::to_string(number));
    made.value = std::move(value);
    made.node = node.name;
    made.op = rule.op;
    made.words = std::move(words);
  };
  const bool moves_nothing = row.effects.is_view && !rule.moves_words(arguments);
  std::vector<std::string> names;
  names.reserve(arguments.size());
  operation.tensors.reserve(arguments.size());
  operation.operands.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::size_t given = 0;
    for_each_tensor(arguments[i], [&](const TensorRef& tensor) {
      const SharedWords words = moves_nothing ? SharedWords() : read(*tensor);
      names.push_back(operand_name(node, graph, row.schema.arguments[i].name, given++));
      add_row_of(*tensor, "operand ", operation.operands.size(), names.back(), words);
      operation.tensors.push_back(tensor);
      operation.operands.push_back({i, *tensor, words});
    });
  }
  const std::vector<Datum> before =
      keeps_words_ ? as_read(row, rule, arguments) : std::vector<Datum>();
  std::vector<Datum> results = run(std::move(arguments));
  const std::vector<TensorRef> made = operation.take_results(row, results);
  SharedWords alone;  // of the only target
  if (keeps_words_ && !rule.leaves_unwritten) {
    const WordCall call{
        row, rule, body, before, operation.operands, spec::provenance_tag(node.name)};
    auto words = words_after(call, operation.targets, origins_);
    for (std::size_t t = 0; t < words.size(); ++t) write(*operation.targets[t].tensor, words[t]);
    if (words.size() == 1) alone = std::move(words.front());
  }
  const auto words_now = [&](const Tensor& tensor) {
    const bool is_target = !alone.empty() && same_elements(tensor, *operation.targets[0].tensor);
    return is_target ? alone : read(tensor);
  };
  for (std::size_t r = 0; r < made.size(); ++r) {
    add_row_of(*made[r], "result ", r, result_name(node, graph, r),
               operation.has_made(r) ? words_now(*made[r]) : SharedWords());
  }
  for (std::size_t k = 0; k < names.size() && !row.has_tag("inplace_view"); ++k) {
    if (!row.writes(operation.operands[k].argument)) continue;
    const Tensor& written = *operation.tensors[k];
    add_row_of(written, "written ", k, names[k], words_now(written));
  }
  return results;
}

void Provenance::note_end(std::string port, const Tensor& tensor) {
  add_row(tensor, std::move(port)).words = read(tensor);
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
