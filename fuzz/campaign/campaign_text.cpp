// The text form of a campaign's state.

#include "fuzz/campaign/campaign_state.h"

namespace graphgate::fuzz {
namespace {

using spec::TextReader;
using spec::TokenKind;

Result<std::uint32_t> take_small_number(TextReader& reader, const char* what) {
  const spec::Token token = reader.peek();
  GRAPHGATE_TRY(const std::uint64_t number, take_number(reader, what));
  if (number > 0xFFFFFFFFU) return reader.error_at(token, "expected a number below 2^32");
  return static_cast<std::uint32_t>(number);
}

Result<void> take_done(TextReader& reader, CampaignState& state) {
  const spec::Token token = reader.peek();
  Shard shard;
  GRAPHGATE_TRY(shard.index, take_small_number(reader, "a shard"));
  GRAPHGATE_TRY_VOID(reader.expect("of"));
  GRAPHGATE_TRY(shard.count, take_small_number(reader, "how many shards there are"));
  if (shard.index >= shard.count) return reader.error_at(token, "there is no such shard");
  RangeSet& ordinals = state.done[shard];
  while (reader.accept("[")) {
    GRAPHGATE_TRY(const std::uint64_t begin, take_number(reader, "an ordinal"));
    GRAPHGATE_TRY_VOID(reader.expect(","));
    GRAPHGATE_TRY(const std::uint64_t end, take_number(reader, "an ordinal"));
    GRAPHGATE_TRY_VOID(reader.expect(")"));
    ordinals.add(begin, end);
  }
  return {};
}

Result<TriageStatus> take_status(TextReader& reader) {
  const spec::Token token = reader.peek();
  GRAPHGATE_TRY(const std::string word, reader.take_dashed_word("what became of the finding"));
  for (const auto status : {TriageStatus::kPending, TriageStatus::kConfirmed,
                            TriageStatus::kOrderDependent, TriageStatus::kFlaky}) {
    if (triage_name(status) == word) return status;
  }
  return reader.error_at(token, "expected pending, confirmed, order-dependent or flaky");
}

Result<void> take_triage(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(const std::string signature, reader.take_string("a signature"));
  Triage triage;
  GRAPHGATE_TRY(triage.status, take_status(reader));
  GRAPHGATE_TRY_VOID(reader.expect("nodes"));
  GRAPHGATE_TRY(triage.nodes, take_small_number(reader, "a count"));
  GRAPHGATE_TRY_VOID(reader.expect("calls"));
  GRAPHGATE_TRY(triage.calls, take_small_number(reader, "a count"));
  GRAPHGATE_TRY_VOID(reader.expect("from"));
  GRAPHGATE_TRY(triage.from, take_number(reader, "an index"));
  GRAPHGATE_TRY_VOID(reader.expect("file"));
  GRAPHGATE_TRY(triage.file, reader.take_string("a file"));
  GRAPHGATE_TRY_VOID(reader.expect("remark"));
  GRAPHGATE_TRY(triage.remark, reader.take_string("a remark"));
  if (reader.accept("known")) {
    GRAPHGATE_TRY(triage.known, reader.take_string("a known finding"));
  }
  state.triage[signature] = std::move(triage);
  return {};
}

Result<void> take_setting(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(const std::string name, reader.take_string("a setting"));
  GRAPHGATE_TRY(state.key.settings[name], reader.take_string("its value"));
  return {};
}

Result<void> take_run(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(const std::string name, reader.take_string("what a run was given"));
  GRAPHGATE_TRY(state.run[name], reader.take_string("its value"));
  return {};
}

Result<void> take_tally_block(TextReader& reader, const char* name, Tally& tally) {
  GRAPHGATE_TRY_VOID(reader.expect(name));
  GRAPHGATE_TRY_VOID(reader.expect("{"));
  GRAPHGATE_TRY_VOID(reader.expect_line_end());
  while (!reader.accept("}")) {
    GRAPHGATE_TRY(const bool is_tally, take_tally_line(reader, tally));
    if (!is_tally) return reader.expected("a count or '}'");
  }
  return {};
}

Result<void> take_lineage(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(const std::uint32_t number, take_small_number(reader, "a lineage"));
  Lineage& lineage = state.lineages[number];
  GRAPHGATE_TRY_VOID(reader.expect("generation"));
  GRAPHGATE_TRY(lineage.generation, take_number(reader, "a count"));
  GRAPHGATE_TRY_VOID(take_tally_block(reader, "shown", lineage.shown));
  return take_tally_block(reader, "open", lineage.open);
}

Result<void> take_seconds(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(state.seconds, reader.take_float("seconds"));
  return {};
}

Result<void> take_generator(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(state.key.generator, take_small_number(reader, "a version"));
  return {};
}

Result<void> take_seed_line(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(state.key.seed, take_number(reader, "a seed"));
  return {};
}

Result<void> take_cases(TextReader& reader, CampaignState& state) {
  GRAPHGATE_TRY(state.cases, take_number(reader, "a count"));
  return {};
}

Result<void> take_line(TextReader& reader, CampaignState& state) {
  struct Line {
    const char* word;
    Result<void> (*take)(TextReader&, CampaignState&);
  };
  constexpr Line kLines[] = {
      {"generator", take_generator}, {"seed", take_seed_line}, {"setting", take_setting},
      {"cases", take_cases},         {"done", take_done},      {"lineage", take_lineage},
      {"triage", take_triage},       {"run", take_run},        {"seconds", take_seconds}};
  for (const Line& line : kLines) {
    if (!reader.accept(line.word)) continue;
    GRAPHGATE_TRY_VOID(line.take(reader, state));
    return reader.expect_line_end();
  }
  GRAPHGATE_TRY(const bool is_tally, take_tally_line(reader, state.tally));
  if (is_tally) return {};
  return reader.expected("a line of a campaign");
}

std::string print_done(const Shard& shard, const RangeSet& ordinals) {
  std::string line = "done " + std::to_string(shard.index) + " of " + std::to_string(shard.count);
  for (const auto& [begin, end] : ordinals.ranges()) {
    line += " [" + std::to_string(begin) + ", " + std::to_string(end) + ")";
  }
  return line + "\n";
}

std::string print_lineage(std::uint32_t number, const Lineage& lineage) {
  return "lineage " + std::to_string(number) + " generation " + std::to_string(lineage.generation) +
         " shown {\n" + print_tally(lineage.shown) + "} open {\n" + print_tally(lineage.open) +
         "}\n";
}

std::string print_triage(const std::string& signature, const Triage& triage) {
  return "triage " + spec::quote_string(signature) + " " + std::string(triage_name(triage.status)) +
         " nodes " + std::to_string(triage.nodes) + " calls " + std::to_string(triage.calls) +
         " from " + std::to_string(triage.from) + " file " + spec::quote_string(triage.file) +
         " remark " + spec::quote_string(triage.remark) +
         (triage.known.empty() ? "" : " known " + spec::quote_string(triage.known)) + "\n";
}

}  // namespace

std::string print_state(const CampaignState& state) {
  std::string text = "graphgate-campaign " + std::to_string(kCampaignVersion) + "\n";
  text += "generator " + std::to_string(state.key.generator) + "\n";
  text += "seed " + std::to_string(state.key.seed) + "\n";
  for (const auto& [name, value] : state.key.settings) {
    text += "setting " + spec::quote_string(name) + " " + spec::quote_string(value) + "\n";
  }
  text += "cases " + std::to_string(state.cases) + "\n";
  for (const auto& [shard, ordinals] : state.done) text += print_done(shard, ordinals);
  text += print_tally(state.tally);
  for (const auto& [number, lineage] : state.lineages) text += print_lineage(number, lineage);
  for (const auto& [signature, triage] : state.triage) text += print_triage(signature, triage);
  for (const auto& [name, value] : state.run) {
    text += "run " + spec::quote_string(name) + " " + spec::quote_string(value) + "\n";
  }
  return text + "seconds " + spec::print_float(state.seconds) + "\n";
}

Result<CampaignState> parse_state(std::string_view text, std::string_view source) {
  TextReader reader(text, source);
  GRAPHGATE_TRY(const std::string head, reader.take_dashed_word("graphgate-campaign"));
  if (std::string_view(head) != "graphgate-campaign")
    return bad_input(std::string(source) + ": not a campaign");
  const spec::Token version_token = reader.peek();
  GRAPHGATE_TRY(const std::uint64_t version, take_number(reader, "a version"));
  if (version != static_cast<std::uint64_t>(kCampaignVersion)) {
    return reader.error_at(version_token, "unknown version " + std::to_string(version) +
                                              ", this build reads version " +
                                              std::to_string(kCampaignVersion));
  }
  GRAPHGATE_TRY_VOID(reader.expect_line_end());
  CampaignState state;
  while (!reader.at(TokenKind::kEnd)) GRAPHGATE_TRY_VOID(take_line(reader, state));
  return state;
}

}  // namespace graphgate::fuzz
