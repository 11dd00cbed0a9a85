// NVRTC, CUDA's run-time compiler: CUDA C++ text in, a cubin for one architecture out.
//
// It needs no GPU and no driver, so that machines without one compile all that others run. The
// library is opened at the first load_nvrtc() and stays open: from the loader's path, or from
// CUDA_HOME, CUDA_PATH or /usr/local/cuda.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace graphgate::optimized::cuda {

struct CompileJob {
  std::string name;    // of the text, in messages
  std::string source;  // CUDA C++
  // What the text includes, by the names that it uses: nothing is read from the machine.
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> options;
};

class Nvrtc {
 public:
  virtual ~Nvrtc() = default;
  // "13.0".
  [[nodiscard]] virtual const std::string& version() const = 0;
  // The cubin; the options must name a real architecture (sm_90). kInternal with the compiler's
  // first lines for text that does not compile: whoever generated it is wrong.
  [[nodiscard]] virtual Result<std::string> compile(const CompileJob& job) const = 0;
};

// kInfrastructure, with the names that were tried, where there is none.
[[nodiscard]] Result<const Nvrtc*> load_nvrtc();
// Returns its version as a process of its own tells it, so that what ends NVRTC while it is loaded
// ends nobody else; or says why there is none. To be called while the process has one thread, or
// behind load_nvrtc(). Throws std::bad_alloc where memory is lacking, and std::system_error where
// no process can be made.
[[nodiscard]] Result<std::string> ask_for_nvrtc();

}  // namespace graphgate::optimized::cuda
