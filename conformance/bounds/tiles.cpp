#include "conformance/bounds/tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <type_traits>

#include "base/on_threads.h"
#include "base/sha256.h"
#include "conformance/compare/element.h"

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::HostTensor;
using spec::OutputValue;

// How a row-major tensor that begins where its storage does lies by rows: `blocks` times the rows
// of the cut, one behind the other.
struct RowLayout {
  std::int64_t blocks = 1;
  std::int64_t bytes = 0;  // of a block
  friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

RowLayout layout_of(const HostTensor& tensor, const RowPlace& place) {
  RowLayout layout;
  for (std::int64_t d = 0; d < place.dim; ++d) {
    layout.blocks *= tensor.sizes[static_cast<std::size_t>(d)];
  }
  const std::int64_t elements = spec::element_count(tensor.sizes);
  layout.bytes =
      elements / std::max<std::int64_t>(layout.blocks, 1) * spec::item_size_bytes(tensor.dtype);
  return layout;
}

// Rows of tensors, copied into storages that have no others: who runs on them keeps no more.
// Tensors over one storage stay over one.
class RowCopies {
 public:
  // Of so many in all.
  RowCopies(std::int64_t first, std::int64_t count, std::int64_t rows)
      : first_(first), count_(count), rows_(rows) {}

  // Of a row-major tensor that begins where its storage does.
  HostTensor operator()(const HostTensor& tensor, const RowPlace& place) {
    auto& storage = copies_[tensor.storage.get()];
    if (!storage) {
      const RowLayout layout = layout_of(tensor, place);
      const std::int64_t row = layout.bytes / place.size(rows_);  // of the tensor's own
      const std::int64_t bytes = row * place.size(count_);
      storage = std::make_shared<spec::HostStorage>();
      storage->bytes.reserve(static_cast<std::size_t>(layout.blocks * bytes));
      for (std::int64_t block = 0; block < layout.blocks; ++block) {
        const auto from =
            tensor.storage->bytes.begin() + block * layout.bytes + row * place.size(first_);
        storage->bytes.insert(storage->bytes.end(), from, from + bytes);
      }
    }
    HostTensor part = tensor;
    part.sizes[static_cast<std::size_t>(place.dim)] = place.size(count_);
    part.strides = spec::contiguous_strides(part.sizes);
    part.storage = storage;
    return part;
  }

 private:
  std::int64_t first_;
  std::int64_t count_;
  std::int64_t rows_;
  std::map<const spec::HostStorage*, std::shared_ptr<spec::HostStorage>> copies_;
};

// A part of a call, as if it were a call of its own.
struct Tile {
  std::int64_t first = 0;
  std::int64_t count = 0;
  Script script;
  Trace subject;
  ExpectedCall expected;
};

}  // namespace

// What one tile came to.
struct JudgedTile {
  EstimatedCall judged;
  std::vector<OpenElements> open;
  std::vector<Geometry> outputs;  // the oracle's
};

namespace {

// Digests of bytes. Those of storages that all tiles share, as of weights, are made once.
class Digests {
 public:
  // The tensor's storage outlives the digests. To be called before there are several threads.
  void keep(const HostTensor& tensor) { kept_.try_emplace(tensor.storage.get()); }

  [[nodiscard]] std::string of(const spec::HostStorage& storage) {
    const auto kept = kept_.find(&storage);
    if (kept == kept_.end()) return made(storage);
    Kept& one = kept->second;
    std::call_once(one.once, [&] { one.digest = made(storage); });
    return one.digest;
  }

 private:
  struct Kept {
    std::once_flag once;
    std::string digest;
  };
  static std::string made(const spec::HostStorage& storage) {
    return sha256_hex({reinterpret_cast<const char*>(storage.bytes.data()), storage.bytes.size()});
  }

  std::map<const spec::HostStorage*, Kept> kept_;
};

// All that a verdict on a tile depends on, as text: the oracle's options, the program, and forms,
// sharing and bits of what went in and came out. Bits stand there as digests.
class TileText {
 public:
  TileText(const JudgeOptions& options, Digests& digests) : digests_(digests) {
    add(options.multiple.value_or(0));
    add(options.false_alarm_rate);
    add(options.outputs);
    add(options.layouts);
    add(options.lists_changed_inputs);
    add(options.functionalized);
  }

  template <class Number>
  void add(const Number& number) requires std::is_arithmetic_v<Number> {
    if constexpr (std::is_same_v<Number, double>) {
      return add(std::bit_cast<std::uint64_t>(number));
    } else {
      text_ += std::to_string(number) + " ";
    }
  }
  void add(const Configuration& configuration) {
    for (const auto& [name, value] : configuration) {
      text_.append(name).append("=").append(value).append("\n");
    }
  }
  void add(const std::string& word) { text_ += word + "\n"; }
  void add(const HostTensor& tensor) {
    text_ += std::string(spec::torch_name(tensor.dtype)) + tensor.device.type;
    for (const std::int64_t size : tensor.sizes) add(size);
    text_ += "by ";
    for (const std::int64_t stride : tensor.strides) add(stride);
    add(tensor.storage_offset);
    const auto [at, is_new] = storages_.emplace(tensor.storage.get(), storages_.size());
    add(at->second);
    if (is_new) text_ += digests_.of(*tensor.storage);
  }
  template <class... Kinds>
  void add(const std::variant<Kinds...>& value) {
    if (const auto* tensor = std::get_if<HostTensor>(&value)) return add(*tensor);
    std::visit(
        [&]<class Kind>(const Kind& one) {
          if constexpr (std::is_arithmetic_v<Kind>) add(one);
        },
        value);
    add(value.index());
  }
  template <class Value>
  void add(const std::vector<Value>& values) {
    add(values.size());
    for (const Value& value : values) add(value);
  }
  template <class Key>
  void add(const std::map<Key, HostTensor>& tensors) {
    for (const auto& [key, tensor] : tensors) {
      add(key);
      add(tensor);
    }
    text_ += '\n';
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  Digests& digests_;
  std::string text_;
  std::map<const spec::HostStorage*, std::size_t> storages_;
};

}  // namespace

class PassedTiles {
 public:
  [[nodiscard]] std::optional<JudgedTile> find(const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto found = tiles_.find(text);
    return found == tiles_.end() ? std::nullopt : std::optional(found->second);
  }
  // The program lives on: no other one comes to lie where it does, which is what stands in texts.
  void add(std::string text, std::shared_ptr<const spec::Program> program, JudgedTile tile) {
    const std::lock_guard lock(mutex_);
    programs_.insert(std::move(program));
    tiles_.emplace(std::move(text), std::move(tile));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, JudgedTile> tiles_;
  std::set<std::shared_ptr<const spec::Program>> programs_;
};

namespace {

class TileJudge {
 public:
  TileJudge(Runs& runs, const Trace& subject, std::size_t index, const ExpectedCall& expected,
            const JudgeOptions& options, const TileOptions& tiles, RowCut cut)
      : runs_(runs),
        subject_(subject),
        record_(subject.calls[index]),
        expected_(expected),
        options_(options),
        tiles_(tiles),
        cut_(std::move(cut)),
        program_(*runs.script().programs[record_.program]) {
    for (const HostTensor& state : record_.result.final_states) digests_.keep(state);
    for (std::size_t k = 0; k < std::min(cut_.inputs.size(), record_.inputs.size()); ++k) {
      const auto* whole = std::get_if<HostTensor>(&record_.inputs[k]);
      if (whole && !cut_.inputs[k]) digests_.keep(*whole);
    }
  }

  Result<TiledCall> run() {
    GRAPHGATE_TRY_VOID(check_forms());
    if (const auto as_given = left_as_given()) return *as_given;
    const std::int64_t wanted =
        tiles_.elements / std::max<std::int64_t>(cut_.elements / cut_.rows, 1);
    const std::int64_t least = 2 * cut_.granule;
    const std::int64_t rows =
        std::clamp(wanted - wanted % cut_.granule, std::min(least, cut_.rows), cut_.rows);
    // The last tile has more rows rather than too few alone.
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(cut_.rows / rows, 1));
    first_rows_ = rows;
    last_rows_ = cut_.rows - static_cast<std::int64_t>(count - 1) * rows;
    first_program_ = part_of_program(first_rows_);
    last_program_ = part_of_program(last_rows_);
    with_multiple_ = options_for_tiles();
    std::vector<std::optional<Result<JudgedTile>>> judged(count);
    on_threads(count, tiles_.jobs, [&](std::size_t i) {
      judged[i] = judge(i, i + 1 == count ? last_rows_ : first_rows_);
    });
    TiledCall out;
    for (std::size_t i = 0; i < count; ++i) {
      GRAPHGATE_TRY(JudgedTile tile, std::move(*judged[i]));
      GRAPHGATE_TRY_VOID(add(tile, i, out));
    }
    add_whole(out);
    return out;
  }

 private:
  static Error no(const std::string& why) { return unsupported("judged as a whole: " + why); }

  // The results have the rows that the inputs have, and nothing lies over another part of a
  // storage.
  [[nodiscard]] Result<void> check_forms() const {
    const CallResult& result = record_.result;
    if (result.final_inputs.size() != record_.inputs.size()) return no("inputs are missing");
    for (std::size_t i = 0; i < record_.inputs.size(); ++i) {
      if (!cut_.inputs[i]) continue;
      const auto* given = std::get_if<HostTensor>(&record_.inputs[i]);
      const auto* after = std::get_if<HostTensor>(&result.final_inputs[i]);
      if (!given || !after || given->sizes != after->sizes) return no("an input has other sizes");
    }
    if (options_.outputs) GRAPHGATE_TRY_VOID(check_outputs());
    return check_storages();
  }

  // The call where nothing is looked at but inputs, and all are as they were given: nothing that is
  // cut is written, so no oracle has to say so.
  [[nodiscard]] std::optional<TiledCall> left_as_given() const {
    const CallResult& result = record_.result;
    if (options_.outputs || !result.final_states.empty() || !expected_.final_inputs.empty()) {
      return std::nullopt;
    }
    TiledCall out;
    for (std::size_t i = 0; i < record_.inputs.size(); ++i) {
      const auto* given = std::get_if<HostTensor>(&record_.inputs[i]);
      if (!given) continue;
      const auto* after = std::get_if<HostTensor>(&result.final_inputs[i]);
      const bool is_same = after && given->strides == after->strides &&
                           given->storage_offset == after->storage_offset &&
                           given->device.type == after->device.type &&
                           same_elements(*given, *after);
      if (!is_same) return std::nullopt;
      out.judged.call.elements +=
          spec::element_count(given->sizes) * static_cast<std::int64_t>(parts_of(given->dtype));
    }
    return out;
  }

  [[nodiscard]] Result<void> check_outputs() const {
    const CallResult& result = record_.result;
    if (result.outputs.size() != program_.outputs.size()) {
      return no("an output has not the rows of the inputs");
    }
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      const auto* tensor = std::get_if<HostTensor>(&result.outputs[i]);
      if (!tensor || !has_rows(*tensor, cut_.outputs[i])) {
        return no("an output has not the rows of the inputs");
      }
    }
    const bool is_recorded = !expected_.outputs.empty();
    if (is_recorded && expected_.outputs.size() != result.outputs.size()) {
      return no("a recorded output has not the rows of the inputs");
    }
    for (std::size_t i = 0; i < expected_.outputs.size(); ++i) {
      const auto* tensor = std::get_if<HostTensor>(&expected_.outputs[i]);
      const bool is_left_out =
          expected_.is_partial && std::holds_alternative<spec::None>(expected_.outputs[i]);
      if (!is_left_out && (!tensor || !has_rows(*tensor, cut_.outputs[i]))) {
        return no("a recorded output has not the rows of the inputs");
      }
    }
    for (const auto& [i, tensor] : expected_.final_inputs) {
      if (i >= cut_.inputs.size()) return no("a recorded input is none");
      if (cut_.inputs[i] && !has_rows(tensor, *cut_.inputs[i])) {
        return no("a recorded input has not the rows of the inputs");
      }
    }
    return {};
  }

  [[nodiscard]] bool has_rows(const HostTensor& tensor, const RowPlace& place) const {
    return std::ssize(tensor.sizes) > place.dim &&
           tensor.sizes[static_cast<std::size_t>(place.dim)] == place.size(cut_.rows);
  }

  // What is cut is row-major, from the start of its storage on, where nothing else has other rows.
  [[nodiscard]] Result<void> check_storages() const {
    std::map<const spec::HostStorage*, RowLayout> rows;
    bool is_plain = true;
    const auto add_cut = [&](const HostTensor& tensor, const RowPlace& place) {
      const RowLayout layout = layout_of(tensor, place);
      is_plain = is_plain && tensor.storage_offset == 0 &&
                 tensor.strides == spec::contiguous_strides(tensor.sizes) &&
                 rows.emplace(tensor.storage.get(), layout).first->second == layout;
    };
    for_each_tensor([&](const HostTensor& tensor, const std::optional<RowPlace>& place) {
      if (place) add_cut(tensor, *place);
    });
    if (!is_plain) return no("a tensor is not row-major, or begins within its storage");
    for_each_tensor([&](const HostTensor& tensor, const std::optional<RowPlace>& place) {
      is_plain = is_plain && (place || !rows.contains(tensor.storage.get()));
    });
    if (!is_plain) return no("a storage has rows and something else");
    return {};
  }

  // Calls visit(tensor, place) for all that a tile is made of.
  template <class Visit>
  void for_each_tensor(const Visit& visit) const {
    const auto visit_values = [&](const auto& values, const auto& places) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (const auto* tensor = std::get_if<HostTensor>(&values[i])) visit(*tensor, places[i]);
      }
    };
    visit_values(record_.inputs, cut_.inputs);
    visit_values(record_.result.final_inputs, cut_.inputs);
    for (const auto& [i, tensor] : expected_.final_inputs) visit(tensor, cut_.inputs[i]);
    for (const HostTensor& state : record_.result.final_states) visit(state, std::nullopt);
    if (!options_.outputs) return;
    visit_values(record_.result.outputs, cut_.outputs);
    visit_values(expected_.outputs, cut_.outputs);
  }

  // Without outputs, nothing that the nodes make is looked at; and they write nothing.
  [[nodiscard]] std::shared_ptr<const spec::Program> part_of_program(std::int64_t rows) const {
    spec::Program part = program_of_rows(program_, cut_, rows);
    if (!options_.outputs) {
      part.graph.nodes.clear();
      part.graph.outputs.clear();
      part.outputs.clear();
    }
    return std::make_shared<const spec::Program>(std::move(part));
  }

  // Values are judged tile by tile, and what is said of whole tensors once (add_whole).
  [[nodiscard]] JudgeOptions options_for_tiles() const {
    JudgeOptions options = options_;
    std::int64_t elements = 0;
    if (options_.outputs) {
      for (const OutputValue& output : record_.result.outputs) {
        elements += spec::element_count(std::get<HostTensor>(output).sizes);
      }
    }
    for (const spec::InputValue& input : record_.result.final_inputs) {
      const auto* tensor = std::get_if<HostTensor>(&input);
      elements += tensor ? spec::element_count(tensor->sizes) : 0;
    }
    for (const HostTensor& state : record_.result.final_states) {
      elements += spec::element_count(state.sizes);
    }
    options.multiple =
        options_.multiple.value_or(sigma_multiple(elements, options_.false_alarm_rate));
    options.layouts = false;
    options.lists_changed_inputs = false;
    return options;
  }

  [[nodiscard]] Tile tile_of(std::size_t i, std::int64_t count) const {
    Tile tile;
    tile.first = static_cast<std::int64_t>(i) * first_rows_;
    tile.count = count;
    RowCopies part(tile.first, count, cut_.rows);
    CallRecord record = record_;
    record.step = 0;
    record.program = 0;
    record.plan = nullptr;
    record.result.findings.clear();
    record.result.provenance.clear();
    for (std::size_t k = 0; k < cut_.inputs.size(); ++k) {
      if (!cut_.inputs[k]) continue;
      for (spec::InputValue* value : {&record.inputs[k], &record.result.final_inputs[k]}) {
        *value = part(std::get<HostTensor>(*value), *cut_.inputs[k]);
      }
    }
    if (!options_.outputs) record.result.outputs.clear();
    for (std::size_t k = 0; k < record.result.outputs.size(); ++k) {
      OutputValue& output = record.result.outputs[k];
      output = part(std::get<HostTensor>(output), cut_.outputs[k]);
    }
    tile.expected.is_partial = expected_.is_partial;
    tile.expected.inputs = record.inputs;
    tile.expected.outputs = expected_.outputs;
    for (std::size_t k = 0; k < tile.expected.outputs.size(); ++k) {
      OutputValue& output = tile.expected.outputs[k];
      const auto* tensor = std::get_if<HostTensor>(&output);
      if (tensor) output = part(*tensor, cut_.outputs[k]);
    }
    tile.expected.final_inputs = expected_.final_inputs;
    for (auto& [k, tensor] : tile.expected.final_inputs) {
      if (cut_.inputs[k]) tensor = part(tensor, *cut_.inputs[k]);
    }
    tile.expected.final_states = expected_.final_states;
    tile.script = {runs_.script().name, runs_.script().ops, {}, {}, runs_.script().options, {}};
    tile.script.programs = {count == first_rows_ ? first_program_ : last_program_};
    ScriptCall call;
    call.inputs = record.inputs;
    tile.script.steps.emplace_back(std::move(call));
    tile.subject.executor = subject_.executor;
    tile.subject.configuration = subject_.configuration;
    tile.subject.is_loaded = true;
    tile.subject.calls.push_back(std::move(record));
    return tile;
  }

  [[nodiscard]] Result<JudgedTile> judge(std::size_t i, std::int64_t count) const {
    const Tile tile = tile_of(i, count);
    std::string text;
    if (tiles_.passed) {
      text = text_of(tile);
      if (auto known = tiles_.passed->find(text)) return std::move(*known);
    }
    Runs runs = runs_.on(tile.script);
    runs.provide(tile.subject);
    GRAPHGATE_TRY(const Trace* const oracle, runs.oracle("sampled"));
    if (oracle->error || oracle->calls.size() != 1) return no("the oracle does not run a part");
    JudgedTile out;
    GRAPHGATE_TRY(out.judged,
                  judge_by_estimate(runs, tile.subject, 0, tile.expected, with_multiple_));
    if (out.judged.call.has_blind_tensor) return no("the oracle knows nothing of a part");
    const CallResult& known = oracle->calls.front().result;
    for (std::size_t k = 0; k < known.outputs.size(); ++k) {
      const auto* tensor = std::get_if<HostTensor>(&known.outputs[k]);
      if (!tensor) return no("an output is no tensor");
      if (tensor->strides != spec::contiguous_strides(tensor->sizes)) {
        return no("an output is not row-major");
      }
      out.outputs.push_back(geometry_of(*tensor));
      note_open(tile, "output " + std::to_string(k), known.output_spreads[k], tensor,
                cut_.outputs[k], out.open);
    }
    for (std::size_t k = 0; k < known.final_input_spreads.size(); ++k) {
      note_open(tile, "final input " + std::to_string(k), known.final_input_spreads[k],
                std::get_if<HostTensor>(&known.final_inputs[k]), cut_.inputs[k], out.open);
    }
    const bool is_passed = out.judged.call.differences.empty() && out.judged.explained == 0;
    if (tiles_.passed && is_passed) {
      tiles_.passed->add(std::move(text), runs_.script().programs[record_.program], out);
    }
    return out;
  }

  [[nodiscard]] std::string text_of(const Tile& tile) const {
    TileText text(with_multiple_, digests_);
    text.add(runs_.oracle_configuration("sampled"));
    text.add(reinterpret_cast<std::uintptr_t>(&program_));
    text.add(tile.first);
    text.add(tile.count);
    const CallRecord& record = tile.subject.calls.front();
    text.add(record.inputs);
    text.add(record.result.outputs);
    text.add(record.result.final_inputs);
    text.add(record.result.final_states);
    for (const std::string& target : record.result.state_targets) text.add(target);
    text.add(tile.expected.is_partial ? 1 : 0);
    text.add(tile.expected.outputs);
    text.add(tile.expected.final_inputs);
    text.add(tile.expected.final_states);
    return text.take();
  }

  void note_open(const Tile& tile, std::string where, const spec::Spread& spread,
                 const HostTensor* tensor, const std::optional<RowPlace>& place,
                 std::vector<OpenElements>& open) const {
    const auto is_open = [](double radius) { return std::isinf(radius); };
    const auto first = std::ranges::find_if(spread.radii, is_open);
    const std::int64_t number = first - spread.radii.begin();
    OpenElements found{std::move(where), std::count_if(first, spread.radii.end(), is_open), number,
                       std::ssize(spread.radii)};
    if (tensor && place && found.elements > 0) {
      // Blocks of the tile's rows lie one behind the other; of the whole, other rows between them.
      const std::int64_t block = found.elements / layout_of(*tensor, *place).blocks;
      const std::int64_t row = block / place->size(tile.count);
      found.first = number / block * row * place->size(cut_.rows) + row * place->size(tile.first) +
                    number % block;
      found.elements = found.elements / block * row * place->size(cut_.rows);
    }
    open.push_back(std::move(found));
  }

  Result<void> add(JudgedTile& tile, std::size_t i, TiledCall& out) {
    if (i == 0) {
      outputs_ = tile.outputs;
      out.open = tile.open;
    } else {
      for (std::size_t k = 0; k < out.open.size(); ++k) {
        OpenElements& whole = out.open[k];
        const OpenElements& part = tile.open[k];
        if (part.count > 0) {
          whole.first = whole.count > 0 ? std::min(whole.first, part.first) : part.first;
        }
        whole.count += part.count;
      }
    }
    CallReport& whole = out.judged.call;
    const CallReport& part = tile.judged.call;
    whole.elements += part.elements - (i == 0 ? 0 : uncut_elements());
    whole.undecided += part.undecided;
    if (part.worst_ratio > whole.worst_ratio) {
      whole.worst_ratio = part.worst_ratio;
      whole.worst_error = part.worst_error;
      whole.worst_allowed = part.worst_allowed;
    }
    out.judged.explained += tile.judged.explained;
    const std::int64_t first = static_cast<std::int64_t>(i) * first_rows_;
    for (std::size_t k = 0; k < part.differences.size(); ++k) {
      const Difference& found = part.differences[k];
      const auto same = std::ranges::find_if(whole.differences, [&](const Difference& other) {
        return other.subject == found.subject && other.where == found.where &&
               other.kind == found.kind;
      });
      if (same != whole.differences.end()) {
        const auto at = static_cast<std::size_t>(same - whole.differences.begin());
        if (!tile.judged.is_proved[k] || out.judged.is_proved[at]) continue;
        whole.differences.erase(same);
        out.judged.is_proved.erase(out.judged.is_proved.begin() + static_cast<std::ptrdiff_t>(at));
      }
      whole.differences.push_back(found);
      const bool is_of_rows =
          found.kind == Difference::Kind::kNumber || found.kind == Difference::Kind::kExact;
      if (is_of_rows) {
        whole.differences.back().message = begin_of(found.where, first) + found.message;
      }
      out.judged.is_proved.push_back(tile.judged.is_proved[k]);
    }
    return {};
  }

  // What a message about elements of a tile begins with. It is about an output or a final input.
  [[nodiscard]] std::string begin_of(const std::string& where, std::int64_t first) const {
    RowPlace place;
    for (std::size_t i = 0; i < cut_.outputs.size(); ++i) {
      if (where == "output " + std::to_string(i)) place = cut_.outputs[i];
    }
    for (std::size_t i = 0; i < cut_.inputs.size(); ++i) {
      const bool is_it = where == "final input " + std::to_string(i);
      if (is_it) place = cut_.inputs[i].value_or(place);
    }
    const std::string from = std::to_string(place.size(first)) + " on";
    const std::string rows =
        place.dim == 0 ? "rows from " + from
                       : "indices of dimension " + std::to_string(place.dim) + " from " + from;
    return "of " + rows + ", counted from there: ";
  }

  // Counts what all tiles have looked at.
  [[nodiscard]] std::int64_t uncut_elements() const {
    std::int64_t elements = 0;
    for (const HostTensor& state : record_.result.final_states) {
      elements += spec::element_count(state.sizes);
    }
    for (const auto& entry : expected_.final_states) {
      elements += spec::element_count(entry.second.sizes);
    }
    for (std::size_t i = 0; i < cut_.inputs.size(); ++i) {
      const auto* tensor = std::get_if<HostTensor>(&record_.result.final_inputs[i]);
      if (cut_.inputs[i] || !tensor) continue;
      const bool is_recorded = expected_.final_inputs.contains(i);
      elements += (is_recorded ? 2 : 1) * spec::element_count(tensor->sizes);
    }
    return elements;
  }

  // Strides and offsets, and what the recording says of whole tensors. An output that is row-major
  // in a tile is so as a whole.
  void add_whole(TiledCall& out) {
    const auto add = [&](Difference difference) {
      out.judged.call.differences.push_back(std::move(difference));
      out.judged.is_proved.push_back(true);
    };
    for (std::size_t i = 0; options_.layouts && i < outputs_.size(); ++i) {
      const auto& tensor = std::get<HostTensor>(record_.result.outputs[i]);
      Geometry whole = outputs_[i];
      whole.sizes[static_cast<std::size_t>(cut_.outputs[i].dim)] = cut_.outputs[i].size(cut_.rows);
      whole.strides = spec::contiguous_strides(whole.sizes);
      const std::string layout = compare_layout(tensor, whole);
      if (layout.empty()) continue;
      add({subject_.executor, "output " + std::to_string(i), layout + " (the oracle's)",
           Difference::Kind::kLayout});
    }
    if (!options_.outputs) return;
    CallReport form = judge_recorded_form(subject_.executor, record_.result, expected_, options_);
    for (Difference& difference : form.differences) add(std::move(difference));
  }

  Runs& runs_;
  const Trace& subject_;
  const CallRecord& record_;
  const ExpectedCall& expected_;
  const JudgeOptions& options_;
  const TileOptions& tiles_;
  const RowCut cut_;
  const spec::Program& program_;
  std::int64_t first_rows_ = 0;  // of every tile but the last
  std::int64_t last_rows_ = 0;
  std::shared_ptr<const spec::Program> first_program_;
  std::shared_ptr<const spec::Program> last_program_;
  JudgeOptions with_multiple_;
  mutable Digests digests_;
  std::vector<Geometry> outputs_;  // the oracle's, of a tile
};

// A script of calls alone, which no oracle has to be guided through.
bool is_calls_alone(const Script& script) {
  return std::ranges::all_of(script.steps, [](const ScriptStep& step) {
    return std::holds_alternative<ScriptCall>(step);
  });
}

}  // namespace

std::shared_ptr<PassedTiles> no_passed_tiles() { return std::make_shared<PassedTiles>(); }

Result<TiledCall> judge_by_tiles(Runs& runs, const Trace& subject, std::size_t index,
                                 const ExpectedCall& expected, const JudgeOptions& options,
                                 const TileOptions& tiles) {
  const Script& script = runs.script();
  if (!is_calls_alone(script)) return unsupported("judged as a whole: calls depend on each other");
  const CallRecord& record = subject.calls[index];
  std::int64_t elements = 0;
  for (const spec::InputValue& input : record.inputs) {
    const auto* tensor = std::get_if<HostTensor>(&input);
    elements += tensor ? spec::element_count(tensor->sizes) : 0;
  }
  for (const OutputValue& output : record.result.outputs) {
    const auto* tensor = std::get_if<HostTensor>(&output);
    elements += tensor ? spec::element_count(tensor->sizes) : 0;
  }
  if (elements <= 2 * tiles.elements) return unsupported("judged as a whole: it is small");
  GRAPHGATE_TRY(RowCut cut, find_row_cut(*script.programs[record.program], *script.ops,
                                         record.inputs, elements / tiles.elements + 1));
  if (cut.parts() < 2) return unsupported("judged as a whole: there are few rows");
  cut.elements = elements;
  return TileJudge(runs, subject, index, expected, options, tiles, std::move(cut)).run();
}

}  // namespace graphgate::conformance
