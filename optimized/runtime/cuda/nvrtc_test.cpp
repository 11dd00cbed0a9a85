#include "optimized/runtime/cuda/nvrtc.h"

#include <gtest/gtest.h>

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
  const auto first = nvrtc->compile(with_header);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first.value().substr(1, 3), "ELF");
  const auto second = nvrtc->compile(with_header);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(first.value() == second.value());
}

TEST(Nvrtc, SaysInOneLineWhatDoesNotCompile) {
  const Nvrtc* nvrtc = compiler();
  if (nvrtc == nullptr) GTEST_SKIP() << load_nvrtc().error().message;
  const auto refused = nvrtc->compile(job("__global__ void k() { nothing_like_this(); }\n"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInternal);
  EXPECT_NE(refused.error().message.find("test.cu"), std::string::npos);
  EXPECT_NE(refused.error().message.find("nothing_like_this"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace graphgate::optimized::cuda
