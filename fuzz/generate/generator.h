// From genes to a case: programs, a scenario, a configuration and data.
//
// draw_case is pure and total: every vector of genes gives a case that check_case accepts, whose
// programs the reference runs. The campaign, the tests and replay call it. What a line
// (version, seed, index) stands for depends on kGeneratorVersion (alphabet.h): whoever changes what
// genes mean raises it. Versions from kOldestGenerator on have alphabets of their own; cases of
// older ones are kept as files.
//
//   genes ─┬ header: dtypes, sizes, symbols, traits     ┐
//          ├ a block for each node: op, operands, form   ├ programs (draw_program)
//          └ header again: calls, options, data         ┴ scenario, options, input sets
#pragma once

#include <cstdint>
#include <span>

#include "fuzz/generate/alphabet.h"
#include "fuzz/generate/genes.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

// The parts of a case that can be drawn again by themselves: the programs stay.
enum class CasePart : std::uint8_t {
  kOptions,
  kScenario,  // steps, and the data that a case passes in its text
};
// Gives this part of the case other genes, which follow from a number.
void redraw(GeneVector& genes, CasePart part, std::uint64_t number);

[[nodiscard]] spec::CaseFile draw_case(std::span<const std::uint32_t> genes,
                                       const Alphabet& alphabet);

}  // namespace graphgate::fuzz
