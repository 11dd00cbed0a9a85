// Data drawn from seeds: user inputs, and the elements of parameters.
//
// What a program is called with is drawn here where there is no recording: the judges of programs,
// the verbs run and plan, and scripts of case files. The same seed gives the same bytes on every
// platform. Floating elements are close to standard normal, integers 0 or 1 (valid as an index of
// anything that has two elements), booleans even.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/executor.h"
#include "spec/program.h"

namespace graphgate::conformance {

// User inputs of a program. Call 0 uses each symbol's traced size, later ones other sizes of its
// range. kBadInput for an input of more than 2^28 elements or of a negative size.
[[nodiscard]] Result<std::vector<spec::InputValue>> seeded_inputs(const spec::Program& program,
                                                                  std::uint64_t seed, int call);

// The size that a call takes where it names none: the traced one, within the symbol's range.
[[nodiscard]] std::int64_t traced_size(const spec::SymbolInfo& info);

// One user input at these sizes. Tensors are packed: lay_out_inputs gives them declared strides.
[[nodiscard]] Result<spec::InputValue> seeded_input(const spec::Program& program,
                                                    const spec::Value& value,
                                                    const spec::SymbolValues& symbols,
                                                    std::uint64_t seed);

// Elements for a parameter, buffer or constant, with the strides that it declares. Symbols in its
// sizes have their traced sizes.
[[nodiscard]] Result<spec::HostTensor> seeded_state(const spec::Program& program,
                                                    const spec::ProgramInput& input,
                                                    std::uint64_t seed);

// A seed for the part of a whole that has this number: parts do not see each other.
[[nodiscard]] std::uint64_t seed_of_part(std::uint64_t seed, std::uint64_t part);

}  // namespace graphgate::conformance
