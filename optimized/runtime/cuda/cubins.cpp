#include "optimized/runtime/cuda/cubins.h"

#include <mutex>

#include "base/sha256.h"
#include "optimized/codegen/spelling.h"
#include "optimized/runtime/cuda/cubin_folder.h"
#include "optimized/runtime/cuda/nvrtc.h"

namespace graphgate::optimized::cuda {
namespace {

struct Store {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const std::string>> cubins;
  std::filesystem::path folder;  // of those that are given none
  static Store& instance() {
    static Store store;
    return store;
  }
};

std::string key_of(const CompileJob& job, const std::string& version) {
  std::string all = version + "\n" + job.source;
  for (const std::string& option : job.options) all += "\n" + option;
  for (const auto& [name, text] : job.headers) all += joined({"\n", name, "\n", text});
  return sha256_hex(all);
}

CompileJob job_of(const DeviceProgramText& text, const std::string& architecture) {
  CompileJob job{"plan.cu", text.source(), device_headers(), device_compile_options()};
  job.options.push_back("--gpu-architecture=" + architecture);
  return job;
}

// From the folder, or compiled. One that cannot be written keeps nothing: plans are kept beside,
// and whoever keeps them says so.
Result<std::string> kept_or_compiled(const Nvrtc& nvrtc, const CompileJob& job,
                                     const std::string& key, const std::filesystem::path& folder) {
  if (folder.empty()) return nvrtc.compile(job);
  const CubinFolder cubins(folder);
  if (auto found = cubins.find(key)) return *std::move(found);
  GRAPHGATE_TRY(std::string cubin, nvrtc.compile(job));
  (void)cubins.keep(key, cubin);
  return cubin;
}

}  // namespace

void keep_cubins_in(const std::filesystem::path& folder) {
  Store& store = Store::instance();
  const std::lock_guard lock(store.mutex);
  store.folder = folder;
}

Result<std::string> cubin_key(const DeviceProgramText& text, const std::string& architecture) {
  GRAPHGATE_TRY(const Nvrtc* const nvrtc, load_nvrtc());
  return key_of(job_of(text, architecture), nvrtc->version());
}

Result<std::shared_ptr<const std::string>> cubin_of(const DeviceProgramText& text,
                                                    const std::string& architecture,
                                                    const std::filesystem::path& folder) {
  GRAPHGATE_TRY(const Nvrtc* const nvrtc, load_nvrtc());
  const CompileJob job = job_of(text, architecture);
  const std::string key = key_of(job, nvrtc->version());
  Store& store = Store::instance();
  std::filesystem::path kept_in = folder;
  {
    const std::lock_guard lock(store.mutex);
    const auto found = store.cubins.find(key);
    if (found != store.cubins.end()) return found->second;
    if (kept_in.empty()) kept_in = store.folder;
  }
  GRAPHGATE_TRY(std::string cubin, kept_or_compiled(*nvrtc, job, key, kept_in));
  const std::lock_guard lock(store.mutex);
  return store.cubins.try_emplace(key, std::make_shared<const std::string>(std::move(cubin)))
      .first->second;
}

}  // namespace graphgate::optimized::cuda
