#include "fuzz/generate/features.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "fuzz/generate/family.h"
#include "fuzz/generate/functionalized_forms.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

namespace option = spec::option;
using spec::Plan;
using spec::ValueId;

// A feature: its kind in the highest bits, then up to five fields.
enum class Kind : std::uint8_t { kHazard = 1, kOp, kCut, kEdge, kOption, kScenario, kWritten };
constexpr int kKindShift = 28;
constexpr int kFieldBits[] = {10, 7, 4, 4, 3};

std::uint32_t pack(Kind kind, std::array<std::uint32_t, 5> fields) {
  std::uint32_t out = static_cast<std::uint32_t>(kind) << kKindShift;
  int shift = kKindShift;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    shift -= kFieldBits[i];
    out |= std::min(fields[i], (1U << kFieldBits[i]) - 1) << shift;
  }
  return out;
}

std::array<std::uint32_t, 5> unpack(std::uint32_t feature) {
  std::array<std::uint32_t, 5> fields{};
  int shift = kKindShift;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    shift -= kFieldBits[i];
    fields[i] = feature >> shift & ((1U << kFieldBits[i]) - 1);
  }
  return fields;
}

constexpr std::string_view kHazards[] = {"RAW", "WAR", "WAW", "tenants"};
constexpr std::string_view kBetween[] = {
    "the same launch",  "the same partition", "another stream", "captured | captured",
    "captured | eager", "eager | captured",   "eager | eager",  "an arm's edge"};
constexpr std::string_view kPools[] = {"state", "input", "arena", "heap", "caller"};
constexpr std::string_view kRuns[] = {"captured", "eager", "fused", "in an arm"};
// Words of reasons for which partitions are not captured.
constexpr std::string_view kReasons[] = {
    "other",          "split op",    "runs on",           "device copy",
    "reads a scalar", "conditional", "uses an unbacked",  "unbacked symbol",
    "unsafe",         "uses symbol", "nothing to launch", "fewer than"};
constexpr std::string_view kEdges[] = {"inputs", "freed inputs", "outputs", "constants", "symbols"};
constexpr std::string_view kOptions[] = {
    option::kSplitOp, option::kMaxPartition, option::kCutAfter, option::kPartition,
    option::kReorder, option::kMinPartition, option::kMemory, option::kMemoryPool,
    option::kNoInPlace, option::kOutputsApart, option::kNoReuse, option::kCompiler,
    option::kRealize, option::kStreams, option::kCaptureSizes, option::kPadFill, option::kPlansKept,
    option::kMode, option::kNoCapture, option::kWarmUp, option::kNoPass, option::kNoRecompute,
    option::kCache, option::kWeakOutputs, option::kPoison, option::kSharePools,
    option::kPlaceAlignment, option::kStaticInput,
    // since generator 5
    option::kCompileSizes, option::kCompileRange, option::kSizeMultiple, option::kMaxCaptureSize,
    option::kPad, option::kUnalignedOp, option::kUnsafeUnbackedOp, option::kSkipDynamicGraphs,
    // since generator 10
    option::kWrapper, option::kGuards, option::kEncoder, option::kAheadOfTime,
    option::kAttentionSupport, option::kMaxRequests, option::kQueryLength, option::kMaxLoras,
    // since generator 12
    option::kWakesElsewhere, option::kSleepDropsGraphs};
constexpr std::string_view kPlanTraits[] = {"reuse",   "a cut",  "fused steps",  "streams",
                                            "padding", "a heap", "weak outputs", "arms"};
constexpr std::string_view kSteps[] = {"call",  "hold",    "release", "swap-weights", "feed-back",
                                       "check", "restart", "static",  "sleep",        "wake"};

constexpr std::string_view kPlaces[] = {"a base", "an alias of a base", "a slice of a base",
                                        "strides over a base"};
constexpr std::string_view kBases[] = {"", " that is written elsewhere too",
                                       " that is given twice"};
constexpr std::string_view kFates[] = {"in place", "in a copy", "never"};

// Families by the base names of their ops, and places in the alphabet.
struct OpNames {
  std::unordered_map<std::string_view, std::uint32_t> families;
  std::unordered_map<std::string_view, std::uint32_t> ops;
  std::vector<std::string_view> names;
};
const OpNames& op_names() {
  static const OpNames kNames = [] {
    OpNames names;
    for (std::size_t f = 0; f < families().size(); ++f) {
      for (const DrawnOp& op : families()[f].ops()) {
        names.families.emplace(op.name, static_cast<std::uint32_t>(f));
        names.ops.emplace(op.name, static_cast<std::uint32_t>(names.names.size()));
        names.names.push_back(op.name);
      }
    }
    return names;
  }();
  return kNames;
}

// "aten.add_.Tensor" -> "aten.add", unless the whole name is known.
std::string_view base_of(std::string_view op) {
  if (op_names().ops.contains(op)) return op;
  std::string_view base = op.substr(0, op.rfind('.'));
  if (op_names().ops.contains(base)) return base;
  if (base.ends_with('_')) base.remove_suffix(1);
  return base;
}

std::uint32_t family_of(std::string_view op) {
  const auto found = op_names().families.find(base_of(op));
  if (found != op_names().families.end()) return found->second;
  return static_cast<std::uint32_t>(families().size());
}

// Where an access happened.
struct Place {
  std::uint32_t step = 0;
  std::uint32_t partition = 0;
  std::uint32_t block = 0;
  std::uint32_t stream = 0;
  bool captured = true;
};

std::uint32_t between(const Place& a, const Place& b) {
  if (a.block != b.block) return 7;
  if (a.step == b.step) return 0;
  if (a.partition == b.partition) return a.stream == b.stream ? 1 : 2;
  return 3 + (a.captured ? 0U : 2U) + (b.captured ? 0U : 1U);
}

struct History {
  std::optional<Place> read;
  std::optional<Place> write;
  std::optional<ValueId> made;  // the value through which it was written first
};

class PlanFeatures {
 public:
  PlanFeatures(const Plan& plan, const spec::OpTable& ops, std::vector<std::uint32_t>& out)
      : plan_(plan), ops_(ops), out_(out), histories_(plan.buffers.size()) {}

  // Returns which of kPlanTraits the plan has, as bits.
  std::uint32_t run() {
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
      for (std::size_t p = 0; p < plan_.blocks[b].partitions.size(); ++p) partition(b, p);
    }
    if (plan_.blocks.size() > 1) traits_ |= 1U << 7U;
    if (plan_.padding) traits_ |= 1U << 4U;
    for (const auto& pool : plan_.pools) {
      if (pool.kind == spec::PoolKind::kHeap) traits_ |= 1U << 5U;
    }
    for (const auto lifetime : plan_.output_lifetimes) {
      if (lifetime == spec::OutputLifetime::kWeak) traits_ |= 1U << 6U;
    }
    return traits_;
  }

 private:
  void partition(std::size_t b, std::size_t p) {
    const spec::PlanPartition& partition = plan_.blocks[b].partitions[p];
    if (!partition.captured) cut(partition);
    edges(partition.signature);
    Place place;
    place.block = static_cast<std::uint32_t>(b);
    place.partition = static_cast<std::uint32_t>(p);
    place.captured = partition.captured;
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      place.step = s;
      place.stream = plan_.steps[s].stream;
      step(plan_.steps[s], place);
    }
  }

  void cut(const spec::PlanPartition& partition) {
    traits_ |= 1U << 1U;
    std::uint32_t reason = 0;
    for (std::size_t r = 1; r < std::size(kReasons); ++r) {
      if (partition.reason.find(kReasons[r]) != std::string::npos) {
        reason = static_cast<std::uint32_t>(r);
        break;
      }
    }
    if (partition.begin_step == partition.end_step) return;
    out_.push_back(
        pack(Kind::kCut, {reason, family_of(plan_.steps[partition.begin_step].node.op), 0, 0, 0}));
  }

  void edges(const spec::PlanSignature& signature) {
    const auto freed =
        std::count_if(signature.inputs.begin(), signature.inputs.end(),
                      [](const spec::SignatureInput& input) { return input.deallocate; });
    const std::size_t counts[] = {signature.inputs.size(), static_cast<std::size_t>(freed),
                                  signature.outputs.size(), signature.constants.size(),
                                  signature.symbols.size()};
    for (std::uint32_t e = 0; e < std::size(counts); ++e) {
      const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(counts[e], 8));
      out_.push_back(pack(Kind::kEdge, {e, count, 0, 0, 0}));
    }
  }

  void step(const spec::PlanStep& step, const Place& place) {
    if (step.stream > 0) traits_ |= 1U << 3U;
    if (step.body.empty()) {
      node(step.node, place, place.block > 0 ? 3 : place.captured ? 0 : 1);
      return;
    }
    traits_ |= 1U << 2U;
    for (const spec::Node& inner : step.body) node(inner, place, 2);
  }

  void node(const spec::Node& node, const Place& place, std::uint32_t run) {
    const auto found = op_names().ops.find(base_of(node.op));
    if (found != op_names().ops.end()) {
      out_.push_back(pack(Kind::kOp, {found->second, 0, run, 0, 0}));
    }
    const std::uint32_t family = family_of(node.op);
    const spec::OpRow* const row = ops_.find(node.op);
    spec::for_each_operand(node, [&](ValueId id) { read(id, family, place); });
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) write(id, family, place);
    }
    if (!row) return;
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* id = named.argument.as<ValueId>();
      if (!id) continue;
      for (std::size_t a = 0; a < row->schema.arguments.size(); ++a) {
        if (row->schema.arguments[a].name == named.name && row->writes(a)) {
          write(*id, family, place);
        }
      }
    }
  }

  void hazard(std::uint32_t kind, std::uint32_t family, std::uint32_t gap, bool through_view,
              std::uint32_t pool) {
    // The fields have no room for all: family and memory first, then kind and place.
    out_.push_back(
        pack(Kind::kHazard, {family, kind << 4U | pool, gap, through_view ? 1U : 0U, 0}));
  }

  [[nodiscard]] std::uint32_t pool_of(spec::BufferId buffer) const {
    return static_cast<std::uint32_t>(plan_.pools[plan_.buffers[buffer.index].pool.index].kind);
  }

  void read(ValueId id, std::uint32_t family, const Place& place) {
    const auto& buffer = plan_.values[id.index].buffer;
    if (!buffer) return;
    History& history = histories_[buffer->index];
    if (history.write) {
      hazard(0, family, between(*history.write, place), history.made != id, pool_of(*buffer));
    }
    history.read = place;
  }

  void write(ValueId id, std::uint32_t family, const Place& place) {
    const auto& buffer = plan_.values[id.index].buffer;
    if (!buffer) return;
    History& history = histories_[buffer->index];
    const std::uint32_t pool = pool_of(*buffer);
    if (history.read) hazard(1, family, between(*history.read, place), history.made != id, pool);
    if (history.write) hazard(2, family, between(*history.write, place), history.made != id, pool);
    if (!history.write && !history.read) tenants(*buffer, family, place, pool);
    history.write = place;
    if (!history.made) history.made = id;
  }

  // Other buffers that had these bytes before.
  void tenants(spec::BufferId buffer, std::uint32_t family, const Place& place,
               std::uint32_t pool) {
    const spec::PlanBuffer& mine = plan_.buffers[buffer.index];
    if (mine.size_bytes == 0) return;
    for (std::size_t o = 0; o < plan_.buffers.size(); ++o) {
      const spec::PlanBuffer& other = plan_.buffers[o];
      const History& history = histories_[o];
      if (o == buffer.index || other.pool != mine.pool || !history.write) continue;
      if (other.offset_bytes >= mine.offset_bytes + mine.size_bytes ||
          mine.offset_bytes >= other.offset_bytes + other.size_bytes) {
        continue;
      }
      traits_ |= 1U;
      hazard(3, family, between(history.read.value_or(*history.write), place), false, pool);
    }
  }

  const Plan& plan_;
  const spec::OpTable& ops_;
  std::vector<std::uint32_t>& out_;
  std::vector<History> histories_;
  std::uint32_t traits_ = 0;
};

void add_scenario(const spec::CaseFile& the_case, std::vector<std::uint32_t>& out) {
  std::uint32_t before = std::size(kSteps);
  for (const spec::Step& step : the_case.scenario.steps) {
    const auto kind = static_cast<std::uint32_t>(step.index());
    out.push_back(pack(Kind::kScenario, {before, kind, 0, 0, 0}));
    before = kind;
  }
}

void add_functionalized(const spec::CaseFile& the_case, const conformance::Trace& trace,
                        std::vector<std::uint32_t>& out) {
  for (std::size_t p = 0; p < the_case.programs.size(); ++p) {
    const spec::Graph& graph = the_case.programs[p].graph;
    if (functionalized_forms(graph, {}).empty()) continue;
    std::set<std::string, std::less<>> names;
    const Plan* last = nullptr;
    for (const conformance::CallRecord& call : trace.calls) {
      if (call.program != p || !call.plan || call.plan.get() == last) continue;
      last = call.plan.get();
      add_node_names(*last, names);
    }
    for (const FunctionalizedForm& form : functionalized_forms(graph, names)) {
      const auto found = op_names().ops.find(base_of(form.op));
      const auto op = found == op_names().ops.end()
                          ? static_cast<std::uint32_t>(op_names().names.size())
                          : found->second;
      out.push_back(pack(Kind::kWritten, {op, static_cast<std::uint32_t>(form.place),
                                          static_cast<std::uint32_t>(form.base),
                                          static_cast<std::uint32_t>(form.fate), 0}));
    }
  }
}

template <std::size_t N>
std::string_view word(const std::string_view (&words)[N], std::uint32_t at) {
  return at < N ? words[at] : "?";
}

std::string_view family_name(std::uint32_t family) {
  return family < families().size() ? families()[family].name : "another op";
}

}  // namespace

std::vector<std::uint32_t> features_of(const spec::CaseFile& the_case,
                                       const conformance::Trace& trace, const spec::OpTable& ops) {
  std::vector<std::uint32_t> out;
  add_scenario(the_case, out);
  add_functionalized(the_case, trace, out);
  std::uint32_t traits = 0;
  const Plan* last = nullptr;
  for (const conformance::CallRecord& call : trace.calls) {
    if (!call.plan || call.plan.get() == last) continue;
    last = call.plan.get();
    traits |= PlanFeatures(*call.plan, ops, out).run();
  }
  for (std::uint32_t o = 0; o < std::size(kOptions); ++o) {
    if (!the_case.options.contains(kOptions[o])) continue;
    for (std::uint32_t t = 0; t < std::size(kPlanTraits); ++t) {
      if ((traits >> t & 1U) != 0) out.push_back(pack(Kind::kOption, {o, t, 0, 0, 0}));
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool has_cut(const std::vector<std::uint32_t>& features) {
  return std::any_of(features.begin(), features.end(), [](std::uint32_t feature) {
    const auto kind = static_cast<Kind>(feature >> kKindShift);
    const std::uint32_t gap = unpack(feature)[2];
    return kind == Kind::kCut || (kind == Kind::kHazard && gap >= 3 && gap <= 6);
  });
}

bool has_reuse(const std::vector<std::uint32_t>& features) {
  return std::any_of(features.begin(), features.end(), [](std::uint32_t feature) {
    return static_cast<Kind>(feature >> kKindShift) == Kind::kHazard &&
           unpack(feature)[1] >> 4U == 3;
  });
}

std::string feature_name(std::uint32_t feature) {
  const auto fields = unpack(feature);
  const auto text = [](const auto&... parts) { return (std::string() + ... + std::string(parts)); };
  switch (static_cast<Kind>(feature >> kKindShift)) {
    case Kind::kHazard:
      return text(word(kHazards, fields[1] >> 4U), " by ", family_name(fields[0]), ", ",
                  word(kBetween, fields[2]), fields[3] != 0 ? ", through a view, " : ", ",
                  word(kPools, fields[1] & 15U));
    case Kind::kOp:
      return text(fields[0] < op_names().names.size() ? op_names().names[fields[0]] : "?", " ",
                  word(kRuns, fields[2]));
    case Kind::kCut:
      return text("cut (", word(kReasons, fields[0]), ") before ", family_name(fields[1]));
    case Kind::kEdge:
      return text("a partition with ", std::to_string(fields[1]),
                  fields[1] == 8 ? " or more " : " ", word(kEdges, fields[0]));
    case Kind::kOption:
      return text(word(kOptions, fields[0]), " with ", word(kPlanTraits, fields[1]));
    case Kind::kWritten:
      return text(fields[0] < op_names().names.size() ? op_names().names[fields[0]] : "another op",
                  " writes ", word(kPlaces, fields[1]), word(kBases, fields[2]), ", ",
                  word(kFates, fields[3]));
    case Kind::kScenario:
      return text(word(kSteps, fields[1]), " behind ",
                  fields[0] < std::size(kSteps) ? kSteps[fields[0]] : "nothing");
  }
  return "feature " + std::to_string(feature);
}

}  // namespace graphgate::fuzz
