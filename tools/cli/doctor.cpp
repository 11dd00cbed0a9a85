// graphgate doctor: what this machine and this build can run, and why not.
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "optimized/runtime/cuda/facts.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "reference/reference.h"
#include "tools/cli/doctor.h"
#include "tools/cli/option_types.h"
#include "tools/cli/verbs.h"
#include "tools/report/report.h"
#include "tools/store/json.h"

namespace graphgate::tools {
namespace {

// The value of a `key : value` line of a /proc file, or "".
std::string proc_field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

// One sentence: what would run on a GPU here, or why nothing does.
std::string cuda_sentence(const optimized::cuda::CudaFacts& facts) {
  if (!facts.gpu_obstacle.empty()) return facts.gpu_obstacle;
  std::string text = "driver for CUDA " + facts.driver;
  for (const auto& gpu : facts.gpus) text += "; " + optimized::cuda::describe(gpu);
  return text;
}

}  // namespace

Json machine_facts() {
  utsname system{};
  uname(&system);
  std::size_t bodies = 0;
  for (const auto& [name, row] : spec::builtin_op_table().rows()) {
    bodies += reference::supports(*row) ? 1 : 0;
  }
  const optimized::cuda::CudaFacts cuda = optimized::cuda::cuda_facts();
  Json json;
  json["version"] = GRAPHGATE_VERSION;
  json["compiler"] = GRAPHGATE_COMPILER;
  json["build_type"] = GRAPHGATE_BUILD_TYPE;
  json["allocator"] = GRAPHGATE_ALLOCATOR;
  json["system"] = std::string(system.sysname) + " " + system.release + " " + system.machine;
  json["cpu"] = proc_field("/proc/cpuinfo", "model name");
  json["cores"] = sysconf(_SC_NPROCESSORS_ONLN);
  json["memory"] = proc_field("/proc/meminfo", "MemTotal");
  json["wide_significand_bits"] = __LDBL_MANT_DIG__;
  json["ops_known"] = spec::builtin_op_table().size();
  json["ops_with_a_reference"] = bodies;
  json["reference"] = __LDBL_MANT_DIG__ >= 64
                          ? "runs here"
                          : "runs here, but long double is too narrow for an oracle of float64";
  json["cuda"] = cuda_sentence(cuda);
  json["cuda_toolkit"] = cuda.toolkit.empty() ? "none when this was built" : cuda.toolkit;
  json["nvrtc"] = cuda.nvrtc.empty() ? cuda.nvrtc_obstacle : cuda.nvrtc;
  const auto compiler = optimized::emulated::find_compiler();
  json["emulated_device"] =
      compiler.ok() ? "compiles with " + compiler.value() : compiler.error().message;
  return json;
}

CLI::App* add_doctor(CLI::App& app, DoctorVerb& verb) {
  CLI::App* doctor =
      app.add_subcommand("doctor", "tell what this machine and this build can run, and why not");
  doctor->add_option("--json", verb.json, "write it as JSON to this file (- for stdout)")
      ->type_name(takes::kOutput);
  doctor->footer("Example:\n  graphgate doctor");
  return doctor;
}

Result<ExitCode> run_doctor(const DoctorVerb& verb) {
  const Json json = machine_facts();
  if (!verb.json.empty()) GRAPHGATE_TRY_VOID(write_text(print_json(json), verb.json));
  if (verb.json == "-") return ExitCode::kGood;
  for (const auto& [key, value] : json.items()) {
    const std::string text = value.is_string()
                                 ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::printf("%-24s%s\n", key.c_str(), text.c_str());
  }
  return ExitCode::kGood;
}

}  // namespace graphgate::tools
