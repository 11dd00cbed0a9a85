#include "optimized/runtime/cuda/facts.h"

#include <gtest/gtest.h>

namespace graphgate::optimized::cuda {
namespace {

TEST(CudaFacts, EitherNameAGpuOrSayWhyThereIsNone) {
  const CudaFacts facts = cuda_facts();
  EXPECT_EQ(facts.gpus.empty(), !facts.gpu_obstacle.empty()) << facts.gpu_obstacle;
  EXPECT_EQ(facts.nvrtc.empty(), !facts.nvrtc_obstacle.empty()) << facts.nvrtc_obstacle;
  EXPECT_EQ(facts.gpu_obstacle.find('\n'), std::string::npos);
  EXPECT_EQ(facts.nvrtc_obstacle.find('\n'), std::string::npos);
  for (const GpuFacts& gpu : facts.gpus) {
    EXPECT_FALSE(gpu.name.empty());
    EXPECT_GE(gpu.major, 5);
    EXPECT_GT(gpu.memory_bytes, 0);
    EXPECT_GT(gpu.multiprocessors, 0);
  }
}

TEST(CudaFacts, DescribeAGpuInOneLine) {
  const GpuFacts gpu{"NVIDIA H200", 9, 0, std::int64_t{150'754'820'096}, 132};
  EXPECT_EQ(describe(gpu), "NVIDIA H200, compute capability 9.0, 140 GiB, 132 multiprocessors");
}

TEST(CudaFacts, KnowWhatProgramsAreCompiledFor) {
  GpuFacts gpu{"", 9, 0, 0, 0};
  EXPECT_EQ(architecture_of(gpu), "sm_90a");
  gpu.major = 8;
  EXPECT_EQ(architecture_of(gpu), "sm_80");
  gpu.minor = 6;
  EXPECT_EQ(architecture_of(gpu), "sm_86");
}

TEST(CudaFacts, SayWhatFastArithmeticTakes) {
  GpuFacts gpu{"NVIDIA A100", 8, 0, std::int64_t{80} << 30U, 108};
  EXPECT_EQ(fast_obstacle(gpu),
            "--arithmetic fast takes a GPU of compute capability 9.0 or more, which has clusters "
            "of blocks and launches that overlap; here is NVIDIA A100, compute capability 8.0, 80 "
            "GiB, 108 multiprocessors");
  for (const int major : {9, 10, 12}) {
    gpu.major = major;
    EXPECT_EQ(fast_obstacle(gpu), "");
  }
}

}  // namespace
}  // namespace graphgate::optimized::cuda
