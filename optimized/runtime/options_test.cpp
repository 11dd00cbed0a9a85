#include "optimized/runtime/options.h"

#include "base/result_test.h"
#include "optimized/runtime/dispatch.h"

namespace graphgate::optimized {
namespace {

using Sizes64 = std::vector<std::int64_t>;

std::string error_of(const RuntimeOptions& options) { return message_of(validate(options)); }

TEST(CaptureSizes, AreVllmsByDefault) {
  EXPECT_EQ(default_capture_sizes(1), (Sizes64{1}));
  EXPECT_EQ(default_capture_sizes(24), (Sizes64{1, 2, 4, 8, 16, 24}));
  const Sizes64 sizes = default_capture_sizes(512);
  // 1, 2, 4; 8 to 248 by 8; 256 to 512 by 16.
  EXPECT_EQ(sizes.size(), 3U + 31U + 17U);
  EXPECT_EQ(sizes.back(), 512);
  EXPECT_EQ(sizes[33], 248);
  EXPECT_EQ(sizes[34], 256);
  EXPECT_EQ(sizes[35], 272);
}

TEST(CaptureSizes, ServeTheCallsBelowThem) {
  RuntimeOptions options;
  EXPECT_EQ(padded_size(options, 3), std::nullopt);
  options.capture_sizes = {1, 2, 4, 8};
  EXPECT_EQ(padded_size(options, 1), 1);
  EXPECT_EQ(padded_size(options, 3), 4);
  EXPECT_EQ(padded_size(options, 8), 8);
  EXPECT_EQ(padded_size(options, 9), std::nullopt);
  options.size_multiple = 4;
  EXPECT_EQ(padded_size(options, 1), 4);
  EXPECT_EQ(padded_size(options, 5), 8);
  EXPECT_EQ(capture_order(options), (Sizes64{8, 4}));
}

TEST(RuntimeOptions, NameWhatIsWrongWithThem) {
  RuntimeOptions options;
  EXPECT_EQ(error_of(options), "");
  options.capture_sizes = default_capture_sizes(64);
  options.max_capture_size = 64;
  options.compile_sizes = {4, 16, 64, 65};
  options.compile_ranges = {{1, 9}, {9, 65}};
  EXPECT_EQ(error_of(options), "");
  const auto with = [&](auto edit) {
    RuntimeOptions wrong = options;
    edit(wrong);
    return error_of(wrong);
  };
  EXPECT_EQ(with([](auto& o) { o.max_capture_size = 63; }),
            "capture size 64 is above the maximum of 63");
  EXPECT_EQ(with([](auto& o) { o.capture_sizes = {0, 1}; }), "capture size 0 is not positive");
  EXPECT_EQ(with([](auto& o) {
              o.capture_sizes = {4, 2};
            }),
            "capture size 2 stands behind 4; capture sizes must ascend");
  EXPECT_EQ(with([](auto& o) {
              o.capture_sizes = {4, 4};
            }),
            "capture size 4 stands behind 4; capture sizes must ascend");
  EXPECT_EQ(with([](auto& o) { o.compile_sizes = {5}; }),
            "compile size 5 would be padded to 8; a compile size must be a capture size");
  EXPECT_EQ(with([](auto& o) { o.compile_sizes = {0}; }), "compile size 0 is not positive");
  EXPECT_EQ(with([](auto& o) { o.size_multiple = 0; }), "size multiple 0 is not positive");
  EXPECT_EQ(with([](auto& o) { o.size_multiple = 3; }),
            "capture size 64 is rounded up to 66, above the maximum of 64");
  EXPECT_EQ(with([](auto& o) { o.compile_ranges = {{4, 4}}; }), "compile range [4, 4) is empty");
  EXPECT_EQ(with([](auto& o) {
              o.compile_ranges = {{1, 9}, {8, 16}};
            }),
            "compile range [8, 16) overlaps [1, 9), or stands behind it out of order");
}

TEST(GraphModes, ReadBackTheirNames) {
  for (const char* name : {"none", "piecewise", "full", "full_decode_only", "full_and_piecewise"}) {
    const auto mode = parse_graph_mode(name);
    ASSERT_TRUE(mode) << name;
    EXPECT_EQ(graph_mode_name(*mode), name);
  }
  EXPECT_FALSE(parse_graph_mode("FULL"));
}

Dispatch dispatch_of(GraphMode mode, std::int64_t size, spec::CallOptions call = {},
                     bool can_pad = true, const spec::DeviationSet& deviations = {}) {
  RuntimeOptions options{
      .mode = mode, .capture_sizes = {4, 8}, .compile_ranges = {{1, 5}, {5, 100}}};
  return dispatch(options, {size, can_pad, std::move(call)}, deviations);
}

TEST(Dispatch, PicksTheNextLargerSizeWherePaddingIsLegal) {
  const Dispatch padded = dispatch_of(GraphMode::kPiecewise, 3);
  EXPECT_EQ(padded.size, 4);
  EXPECT_TRUE(padded.is_padded);
  EXPECT_EQ(padded.range->end, 5);
  const Dispatch exact = dispatch_of(GraphMode::kPiecewise, 3, {}, false);
  EXPECT_EQ(exact.size, 3);
  EXPECT_EQ(exact.mode, GraphMode::kPiecewise);
  const Dispatch above = dispatch_of(GraphMode::kFull, 9);
  EXPECT_EQ(above.size, 9);
  EXPECT_EQ(above.mode, GraphMode::kNone);
  EXPECT_EQ(dispatch_of(GraphMode::kNone, 3).size, 3);
}

TEST(Dispatch, PrefersACompileSizeToTheRangeAroundIt) {
  RuntimeOptions options{.compile_sizes = {8}, .compile_ranges = {{1, 100}}};
  EXPECT_EQ(dispatch(options, {8, false, {}}).range->end, 9);
  EXPECT_EQ(dispatch(options, {9, false, {}}).range->end, 100);
  EXPECT_FALSE(dispatch(options, {100, false, {}}).range);
  EXPECT_FALSE(dispatch(options, {{}, false, {}}).range);
}

TEST(Dispatch, TellsUniformDecodeBatchesFromMixedOnes) {
  const spec::CallOptions decode{{}, {{"uniform_decode", "true"}, {"num_reqs", "3"}}};
  EXPECT_EQ(dispatch_of(GraphMode::kFullAndPiecewise, 3, decode).mode, GraphMode::kFull);
  EXPECT_EQ(dispatch_of(GraphMode::kFullAndPiecewise, 3).mode, GraphMode::kPiecewise);
  EXPECT_EQ(dispatch_of(GraphMode::kFullDecodeOnly, 3, decode).mode, GraphMode::kFull);
  EXPECT_EQ(dispatch_of(GraphMode::kFullDecodeOnly, 3).mode, GraphMode::kNone);
  EXPECT_EQ(dispatch_of(GraphMode::kFull, 3).mode, GraphMode::kFull);
  EXPECT_EQ(dispatch_of(GraphMode::kFullAndPiecewise, 3, decode).key.at("num_reqs"), "3");
  EXPECT_FALSE(dispatch_of(GraphMode::kPiecewise, 3, decode).key.contains("num_reqs"));
}

TEST(Dispatch, LeavesCascadeAttentionAndEagerCallsOutOfFullGraphs) {
  const spec::CallOptions cascade{{}, {{"uniform_decode", "true"}, {"cascade_attention", "true"}}};
  EXPECT_EQ(dispatch_of(GraphMode::kFullAndPiecewise, 3, cascade).mode, GraphMode::kPiecewise);
  EXPECT_EQ(dispatch_of(GraphMode::kFull, 3, cascade).mode, GraphMode::kNone);
  const spec::CallOptions eager{spec::CallMode::kEager, {}};
  const Dispatch out = dispatch_of(GraphMode::kFull, 3, eager);
  EXPECT_EQ(out.mode, GraphMode::kNone);
  EXPECT_EQ(out.size, 3);
}

TEST(Dispatch, KeepsModeAndLoraInTheKeyUnlessAsked) {
  const spec::CallOptions lora{{}, {{"lora", "2"}}};
  const auto key = dispatch_of(GraphMode::kFull, 3, lora).key;
  EXPECT_EQ(key.at("mode"), "full");
  EXPECT_EQ(key.at("lora"), "2");
  EXPECT_NE(key, dispatch_of(GraphMode::kFull, 3).key);
  EXPECT_NE(key, dispatch_of(GraphMode::kPiecewise, 3, lora).key);
  spec::DeviationSet drops;
  drops.add(spec::Deviation::kGraphKeyDropsMode);
  EXPECT_EQ(dispatch_of(GraphMode::kFull, 3, lora, true, drops).key,
            dispatch_of(GraphMode::kPiecewise, 3, {}, true, drops).key);
}

TEST(Dispatch, TakesTheEndOfARangeForTheSizeWhenAsked) {
  spec::DeviationSet ends;
  ends.add(spec::Deviation::kRangeSpecializedToEnd);
  EXPECT_EQ(dispatch_of(GraphMode::kPiecewise, 6, {}, false, ends).size, 99);
  EXPECT_TRUE(dispatch_of(GraphMode::kPiecewise, 6, {}, false, ends).is_range_end);
  EXPECT_EQ(dispatch_of(GraphMode::kPiecewise, 6, {}, false).size, 6);
}

}  // namespace
}  // namespace graphgate::optimized
