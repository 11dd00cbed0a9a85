// Where judges get executors: by options, as many as they need.
//
// A judge compares runs under several configurations, plants deviations and asks for instruments.
// It names all of these as a case file does, option by option, and never learns which executor is
// behind them. tools/ implements this for the built-in executors; an adapter may for others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/configuration.h"
#include "spec/executor.h"
#include "spec/op_table.h"
#include "spec/torch_release.h"

namespace graphgate::conformance {

// Of judges as of all who ask executors.
using spec::Configuration;
using spec::join_list;
using spec::merged;
using spec::number_option;
using spec::print_configuration;
using spec::split_list;

// What an executor promises of its results, beside that they are right.
struct Promises {
  // Every result is rounded to its dtype before anything reads it, as in eager mode. An executor
  // that keeps wide values inside fused kernels is judged end to end: what its nodes read cannot be
  // seen, and looking at it changes it.
  bool rounds_results = true;
  // What its kernels compute, by the names of reference/number/arithmetic.h: what an oracle's
  // bounds are asked for.
  std::string arithmetic = "strict";
  // The kernels that decide what PyTorch leaves to them (which of equal elements comes first):
  // "cpu", PyTorch's for CPUs; "cuda", PyTorch's for a GPU; or "own", an engine's own.
  std::string kernels = "cpu";
  // The dtypes, by their short names and in order, whose products of matrices it may sum in parts
  // that are rounded to the dtype.
  std::vector<std::string> split_sums = {};
  // Convolutions of float32 may go to a GPU's matrix units as TF32.
  bool has_tf32_convolutions = false;
  // Outputs have the strides and storage offsets of eager mode.
  bool keeps_layouts = true;
  // The release of PyTorch whose ops it computes as; open where it does not say.
  spec::TorchRelease torch = spec::kNewestTorchRelease;
};

class ExecutorSource {
 public:
  virtual ~ExecutorSource() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Of executors made with these options.
  [[nodiscard]] virtual Promises promises(const Configuration& /*options*/) const { return {}; }
  // Whether the executor under test ended because it did not answer in time, and was not made
  // again.
  [[nodiscard]] virtual bool is_late() const { return false; }
  // Whether the process of the executor under test has ended by itself, or had to be ended, and was
  // not started again.
  [[nodiscard]] virtual bool has_ended() const { return false; }
  // Fails with kBadInput for an option or a value that there is not, or a contradiction. Fails with
  // kUnsupported for what this executor cannot do ("instrument" -> "shadow" of one that has none),
  // and with kInternal where it breaks down over it. `ops` outlives the executor.
  [[nodiscard]] virtual Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const = 0;
};

}  // namespace graphgate::conformance
