#include "conformance/judges/first_parting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/formatted.h"
#include "conformance/compare/compare.h"
#include "conformance/compare/element.h"
#include "conformance/compare/input_spread.h"
#include "conformance/judges/judge_nodes.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;
using spec::OutputValue;

// A script whose programs have taps, and what one side showed of it.
struct TappedRun {
  Script script;
  std::vector<std::shared_ptr<const spec::Program>> originals;
  std::vector<TappedProgram> programs;
  Trace trace;
};

// Without taps, as the script is.
Result<TappedRun> run_plainly(Runs& runs, const TappedRun& tapped) {
  TappedRun out;
  out.script = runs.script();
  out.originals = out.script.programs;
  for (const TappedProgram& each : tapped.programs) {
    out.programs.emplace_back().own_outputs = each.own_outputs;
  }
  GRAPHGATE_TRY(const Trace* trace, runs.subject());
  out.trace = *trace;
  return out;
}

Result<TappedRun> run_tapped(Runs& runs) {
  TappedRun out;
  out.script = runs.script();
  out.originals = out.script.programs;
  for (auto& program : out.script.programs) {
    out.programs.push_back(tap_nodes(*program, *out.script.ops, OperandTaps::kEach));
    program = std::make_shared<const spec::Program>(out.programs.back().program);
  }
  for (ScriptStep& step : out.script.steps) {
    if (auto* call = std::get_if<ScriptCall>(&step)) call->expected.reset();
  }
  GRAPHGATE_TRY(out.trace, runs.subject_on(out.script, {}));
  return out;
}

// ---- elements ----

std::string shown(const HostTensor& tensor, const std::vector<long double>& numbers,
                  std::size_t element) {
  const std::size_t parts = parts_of(tensor.dtype);
  return shown_element(std::span(numbers).subspan(element * parts, parts), tensor.dtype);
}

// What an operand holds, cut after a few elements.
std::string contents_words(const OutputValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return formatted("%.9g", *number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  const auto* tensor = std::get_if<HostTensor>(&value);
  if (!tensor) return "None";
  std::string text(spec::short_name(tensor->dtype));
  text += '[';
  for (std::size_t d = 0; d < tensor->sizes.size(); ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(tensor->sizes[d]);
  }
  text += "] =";
  constexpr std::size_t kShown = 6;
  const std::vector<long double> numbers = decode_elements(*tensor);
  const std::size_t count = numbers.size() / parts_of(tensor->dtype);
  for (std::size_t i = 0; i < std::min(count, kShown); ++i) {
    text += " " + shown(*tensor, numbers, i);
  }
  return text + (count > kShown ? " ..." : "");
}

// How far numbers may lie from the estimate: `multiple` of its radius. Empty: they are equal or
// not.
struct Allowed {
  const spec::Spread* spread = nullptr;
  double multiple = 0;
  // Whether nobody knows. Integers are the same or not where there is no estimate of them.
  [[nodiscard]] bool is_open(std::size_t number, bool is_rounded) const {
    const bool is_known = spread && number < spread->radii.size();
    return is_known ? !std::isfinite(spread->radii[number]) : is_rounded;
  }
  [[nodiscard]] double radius(std::size_t number) const {
    return spread && number < spread->radii.size() ? multiple * spread->radii[number] : 0;
  }
  [[nodiscard]] long double value(std::size_t number) const { return spread->values[number]; }
};

bool is_near(long double a, long double b, double radius) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= radius;
}

// One tap of both sides, compared.
struct TapDifference {
  bool differs = false;
  bool is_left_off = false;  // of two executors
  bool is_right_off = false;
  std::size_t open = 0;  // elements that differ where nobody knows which is right
  std::size_t elements = 0;
  std::string words;
  std::string picture;
  ElementMap map;
};

TapDifference compare_forms(const OutputValue& left, const OutputValue& right) {
  TapDifference out;
  const auto* a = std::get_if<HostTensor>(&left);
  const auto* b = std::get_if<HostTensor>(&right);
  if (a && b && a->dtype == b->dtype && a->sizes == b->sizes) return out;
  if (!a && !b && left.index() == right.index()) return out;
  out.differs = true;
  out.words = contents_words(left) + ", and " + contents_words(right);
  return out;
}

bool same_number(const OutputValue& left, const OutputValue& right) {
  const auto* x = std::get_if<double>(&left);
  const auto* y = std::get_if<double>(&right);
  if (x && y) return *x == *y || (std::isnan(*x) && std::isnan(*y));
  const auto* i = std::get_if<std::int64_t>(&left);
  const auto* j = std::get_if<std::int64_t>(&right);
  if (i && j) return *i == *j;
  const auto* p = std::get_if<bool>(&left);
  const auto* q = std::get_if<bool>(&right);
  return !p || !q || *p == *q;
}

TapDifference compare_tap(const OutputValue& left, const OutputValue& right, const Allowed& allowed,
                          bool of_executors, const PartingNames& names) {
  TapDifference out = compare_forms(left, right);
  if (out.differs) return out;
  const auto* a = std::get_if<HostTensor>(&left);
  const auto* b = std::get_if<HostTensor>(&right);
  if (!a || !b) {
    out.elements = 1;
    if (same_number(left, right)) return out;
    if (const auto* number = std::get_if<double>(&left)) {
      if (allowed.is_open(0, /*is_rounded=*/true)) {
        out.open = 1;
        return out;
      }
      // It was read of a rounded element.
      const double radius = allowed.radius(0);
      out.is_left_off = !is_near(*number, allowed.value(0), radius);
      out.is_right_off = !is_near(std::get<double>(right), allowed.value(0), radius);
      if (!out.is_left_off && !out.is_right_off) return out;
    }
    out.differs = true;
    out.words = contents_words(left) + ", and " + contents_words(right);
    return out;
  }
  const std::vector<long double> x = decode_elements(*a);
  const std::vector<long double> y = decode_elements(*b);
  const std::size_t parts = parts_of(a->dtype);
  std::vector<bool> differs(x.size() / std::max<std::size_t>(parts, 1));
  std::vector<double> distances(differs.size());
  std::optional<std::size_t> worst;
  long double most = -1;
  std::size_t count = 0;
  out.elements = differs.size();
  const bool is_rounded = spec::is_floating_point(a->dtype) || spec::is_complex(a->dtype);
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (allowed.is_open(i, is_rounded)) {
      out.open += is_near(x[i], y[i], 0) ? 0 : 1;
      continue;
    }
    const double radius = allowed.radius(i);
    bool is_off = !is_near(x[i], y[i], of_executors ? 2 * radius : radius);
    if (of_executors && allowed.spread && i < allowed.spread->values.size()) {
      const bool is_left_off = !is_near(x[i], allowed.value(i), radius);
      const bool is_right_off = !is_near(y[i], allowed.value(i), radius);
      out.is_left_off |= is_left_off;
      out.is_right_off |= is_right_off;
      is_off = is_left_off || is_right_off;
    }
    if (!is_off) continue;
    count += differs[i / parts] ? 0 : 1;
    differs[i / parts] = true;
    const long double distance = std::isnan(x[i]) || std::isnan(y[i])
                                     ? std::numeric_limits<long double>::infinity()
                                     : std::fabs(x[i] - y[i]);
    double& farthest = distances[i / parts];
    farthest = std::max(farthest, static_cast<double>(distance));
    if (!worst || distance > most) {
      worst = i / parts;
      most = distance;
    }
  }
  if (!worst) return out;
  out.differs = true;
  out.words = "element " + print_index(static_cast<std::int64_t>(*worst), a->sizes) + " is " +
              shown(*a, x, *worst) + " in " + names.left + " and " + shown(*b, y, *worst) + " in " +
              names.right + " (" + std::to_string(count) + " of " + std::to_string(differs.size()) +
              " elements differ)";
  out.picture = draw_elements(differs, a->sizes);
  out.map = map_elements(differs, distances, a->sizes);
  return out;
}

// ---- nodes ----

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// By node of the left graph: that of the right one, or kNone. The longest common sequence of ops.
std::vector<std::size_t> match_nodes(const spec::Graph& left, const spec::Graph& right) {
  const std::size_t n = left.nodes.size();
  const std::size_t m = right.nodes.size();
  std::vector<std::size_t> match(n, kNone);
  std::size_t begin = 0;
  while (begin < n && begin < m && left.nodes[begin].op == right.nodes[begin].op) {
    match[begin] = begin;
    ++begin;
  }
  std::size_t tail = 0;
  while (begin + tail < n && begin + tail < m &&
         left.nodes[n - 1 - tail].op == right.nodes[m - 1 - tail].op) {
    match[n - 1 - tail] = m - 1 - tail;
    ++tail;
  }
  const std::size_t rows = n - begin - tail;
  const std::size_t columns = m - begin - tail;
  constexpr std::size_t kMostPairs = 64U << 20U;
  if (rows == 0 || columns == 0 || rows * columns > kMostPairs) return match;
  std::vector<std::uint32_t> length((rows + 1) * (columns + 1));
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return length[i * (columns + 1) + j];
  };
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      at(i, j) = left.nodes[begin + i].op == right.nodes[begin + j].op
                     ? at(i + 1, j + 1) + 1
                     : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    if (left.nodes[begin + i].op == right.nodes[begin + j].op && at(i, j) == at(i + 1, j + 1) + 1) {
      match[begin + i++] = begin + j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
  return match;
}

// Nodes that stand in each other's place, as many on the left as on the right, belong together.
void pair_replaced(std::vector<std::size_t>& match, std::size_t rights) {
  std::size_t right_begin = 0;
  for (std::size_t i = 0; i < match.size();) {
    if (match[i] != kNone) {
      right_begin = match[i++] + 1;
      continue;
    }
    std::size_t end = i;
    while (end < match.size() && match[end] == kNone) ++end;
    const std::size_t right_end = end < match.size() ? match[end] : rights;
    const bool is_pair = right_end - right_begin == end - i;
    for (std::size_t n = i; is_pair && n < end; ++n) match[n] = right_begin + (n - i);
    i = end;
  }
}

// The first of the nodes without a counterpart that a node's operands come from; kNone where there
// is none.
std::size_t first_unmatched(const spec::Graph& graph, const std::vector<bool>& is_matched,
                            std::size_t node) {
  std::map<spec::ValueId, std::size_t> made_by;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const spec::NodeResult& result : graph.nodes[n].results) {
      for (const spec::ValueId id : result.values) made_by.emplace(id, n);
    }
  }
  std::size_t first = kNone;
  std::vector<std::size_t> open = {node};
  std::vector<bool> seen(graph.nodes.size());
  while (!open.empty()) {
    const std::size_t reader = open.back();
    open.pop_back();
    spec::for_each_operand(graph.nodes[reader], [&](spec::ValueId id) {
      const auto maker = made_by.find(id);
      if (maker == made_by.end() || seen[maker->second] || is_matched[maker->second]) return;
      seen[maker->second] = true;
      first = std::min(first, maker->second);
      open.push_back(maker->second);
    });
  }
  return first;
}

class Comparison {
 public:
  Comparison(const TappedRun& left, const TappedRun& right, const Trace* oracle, double rate,
             bool of_executors, const PartingNames& names)
      : left_(left),
        right_(right),
        oracle_(oracle),
        rate_(rate),
        of_executors_(of_executors),
        names_(names) {}

  // What the runs themselves show, without a node.
  Parting run_plain() {
    is_plain_ = true;
    return run();
  }

  Parting run() {
    const std::size_t calls = std::min(left_.trace.calls.size(), right_.trace.calls.size());
    for (std::size_t call = 0; call < calls; ++call) compare_call(call);
    tell_of_ends();
    return std::move(out_);
  }

 private:
  void tell_of_ends() {
    for (const auto* side : {&left_, &right_}) {
      const bool is_left = side == &left_;
      if (!side->trace.error) continue;
      const std::string words = (is_left ? names_.left : names_.right) + ": call " +
                                std::to_string(side->trace.calls.size()) + ": " +
                                side->trace.error->message;
      out_.remarks.push_back(words);
    }
  }

  void compare_call(std::size_t call) {
    const CallRecord& left = left_.trace.calls[call];
    const CallRecord& right = right_.trace.calls[call];
    const std::vector<std::size_t>& match = matches_of(left.program, right.program);
    const std::size_t nodes = left_.programs[left.program].nodes.size();
    for (std::size_t n = 0; n < nodes && !out_.is_found; ++n) {
      if (match[n] != kNone) compare_node(call, n, match[n]);
    }
    const CallDifference off = differences_in(call);
    if (!off.open.empty()) {
      out_.open.push_back("call " + std::to_string(call) +
                          ": they differ where the oracle cannot tell which is right: " +
                          listed(off.open) + open_node_);
    }
    if (off.off.empty()) return;
    if (!out_.is_found) find_unmatched(call, off.who);
    out_.calls.push_back("call " + std::to_string(call) + ": off are " + listed(off.off));
  }

  // Outputs that differ though no pair of nodes does: the first node that has no counterpart, or
  // none.
  void find_unmatched(std::size_t call, const std::string& who) {
    out_.is_found = true;
    out_.call = call;
    out_.who = who;
    if (is_plain_) return;
    const auto& match =
        matches_of(left_.trace.calls[call].program, right_.trace.calls[call].program);
    const auto ours = std::find(match.begin(), match.end(), kNone);
    const std::vector<bool> theirs = is_matched_on_right(call);
    const auto other = std::find(theirs.begin(), theirs.end(), false);
    const bool has_any = ours != match.end() || other != theirs.end();
    if (!has_any) {
      out_.element = "no node is named: what each of them makes is the same";
      return;
    }
    tell_of_node(call, ours == match.end() ? kNone : static_cast<std::size_t>(ours - match.begin()),
                 other == theirs.end() ? kNone : static_cast<std::size_t>(other - theirs.begin()));
  }

  std::vector<bool> is_matched_on_right(std::size_t call) {
    std::vector<bool> is_matched(original(right_, call).nodes.size());
    for (const std::size_t m :
         matches_of(left_.trace.calls[call].program, right_.trace.calls[call].program)) {
      if (m != kNone) is_matched[m] = true;
    }
    return is_matched;
  }

  const std::vector<std::size_t>& matches_of(std::size_t left, std::size_t right) {
    const auto [at, is_new] = matches_.try_emplace({left, right});
    if (is_new) {
      const spec::Graph& theirs = right_.originals.at(right)->graph;
      at->second = match_nodes(left_.originals.at(left)->graph, theirs);
      pair_replaced(at->second, theirs.nodes.size());
    }
    return at->second;
  }

  // What the oracle allows of the call's results: `spreads` are those of outputs, or of states.
  [[nodiscard]] Allowed allowed(std::size_t call,
                                std::vector<spec::Spread> spec::CallResult::*spreads,
                                std::size_t index) const {
    if (!oracle_ || call >= oracle_->calls.size()) return {};
    const spec::CallResult& result = oracle_->calls[call].result;
    if (index >= (result.*spreads).size()) return {};
    const bool is_of_inputs = spreads == &spec::CallResult::final_input_spreads;
    const spec::Spread* spread = is_of_inputs ? spread_of_input(result, index, made_[{call, index}])
                                              : &(result.*spreads)[index];
    const auto elements = static_cast<std::int64_t>(spread->radii.size());
    return {spread, sigma_multiple(std::max<std::int64_t>(elements, 1), rate_)};
  }

  TapDifference compare_outputs(std::size_t call, std::size_t left, std::size_t right) {
    const auto& a = left_.trace.calls[call].result.outputs;
    const auto& b = right_.trace.calls[call].result.outputs;
    if (left >= a.size() || right >= b.size()) return {};
    return compare_tap(a[left], b[right], allowed(call, &spec::CallResult::output_spreads, left),
                       of_executors_, names_);
  }

  void compare_node(std::size_t call, std::size_t n, std::size_t m) {
    const CallRecord& record = left_.trace.calls[call];
    const auto& ours = left_.programs[record.program].nodes[n].after;
    const auto& theirs = right_.programs[right_.trace.calls[call].program].nodes[m].after;
    ++out_.nodes;
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
      TapDifference found = compare_outputs(call, ours[i].output, theirs[i].output);
      if (!found.differs && found.open > 0 && open_node_.empty()) {
        open_node_ = "; the first node is '" + original(left_, call).nodes[n].name + "' (" +
                     original(left_, call).nodes[n].op + ")";
      }
      if (!found.differs) continue;
      // What was put in the place of another node is where they part.
      const auto& match = matches_of(record.program, right_.trace.calls[call].program);
      std::vector<bool> is_matched(match.size());
      for (std::size_t k = 0; k < match.size(); ++k) is_matched[k] = match[k] != kNone;
      const std::size_t before = first_unmatched(original(left_, call), is_matched, n);
      const std::size_t other =
          first_unmatched(original(right_, call), is_matched_on_right(call), m);
      if (before != kNone || other != kNone) {
        tell_of_node(call, before, other);
        out_.element = "behind it, '" + original(left_, call).nodes[n].name + "': " + found.words;
      } else {
        tell_of_node(call, n, m);
        out_.element = std::move(found.words);
      }
      if (of_executors_) out_.who = who_is_off(found);
      out_.picture = std::move(found.picture);
      out_.elements = std::move(found.map);
      return;
    }
  }

  static const spec::Graph& original(const TappedRun& run, std::size_t call) {
    return run.originals.at(run.trace.calls[call].program)->graph;
  }

  void tell_of_node(std::size_t call, std::size_t n, std::size_t m) {
    out_.is_found = true;
    out_.call = call;
    const spec::Graph& ours = original(left_, call);
    if (n != kNone) {
      out_.node = ours.nodes[n].name;
      out_.op = ours.nodes[n].op;
      tell_of_operands(call, n);
    }
    if (m != kNone) {
      const spec::Graph& theirs = original(right_, call);
      out_.other_node = theirs.nodes[m].name;
      out_.other_op = theirs.nodes[m].op;
    }
  }

  void tell_of_operands(std::size_t call, std::size_t n) {
    const CallRecord& record = left_.trace.calls[call];
    const spec::Graph& graph = original(left_, call);
    for (const TappedProgram::Tap& tap : left_.programs[record.program].nodes[n].before) {
      if (tap.output >= record.result.outputs.size()) continue;
      out_.read.push_back("'" + graph.value(tap.value).name +
                          "': " + contents_words(record.result.outputs[tap.output]));
    }
  }

  [[nodiscard]] std::string who_is_off(const TapDifference& found) const {
    if (found.is_left_off && found.is_right_off) return "both";
    return found.is_left_off ? names_.left : found.is_right_off ? names_.right : "";
  }

  // What of a call's outputs, final inputs and states is not the same.
  struct CallDifference {
    std::vector<std::string> off;
    std::vector<std::string> open;
    std::string who;  // of the first that is off
  };

  void add(const std::string& what, const TapDifference& found, CallDifference& all) const {
    if (found.differs && all.off.empty() && of_executors_) all.who = who_is_off(found);
    if (found.differs) all.off.push_back(what);
    if (found.differs || found.open == 0) return;
    all.open.push_back(what + " (" + std::to_string(found.open) + " of " +
                       std::to_string(found.elements) + " elements)");
  }

  CallDifference differences_in(std::size_t call) {
    CallDifference all;
    const CallRecord& left = left_.trace.calls[call];
    const spec::CallResult& a = left.result;
    const spec::CallResult& b = right_.trace.calls[call].result;
    const std::size_t own = left_.programs[left.program].own_outputs;
    for (std::size_t i = 0; i < own; ++i) {
      add("output " + std::to_string(i), compare_outputs(call, i, i), all);
    }
    for (std::size_t i = 0; i < std::min(a.final_inputs.size(), b.final_inputs.size()); ++i) {
      const auto* x = std::get_if<HostTensor>(&a.final_inputs[i]);
      const auto* y = std::get_if<HostTensor>(&b.final_inputs[i]);
      if (!x || !y) continue;
      add("input " + std::to_string(i),
          compare_tap(*x, *y, allowed(call, &spec::CallResult::final_input_spreads, i),
                      of_executors_, names_),
          all);
    }
    for (std::size_t i = 0; i < a.final_states.size(); ++i) {
      const auto at = std::find(b.state_targets.begin(), b.state_targets.end(), a.state_targets[i]);
      if (at == b.state_targets.end()) continue;
      const auto j = static_cast<std::size_t>(at - b.state_targets.begin());
      add("state '" + a.state_targets[i] + "'",
          compare_tap(a.final_states[i], b.final_states[j],
                      allowed(call, &spec::CallResult::final_state_spreads, i), of_executors_,
                      names_),
          all);
    }
    return all;
  }

  static std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 6;
    std::string line;
    for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
      line += (i == 0 ? "" : ", ") + names[i];
    }
    if (names.size() > kShown) line += " and " + std::to_string(names.size() - kShown) + " more";
    return line;
  }

  const TappedRun& left_;
  const TappedRun& right_;
  const Trace* oracle_;
  // Spreads of inputs that the oracle left out, by call and input.
  mutable std::map<std::pair<std::size_t, std::size_t>, spec::Spread> made_;
  double rate_;
  bool of_executors_;
  const PartingNames& names_;
  bool is_plain_ = false;
  std::string open_node_;  // the first node of which something is left open, in words
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> matches_;
  Parting out_;
};

const Trace* known(const Trace& oracle) { return oracle.calls.empty() ? nullptr : &oracle; }

// The first program with another count of outputs than its counterpart.
Result<void> check_outputs(const TappedRun& left, const TappedRun& right) {
  for (std::size_t i = 0; i < std::min(left.programs.size(), right.programs.size()); ++i) {
    const std::size_t ours = left.programs[i].own_outputs;
    const std::size_t theirs = right.programs[i].own_outputs;
    if (ours == theirs) continue;
    return bad_input("program '" + left.originals[i]->name + "' has " + std::to_string(ours) +
                     " outputs, and its counterpart has " + std::to_string(theirs));
  }
  return {};
}

Result<Parting> part(Runs& left, Runs& right, const PartingNames& names, double rate,
                     bool of_executors) {
  GRAPHGATE_TRY(const TappedRun ours, run_tapped(left));
  GRAPHGATE_TRY(const TappedRun theirs, run_tapped(right));
  GRAPHGATE_TRY_VOID(check_outputs(ours, theirs));
  GRAPHGATE_TRY(const TappedRun plain_ours, run_plainly(left, ours));
  GRAPHGATE_TRY(const TappedRun plain_theirs, run_plainly(right, theirs));
  // Where no oracle can tell, integers are equal or not, and of other numbers it is open.
  const auto oracle = left.oracle_on(ours.script, "sampled");
  const auto plain_oracle = left.oracle("sampled");
  const Trace* estimate = oracle.ok() ? known(oracle.value()) : nullptr;
  const Trace* plain_estimate = plain_oracle.ok() ? known(*plain_oracle.value()) : nullptr;
  Parting parting = Comparison(ours, theirs, estimate, rate, of_executors, names).run();
  Parting plain =
      Comparison(plain_ours, plain_theirs, plain_estimate, rate, of_executors, names).run_plain();
  if (plain.is_found && !parting.is_found) {
    plain.nodes = parting.nodes;
    plain.element =
        "no node is named: with what each of them makes as further outputs they do not part";
    return plain;
  }
  for (const std::string& remark : plain.remarks) {
    const auto& all = parting.remarks;
    if (std::find(all.begin(), all.end(), remark) == all.end()) parting.remarks.push_back(remark);
  }
  if (parting.open.empty()) parting.open = plain.open;
  return parting;
}

}  // namespace

Result<Parting> part_executors(Runs& left, Runs& right, const PartingNames& names,
                               double false_alarm_rate) {
  return part(left, right, names, false_alarm_rate, /*of_executors=*/true);
}

Result<Parting> part_programs(Runs& left, Runs& right, const PartingNames& names,
                              double false_alarm_rate) {
  return part(left, right, names, false_alarm_rate, /*of_executors=*/false);
}

std::string draw_elements(const std::vector<bool>& differs,
                          const std::vector<std::int64_t>& sizes) {
  if (differs.size() < 2 || sizes.empty()) return "";
  constexpr std::size_t kMostRows = 16;
  constexpr std::size_t kMostColumns = 64;
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(sizes.back(), 1));
  const std::size_t rows = differs.size() / columns;
  const std::size_t drawn_rows = std::min(rows, kMostRows);
  const std::size_t drawn_columns = std::min(columns, kMostColumns);
  std::string picture;
  for (std::size_t r = 0; r < drawn_rows; ++r) {
    for (std::size_t c = 0; c < drawn_columns; ++c) {
      std::size_t set = 0;
      std::size_t all = 0;
      for (std::size_t i = r * rows / drawn_rows; i < (r + 1) * rows / drawn_rows; ++i) {
        for (std::size_t j = c * columns / drawn_columns; j < (c + 1) * columns / drawn_columns;
             ++j) {
          ++all;
          set += differs[i * columns + j] ? 1 : 0;
        }
      }
      picture += set == 0 ? '.' : set == all ? '#' : 'x';
    }
    picture += '\n';
  }
  return picture;
}

ElementMap map_elements(const std::vector<bool>& differs, const std::vector<double>& distances,
                        const std::vector<std::int64_t>& sizes) {
  ElementMap map;
  if (differs.size() < 2 || sizes.empty()) return map;
  constexpr std::size_t kMostRows = 48;
  constexpr std::size_t kMostColumns = 96;
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(sizes.back(), 1));
  const std::size_t rows = differs.size() / columns;
  map.rows = std::min(rows, kMostRows);
  map.columns = std::min(columns, kMostColumns);
  map.sizes = sizes;
  std::vector<std::size_t> all(map.rows * map.columns);
  map.shares.resize(all.size());
  map.distances.resize(all.size());
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const std::size_t row = i / columns * map.rows / rows;
    const std::size_t cell = row * map.columns + i % columns * map.columns / columns;
    ++all[cell];
    map.shares[cell] += differs[i] ? 1 : 0;
    if (differs[i]) map.distances[cell] = std::max(map.distances[cell], distances[i]);
  }
  for (std::size_t cell = 0; cell < all.size(); ++cell) {
    map.shares[cell] /= static_cast<double>(all[cell]);
  }
  return map;
}

}  // namespace graphgate::conformance
