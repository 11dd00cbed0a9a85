#include "tools/report/machine_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

#include "base/formatted.h"
#include "optimized/runtime/cuda/facts.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "reference/reference.h"
#include "spec/op_table.h"
#include "tools/report/forms.h"

namespace graphgate::tools {
namespace {

std::string& commit() {
  static std::string text = "unknown";
  return text;
}

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

std::string c_library() {
  char text[64] = {};
  const std::size_t length = confstr(_CS_GNU_LIBC_VERSION, text, sizeof text);
  return length == 0 ? "unknown" : text;
}

// One sentence: what would run on a GPU here, or why nothing does.
std::string cuda_sentence(const optimized::cuda::CudaFacts& facts) {
  if (!facts.gpu_obstacle.empty()) return facts.gpu_obstacle;
  std::string text = "driver for CUDA " + facts.driver;
  for (const auto& gpu : facts.gpus) text += "; " + optimized::cuda::describe(gpu);
  return text;
}

nlohmann::ordered_json build_facts_with(const optimized::cuda::CudaFacts& cuda) {
  nlohmann::ordered_json json;
  json["version"] = GRAPHGATE_VERSION;
  json["commit"] = commit();
  json["compiler"] = GRAPHGATE_COMPILER;
  json["build_type"] = GRAPHGATE_BUILD_TYPE;
  json["allocator"] = GRAPHGATE_ALLOCATOR;
  json["c_library"] = c_library();
  json["cuda_toolkit"] = cuda.toolkit.empty() ? "none when this was built" : cuda.toolkit;
  json["nvrtc"] = cuda.nvrtc.empty() ? cuda.nvrtc_obstacle : cuda.nvrtc;
  return json;
}

}  // namespace

void note_commit(std::string text) {
  if (!text.empty()) commit() = std::move(text);
}

nlohmann::ordered_json build_facts() { return build_facts_with(optimized::cuda::cuda_facts()); }

nlohmann::ordered_json machine_facts() {
  utsname system{};
  uname(&system);
  std::size_t bodies = 0;
  for (const auto& [name, row] : spec::builtin_op_table().rows()) {
    bodies += reference::supports(*row) ? 1 : 0;
  }
  const optimized::cuda::CudaFacts cuda = optimized::cuda::cuda_facts();
  nlohmann::ordered_json json = build_facts_with(cuda);
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
  const auto compiler = optimized::emulated::find_compiler();
  json["emulated_device"] =
      compiler.ok() ? "compiles with " + compiler.value() : compiler.error().message;
  return json;
}

std::string facts_text(const nlohmann::ordered_json& facts) {
  std::string text;
  for (const auto& [key, value] : facts.items()) {
    const std::string words = value.is_string() ? value.get<std::string>() : json_line(value);
    text += formatted("%-24s%s\n", key.c_str(), words.c_str());
  }
  return text;
}

}  // namespace graphgate::tools
