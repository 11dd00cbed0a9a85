// The texts of motifs: programs in graph text, some parts of which are drawn.
//
//   choose TYPE; BEGIN; END = u8; 252; 260 | i8; 124; 132
//   choose OP = aten.fmod.Scalar
//     | aten.remainder.Scalar
//   program "range-as-another-type" {
//     %i : i64[8] = aten.arange.start($BEGIN, $END, dtype=i64)
//     ...
//
// A `choose` belongs to the program behind it. Each of its alternatives gives a text to every name,
// which stands for `$NAME` in the program, and in alternatives of other choices. Any alternative
// goes with any one of the other choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphgate::fuzz {

struct MotifChoice {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> alternatives;  // each has a text for every name
};

struct MotifText {
  std::vector<MotifChoice> choices;
  std::string program;  // graph text, with `$NAME` for what is chosen
};

// Returns the motifs of a file in order. Ends the process where a choice is broken: the files are
// compiled in.
[[nodiscard]] std::vector<MotifText> read_motif_texts(std::string_view file);

// Returns the program's text with one alternative of each choice.
[[nodiscard]] std::string text_with(const MotifText& motif, std::span<const std::uint32_t> picks);

}  // namespace graphgate::fuzz
