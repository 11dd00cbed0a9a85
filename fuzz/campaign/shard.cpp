#include "fuzz/campaign/shard.h"

#include <charconv>
#include <vector>

namespace graphgate::fuzz {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (text.empty() || code != std::errc() || stop != end) return std::nullopt;
  return value;
}

Result<std::uint32_t> count_in(const char* name, const std::string& text) {
  const auto value = number_of<std::uint32_t>(text);
  if (value) return *value;
  return bad_input(std::string(name) + ": expected a number, found '" + text + "'");
}

// A variable that must be there since `because` is.
Result<std::uint32_t> required(const Environment& environment, const char* name,
                               const char* because) {
  const auto text = environment(name);
  if (!text) {
    return bad_input(std::string(because) + " is set, and " + name +
                     " is not; give --shard i/N, or set it");
  }
  return count_in(name, *text);
}

Result<Shard> make_shard(std::uint32_t index, std::uint32_t count, const std::string& place) {
  if (count > 0 && index < count) return Shard{index, count};
  return bad_input(place + ": there is no shard " + std::to_string(index) + " of " +
                   std::to_string(count));
}

// The variables by which something says which shard a process is.
struct ShardVariables {
  const char* index;
  const char* count;
  bool is_slurm = false;  // whose index may begin anywhere, and take steps
};

Result<Shard> shard_of(const ShardVariables& variables, const Environment& environment) {
  GRAPHGATE_TRY(const std::uint32_t id, required(environment, variables.index, variables.count));
  GRAPHGATE_TRY(const std::uint32_t count, required(environment, variables.count, variables.index));
  if (!variables.is_slurm) return make_shard(id, count, variables.index);
  std::uint32_t first = 0;
  if (const auto text = environment("SLURM_ARRAY_TASK_MIN")) {
    GRAPHGATE_TRY(first, count_in("SLURM_ARRAY_TASK_MIN", *text));
  }
  std::uint32_t step = 1;
  if (const auto text = environment("SLURM_ARRAY_TASK_STEP")) {
    GRAPHGATE_TRY(step, count_in("SLURM_ARRAY_TASK_STEP", *text));
  }
  if (step == 0 || id < first || (id - first) % step != 0) {
    return bad_input("SLURM_ARRAY_TASK_ID: " + std::to_string(id) + " is none of " +
                     std::to_string(first) + ", " + std::to_string(first + step) + ", ...");
  }
  return make_shard((id - first) / step, count, variables.index);
}

}  // namespace

std::string print_case_id(const CaseId& id) {
  const bool is_bred = !id.descent.ancestors.empty();
  std::string text =
      (is_bred ? "f" : "g") + std::to_string(id.generator) + ":" + std::to_string(id.seed) + ":";
  for (const std::uint64_t ancestor : id.descent.ancestors) text += std::to_string(ancestor) + "-";
  return text + std::to_string(id.descent.index);
}

bool is_case_id(std::string_view text) {
  return text.size() > 2 && (text[0] == 'g' || text[0] == 'f') && text[1] >= '0' &&
         text[1] <= '9' && text.find(':') != std::string_view::npos &&
         text.find_first_of("/.") == std::string_view::npos;
}

Result<CaseId> parse_case_id(std::string_view text, KnownGenerators known) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  const auto bad = [&] {
    return bad_input(
        "case id: expected gVERSION:SEED:INDEX or fVERSION:SEED:ANCESTORS-INDEX, found '" +
        std::string(text) + "'");
  };
  if (second == std::string_view::npos || !is_case_id(text)) return bad();
  const auto version = number_of<std::uint32_t>(text.substr(1, first - 1));
  const auto seed = number_of<std::uint64_t>(text.substr(first + 1, second - first - 1));
  if (!version || !seed) return bad();
  CaseId id{*version, *seed, {}};
  for (std::string_view rest = text.substr(second + 1);;) {
    const std::size_t dash = rest.find('-');
    const auto index = number_of<std::uint64_t>(rest.substr(0, dash));
    if (!index) return bad();
    id.descent.index = *index;
    if (dash == std::string_view::npos) break;
    id.descent.ancestors.push_back(*index);
    rest.remove_prefix(dash + 1);
  }
  const bool is_bred = !id.descent.ancestors.empty();
  if (is_bred != text.starts_with('f') || id.descent.ancestors.size() > kMostAncestors) {
    return bad();
  }
  if (*version < known.oldest || *version > known.newest) {
    return bad_input("case id '" + std::string(text) + "': generator " + std::to_string(*version) +
                     " drew it, this is generator " + std::to_string(known.newest) +
                     ", which draws those from " + std::to_string(known.oldest) +
                     " on; a stored case file replays with any");
  }
  return id;
}

std::string print_shard(const Shard& shard) {
  return std::to_string(shard.index) + "/" + std::to_string(shard.count);
}

Result<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto index = number_of<std::uint32_t>(text.substr(0, slash));
  const auto count = slash == std::string_view::npos
                         ? std::nullopt
                         : number_of<std::uint32_t>(text.substr(slash + 1));
  if (!index || !count) {
    return bad_input("shard: expected i/N, found '" + std::string(text) + "'");
  }
  return make_shard(*index, *count, "shard");
}

Result<ShardChoice> choose_shard(std::string_view flag, const Environment& environment) {
  if (!flag.empty()) {
    auto shard = parse_shard(flag);
    if (!shard.ok()) return shard.error().at("--shard");
    return ShardChoice{shard.value(), "--shard"};
  }
  constexpr ShardVariables kVariables[] = {
      {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", true},
      {"JOB_COMPLETION_INDEX", "GRAPHGATE_SHARDS"},
      {"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"},
  };
  ShardChoice choice;
  for (const ShardVariables& variables : kVariables) {
    if (!environment(variables.index) && !environment(variables.count)) continue;
    GRAPHGATE_TRY(const Shard shard, shard_of(variables, environment));
    if (!choice.source.empty() && !(choice.shard == shard)) {
      return bad_input(choice.source + " says shard " + print_shard(choice.shard) + ", " +
                       variables.index + " says shard " + print_shard(shard) +
                       "; --shard i/N decides");
    }
    if (choice.source.empty()) choice = {shard, variables.index};
  }
  return choice;
}

}  // namespace graphgate::fuzz
