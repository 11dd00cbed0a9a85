// A library in the place of NVRTC that ends who loads it: GRAPHGATE_DYING_NVRTC says how.
//
//   memory  as the compiler in NVRTC does where malloc() gives nothing: two lines of its own, an
//   abort abort   by an abort for whatever else
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

[[gnu::constructor]] void die() {
  const char* const how = std::getenv("GRAPHGATE_DYING_NVRTC");
  if (how == nullptr) return;
  if (how == std::string_view("memory")) {
    const volatile std::size_t most = static_cast<std::size_t>(-1) / 4;
    if (std::malloc(most) != nullptr) return;
    constexpr std::string_view kLines = "LLVM ERROR: out of memory\nBuffer allocation failed\n";
    (void)!::write(STDERR_FILENO, kLines.data(), kLines.size());
  }
  std::abort();
}

}  // namespace
