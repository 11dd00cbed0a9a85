#include "optimized/codegen/kernels.h"

#include "base/sha256.h"
#include "optimized/codegen/embedded.h"
#include "optimized/codegen/pointwise_text.h"

namespace graphgate::optimized {
namespace {

// Whether statements mention shared memory or warps makes no difference: all kernels look alike.
std::string kernel_text(const std::string& name, const TextWork& work, bool is_fast) {
  std::string parameters;
  for (std::size_t i = 0; i < work.pointers.size(); ++i) {
    parameters += (i == 0 ? "char* p" : ", char* p") + std::to_string(i);
  }
  if (work.reports_faults) {
    parameters += (parameters.empty() ? "" : ", ") + std::string("device::Fault* fault");
  }
  const std::string at_once =
      work.blocks_at_once > 1 ? ", " + std::to_string(work.blocks_at_once) : "";
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kDeviceBlock) +
         at_once + ") " + name + "(" + parameters +
         ") {\n  const std::int64_t thread = std::int64_t{blockIdx.x} * " +
         std::to_string(kDeviceBlock) + " + threadIdx.x;\n" +
         (is_fast && !work.waits_itself ? "  device::begin_in_turn();\n" : "") + work.statements +
         "}\n";
}

// Where a text's tensors lie; null for those without elements, which may be in no arena.
std::vector<std::byte*> pointers_of(const TextWork& text) {
  std::vector<std::byte*> out = text.pointers;
  for (std::byte*& pointer : out) {
    bool is_there = text.accesses.empty();
    bool is_named = false;
    for (const DeviceAccess& access : text.accesses) {
      if (access.tensor.data() != pointer) continue;
      is_named = true;
      is_there |= access.tensor.count() > 0;
    }
    if (is_named && !is_there) pointer = nullptr;
  }
  return out;
}

}  // namespace

std::vector<DeviceCall> DeviceProgramText::add(const DeviceWorks& works) {
  std::vector<DeviceCall> calls;
  for (const DeviceWork& work : works) {
    const auto* pointwise = std::get_if<PointwiseWork>(&work);
    const TextWork text = pointwise ? pointwise_text(*pointwise) : std::get<TextWork>(work);
    if (text.threads == 0) continue;
    const std::string name = "k_" + sha256_hex(kernel_text("", text, is_fast_)).substr(0, 16);
    kernels_.try_emplace(name, kernel_text(name, text, is_fast_));
    calls.push_back({name, pointers_of(text), text.threads, text.reports_faults, text.what,
                     text.shared_bytes, text.cluster, text.accesses});
  }
  return calls;
}

std::string DeviceProgramText::source() const {
  std::string text;
  for (const auto& [name, kernel] : kernels_) text += "\n" + kernel;
  return with_headers(text);
}

std::string DeviceProgramText::source_of(const std::set<std::string>& names) const {
  std::string text;
  for (const auto& [name, kernel] : kernels_) {
    if (names.contains(name)) text += "\n" + kernel;
  }
  return with_headers(text);
}

std::string DeviceProgramText::with_headers(const std::string& kernels) const {
  std::string text;
  if (is_fast_) text = "#include \"optimized/codegen/text/fast_function.cuh\"\n";
  text += "#include \"optimized/codegen/text/prelude.cuh\"\n";
  if (is_fast_) text += "#include \"optimized/codegen/text/fast.cuh\"\n";
  return text + "\nnamespace graphgate::optimized {\n" + kernels +
         "\n}  // namespace graphgate::optimized\n";
}

std::vector<std::pair<std::string, std::string>> device_headers() {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t i = 0; i < kDeviceTextsCount; ++i) {
    std::string name(kDeviceTextsNames[i]);
    // Sums have a text of their own.
    if (name == "optimized/codegen/text/sum.cuh") name = "optimized/arithmetic/sum.h";
    out.emplace_back(std::move(name), std::string(kDeviceTexts[i]));
  }
  for (const char* standard : {"algorithm", "array", "bit", "cmath", "cstddef", "cstdint", "limits",
                               "type_traits", "utility"}) {
    out.emplace_back(standard, "");
  }
  return out;
}

std::vector<std::string> device_compile_options() {
  return {"--std=c++20",     "--fmad=false",     "--ftz=false",
          "--prec-div=true", "--prec-sqrt=true", "--device-as-default-execution-space",
          "--device-int128"};
}

}  // namespace graphgate::optimized
