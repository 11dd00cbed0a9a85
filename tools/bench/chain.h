// Programs for benchmarks: long chains of nodes. Sizes are the caller's, contents do not
// matter; tools/bench/scale.cpp, tools/bench/packing.cpp's neighbours and `graphgate bench` time
// what happens to them.
#pragma once

#include <cstdint>

#include "spec/program.h"

namespace graphgate::tools {

// `nodes` nodes on f32[8]: relu, add of the value 40 nodes before, mul by a constant, over and
// over. A value in three is used again 40 nodes later, so that memory planning has something to do.
// One user input, one output.
[[nodiscard]] spec::Program make_reusing_chain(std::size_t nodes);

// `nodes` nodes on f32[elements], each of which reads the one before alone: mul by a constant, add
// of a constant, relu, over and over. What is read first is a buffer, not an input, so that no call
// copies it. `elements` zeros are allocated for it.
[[nodiscard]] spec::Program make_straight_chain(std::size_t nodes, std::int64_t elements);

// `nodes` nodes on f32[elements], each of which turns the one before around (flip): on a device, a
// kernel each, since a thread has nothing of what the next one wants. Reads a buffer, as above.
[[nodiscard]] spec::Program make_turning_chain(std::size_t nodes, std::int64_t elements);

// `layers` layers on f32[n, width], n from 1 to `most_rows`, of two nodes each: a product with a
// weight, and relu. No row sees another, so that calls may be padded. Weights are zeros.
[[nodiscard]] spec::Program make_layers(std::size_t layers, std::int64_t width,
                                        std::int64_t most_rows);

}  // namespace graphgate::tools
