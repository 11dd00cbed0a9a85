#include "conformance/judges/plan_quality.h"

#include <charconv>
#include <optional>

#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;

std::optional<std::int64_t> find(const Quality& quality, std::string_view name) {
  for (const auto& [key, value] : quality) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Error bad_line(std::size_t number, const std::string& what) {
  return bad_input("quality:" + std::to_string(number) + ": " + what);
}

Result<Quality> parse_numbers(std::string_view text, std::size_t line) {
  const auto words = words_of(text);
  if (words.empty() || words.size() % 2 != 0) return bad_line(line, "expected NAME NUMBER pairs");
  Quality out;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    std::int64_t number = 0;
    const char* end = words[i + 1].data() + words[i + 1].size();
    const auto [at, error] = std::from_chars(words[i + 1].data(), end, number);
    if (error != std::errc() || at != end) {
      return bad_line(line, "expected a number behind '" + std::string(words[i]) + "'");
    }
    out.emplace_back(words[i], number);
  }
  return out;
}

}  // namespace

Quality quality_of(const spec::Plan& plan) {
  const PlanStats stats = plan_stats(plan);
  std::int64_t copied_in = 0;
  for (const spec::PlanBuffer& buffer : plan.buffers) {
    const bool is_slot = plan.pools[buffer.pool.index].kind == spec::PoolKind::kInput;
    copied_in += is_slot ? buffer.size_bytes : 0;
  }
  const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  return {{"peak", stats.peak_bytes},
          {"lower-bound", stats.lower_bound_bytes},
          {"no-reuse", stats.no_reuse_bytes},
          {"partitions", count(stats.partitions)},
          {"captured", count(stats.captured_partitions)},
          {"steps", count(stats.steps)},
          {"captured-steps", count(stats.captured_steps)},
          {"copied-in", copied_in}};
}

std::string print_quality(const std::string& program, std::size_t call, const Quality& quality) {
  std::string line = program + " call " + std::to_string(call) + ":";
  for (const auto& [name, value] : quality) line += " " + name + " " + std::to_string(value);
  return line + "\n";
}

std::string quality_suffix(const Configuration& configuration) {
  Configuration asked = configuration;
  for (const char* name : {option::kDeviation, option::kNoDeviation, option::kProfile,
                           option::kOverrides, option::kCache, option::kInstrument}) {
    asked.erase(name);
  }
  return asked.empty() ? "" : " with " + print_configuration(asked);
}

Result<QualityBaseline> parse_quality(std::string_view text) {
  QualityBaseline baseline;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.rfind(": ");
    if (colon == std::string_view::npos) return bad_line(number, "expected 'PROGRAM call N: ...'");
    GRAPHGATE_TRY(Quality quality, parse_numbers(line.substr(colon + 2), number));
    const auto [at, is_new] = baseline.emplace(line.substr(0, colon), std::move(quality));
    if (!is_new) return bad_line(number, "'" + at->first + "' stands there twice");
  }
  return baseline;
}

std::vector<std::string> worse_than(const Quality& now, const Quality& before) {
  std::vector<std::string> out;
  const auto judge = [&](const char* name, bool higher_is_worse) {
    const auto was = find(before, name);
    const auto is = find(now, name);
    if (!was || !is || *was == *is || (*is > *was) != higher_is_worse) return;
    out.push_back(std::string(name) + " is " + std::to_string(*is) + ", was " +
                  std::to_string(*was));
  };
  judge("peak", true);
  judge("partitions", true);
  judge("steps", true);
  judge("copied-in", true);
  // Fewer steps captured is worse only where no step went away.
  const auto eager = [&](const Quality& q) {
    return find(q, "steps").value_or(0) - find(q, "captured-steps").value_or(0);
  };
  if (eager(now) > eager(before)) {
    out.push_back("steps that are not captured are " + std::to_string(eager(now)) + ", were " +
                  std::to_string(eager(before)));
  }
  return out;
}

}  // namespace graphgate::conformance
