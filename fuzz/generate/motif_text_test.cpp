// Texts of motifs: what is chosen stands in the program, and every combination is one.
#include "fuzz/generate/motif_text.h"

#include <gtest/gtest.h>

#include "spec/graph_text.h"
#include "spec/op_table.h"
#include "spec/text_lexer.h"

namespace graphgate::fuzz {

extern const std::string_view kMotifTexts[];
extern const std::string_view kMotifTextsNames[];
extern const std::size_t kMotifTextsCount;

namespace {

TEST(MotifText, HasChoicesBeforeItsProgram) {
  const auto motifs = read_motif_texts(
      "# A comment.\n\n"
      "choose TYPE; NUMBER = f32; 1.0 | i64; 2\n"
      "choose USE = neg($TYPE)\n  | add(%a, $NUMBER)\n"
      "program \"p\" {\n  $USE of $TYPE and $TYPE2\n}\n\n"
      "program \"q\" {\n}\n");
  ASSERT_EQ(motifs.size(), 2U);
  ASSERT_EQ(motifs[0].choices.size(), 2U);
  EXPECT_EQ(motifs[0].choices[0].names, (std::vector<std::string>{"TYPE", "NUMBER"}));
  EXPECT_EQ(motifs[0].choices[1].alternatives.size(), 2U);
  EXPECT_EQ(motifs[1].choices.size(), 0U);
  EXPECT_EQ(motifs[1].program, "program \"q\" {\n}\n");
}

TEST(MotifText, ReplacesNamesInAlternativesToo) {
  const auto motifs = read_motif_texts(
      "choose A; A2 = x; y | z; $B\nchoose B = $A | b\nprogram \"p\" {\n  $A $A2 $B\n}\n");
  EXPECT_EQ(text_with(motifs[0], std::vector<std::uint32_t>{0, 0}),
            "program \"p\" {\n  x y x\n}\n");
  EXPECT_EQ(text_with(motifs[0], std::vector<std::uint32_t>{1, 1}),
            "program \"p\" {\n  z b b\n}\n");
}

// Returns whether there is another combination, and makes the picks those of it.
bool go_on(const MotifText& motif, std::vector<std::uint32_t>& picks) {
  for (std::size_t c = 0; c < picks.size(); ++c) {
    if (++picks[c] < motif.choices[c].alternatives.size()) return true;
    picks[c] = 0;
  }
  return false;
}

TEST(MotifText, IsAProgramWithAnyAlternatives) {
  std::size_t combinations = 0;
  for (std::size_t t = 0; t < kMotifTextsCount; ++t) {
    for (const MotifText& motif : read_motif_texts(kMotifTexts[t])) {
      std::vector<std::uint32_t> picks(motif.choices.size());
      do {
        const std::string text = text_with(motif, picks);
        spec::TextReader reader(text, kMotifTextsNames[t]);
        const auto program = spec::read_program(reader, spec::builtin_op_table());
        ASSERT_TRUE(program.ok()) << program.error().message << "\n" << text;
        ++combinations;
      } while (go_on(motif, picks));
    }
  }
  EXPECT_GT(combinations, 4000U);
}

}  // namespace
}  // namespace graphgate::fuzz
