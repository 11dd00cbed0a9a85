#include "optimized/runtime/cuda/nvrtc.h"

#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>

#include "base/child_processes.h"
#include "base/uncaught.h"
#include "optimized/runtime/device/compiler_log.h"

#define GRAPHGATE_NVRTC_FUNCTIONS(APPLY) \
  APPLY(nvrtcCompileProgram)             \
  APPLY(nvrtcCreateProgram)              \
  APPLY(nvrtcDestroyProgram)             \
  APPLY(nvrtcGetCUBIN)                   \
  APPLY(nvrtcGetCUBINSize)               \
  APPLY(nvrtcGetErrorString)             \
  APPLY(nvrtcGetProgramLog)              \
  APPLY(nvrtcGetProgramLogSize)          \
  APPLY(nvrtcVersion)

namespace graphgate::optimized::cuda {
namespace {

struct Functions {
#define GRAPHGATE_DECLARE(function) decltype(&::function) function = nullptr;
  GRAPHGATE_NVRTC_FUNCTIONS(GRAPHGATE_DECLARE)
#undef GRAPHGATE_DECLARE
};

// Where to look, in order: a name alone goes through the loader's path.
std::vector<std::string> candidates() {
  const std::string major = std::to_string(CUDA_VERSION / 1000);
  const std::vector<std::string> names = {"libnvrtc.so." + major, "libnvrtc.so"};
  std::vector<std::string> out = names;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* folder = std::getenv(variable);
    if (folder == nullptr || *folder == '\0') continue;
    for (const std::string& name : names) out.push_back(std::string(folder) + "/lib64/" + name);
  }
  for (const std::string& name : names) out.push_back("/usr/local/cuda/lib64/" + name);
  return out;
}

class Program {
 public:
  Program(const Functions& functions, const CompileJob& job) : functions_(functions) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [name, text] : job.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    created_ =
        functions_.nvrtcCreateProgram(&program_, job.source.c_str(), job.name.c_str(),
                                      static_cast<int>(names.size()), texts.data(), names.data());
  }
  ~Program() {
    if (created_ == NVRTC_SUCCESS) functions_.nvrtcDestroyProgram(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result<std::string> compile(const CompileJob& job) {
    if (created_ != NVRTC_SUCCESS) return failed("nvrtcCreateProgram", created_);
    std::vector<const char*> options;
    options.reserve(job.options.size());
    for (const std::string& option : job.options) options.push_back(option.c_str());
    const nvrtcResult compiled =
        functions_.nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
    if (compiled != NVRTC_SUCCESS) {
      Error error = failed("nvrtcCompileProgram", compiled);
      error.message = job.name + ": " + error.message + ": " + shortened(log());
      return error;
    }
    std::size_t size = 0;
    nvrtcResult got = functions_.nvrtcGetCUBINSize(program_, &size);
    if (got != NVRTC_SUCCESS) return failed("nvrtcGetCUBINSize", got);
    if (size == 0) return Error{ErrorKind::kInternal, job.name + ": no cubin: no architecture"};
    std::string cubin(size, '\0');
    got = functions_.nvrtcGetCUBIN(program_, cubin.data());
    if (got != NVRTC_SUCCESS) return failed("nvrtcGetCUBIN", got);
    return cubin;
  }

 private:
  [[nodiscard]] Error failed(const char* call, nvrtcResult result) const {
    return {ErrorKind::kInternal,
            std::string(call) + ": " + functions_.nvrtcGetErrorString(result)};
  }
  [[nodiscard]] std::string log() const {
    std::size_t size = 0;
    if (functions_.nvrtcGetProgramLogSize(program_, &size) != NVRTC_SUCCESS) return "";
    std::string text(size, '\0');
    if (functions_.nvrtcGetProgramLog(program_, text.data()) != NVRTC_SUCCESS) return "";
    return text;
  }

  const Functions& functions_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult created_ = NVRTC_SUCCESS;
};

class LoadedNvrtc final : public Nvrtc {
 public:
  LoadedNvrtc(const Functions& functions, std::string version)
      : functions_(functions), version_(std::move(version)) {}
  [[nodiscard]] const std::string& version() const override { return version_; }
  [[nodiscard]] Result<std::string> compile(const CompileJob& job) const override {
    const WithinForeignLibrary within;
    return Program(functions_, job).compile(job);
  }

 private:
  Functions functions_;
  std::string version_;
};

// Whether this process has it.
std::atomic<bool> g_is_loaded = false;

Result<std::unique_ptr<const Nvrtc>> open_nvrtc() {
  const WithinForeignLibrary within;
  void* library = nullptr;
  std::string tried;
  for (const std::string& candidate : candidates()) {
    library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    tried += (tried.empty() ? "" : ", ") + candidate;
  }
  if (library == nullptr) return infrastructure("no NVRTC on this machine (tried " + tried + ")");
  Functions functions;
  const char* missing = nullptr;
#define GRAPHGATE_LOAD(function)                                                                  \
  functions.function = reinterpret_cast<decltype(functions.function)>(dlsym(library, #function)); \
  if (functions.function == nullptr && missing == nullptr) missing = #function;
  GRAPHGATE_NVRTC_FUNCTIONS(GRAPHGATE_LOAD)
#undef GRAPHGATE_LOAD
  if (missing != nullptr) return infrastructure("NVRTC has no " + std::string(missing));
  int major = 0;
  int minor = 0;
  if (functions.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) {
    return infrastructure("NVRTC does not tell its version");
  }
  g_is_loaded = true;
  return std::unique_ptr<const Nvrtc>(std::make_unique<LoadedNvrtc>(
      functions, std::to_string(major) + "." + std::to_string(minor)));
}

}  // namespace

Result<const Nvrtc*> load_nvrtc() {
  static const Result<std::unique_ptr<const Nvrtc>> kNvrtc = open_nvrtc();
  if (!kNvrtc.ok()) return kNvrtc.error();
  return kNvrtc.value().get();
}

Result<std::string> ask_for_nvrtc() {
  constexpr char kIsThere = '+';
  constexpr char kIsNotThere = '-';
  if (g_is_loaded) return load_nvrtc().value()->version();
  const auto asked = run_children(1, ChildOptions{.timeout_seconds = 60}, [&](std::size_t) {
    const auto nvrtc = load_nvrtc();
    return nvrtc.ok() ? kIsThere + nvrtc.value()->version() : kIsNotThere + nvrtc.error().message;
  });
  if (!asked.ok()) {
    throw std::system_error(errno, std::generic_category(), "NVRTC cannot be asked");
  }
  const ChildResult& child = asked.value().front();
  if (child.ending == ChildEnding::kNoMemory) throw std::bad_alloc();
  if (child.ending != ChildEnding::kExited || child.output.empty()) {
    return infrastructure("NVRTC does not load: its process was " + child.describe());
  }
  if (child.output.front() == kIsThere) return child.output.substr(1);
  return infrastructure(child.output.substr(1));
}

}  // namespace graphgate::optimized::cuda
