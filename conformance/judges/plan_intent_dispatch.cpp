// Dispatch against what was asked for: the mode of a call, the graph's adapters and requests, and
// the range that it was compiled for, as the key of a plan claims them.
//
// Derived once more from the options and from what the call says of itself. A plan whose key names
// no mode, as those of others do, is not looked at.
#include <algorithm>
#include <array>

#include "conformance/judges/plan_intent.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::Finding;

// What decode batches and others run in, for each value of "mode".
struct Modes {
  std::string_view name;
  std::string_view decode;
  std::string_view mixed;
};
constexpr std::array<Modes, 5> kModes = {{{"none", "none", "none"},
                                          {"piecewise", "piecewise", "piecewise"},
                                          {"full", "full", "full"},
                                          {"full_decode_only", "full", "none"},
                                          {"full_and_piecewise", "full", "piecewise"}}};

bool is_set(const spec::CallOptions& call, const char* flag) {
  const auto found = call.flags.find(flag);
  return found != call.flags.end() && found->second != "false" && found->second != "0";
}

std::int64_t number_of(const Configuration& asked, const char* name, std::int64_t usual) {
  const auto found = asked.find(name);
  return found == asked.end() ? usual
                              : spec::parse_number<std::int64_t>(found->second).value_or(usual);
}

// Batches that attention is captured with: 0 none, 1 one token a request, 2 as many each, 3 all.
std::size_t support_of(const Configuration& asked) {
  const auto values = split_list(spec::find_option(option::kAttentionSupport)->values);
  const auto found = std::ranges::find(values, spec::value_of(asked, option::kAttentionSupport));
  return static_cast<std::size_t>(found - values.begin());
}

Modes modes_of(const Configuration& asked) {
  const std::string_view name = spec::value_of(asked, option::kMode, "piecewise");
  const auto* const found = std::ranges::find(kModes, name, &Modes::name);
  Modes modes = found == kModes.end() ? kModes[1] : *found;
  if (spec::value_of(asked, option::kWrapper) == "none") return kModes[0];
  if (!asked.contains(option::kAttentionSupport)) return modes;
  // There are split ops always: vLLM's attention is one where none is named.
  const std::size_t support = support_of(asked);
  const std::size_t needed = number_of(asked, option::kQueryLength, 1) > 1 ? 2 : 1;
  // Where decode batches cannot be captured whole, all batches go by pieces.
  if (modes.decode == "full" && support < needed) return kModes[1];
  if (modes.mixed == "full" && support < 3) modes.mixed = "piecewise";
  return modes;
}

std::size_t rank_of(std::string_view mode) {
  if (mode == "full") return 2;
  return mode == "piecewise" ? 1 : 0;
}

// The least of 1, 2, 4... and `most` + 1 that is not below.
std::int64_t captured_adapters(std::int64_t count, std::int64_t most) {
  if (count > most + 1) return count;
  std::int64_t power = 1;
  for (; power <= most; power += power) {
    if (power >= count) return power;
  }
  return power == most + 1 ? power : most + 1;
}

class DispatchIntent {
 public:
  explicit DispatchIntent(const IntentCase& intent)
      : case_(intent), asked_(intent.configuration), key_(intent.plan->key) {}

  std::vector<Finding> run() {
    const auto mode = key_.find("mode");
    if (mode == key_.end()) return {};
    const std::string expected = expected_mode(asked_, case_.call);
    const bool is_sized = asked_.contains(option::kCaptureSizes) ||
                          asked_.contains(option::kMaxCaptureSize) ||
                          asked_.contains(option::kMaxRequests);
    const bool is_less = rank_of(mode->second) < rank_of(expected);
    if (rank_of(mode->second) > rank_of(expected) || (is_less && !is_sized)) {
      add("the call runs in mode " + mode->second + ", and is to run in mode " + expected);
    }
    look_at_adapters();
    if (mode->second == "full") look_at_requests();
    look_at_range();
    return std::move(findings_);
  }

 private:
  void look_at_adapters() {
    const std::int64_t most = number_of(asked_, option::kMaxLoras, 0);
    const auto claimed = key_.find("lora");
    const auto called = case_.call.flags.find("lora");
    if (most == 0 || claimed == key_.end() || called == case_.call.flags.end()) return;
    const auto count = spec::parse_number<std::int64_t>(called->second);
    if (!count) return;
    const std::string expected = std::to_string(captured_adapters(*count, most));
    if (claimed->second == expected) return;
    add("the graph is for " + claimed->second + " adapters, and for " + called->second + " of " +
        std::to_string(most) + " that of " + expected + " is captured");
  }

  // A padded plan says which size it is of.
  void look_at_requests() {
    const std::int64_t most = number_of(asked_, option::kMaxRequests, 0);
    const std::int64_t length = number_of(asked_, option::kQueryLength, 1);
    const bool is_uniform = is_set(case_.call, "uniform_decode");
    const auto claimed = key_.find("num_reqs");
    const auto requests =
        claimed == key_.end() ? std::nullopt : spec::parse_number<std::int64_t>(claimed->second);
    if (most > 0 && requests && *requests > most) {
      add("the graph is for " + claimed->second + " requests, and there are " +
          std::to_string(most) + " at most");
    }
    if (!case_.plan->padding || !is_uniform) return;
    const auto size = case_.plan->symbols.find(case_.plan->padding->symbol);
    if (size == case_.plan->symbols.end() || size->second % length == 0) return;
    add("a decode batch is padded to " + std::to_string(size->second) +
        ", which is no number of requests of " + std::to_string(length) + " tokens");
  }

  // A size above all ranges has that of the last one, of an encoder.
  void look_at_range() {
    if (!asked_.contains(option::kEncoder) || asked_.contains(option::kCompileSizes)) return;
    const auto ranges = split_list(spec::value_of(asked_, option::kCompileRange));
    if (ranges.empty() || key_.contains("range")) return;
    std::int64_t begin = 0;
    for (const std::string& range : ranges) {
      begin = spec::parse_number<std::int64_t>(range.substr(0, range.find(':'))).value_or(0);
    }
    for (const auto& [symbol, size] : case_.plan->symbols) {
      if (case_.plan->symbols.size() != 1 || size < begin) continue;
      add("size " + std::to_string(size) +
          " of an encoder is compiled for no range, and the last " + "one, from " +
          std::to_string(begin) + ", is open");
    }
  }

  void add(std::string message) {
    findings_.push_back({.rule = "Q7.dispatch", .message = std::move(message)});
  }

  const IntentCase& case_;
  const Configuration& asked_;
  const std::map<std::string, std::string>& key_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string expected_mode(const Configuration& configuration, const spec::CallOptions& call) {
  if (call.mode == spec::CallMode::kEager) return "none";
  const Modes modes = modes_of(configuration);
  const bool is_uniform = is_set(call, "uniform_decode");
  // Never in a full graph.
  if (is_set(call, "cascade_attention"))
    return modes.mixed == "full" ? "none" : std::string(modes.mixed);
  return std::string(is_uniform ? modes.decode : modes.mixed);
}

std::vector<Finding> judge_dispatch_intent(const IntentCase& intent) {
  return DispatchIntent(intent).run();
}

}  // namespace graphgate::conformance
