#include "optimized/runtime/cuda/nvrtc.h"

#include "base/result_test.h"

namespace graphgate::optimized::cuda {
namespace {

// Null where the machine has none: then the test is skipped.
const Nvrtc* compiler() {
  const auto nvrtc = load_nvrtc();
  return nvrtc.ok() ? nvrtc.value() : nullptr;
}

CompileJob job(std::string source) {
  CompileJob out;
  out.name = "test.cu";
  out.source = std::move(source);
  out.options = {"--gpu-architecture=sm_90"};
  return out;
}

TEST(Nvrtc, CompilesToTheSameCubinEveryTime) {
  const Nvrtc* nvrtc = compiler();
  if (nvrtc == nullptr) GTEST_SKIP() << load_nvrtc().error().message;
  CompileJob with_header = job("#include \"twice.h\"\n__global__ void k(float* x) { twice(x); }\n");
  with_header.headers = {{"twice.h", "__device__ void twice(float* x) { *x += *x; }\n"}};
  const auto first = must(nvrtc->compile(with_header));
  EXPECT_EQ(first.substr(1, 3), "ELF");
  const auto second = must(nvrtc->compile(with_header));
  EXPECT_TRUE(first == second);
}

TEST(Nvrtc, SaysInOneLineWhatDoesNotCompile) {
  const Nvrtc* nvrtc = compiler();
  if (nvrtc == nullptr) GTEST_SKIP() << load_nvrtc().error().message;
  const Error refused =
      failure_of(nvrtc->compile(job("__global__ void k() { nothing_like_this(); }\n")));
  EXPECT_EQ(refused.kind, ErrorKind::kInternal);
  EXPECT_TRUE(contains(refused.message, "test.cu"));
  EXPECT_TRUE(contains(refused.message, "nothing_like_this"));
  EXPECT_EQ(refused.message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace graphgate::optimized::cuda
