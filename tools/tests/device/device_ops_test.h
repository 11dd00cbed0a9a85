// A device against the host on recorded op cases, bit by bit: what an op computes of PyTorch's own
// samples, infinities, NaNs, empty tensors and odd strides among them.
//
// A NaN is a NaN: of its sign and payload the machines have different opinions.
#pragma once

#include <cmath>

#include "base/result_test.h"
#include "conformance/compare/element.h"
#include "interop/op_cases.h"
#include "optimized/optimized.h"
#include "optimized/runtime/device/device.h"
#include "spec/plan.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {

inline bool same_but_nans(const HostTensor& a, const HostTensor& b) {
  if (same_tensor(a, b)) return true;
  if (a.dtype != b.dtype || a.sizes != b.sizes || a.strides != b.strides ||
      !spec::is_floating_point(a.dtype)) {
    return false;
  }
  const std::vector<std::byte> x = spec::packed_bytes(a);
  const std::vector<std::byte> y = spec::packed_bytes(b);
  const std::vector<long double> of_a = conformance::decode_elements(a);
  const std::vector<long double> of_b = conformance::decode_elements(b);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(a.dtype));
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const bool is_same = std::memcmp(x.data() + i * item, y.data() + i * item, item) == 0;
    if (!is_same && !(std::isnan(of_a[i]) && std::isnan(of_b[i]))) return false;
  }
  return true;
}

template <class Value>
bool same_value_but_nans(const Value& a, const Value& b) {
  const auto* x = std::get_if<HostTensor>(&a);
  const auto* y = std::get_if<HostTensor>(&b);
  return x && y ? same_but_nans(*x, *y) : same_value(a, b);
}

inline std::string difference(const CallResult& a, const CallResult& b) {
  if (a.outputs.size() != b.outputs.size()) return "the count of results";
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    if (!same_value_but_nans(a.outputs[i], b.outputs[i])) return "output " + std::to_string(i);
  }
  for (std::size_t i = 0; i < a.final_inputs.size(); ++i) {
    if (!same_value_but_nans(a.final_inputs[i], b.final_inputs[i])) {
      return "input " + std::to_string(i);
    }
  }
  return "";
}

// Visits every golden op case, until `visit` returns false.
inline void visit_golden_op_cases(const std::function<bool(const interop::OpCase&)>& visit) {
  for (const char* name : {"op_cases.jsonl", "op_cases_2.15.jsonl", "random_open.jsonl"}) {
    must(interop::read_op_cases(std::string(GRAPHGATE_GOLDEN_DIR "/ops/") + name,
                                spec::builtin_op_table(), visit));
  }
}

// Runs every `step`-th case from `first` on. Fails where a result differs.
inline void compare_op_cases(const std::shared_ptr<optimized::Device>& device, std::size_t first,
                             std::size_t step) {
  optimized::Options options;
  options.device = device;
  const auto on_device = optimized::make_executor(options);
  const auto on_host = optimized::make_executor();
  std::size_t index = 0;
  int captured = 0;
  int differing = 0;
  const auto visit = [&](const interop::OpCase& op_case) {
    if (index++ % step != first) return true;
    auto expected = on_host->load(op_case.program);
    auto actual = on_device->load(op_case.program);
    EXPECT_EQ(expected.ok(), actual.ok()) << op_case.program.name;
    if (!expected.ok() || !actual.ok()) return true;
    const auto right = expected.value()->call(op_case.inputs);
    const auto found = actual.value()->call(op_case.inputs);
    std::string wrong;
    if (right.ok() != found.ok()) {
      wrong = right.ok() ? found.error().message : "no error: " + right.error().message;
    } else if (right.ok()) {
      wrong = difference(found.value(), right.value());
      const auto plan = actual.value()->plan();
      for (const spec::PlanPartition& partition : plan->blocks.front().partitions) {
        captured += partition.captured ? 1 : 0;
      }
    }
    if (!wrong.empty() && ++differing <= 20) ADD_FAILURE() << op_case.program.name << ": " << wrong;
    return true;
  };
  visit_golden_op_cases(visit);
  EXPECT_GT(captured, 0);
  EXPECT_EQ(differing, 0);
  std::printf("%d cases captured\n", captured);
}

}  // namespace graphgate
