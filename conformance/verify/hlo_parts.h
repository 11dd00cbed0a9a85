// What the files that judge XLA's plans share. verify_hlo is in hlo.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "conformance/verify/hlo.h"

namespace graphgate::verify {

inline constexpr std::size_t kNoHloValue = std::numeric_limits<std::size_t>::max();

// Numbers instructions and values of a plan, and knows their names.
class HloIndex {
 public:
  explicit HloIndex(const spec::HloPlan& plan);

  [[nodiscard]] const spec::HloPlan& plan() const { return *plan_; }
  [[nodiscard]] const spec::HloComputation& computation(std::size_t c) const {
    return plan_->module.computations[c];
  }
  [[nodiscard]] const spec::HloInstruction& at(const spec::HloPosition& position) const {
    return computation(position.computation).instructions[position.instruction];
  }
  // Numbers instructions of all computations together.
  [[nodiscard]] std::size_t number(std::size_t computation, std::size_t instruction) const {
    return first_[computation] + instruction;
  }
  // The value that is made at the position; kNoHloValue where another one passes by.
  [[nodiscard]] std::size_t value_at(const spec::HloPosition& position) const;
  // "'wrapped_add'", "'tuple.4'{1}"
  [[nodiscard]] std::string name(const spec::HloPosition& position) const;
  // "'copy.2' (256 bytes at 512 of allocation 36)"
  [[nodiscard]] std::string placed(std::size_t value) const;

  // The order in which everything that shares memory runs: computations of control flow where they
  // are called, a condition before its body, both before their caller.
  [[nodiscard]] const std::vector<spec::HloPosition>& schedule() const { return schedule_; }
  // When an instruction runs; -1 where it has memory of its own (in a fusion, say).
  [[nodiscard]] std::int64_t time(std::size_t computation, std::size_t instruction) const {
    return time_[number(computation, instruction)];
  }
  // Behind the computation's last instruction.
  [[nodiscard]] std::int64_t end_time(std::size_t computation) const { return end_[computation]; }

 private:
  void lay_out(std::size_t computation);

  const spec::HloPlan* plan_;
  std::vector<std::size_t> first_;                // instruction numbers, by computation
  std::vector<std::vector<std::size_t>> values_;  // by instruction number and part
  std::vector<spec::HloPosition> schedule_;
  std::vector<std::int64_t> time_;
  std::vector<std::int64_t> end_;
};

// Whether an instruction that reads an operand part and writes a result part over the very bytes of
// it reads every element before it writes it. hlo_in_place.cpp.
[[nodiscard]] bool may_write_over(const spec::HloModule& module, const spec::HloInstruction& user,
                                  const spec::HloComputation& in, std::size_t result_part,
                                  std::size_t operand, std::size_t operand_part);

// How late each value is read, and by whom; what the walk finds out. By value.
struct HloUse {
  std::int64_t time = -1;  // -1: by nobody
  spec::HloPosition user;
  bool is_handed_on = false;  // to a loop, a caller: not read, but needed
};

// Walks through the module. hlo_walk.cpp.
[[nodiscard]] Result<std::vector<HloUse>> walk_hlo(const HloIndex& index,
                                                   std::vector<spec::Finding>& out);
// Holds each place to its allocation. hlo_places.cpp.
void check_hlo_places(const HloIndex& index, std::vector<spec::Finding>& out);
// Holds XLA's live ranges to what the walk has seen. hlo_places.cpp.
void check_hlo_ranges(const HloIndex& index, const std::vector<HloUse>& uses,
                      std::vector<spec::Finding>& out);

}  // namespace graphgate::verify
