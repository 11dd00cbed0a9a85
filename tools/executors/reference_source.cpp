#include <algorithm>
#include <charconv>

#include "reference/reference.h"
#include "spec/option.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using conformance::Configuration;

struct ModeName {
  std::string_view name;
  reference::Mode mode;
};
constexpr ModeName kModes[] = {{"eager", reference::Mode::kEager},
                               {"worst-case", reference::Mode::kWorstCase},
                               {"sampled", reference::Mode::kSampled},
                               {"provenance", reference::Mode::kProvenance},
                               {"geometry", reference::Mode::kProvenance}};

// What declares arithmetic, into `declared`; false for an option of another name.
Result<bool> read_arithmetic(const std::string& name, const std::string& value,
                             reference::Arithmetic& declared) {
  if (name == option::kArithmetic) {
    const auto arithmetic = reference::parse_arithmetic(value);
    if (!arithmetic) {
      return bad_input("option 'arithmetic': expected " + reference::arithmetic_names() +
                       ", found '" + value + "'");
    }
    reference::Arithmetic named = *arithmetic;
    named.has_cuda_kernels = declared.has_cuda_kernels;
    named.has_own_kernels = declared.has_own_kernels;
    named.refuses_as_cuda = declared.refuses_as_cuda;
    named.tf32_convolutions = declared.tf32_convolutions;
    named.splits_float16 = declared.splits_float16;
    named.splits_bfloat16 = declared.splits_bfloat16;
    declared = named;
    return true;
  }
  if (name == option::kKernels) {
    if (value != "cpu" && value != "cuda" && value != "cuda-checked" && value != "own") {
      return bad_input("option 'kernels': expected cpu, cuda, cuda-checked or own, found '" +
                       value + "'");
    }
    declared.has_cuda_kernels = value == "cuda" || value == "cuda-checked";
    declared.has_own_kernels = value == "own";
    declared.refuses_as_cuda = value == "cuda-checked";
    return true;
  }
  if (name == option::kTf32) {
    if (value != "convolution") {
      return bad_input("option 'tf32': expected convolution, found '" + value + "'");
    }
    declared.tf32_convolutions = true;
    return true;
  }
  if (name != option::kSplitSums) return false;
  for (const std::string& word : conformance::split_list(value)) {
    const auto dtype = spec::parse_dtype(word);
    if (!dtype || !declared.declare_splits(*dtype)) {
      return bad_input("option 'split-sums': expected f16, bf16 or both, found '" + word + "'");
    }
  }
  return true;
}

// "7": trial 7; "7x3": with errors three times as large.
Result<reference::Trial> read_trial(const std::string& value) {
  reference::Trial trial;
  const char* const last = value.data() + value.size();
  std::from_chars_result read = std::from_chars(value.data(), last, trial.number);
  if (read.ec == std::errc() && read.ptr != last && *read.ptr == 'x') {
    read = std::from_chars(read.ptr + 1, last, trial.scale);
  }
  if (read.ec == std::errc() && read.ptr == last && trial.scale > 0) return trial;
  return bad_input("option 'trial': expected a number, or one x another as 7x3, found '" + value +
                   "'");
}

// "0,2": places of inputs.
Result<std::vector<std::size_t>> read_places(const std::string& value) {
  std::vector<std::size_t> places;
  for (const std::string& word : conformance::split_list(value)) {
    const char* const last = word.data() + word.size();
    const auto [end, status] = std::from_chars(word.data(), last, places.emplace_back());
    if (status == std::errc() && end == last) continue;
    return bad_input("option 'open-gaps': expected places of inputs as 0,2, found '" + word + "'");
  }
  return places;
}

// "2.11", or "open".
Result<spec::TorchRelease> read_release(const std::string& value) {
  if (value == spec::kOpenTorchRelease) return spec::TorchRelease();
  if (const auto release = spec::parse_torch_release(value)) return *release;
  return bad_input("option 'semantics': expected a release of PyTorch as 2.15, found '" + value +
                   "'");
}

class ReferenceSource final : public Subject {
 public:
  ReferenceSource(bool allow_zero_and_one, reference::VersionLog* log)
      : allow_zero_and_one_(allow_zero_and_one), log_(log) {}

  [[nodiscard]] std::string_view name() const override { return "reference"; }
  [[nodiscard]] bool takes(std::string_view option) const override {
    return option == option::kSemantics;
  }
  [[nodiscard]] conformance::Promises promises(const Configuration& options) const override {
    conformance::Promises promises;
    promises.torch = semantics_asked(options).value_or(promises.torch);
    return promises;
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    reference::Options options;
    options.ops = &ops;
    options.allow_zero_and_one = allow_zero_and_one_;
    options.semantics.log = log_;
    for (const auto& [name, value] : configuration) {
      GRAPHGATE_TRY(const bool is_known, read_arithmetic(name, value, options.arithmetic));
      if (is_known) continue;
      if (name == option::kSemantics) {
        GRAPHGATE_TRY(options.semantics.release, read_release(value));
        continue;
      }
      if (name == option::kTrial) {
        GRAPHGATE_TRY(options.trial, read_trial(value));
        continue;
      }
      if (name == option::kDraws) {
        if (value != "open" && value != "known") {
          return bad_input("option 'draws': expected open or known, found '" + value + "'");
        }
        options.knows_draws = value == "known";
        continue;
      }
      if (name == option::kOpenGaps) {
        GRAPHGATE_TRY(options.open_gaps, read_places(value));
        continue;
      }
      if (name != option::kMode) {
        return unsupported("the reference has no option '" + name + "': it makes no plans");
      }
      const auto* found =
          std::find_if(std::begin(kModes), std::end(kModes),
                       [&wanted = value](const ModeName& mode) { return mode.name == wanted; });
      if (found == std::end(kModes)) {
        return bad_input("option 'mode': the reference has no mode '" + value + "'");
      }
      options.mode = found->mode;
      options.provenance_words = value != "geometry";
    }
    return reference::make_executor(options);
  }

 private:
  bool allow_zero_and_one_;
  reference::VersionLog* log_;
};

}  // namespace

std::unique_ptr<Subject> reference_source(bool allow_zero_and_one, reference::VersionLog* log) {
  return std::make_unique<ReferenceSource>(allow_zero_and_one, log);
}

}  // namespace graphgate::tools
