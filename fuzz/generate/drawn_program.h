// A drawn program, and what the scenario must know of it.
#pragma once

#include <string>
#include <vector>

#include "fuzz/generate/alphabet.h"
#include "fuzz/generate/draft.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

// An input or output as the scenario sees it.
struct Port {
  spec::ValueKind kind = spec::ValueKind::kTensor;
  DrawnTensor tensor;
  bool holds_random_data = true;  // an input whose elements may be any numbers
  bool is_state = false;          // an output that is a view of a parameter or buffer
  bool is_written = false;        // an input whose bytes the program writes
  bool is_ever_written = false;   // the same, where it only does so at some sizes, too
  bool is_static = false;         // an input that calls pass at one address
};

struct DrawnProgram {
  spec::Program program;
  SizeTable table;
  std::vector<Port> inputs;          // user inputs
  std::vector<Port> outputs;         // user outputs
  std::vector<std::string> symbols;  // those that calls name, in order
  std::vector<Bounds> ranges;
  std::vector<std::string_view> custom_ops;  // rows of the op table
  bool has_state = false;
  bool has_parameters = false;
  bool keeps_places = false;  // its inputs begin where their storages do (Draft::keep_places)
  // Pairs of user inputs (by place) that may share their bytes.
  std::vector<std::pair<std::size_t, std::size_t>> sharable;
};

// The target of the user input at this place.
[[nodiscard]] inline std::string user_input_name(std::size_t place) {
  return "x" + std::to_string(place);
}

// What all programs of a case have in common.
struct CaseStyle {
  std::vector<std::int32_t> constant_dims;
  std::vector<spec::DType> dtypes;
  bool has_symbol = false;
  bool has_second_symbol = false;
  bool on_accelerator = false;
  bool has_buffer = false;
  bool has_empty_size = false;
  std::int64_t least_size = 2;
  std::int64_t most_size = 64;
  std::uint64_t families = ~std::uint64_t{0};  // a set: those that are drawn in this case
};

// `blocks`: the genes of the program's nodes.
[[nodiscard]] DrawnProgram draw_program(std::string name, const CaseStyle& style, GeneReader header,
                                        std::span<const std::uint32_t> blocks,
                                        const Alphabet& alphabet);

// Chooses inputs that calls pass at one address, and asks the executor to rely on it: the option
// names inputs of all programs.
void draw_static_inputs(GeneReader genes, const Alphabet& alphabet,
                        std::vector<DrawnProgram>& programs, spec::CaseFile& the_case);

// Steps of the scenario, options and input sets, over finished programs; into `the_case`.
void draw_scenario(GeneReader genes, const Alphabet& alphabet,
                   const std::vector<DrawnProgram>& programs, spec::CaseFile& the_case);
void draw_options(GeneReader genes, const Alphabet& alphabet,
                  const std::vector<DrawnProgram>& programs, spec::CaseFile& the_case);

}  // namespace graphgate::fuzz
