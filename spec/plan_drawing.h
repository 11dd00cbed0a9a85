// When each buffer of a plan is in use, and a picture of a pool: time to the right, offsets down.
//
//   pool @arena: arena on cuda, 1536 bytes, 3 buffers, steps 0 to 3
//        0 |aaaa....
//      512 |..bbbb..
//     1024 |....cccc
//     1536 +--------
//   a $y [0, 512) steps 0 to 1
//   b $z [512, 1024) steps 1 to 2
//   c $t [1024, 1536) steps 2 to 3
//
// A time is a position in the order of execution, where the steps of a conditional's arms stand
// behind the conditional's own, one arm after the other. Without conditionals it is the index of
// the step. The `plan` command draws with it; benchmarks and checks of peaks use the uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/plan.h"

namespace graphgate::spec {

// Positions [first_step, last_step] in the order of execution, both inclusive.
struct BufferUse {
  BufferId buffer;
  std::uint32_t first_step = 0;
  std::uint32_t last_step = 0;
  friend bool operator==(const BufferUse&, const BufferUse&) = default;
};

// Indices into Plan::steps, each once. The plan must pass check_plan, here and below.
[[nodiscard]] std::vector<std::uint32_t> execution_order(const Plan& plan);

// Returns the indices of the blocks among a step's arguments, each once, sorted: the arms of a
// conditional.
[[nodiscard]] std::vector<std::uint32_t> arms_of(const PlanStep& step);

// Returns the uses of buffers. A use reaches from the first to the last step that mentions a value
// over the buffer, or has it for workspace. A conditional's own mentions, and the results of its
// arms, count until the last step of its arms. Inputs count from the first position, outputs and
// final values of inputs to the last. Buffers of a state pool that are used at all count always.
// They are in the order of buffers, without those that nothing uses.
[[nodiscard]] std::vector<BufferUse> buffer_uses(const Plan& plan);

struct DrawingOptions {
  std::size_t width = 100;       // columns of the whole picture; at least 40 are taken
  std::size_t height = 60;       // rows of offsets
  std::size_t legend_rows = 60;  // buffers that the legend names, lowest offset first
};

// Returns one line per range between two ends of buffers (or of several, where there are too many),
// one column per step (or of several). A letter is the buffer in those bytes at that time, `.`
// nothing, and `+` several buffers in one cell. `#` is two buffers in the same bytes at the same
// step: a result that takes its operand's place, or a mistake. Letters come again after 52 buffers.
// A heap has no offsets: its buffers get a line each.
[[nodiscard]] std::string draw_pool(const Plan& plan, PoolId pool,
                                    const DrawingOptions& options = {});

}  // namespace graphgate::spec
