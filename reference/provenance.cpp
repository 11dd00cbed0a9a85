#include "reference/provenance.h"

#include <algorithm>

#include "reference/movement.h"
#include "reference/provenance_ops.h"
#include "spec/provenance_words.h"

namespace graphgate::reference {
namespace {

using spec::ProvenanceRow;
using spec::ProvenanceWord;

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset &&
         a.sizes == b.sizes && a.strides == b.strides;
}

const std::string kNoName;

// The name of the k-th tensor that a node gives for an argument of its op; empty if it has none.
const std::string& operand_name(const spec::Node& node, const spec::Graph& graph,
                                const std::string& argument, std::size_t k) {
  const std::string* name = &kNoName;
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.name != argument) continue;
    for_each_value(named.argument, [&](spec::ValueId id) {
      const spec::Value& value = graph.value(id);
      if (value.kind == spec::ValueKind::kTensor && k-- == 0) name = &value.name;
    });
  }
  return *name;
}

// The name of a node's k-th result, lists unpacked; empty if it has none.
const std::string& result_name(const spec::Node& node, const spec::Graph& graph, std::size_t k) {
  for (const spec::NodeResult& result : node.results) {
    if (k < result.values.size()) return graph.value(result.values[k]).name;
    k -= result.values.size();
  }
  return kNoName;
}

std::string port_text(Port port, std::size_t number) {
  constexpr std::string_view kTexts[] = {"operand ", "result ", "written "};
  std::string text(kTexts[static_cast<std::size_t>(port)]);
  return text += std::to_string(number);
}

}  // namespace

Provenance::Known& Provenance::known(const std::shared_ptr<Storage>& storage) {
  if (last_known_ && last_known_->storage == storage) return *last_known_;
  Known& known = storages_[storage.get()];
  if (!known.storage) known.storage = storage;
  last_known_ = &known;
  return known;
}

Cells& Provenance::cells_of(const std::shared_ptr<Storage>& storage) {
  Cells& cells = known(storage).cells;
  cells.resize(static_cast<std::size_t>(storage->size_bytes()));
  return cells;
}

const WordRule& Provenance::rule_of(const spec::OpRow& row) {
  return rules_.try_emplace(&row, row).first->second;
}

namespace {

// Whether all that an op is given beside tensors stands in the node itself.
bool has_fixed_arguments(const WordRule& rule, const spec::Node& node, const spec::Graph& graph) {
  if (rule.op != node.op) return false;  // run by a higher-order node
  bool is_fixed = true;
  spec::for_each_operand(node, [&](spec::ValueId id) {
    is_fixed = is_fixed && graph.value(id).kind == spec::ValueKind::kTensor;
  });
  return is_fixed;
}

}  // namespace

const Provenance::KnownNode& Provenance::known_node(const spec::OpRow& row, const spec::Node& node,
                                                    const spec::Graph& graph,
                                                    const std::vector<Datum>& arguments) {
  KnownNode& known = nodes_[&node];
  if (known.row == &row) return known;
  known = {&row, &rule_of(row), std::nullopt};
  if (keeps_words_ && has_fixed_arguments(*known.rule, node, graph)) {
    known.key = key_of(row, *known.rule, arguments);
  }
  return known;
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
  const auto found = storages_.find(&original);
  if (found == storages_.end()) return;
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

ProvenanceRow& Provenance::add_row(const Tensor& tensor, std::string_view port) {
  std::optional<std::uint32_t>& number = known(tensor.storage).number;
  if (!number) number = next_number_++;
  ProvenanceRow& row = rows_.emplace_back();
  row.port = port;
  row.storage = *number;
  row.dtype = tensor.dtype;
  row.sizes = tensor.sizes;
  row.strides = tensor.strides;
  row.storage_offset = tensor.offset;
  return row;
}

namespace {

using Operation = Provenance::Operation;

// The operand that lies in the tensor's storage; of several one that the op writes.
std::optional<std::size_t> operand_over(const Operation& operation, const Tensor& tensor) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < operation.operands.size(); ++k) {
    const WordOperand& operand = operation.operands[k];
    if (operand.tensor->storage != tensor.storage) continue;
    const bool is_better = operation.row.writes(operand.argument) || !found;
    if (is_better) found = k;
  }
  return found;
}

// Appends a result, or the elements of a list of them. A number or None keeps its place, empty.
void append_result(const Datum& result, std::vector<TensorRef>& made) {
  if (const auto* list = result.as<Datum::List>()) {
    for (const Datum& element : *list) append_result(element, made);
    return;
  }
  const auto* tensor = result.as<TensorRef>();
  made.push_back(tensor ? *tensor : nullptr);
}

// What the op has made and written: results that are new or written operands (a view makes no
// words), then written operands that are no results.
std::vector<WordTarget> targets_of(const Operation& operation, const std::vector<TensorRef>& made) {
  std::vector<WordTarget> targets;
  targets.reserve(made.size() + operation.operands.size());
  for (std::size_t r = 0; r < made.size(); ++r) {
    if (!made[r]) continue;
    const auto over = operand_over(operation, *made[r]);
    if (over && !operation.row.writes(operation.operands[*over].argument)) continue;
    targets.push_back({r, over, made[r]});
  }
  for (std::size_t k = 0; k < operation.operands.size(); ++k) {
    if (!operation.row.writes(operation.operands[k].argument)) continue;
    const bool is_there =
        std::any_of(targets.begin(), targets.end(),
                    [&](const WordTarget& target) { return target.written == k; });
    if (!is_there) targets.push_back({std::nullopt, k, operation.operands[k].object});
  }
  return targets;
}

// A tensor, or those of a list, with a storage of its own.
Datum copy_of_datum(const Datum& datum) {
  if (const auto* tensor = datum.as<TensorRef>()) return {copy_of(**tensor)};
  const auto* list = datum.as<Datum::List>();
  if (!list) return datum;
  Datum::List copies;
  for (const Datum& element : *list) copies.push_back(copy_of_datum(element));
  return {std::move(copies)};
}

}  // namespace

void Provenance::add_row_of(const Operation& operation, const Tensor& tensor, Port port,
                            std::size_t number, const std::string& value, SharedWords words) {
  ProvenanceRow& row = add_row(tensor, port_text(port, number));
  row.node = operation.node.name;
  row.op = operation.rule.op;
  row.value = value;
  row.words = std::move(words);
}

Provenance::Operation Provenance::before_op(const spec::OpRow& row, Body body,
                                            const std::vector<Datum>& arguments,
                                            const spec::Node& node, const spec::Graph& graph) {
  const KnownNode& known = known_node(row, node, graph, arguments);
  const WordRule& rule = *known.rule;
  Operation operation{row, rule, 0, body, node, graph, arguments, {}, {}};
  if (keeps_words_) operation.key = known.key ? *known.key : key_of(row, rule, arguments);
  operation.operands.reserve(arguments.size());
  const bool moves_nothing = row.effects.is_view && !rule.moves_words(arguments);
  // One tensor may be given twice, read and written.
  const bool may_change = row.effects.mutates() || !row.undeclared_writes.empty();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::size_t given = 0;
    for_each_tensor(arguments[i], [&](const TensorRef& tensor) {
      const SharedWords words = moves_nothing ? SharedWords() : read(*tensor);
      const std::string& name = operand_name(node, graph, row.schema.arguments[i].name, given++);
      add_row_of(operation, *tensor, Port::kOperand, operation.operands.size(), name, words);
      operation.operands.push_back(
          {i, may_change ? std::make_shared<Tensor>(*tensor) : tensor, words, tensor, &name});
    });
  }
  const bool may_overwrite = row.effects.mutates() && rule.moves_words(arguments);
  if (!keeps_words_ || !may_overwrite) return operation;
  // Indices and masks, as the op reads them.
  operation.copies.reserve(arguments.size());
  for (const Datum& datum : arguments) operation.copies.push_back(copy_of_datum(datum));
  return operation;
}

void Provenance::after_op(const Operation& operation, const std::vector<Datum>& results) {
  const auto& [row, rule, key, body, node, graph, arguments, copies, operands] = operation;
  std::vector<TensorRef> made;
  made.reserve(results.size());
  for (const Datum& result : results) append_result(result, made);
  const std::vector<WordTarget> targets =
      rule.moves_geometry ? std::vector<WordTarget>() : targets_of(operation, made);
  SharedWords alone;  // of the only target
  if (keeps_words_ && !rule.leaves_unwritten) {
    const std::vector<Datum>& seen = copies.empty() ? arguments : copies;
    const WordCall call{row, rule, body, seen, operands, key, spec::provenance_tag(node.name)};
    auto words = words_after(call, targets, origins_);
    for (std::size_t t = 0; t < words.size(); ++t) write(*targets[t].tensor, words[t]);
    if (words.size() == 1) alone = std::move(words.front());
  }
  const auto words_now = [&](const Tensor& tensor) {
    const bool is_target = !alone.empty() && same_elements(tensor, *targets[0].tensor);
    return is_target ? alone : read(tensor);
  };
  for (std::size_t r = 0; r < made.size(); ++r) {
    if (!made[r]) continue;
    const bool has_made =
        std::any_of(targets.begin(), targets.end(),
                    [&, r = r](const WordTarget& target) { return target.result == r; });
    add_row_of(operation, *made[r], Port::kResult, r, result_name(node, graph, r),
               has_made ? words_now(*made[r]) : SharedWords());
  }
  for (std::size_t k = 0; k < operands.size() && !rule.moves_geometry; ++k) {
    if (!row.writes(operands[k].argument)) continue;
    const Tensor& written = *operands[k].object;
    add_row_of(operation, written, Port::kWritten, k, *operands[k].name, words_now(written));
  }
}

void Provenance::note_end(std::string_view port, const Tensor& tensor) {
  add_row(tensor, port).words = read(tensor);
}

std::vector<ProvenanceRow> Provenance::take_rows() {
  std::vector<ProvenanceRow> rows = std::exchange(rows_, {});
  rows_.reserve(rows.size());  // the next call has as many
  forget_rows();
  return rows;
}

void Provenance::forget_rows() {
  rows_.clear();
  next_number_ = 0;
  last_known_ = nullptr;
  std::erase_if(storages_, [](const auto& entry) { return entry.second.storage.use_count() == 1; });
  for (auto& [address, known] : storages_) known.number.reset();
}

}  // namespace graphgate::reference
