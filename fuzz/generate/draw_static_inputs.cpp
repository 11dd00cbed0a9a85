// Inputs that calls pass at one address, declared in drawn_program.h.
#include <algorithm>

#include "fuzz/generate/drawn_program.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

// Whether every program has a tensor there that it does not write: an executor refuses others.
bool may_be_static(const std::vector<DrawnProgram>& programs, std::size_t place) {
  return std::all_of(programs.begin(), programs.end(), [&](const DrawnProgram& program) {
    return place < program.inputs.size() &&
           program.inputs[place].kind == spec::ValueKind::kTensor &&
           !program.inputs[place].is_ever_written;
  });
}

}  // namespace

void draw_static_inputs(GeneReader genes, const Alphabet& alphabet,
                        std::vector<DrawnProgram>& programs, spec::CaseFile& the_case) {
  if (!genes.chance(alphabet.chance(Trait::kStaticInputs))) return;
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < programs.front().inputs.size(); ++place) {
    if (may_be_static(programs, place)) places.push_back(place);
  }
  if (places.empty()) return;
  const std::uint32_t gene = genes.next();
  std::vector<std::size_t> chosen = {places[gene % places.size()]};
  const std::size_t second = places[genes.below(places.size())];
  if (second != chosen.front() && gene / 64 % 3 == 1) chosen.push_back(second);
  std::string names;
  for (const std::size_t place : chosen) {
    names += (names.empty() ? "" : ",") + user_input_name(place);
    for (DrawnProgram& program : programs) {
      program.inputs[place].is_static = true;
      the_case.scenario.steps.emplace_back(
          spec::StaticStep{{program.program.name, static_cast<std::uint32_t>(place)}});
    }
  }
  the_case.options.emplace(spec::option::kStaticInput, std::move(names));
}

}  // namespace graphgate::fuzz
