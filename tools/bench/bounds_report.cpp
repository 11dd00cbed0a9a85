#include "tools/bench/bounds_report.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/formatted.h"
#include "conformance/compare/compare.h"
#include "conformance/compare/element.h"
#include "conformance/judges/judge_nodes.h"
#include "conformance/run/input_layout.h"
#include "interop/op_cases.h"
#include "reference/number/float_format.h"
#include "reference/reference.h"
#include "spec/missing_op.h"
#include "tools/executors/op_case_judge.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

using spec::CallResult;
using spec::HostTensor;

std::unique_ptr<spec::Executor> reference_in(reference::Mode mode, const spec::OpTable& ops,
                                             bool knows_draws = false) {
  reference::Options options;
  options.mode = mode;
  options.knows_draws = knows_draws;
  options.ops = &ops;
  return reference::make_executor(options);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15U + b + 0x632BE59BD9B4E019U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  return z ^ (z >> 31U);
}

std::string in_dtype(const std::string& op, spec::DType dtype) {
  return op + " " + std::string(spec::short_name(dtype));
}

void add(BoundsReport& report, const std::string& family, const std::string& op, spec::DType dtype,
         bool caught) {
  for (Planted* planted : {&report.by_family[family], &report.by_op[in_dtype(op, dtype)]}) {
    ++planted->planted;
    planted->caught += caught ? 1 : 0;
  }
}

void plant_in_case(const interop::OpCase& op_case, const CallResult& oracle,
                   const CallResult& with_known_draws, const std::string& family,
                   const BoundsRequest& request, BoundsReport& report) {
  for (std::size_t i = 0; i < op_case.expected.size(); ++i) {
    const auto* right = std::get_if<HostTensor>(&op_case.expected[i]);
    if (!right || i >= oracle.output_spreads.size()) continue;
    const spec::Spread& spread = oracle.output_spreads[i];
    const auto count = static_cast<std::size_t>(spec::element_count(right->sizes)) *
                       conformance::parts_of(right->dtype);
    // Contents that nobody has written cannot be corrupted.
    const bool is_open = std::all_of(spread.radii.begin(), spread.radii.end(),
                                     [](double radius) { return std::isinf(radius); });
    if (spread.values.size() != count || is_open) continue;
    // Nor is a random draw right or wrong.
    if (spread.radii != with_known_draws.output_spreads[i].radii) continue;
    const auto plain = conformance::compare_values(*right, spread, 1);
    const auto case_id = static_cast<std::uint64_t>(op_case.id);
    if (plain.worst_ratio > 0 && std::isfinite(plain.worst_ratio)) {
      report.by_family[family].ratios.push_back(plain.worst_ratio);
      report.by_op[in_dtype(op_case.op, right->dtype)].ratios.push_back(plain.worst_ratio);
    }
    for (int round = 0; round < request.rounds; ++round) {
      const auto seed = mix(request.seed + case_id, i * 64 + static_cast<std::uint64_t>(round));
      const auto wrong = corrupted(*right, seed);
      if (!wrong) continue;
      add(report, family, op_case.op, right->dtype,
          conformance::compare_values(*wrong, spread, 1).outside > plain.outside);
    }
  }
}

Result<void> plant_in_cases(const BoundsRequest& request, const spec::OpTable& ops,
                            BoundsReport& report) {
  const auto bounds = reference_in(reference::Mode::kWorstCase, ops);
  const auto with_draws = reference_in(reference::Mode::kWorstCase, ops, true);
  const auto visit = [&](const interop::OpCase& op_case) {
    const std::string family(reference::family_of(*ops.find(op_case.op)));
    auto loaded = bounds->load(op_case.program);
    if (!loaded.ok()) count_missing_ops(loaded.error().message, report.missing_ops);
    if (family.empty() || !loaded.ok()) return true;
    const auto oracle = loaded.value()->call(op_case.inputs);
    if (!oracle.ok()) return true;
    if (!ops.find(op_case.op)->has_tag("nondeterministic_seeded")) {
      plant_in_case(op_case, oracle.value(), oracle.value(), family, request, report);
      return true;
    }
    auto knowing = with_draws->load(op_case.program);
    if (!knowing.ok()) return true;
    const auto known = knowing.value()->call(op_case.inputs);
    if (known.ok()) {
      plant_in_case(op_case, oracle.value(), known.value(), family, request, report);
    }
    return true;
  };
  const auto pass_over = [&](const interop::OpCall&, const Error& reason) {
    count_missing_ops(reason.message, report.missing_ops);
  };
  return interop::read_op_cases(request.cases, ops, visit, pass_over);
}

// The reference, with one element wrong in what every node made: in the taps behind the nodes, so
// that each node still reads what is right.
class PlantingExecutor final : public spec::Executor {
 public:
  PlantingExecutor(const spec::OpTable& ops, const conformance::TappedProgram& tapped,
                   std::uint64_t seed)
      : inner_(reference_in(reference::Mode::kEager, ops)), tapped_(tapped), seed_(seed) {}

  [[nodiscard]] std::string_view name() const override { return "planting"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    GRAPHGATE_TRY(auto loaded, inner_->load(program));
    if (program.outputs.size() != tapped_.program.outputs.size()) return loaded;
    return std::unique_ptr<spec::LoadedProgram>(std::make_unique<Loaded>(std::move(loaded), *this));
  }

  // By node: how many tensors are wrong, over all calls, and their dtype.
  struct Count {
    std::int64_t tensors = 0;
    spec::DType dtype = spec::DType::kFloat32;
  };
  std::map<std::size_t, Count> planted;

 private:
  struct Loaded final : spec::LoadedProgram {
    Loaded(std::unique_ptr<spec::LoadedProgram> program, PlantingExecutor& executor)
        : inner(std::move(program)), owner(executor) {}
    Result<CallResult> call(std::span<const spec::InputValue> inputs) override {
      GRAPHGATE_TRY(CallResult result, inner->call(inputs));
      owner.plant(result);
      return result;
    }
    std::unique_ptr<spec::LoadedProgram> inner;
    PlantingExecutor& owner;
  };

  void plant(CallResult& result) {
    ++calls_;
    for (std::size_t n = 0; n < tapped_.nodes.size(); ++n) {
      for (const conformance::TappedProgram::Tap& tap : tapped_.nodes[n].after) {
        auto* tensor = std::get_if<HostTensor>(&result.outputs[tap.output]);
        auto wrong = tensor ? corrupted(*tensor, mix(seed_ + calls_, tap.output)) : std::nullopt;
        if (!wrong) continue;
        *tensor = std::move(*wrong);
        ++planted[n].tensors;
        planted[n].dtype = tensor->dtype;
      }
    }
  }

  std::unique_ptr<spec::Executor> inner_;
  const conformance::TappedProgram& tapped_;
  std::uint64_t seed_;
  std::uint64_t calls_ = 0;
};

Result<void> plant_in_model(const std::string& path, const BoundsRequest& request,
                            const spec::OpTable& ops, BoundsReport& report) {
  GRAPHGATE_TRY(const spec::Program program, read_program(path, ops));
  GRAPHGATE_TRY(const auto recorded, read_expected_calls(path, ""));
  std::vector<std::vector<spec::InputValue>> calls;
  for (const conformance::ExpectedCall& call : recorded) {
    calls.push_back(call.inputs);
    conformance::lay_out_inputs(program, calls.back());
  }
  const conformance::TappedProgram tapped = conformance::tap_nodes(program, ops);
  const auto bounds = reference_in(reference::Mode::kWorstCase, ops);
  for (int round = 0; round < request.rounds; ++round) {
    PlantingExecutor executor(ops, tapped, mix(request.seed, static_cast<std::uint64_t>(round)));
    GRAPHGATE_TRY(const conformance::NodeReport nodes,
                  conformance::judge_nodes(program, calls, executor, *bounds, ops));
    std::map<std::string, std::int64_t> caught;
    for (const conformance::NodeFinding& finding : nodes.findings) ++caught[finding.node];
    for (const auto& [index, count] : executor.planted) {
      const spec::Node& node = program.graph.nodes[index];
      const spec::OpRow* row = ops.find(node.op);
      const std::string family = row ? std::string(reference::family_of(*row)) : "higher order";
      for (std::int64_t i = 0; i < count.tensors; ++i) {
        add(report, family, node.op, count.dtype, i < caught[node.name]);
      }
    }
  }
  return {};
}

void print_line(std::string& page, const std::string& name, const Planted& planted) {
  const double ratio = median(planted.ratios);
  page += "| " + name + " | " + (ratio > 0 ? formatted("%.3g", 1 / ratio) : "-") + " | " +
          std::to_string(planted.planted) + " | " + std::to_string(planted.caught) +
          formatted(" | %.1f%% |\n", 100 * planted.share());
}

}  // namespace

std::optional<HostTensor> corrupted(const HostTensor& tensor, std::uint64_t seed) {
  const spec::DType dtype = spec::component_dtype(tensor.dtype);
  if (!spec::is_floating_point(dtype)) return std::nullopt;
  const std::vector<long double> elements = conformance::decode_elements(tensor);
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != 0 && std::isfinite(elements[i])) candidates.push_back(i);
  }
  if (candidates.empty()) return std::nullopt;
  const std::size_t at = candidates[(seed >> 8U) % candidates.size()];
  HostTensor out = spec::make_host_tensor(tensor.dtype, tensor.sizes, tensor.device);
  out.storage->bytes = spec::packed_bytes(tensor);
  const auto size = static_cast<std::size_t>(spec::item_size_bytes(dtype));
  std::byte* bytes = out.storage->bytes.data() + at * size;
  const auto x = static_cast<double>(elements[at]);
  const bool away = seed % 2 == 0;
  const double moved = x * (away ? 1 + 0x1p-8 : 1 - 0x1p-8);
  reference::encode_float(moved, dtype, bytes);
  const double made = reference::decode_float(bytes, dtype);
  if (std::fabs(made - x) < std::fabs(moved - x)) {  // rounded back: one element further
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, size);
    bits += away ? 1 : ~std::uint64_t{0};
    std::memcpy(bytes, &bits, size);
  }
  const double last = reference::decode_float(bytes, dtype);
  return std::isfinite(last) ? std::optional(std::move(out)) : std::nullopt;
}

Result<BoundsReport> report_bounds(const BoundsRequest& request, const spec::OpTable& ops) {
  BoundsReport report;
  if (!request.cases.empty()) GRAPHGATE_TRY_VOID(plant_in_cases(request, ops, report));
  for (const std::string& model : request.models) {
    const auto planted = plant_in_model(model, request, ops, report);
    if (planted.ok()) continue;
    const bool is_missing = planted.error().kind == ErrorKind::kUnsupported &&
                            !spec::missing_ops_in(planted.error().message).empty();
    if (!is_missing) return planted.error();
    count_missing_ops(planted.error().message, report.missing_ops);
  }
  return report;
}

std::string print_bounds_report(const BoundsReport& report, double least) {
  std::string page =
      "| family | bound / error | planted | caught | share |\n|---|---|---|---|---|\n";
  for (const auto& [family, planted] : report.by_family) print_line(page, family, planted);
  page += "\n| op below " + std::to_string(static_cast<int>(100 * least)) +
          "% | bound / error | planted | caught | share |\n|---|---|---|---|---|\n";
  for (const auto& [op, planted] : report.by_op) {
    if (planted.share() < least) print_line(page, op, planted);
  }
  return page + describe_missing_ops(report.missing_ops);
}

}  // namespace graphgate::tools
