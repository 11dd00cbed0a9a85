// A device against the host on drawn cases, bit by bit: every call of every scenario, states too.
#pragma once

#include <set>
#include <string>

#include "base/result_test.h"
#include "conformance/judges/judge.h"
#include "conformance/judges/same_bits.h"
#include "conformance/run/runs.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/judge_case.h"
#include "spec/plan_text.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/check_input.h"

namespace graphgate {

struct DrawnOnDevice {
  std::size_t cases = 0;    // that both ran
  std::size_t refused = 0;  // that the device refuses: instruments watch the host alone
  std::size_t plans = 0;    // with a captured partition, each text once
};

// What a call gave on a device, beside what it gave on the host; "" where they are the same. What
// the program leaves open (the contents of `empty`) counts for nothing.
inline std::string difference_of_calls(conformance::Runs& runs, const conformance::Trace& device,
                                       const conformance::Trace& host) {
  if (device.error.has_value() != host.error.has_value() ||
      device.calls.size() != host.calls.size()) {
    return "only one of them ends: " + (device.error ? device.error : host.error)->message;
  }
  for (std::size_t i = 0; i < host.calls.size(); ++i) {
    conformance::BitOptions options;
    auto bits = compare_bits(device.calls[i].result, host.calls[i].result, "the host's", options);
    if (bits.differences.empty()) continue;
    const auto oracle = runs.oracle("sampled");
    if (oracle.ok() && i < oracle.value()->calls.size()) {
      options.oracle = &oracle.value()->calls[i].result;
      bits = compare_bits(device.calls[i].result, host.calls[i].result, "the host's", options);
    }
    if (bits.differences.empty()) continue;
    return "call " + std::to_string(i) + ", " + bits.differences.front().where + ": " +
           bits.differences.front().message;
  }
  return "";
}

// A case of one call, all of which the device captures.
inline void expect_bits_of_host(const std::string& device, const std::string& text) {
  SCOPED_TRACE(text);
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  const auto script = must(tools::read_case(text, "a.case"));
  conformance::Runs runs(script, *subject, *oracle);
  const auto on_device = runs.subject({{"device", device}});
  const auto on_host = runs.subject();
  ASSERT_TRUE(on_device.ok()) << on_device.error().message;
  ASSERT_TRUE(on_host.ok()) << on_host.error().message;
  ASSERT_FALSE(on_host.value()->error) << on_host.value()->error->message;
  ASSERT_EQ(difference_of_calls(runs, *on_device.value(), *on_host.value()), "");
  const auto& call = on_device.value()->calls.at(0);
  ASSERT_TRUE(call.plan);
  for (const auto& partition : call.plan->blocks.front().partitions) {
    EXPECT_TRUE(partition.captured) << partition.reason;
  }
}

// Draws cases [first, last) of a seed and runs them on the host and on `device`.
inline DrawnOnDevice compare_drawn(const std::string& device, std::uint64_t seed,
                                   std::uint64_t first, std::uint64_t last) {
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  const fuzz::Alphabet alphabet;
  DrawnOnDevice out;
  std::set<std::string> plans;
  for (std::uint64_t index = first; index < last; ++index) {
    SCOPED_TRACE("g3:" + std::to_string(seed) + ":" + std::to_string(index));
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(seed, index), alphabet);
    const auto script = conformance::script_of(the_case, fuzz::no_files());
    EXPECT_TRUE(script.ok()) << script.error().message;
    if (!script.ok()) continue;
    conformance::Runs runs(script.value(), *subject, *oracle);
    const auto on_device = runs.subject({{"device", device}});
    if (!on_device.ok() && on_device.error().kind == ErrorKind::kUnsupported) {
      ++out.refused;
      continue;
    }
    const auto on_host = runs.subject();
    EXPECT_TRUE(on_device.ok()) << on_device.error().message;
    EXPECT_TRUE(on_host.ok()) << on_host.error().message;
    if (!on_device.ok() || !on_host.ok()) continue;
    ++out.cases;
    EXPECT_EQ(difference_of_calls(runs, *on_device.value(), *on_host.value()), "");
    for (const conformance::CallRecord& call : on_device.value()->calls) {
      if (!call.plan) continue;
      const auto& blocks = call.plan->blocks;
      const bool captures = std::any_of(blocks.begin(), blocks.end(), [](const auto& block) {
        return std::any_of(block.partitions.begin(), block.partitions.end(),
                           [](const auto& partition) { return partition.captured; });
      });
      if (captures) plans.insert(spec::print_plan(*call.plan, *script.value().ops));
    }
  }
  out.plans = plans.size();
  return out;
}

}  // namespace graphgate
