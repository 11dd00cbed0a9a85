#include "optimized/wrapper/global_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "optimized/cache/cache_test_support.h"
#include "optimized/wrapper/compiled_model.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace graphgate::optimized {
namespace {

// The caller's own settings, put back when a test ends.
class GlobalSettingsTest : public testing::Test {
 protected:
  GlobalSettingsTest() { std::fegetenv(&before_); }
  ~GlobalSettingsTest() override {
    std::fesetenv(&before_);
    ::unsetenv("GRAPHGATE_A");
    ::unsetenv("GRAPHGATE_B");
  }
  std::fenv_t before_{};
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(unset)" : value;
}

TEST_F(GlobalSettingsTest, RoundsToNearestInsideAndAsTheCallerDidOutside) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  {
    const GlobalSettings kept;
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    std::fesetround(FE_DOWNWARD);
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

#if defined(__SSE2__)
TEST_F(GlobalSettingsTest, KeepsSubnormalNumbersInside) {
  constexpr unsigned kFlushToZero = 0x8000;
  constexpr unsigned kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
  {
    const GlobalSettings kept;
    EXPECT_EQ(_mm_getcsr() & (kFlushToZero | kDenormalsAreZero), 0U);
    volatile float tiny = 1.0e-38F;
    EXPECT_NE(tiny * 0.01F, 0.0F);
  }
  EXPECT_EQ(_mm_getcsr() & (kFlushToZero | kDenormalsAreZero), kFlushToZero | kDenormalsAreZero);
}
#endif

TEST_F(GlobalSettingsTest, PutsTheEnvironmentBack) {
  ::setenv("GRAPHGATE_A", "1", 1);
  {
    const GlobalSettings kept;
    ::setenv("GRAPHGATE_A", "2", 1);
    ::setenv("GRAPHGATE_B", "3", 1);
  }
  EXPECT_EQ(variable("GRAPHGATE_A"), "1");
  EXPECT_EQ(variable("GRAPHGATE_B"), "(unset)");
  {
    const GlobalSettings kept;
    ::unsetenv("GRAPHGATE_A");
  }
  EXPECT_EQ(variable("GRAPHGATE_A"), "1");
}

// A user's pass that sets what it likes; the first time, the compile goes on to fail.
TEST_F(GlobalSettingsTest, AreKeptThroughACompileAndThroughAFailedOne) {
  std::fesetround(FE_TOWARDZERO);
  const spec::Program program = program_of(kScaleProgram);
  for (const bool fails : {true, false}) {
    CompiledModelOptions options;
    options.executor.compile.passes.user_passes = {
        {"mine", "1", [fails](spec::Graph& graph, PassContext&) {
           ::setenv("GRAPHGATE_A", "left behind", 1);
           std::fesetround(FE_UPWARD);
           if (fails) graph.nodes.clear();
         }}};
    const auto model = must(CompiledModel::make(program, std::move(options)));
    const Inputs inputs = {rows_of(3)};
    EXPECT_EQ(model->call(inputs).ok(), !fails);
    EXPECT_EQ(std::fegetround(), FE_TOWARDZERO);
    EXPECT_EQ(variable("GRAPHGATE_A"), "(unset)");
  }
}

TEST(ModelTag, IsRefusedWhenItIsSetAlready) {
  EXPECT_EQ(current_model_tag().name, "backbone");
  EXPECT_FALSE(ModelTagScope::enter("backbone").ok());
  {
    const auto outer = ModelTagScope::enter("drafter");
    ASSERT_TRUE(outer.ok());
    const Error again = failure_of(ModelTagScope::enter("drafter"));
    EXPECT_EQ(again.kind, ErrorKind::kBadInput);
    EXPECT_EQ(again.message, "the model tag 'drafter' is set already");
    const auto inner = ModelTagScope::enter("vision", true);
    ASSERT_TRUE(inner.ok());
    EXPECT_EQ(current_model_tag().name, "vision");
    EXPECT_TRUE(current_model_tag().is_encoder);
  }
  EXPECT_EQ(current_model_tag().name, "backbone");
  EXPECT_FALSE(current_model_tag().is_encoder);
  EXPECT_FALSE(ModelTagScope::enter("a/b").ok());
}

}  // namespace
}  // namespace graphgate::optimized
