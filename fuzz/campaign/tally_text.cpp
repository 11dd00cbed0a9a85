// The text form of a tally: one line for each count.

#include "fuzz/campaign/tally.h"

namespace graphgate::fuzz {
namespace {

using spec::TextReader;
using spec::TokenKind;

Result<spec::Outcome> take_outcome(TextReader& reader) {
  const spec::Token token = reader.peek();
  GRAPHGATE_TRY(const spec::Token word, reader.expect(TokenKind::kWord, "an outcome"));
  const auto outcome = spec::parse_outcome(word.text);
  if (!outcome) return reader.error_at(token, "expected an outcome");
  return *outcome;
}

Result<void> take_outcome_count(TextReader& reader, Tally& tally) {
  GRAPHGATE_TRY(const spec::Outcome outcome, take_outcome(reader));
  GRAPHGATE_TRY(const std::uint64_t count, take_number(reader, "a count"));
  tally.outcomes[static_cast<std::size_t>(outcome)] += count;
  tally.cases += count;
  return {};
}

Result<void> take_block(TextReader& reader, Tally& tally) {
  GRAPHGATE_TRY(const std::uint64_t number, take_number(reader, "a block"));
  GRAPHGATE_TRY(const std::uint64_t cases, take_number(reader, "a count"));
  GRAPHGATE_TRY(const std::uint64_t digest, take_number(reader, "a digest"));
  tally.blocks[number] = {cases, digest};
  return {};
}

Result<void> take_feature(TextReader& reader, Tally& tally) {
  const spec::Token token = reader.peek();
  GRAPHGATE_TRY(const std::uint64_t feature, take_number(reader, "a feature"));
  if (feature > 0xFFFFFFFFU) return reader.error_at(token, "expected a feature below 2^32");
  FeatureCount count;
  GRAPHGATE_TRY(count.cases, take_number(reader, "a count"));
  GRAPHGATE_TRY_VOID(reader.expect("at"));
  GRAPHGATE_TRY(count.first, take_number(reader, "an index"));
  tally.features[static_cast<std::uint32_t>(feature)] = count;
  return {};
}

Result<void> take_signature(TextReader& reader, Tally& tally) {
  GRAPHGATE_TRY(const std::string name, reader.take_string("a signature"));
  SignatureCount count;
  GRAPHGATE_TRY(count.outcome, take_outcome(reader));
  GRAPHGATE_TRY(count.cases, take_number(reader, "a count"));
  GRAPHGATE_TRY_VOID(reader.expect("at"));
  do {
    const spec::Token token = reader.peek();
    GRAPHGATE_TRY(const std::uint64_t index, take_number(reader, "an index"));
    const bool ascends = count.first.empty() || count.first.back() < index;
    if (!ascends || count.first.size() == kFirstCases) {
      return reader.error_at(token, "expected at most 16 indices, ascending");
    }
    count.first.push_back(index);
  } while (reader.at(TokenKind::kInteger));
  GRAPHGATE_TRY_VOID(reader.expect("nodes"));
  while (reader.at(TokenKind::kString)) {
    GRAPHGATE_TRY(count.nodes.emplace_back(), reader.take_string("a node"));
  }
  GRAPHGATE_TRY_VOID(reader.expect("message"));
  GRAPHGATE_TRY(count.message, reader.take_string("a message"));
  tally.signatures[name] = std::move(count);
  return {};
}

Result<void> take_inconclusive(TextReader& reader, Tally& tally) {
  GRAPHGATE_TRY(const std::string name, reader.take_string("an outcome and a rule"));
  InconclusiveCount count;
  GRAPHGATE_TRY(count.cases, take_number(reader, "a count"));
  GRAPHGATE_TRY_VOID(reader.expect("at"));
  GRAPHGATE_TRY(count.first, take_number(reader, "an index"));
  GRAPHGATE_TRY_VOID(reader.expect("message"));
  GRAPHGATE_TRY(count.message, reader.take_string("a message"));
  tally.inconclusive[name] = std::move(count);
  return {};
}

Result<void> take_best(TextReader& reader, Tally& tally) {
  const spec::Token token = reader.peek();
  ScoredCase scored;
  GRAPHGATE_TRY(scored.score, reader.take_float("a score"));
  GRAPHGATE_TRY_VOID(reader.expect("at"));
  GRAPHGATE_TRY(scored.index, take_number(reader, "an index"));
  const bool descends = tally.best.empty() || tally.best.back().score >= scored.score;
  if (!descends || tally.best.size() == kBestCases) {
    return reader.error_at(token, "expected at most 64 scores, descending");
  }
  tally.best.push_back(scored);
  return {};
}

Result<void> take_bred(TextReader& reader, Tally& tally) {
  GRAPHGATE_TRY(const std::uint64_t index, take_number(reader, "an index"));
  GRAPHGATE_TRY_VOID(reader.expect("from"));
  std::vector<std::uint64_t>& ancestors = tally.ancestors[index];
  do {
    GRAPHGATE_TRY(ancestors.emplace_back(), take_number(reader, "an index"));
  } while (reader.at(TokenKind::kInteger));
  return {};
}

std::string print_signature(const std::string& name, const SignatureCount& count) {
  std::string line = "signature " + spec::quote_string(name) + " " +
                     std::string(spec::outcome_name(count.outcome)) + " " +
                     std::to_string(count.cases) + " at";
  for (const std::uint64_t index : count.first) line += " " + std::to_string(index);
  line += " nodes";
  for (const std::string& node : count.nodes) line += " " + spec::quote_string(node);
  return line + " message " + spec::quote_string(count.message) + "\n";
}

}  // namespace

Result<std::uint64_t> take_number(TextReader& reader, std::string_view what) {
  if (!reader.at(TokenKind::kInteger)) return reader.expected(what);
  return reader.take_seed();
}

std::string print_tally(const Tally& tally) {
  std::string text;
  for (std::size_t i = 0; i < tally.outcomes.size(); ++i) {
    if (tally.outcomes[i] == 0) continue;
    text += "outcome " + std::string(spec::outcome_name(static_cast<spec::Outcome>(i))) + " " +
            std::to_string(tally.outcomes[i]) + "\n";
  }
  for (const auto& [number, block] : tally.blocks) {
    text += "block " + std::to_string(number) + " " + std::to_string(block.cases) + " " +
            std::to_string(block.digest) + "\n";
  }
  for (const auto& [name, count] : tally.signatures) text += print_signature(name, count);
  for (const auto& [name, count] : tally.inconclusive) {
    text += "inconclusive " + spec::quote_string(name) + " " + std::to_string(count.cases) +
            " at " + std::to_string(count.first) + " message " + spec::quote_string(count.message) +
            "\n";
  }
  for (const auto& [feature, count] : tally.features) {
    text += "feature " + std::to_string(feature) + " " + std::to_string(count.cases) + " at " +
            std::to_string(count.first) + "\n";
  }
  for (const ScoredCase& scored : tally.best) {
    text +=
        "best " + spec::print_float(scored.score) + " at " + std::to_string(scored.index) + "\n";
  }
  for (const auto& [index, ancestors] : tally.ancestors) {
    text += "bred " + std::to_string(index) + " from";
    for (const std::uint64_t ancestor : ancestors) text += " " + std::to_string(ancestor);
    text += '\n';
  }
  return text;
}

Result<bool> take_tally_line(TextReader& reader, Tally& tally) {
  struct Line {
    const char* word;
    Result<void> (*take)(TextReader&, Tally&);
  };
  constexpr Line kLines[] = {{"outcome", take_outcome_count},
                             {"block", take_block},
                             {"signature", take_signature},
                             {"inconclusive", take_inconclusive},
                             {"feature", take_feature},
                             {"best", take_best},
                             {"bred", take_bred}};
  for (const Line& line : kLines) {
    if (!reader.accept(line.word)) continue;
    GRAPHGATE_TRY_VOID(line.take(reader, tally));
    GRAPHGATE_TRY_VOID(reader.expect_line_end());
    return true;
  }
  return false;
}

}  // namespace graphgate::fuzz
