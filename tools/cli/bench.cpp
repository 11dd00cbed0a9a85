// graphgate bench: how fast planning and replay are, and what judges cost, as ratios of times taken
// in one run.
#include <algorithm>
#include <memory>
#include <set>

#include "base/atomic_file.h"
#include "tools/bench/report.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/verb.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/forms.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct Part {
  const char* what;
  const char* name;
  Result<Json> (*run)(const BenchOptions& verb);
  bool needs_device = false;  // another --device than the host
};
constexpr Part kParts[] = {{"plan", "planning", bench_planning},
                           {"plan", "fusion", bench_fusion},
                           {"plan", "replay", bench_replay},
                           {"plan", "start", bench_start},
                           {"replay", "runtime", bench_runtime},
                           {"replay", "launch", bench_launch, true},
                           {"replay", "boundaries", bench_boundaries, true},
                           {"replay", "graphs", bench_graphs, true},
                           {"replay", "sizes", bench_sizes, true},
                           {"decode", "llama-1b", bench_llama_1b},
                           {"decode", "llama-8b", bench_llama_8b},
                           {"judges", "provenance", bench_provenance},
                           {"judges", "reference-provenance", bench_reference_provenance},
                           {"judges", "shadow", bench_shadow},
                           {"judges", "verifier", bench_verifier},
                           {"fuzz", "draw", bench_draw},
                           {"fuzz", "judge", bench_judging},
                           {"fuzz", "features", bench_features},
                           {"fuzz", "search", bench_search}};

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

// What each measurement takes, beside --only and --json.
struct Takes {
  const char* what;
  std::set<std::string> flags;
};
const std::vector<Takes>& takes_of_parts() {
  static const std::vector<Takes> kTakes = {{"plan", {"nodes", "model", "tensor-mib"}},
                                            {"judges", {"models"}},
                                            {"fuzz", {"cases"}},
                                            {"replay", {"model", spec::option::kCaptureSizes}},
                                            {"decode", {"batch", "torch"}}};
  return kTakes;
}

Result<void> check_flags(const BenchOptions& verb, const CLI::App& app) {
  for (const auto& [what, flags] : takes_of_parts()) {
    if (verb.what != what) continue;
    FlagMode mode{std::string("with '") + what + "'", flags};
    mode.allowed.insert({"only", "json"});
    // check_bench tells which bench takes a device.
    mode.allowed.insert({spec::option::kDevice, spec::option::kDeviceMemory});
    return refuse_without_effect(app, mode);
  }
  return {};
}

// Whether the flags go together, and the device is there.
Result<void> check_bench(const BenchOptions& verb) {
  const bool has_device = !is_on_host(verb.device);
  for (const std::string& name : verb.only) {
    const auto* const part =
        std::find_if(std::begin(kParts), std::end(kParts),
                     [&](const Part& one) { return one.name == name && one.what == verb.what; });
    if (part == std::end(kParts)) {
      return bad_input("--only: '" + name + "' is no part of '" + verb.what + "'");
    }
    if (part->needs_device && !has_device) {
      return bad_input("--only: '" + name + "' takes --device cuda or emulated");
    }
  }
  // Minutes pass before its part begins.
  if (!verb.model.empty()) {
    const auto model = read_program(verb.model, spec::builtin_op_table());
    if (!model.ok()) return model.error();
  }
  if (!has_device) return check_device(verb.device);
  if (verb.what != "replay" && verb.what != "decode") {
    return bad_input("--device: '" + verb.what + "' takes none");
  }
  if (device_of(verb.device) == "compiled") {
    return bad_input("--device compiled: nothing runs there that could be measured");
  }
  const auto device = open_device(verb.device);
  return device.ok() ? Result<void>() : device.error();
}

Result<ExitCode> run_bench(const BenchOptions& verb) {
  GRAPHGATE_TRY_VOID(check_bench(verb));
  Json json = {{"version", GRAPHGATE_VERSION},
               {"build_type", GRAPHGATE_BUILD_TYPE},
               {"allocator", GRAPHGATE_ALLOCATOR}};
  std::fprintf(page_of(verb), "%s build by %s, %s allocator\n", GRAPHGATE_BUILD_TYPE,
               GRAPHGATE_COMPILER, GRAPHGATE_ALLOCATOR);
  for (const Part& part : kParts) {
    const auto& only = verb.only;
    if (part.what != verb.what || (part.needs_device && is_on_host(verb.device))) continue;
    if (!only.empty() && std::find(only.begin(), only.end(), part.name) == only.end()) continue;
    GRAPHGATE_TRY(json[part.name], part.run(verb));
    std::fflush(page_of(verb));
  }
  GRAPHGATE_TRY_VOID(write_json(json, verb.json));
  return ExitCode::kGood;
}

}  // namespace

Verb add_bench(CLI::App& app) {
  const auto owned = std::make_shared<BenchOptions>();
  BenchOptions& verb = *owned;
  CLI::App* bench = app.add_subcommand(
      "bench", "measure planning, replay, judges and drawing, as ratios of times taken in one run");
  bench
      ->add_option(
          "what", verb.what,
          "what is measured. plan: the optimized executor on the host. judges: what they "
          "cost beside plain runs. fuzz: how cases are drawn. replay: what the runtime "
          "adds to launches of graphs, with --device on a device, too. decode: a decoder's "
          "step, on a GPU unless --device says emulated. Times of an emulated device say "
          "nothing")
      ->required()
      ->check(CLI::IsMember({"plan", "judges", "fuzz", "replay", "decode"}));
  bench->add_option("--only", verb.only, "measure this part alone (repeatable)")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(part_names()));
  bench->add_option("--nodes", verb.nodes, "nodes of the largest chain that is planned")
      ->check(CLI::Range(100, 100'000'000));
  bench->add_option("--cases", verb.cases, "cases that are drawn, and run for their features")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 40U))
      ->capture_default_str();
  bench->add_option("--batch", verb.batches, "sequences of a decoder's step (repeatable)")
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1024));
  bench
      ->add_option("--torch", verb.torch,
                   "a command that times a decoder's step in PyTorch (tools/bench/decode_torch.py)")
      ->type_name(takes::kCommand);
  add_device_flags(*bench, verb.device);
  bench->add_option("--tensor-mib", verb.tensor_mib, "size of the tensors of the fused chain")
      ->check(CLI::Range(1, 1 << 20));
  bench
      ->add_option(
          "--model", verb.model,
          "the program that is started cold and warm (default: " + std::string(kStartedModel) +
              "), or whose capture sizes are measured (default: layers of a product)")
      ->type_name(takes::kFile);
  bench
      ->add_option(std::string("--") + spec::option::kCaptureSizes, verb.capture_sizes,
                   "sizes whose graphs are measured, 1,2,4 (default: powers of two up to 512)")
      ->delimiter(',')
      ->allow_extra_args(false);
  bench->add_option("--models", verb.models, "the folder of programs that judges are measured on")
      ->type_name(takes::kFolder);
  add_json_flag(*bench, verb.json, "it");
  bench->footer(
      "Examples:\n  graphgate bench plan\n"
      "  graphgate bench plan --only planning --nodes 10000 --json -\n"
      "  graphgate bench judges --only provenance\n"
      "  graphgate bench fuzz --only draw --cases 1000000\n"
      "  graphgate bench replay --device cuda --json replay.json\n"
      "  graphgate bench replay --device cuda --only sizes --model m.pt2 --capture-sizes 1,2,4,8\n"
      "  graphgate bench decode --batch 1 --torch 'python3 tools/bench/decode_torch.py'");
  return {bench, [owned, bench](const auto& /*words*/) -> Result<ExitCode> {
            GRAPHGATE_TRY_VOID(check_flags(*owned, *bench));
            return run_bench(*owned);
          }};
}

}  // namespace graphgate::tools
