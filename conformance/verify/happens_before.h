// Which steps of a plan are certainly over when another begins.
//
// Program order does not count. What counts is what spec/plan.h promises. Steps of one stream run
// in order. A step that waits for an event runs behind the step before it that records the event. A
// captured partition begins behind everything before it and ends with all its streams joined. Eager
// partitions run step by step. The arms of a conditional run at its step.
//
//   stream 0   step 0 ── record 0 ── step 3          step 0 before step 2 (event 0)
//   stream 1   step 1 ── step 2 (wait 0) ─           step 1 and step 3: no order
//
// Each step carries a vector clock: how many steps of every stream of its partition are over when
// it begins. One clock per step and stream, filled in one pass; a question is one comparison.
// rule_order.cpp asks for every two tenants of a byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/verify/accesses.h"

namespace graphgate::verify {

// A wait that gets no step: the event is recorded by nobody before it, or in another partition
// only (`recorder`).
struct IdleWait {
  std::uint32_t step = 0;
  spec::EventId event;
  std::optional<std::uint32_t> recorder;
};

class HappensBefore {
 public:
  explicit HappensBefore(const Accesses& accesses);

  // Whether `earlier` is over when `later` begins. Steps of different arms of one conditional never
  // both run: false.
  [[nodiscard]] bool before(std::uint32_t earlier, std::uint32_t later) const;
  // Whether one of the two is over when the other begins, or never both run.
  [[nodiscard]] bool ordered(std::uint32_t a, std::uint32_t b) const;
  // In the order of running.
  [[nodiscard]] const std::vector<IdleWait>& idle_waits() const { return idle_waits_; }

 private:
  void run_partition(const spec::PlanPartition& partition);
  [[nodiscard]] bool before_in_block(std::uint32_t x, std::uint32_t y) const;
  [[nodiscard]] std::optional<std::uint32_t> recorder_of(std::uint32_t step, spec::EventId event,
                                                         std::uint32_t from) const;

  const spec::Plan& plan_;
  const Accesses& accesses_;
  std::vector<std::uint32_t> line_;               // by step: its stream, counted in its partition
  std::vector<std::uint32_t> ordinal_;            // by step: steps of its line before it
  std::vector<std::vector<std::uint32_t>> over_;  // by step: steps over at its begin, by line
  std::vector<IdleWait> idle_waits_;
};

}  // namespace graphgate::verify
