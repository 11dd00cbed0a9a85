#include "optimized/runtime/options.h"

#include "base/result_test.h"
#include "optimized/runtime/dispatch.h"
#include "optimized/runtime/resolve_mode.h"

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

// vLLM's resolve_cudagraph_mode_and_sizes, and what an empty list of split ops does before it.
GraphMode resolved(GraphMode mode, AttentionSupport support, bool has_split_ops,
                   std::int64_t query_length = 1) {
  RuntimeOptions options{.mode = mode, .attention_support = support, .query_length = query_length};
  return must(resolve_mode(options, has_split_ops)).mode;
}

TEST(ResolvedMode, IsWhatAttentionSupports) {
  using Mode = GraphMode;
  using Support = AttentionSupport;
  for (const bool splits : {true, false}) {
    EXPECT_EQ(resolved(Mode::kFull, Support::kAlways, splits), Mode::kFull);
    EXPECT_EQ(resolved(Mode::kNone, Support::kNever, splits), Mode::kNone);
    EXPECT_EQ(resolved(Mode::kFullDecodeOnly, Support::kSingleTokenDecode, splits),
              Mode::kFullDecodeOnly);
  }
  EXPECT_EQ(resolved(Mode::kFull, Support::kUniformBatch, true), Mode::kFullAndPiecewise);
  EXPECT_EQ(resolved(Mode::kFull, Support::kUniformBatch, false), Mode::kFullDecodeOnly);
  EXPECT_EQ(resolved(Mode::kFullAndPiecewise, Support::kNever, true), Mode::kPiecewise);
  EXPECT_EQ(resolved(Mode::kFullDecodeOnly, Support::kNever, false), Mode::kNone);
  EXPECT_EQ(resolved(Mode::kFullAndPiecewise, Support::kSingleTokenDecode, true, 3),
            Mode::kPiecewise);
  EXPECT_EQ(resolved(Mode::kFull, Support::kSingleTokenDecode, false, 3), Mode::kNone);
  EXPECT_EQ(resolved(Mode::kFullAndPiecewise, Support::kUniformBatch, true, 3),
            Mode::kFullAndPiecewise);
}

TEST(ResolvedMode, LosesItsPiecesWithoutSplitOps) {
  EXPECT_EQ(resolved(GraphMode::kPiecewise, AttentionSupport::kAlways, false), GraphMode::kNone);
  EXPECT_EQ(resolved(GraphMode::kFullAndPiecewise, AttentionSupport::kAlways, false),
            GraphMode::kFull);
  EXPECT_EQ(resolved(GraphMode::kPiecewise, AttentionSupport::kNever, true), GraphMode::kPiecewise);
  const RuntimeOptions untold{.mode = GraphMode::kPiecewise};
  EXPECT_EQ(must(resolve_mode(untold, false)).mode, GraphMode::kPiecewise)
      << "nobody says what attention supports";
}

TEST(ResolvedMode, IsRefusedWhereNothingIsLeft) {
  const RuntimeOptions never{.mode = GraphMode::kFull,
                             .attention_support = AttentionSupport::kNever};
  EXPECT_EQ(message_of(resolve_mode(never, true)),
            "mode full captures attention, which is never captured: ask for piecewise");
  const RuntimeOptions small{
      .mode = GraphMode::kFull, .query_length = 5, .capture_sizes = {1, 2, 4}};
  EXPECT_EQ(message_of(resolve_mode(small, true)),
            "no capture size up to 4 holds a request of 5 tokens");
}

TEST(ResolvedMode, RoundsCaptureSizesToWholeRequests) {
  RuntimeOptions options{
      .mode = GraphMode::kFullDecodeOnly, .query_length = 3, .capture_sizes = {1, 2, 4, 8, 12}};
  EXPECT_EQ(must(resolve_mode(options, true)).capture_sizes,
            (std::vector<std::int64_t>{3, 6, 9, 12}));
  options.capture_sizes = {4, 8};
  EXPECT_EQ(must(resolve_mode(options, true)).capture_sizes, (std::vector<std::int64_t>{6}))
      << "9 is above the largest";
  options.mode = GraphMode::kPiecewise;
  EXPECT_EQ(must(resolve_mode(options, true)).capture_sizes, (std::vector<std::int64_t>{4, 8}));
}

TEST(Dispatch, CapturesDecodeBatchesOfAsManyRequestsAsThereCanBe) {
  RuntimeOptions options{.mode = GraphMode::kFullAndPiecewise,
                         .max_requests = 3,
                         .query_length = 2,
                         .capture_sizes = {2, 4, 8}};
  const spec::CallOptions decode{{}, {{"uniform_decode", "true"}, {"num_reqs", "1"}}};
  const Dispatch two = dispatch(options, {4, true, decode});
  EXPECT_EQ(two.mode, GraphMode::kFull);
  EXPECT_EQ(two.key.at("num_reqs"), "2") << "of the graph, not of the call";
  EXPECT_EQ(dispatch(options, {6, true, decode}).mode, GraphMode::kPiecewise)
      << "8 tokens are 4 requests";
  options.mode = GraphMode::kFullDecodeOnly;
  EXPECT_EQ(dispatch(options, {6, true, decode}).mode, GraphMode::kNone);
  options.mode = GraphMode::kFull;
  const Dispatch mixed = dispatch(options, {6, true, {}});
  EXPECT_EQ(mixed.mode, GraphMode::kFull);
  EXPECT_EQ(mixed.key.at("num_reqs"), "3");
  spec::DeviationSet uncapped;
  uncapped.add(spec::Deviation::kRequestsAboveTheCap);
  EXPECT_EQ(dispatch(options, {6, true, {}}, uncapped).key.at("num_reqs"), "8");
}

TEST(Dispatch, TakesTheGraphOfTheNextCapturedNumberOfAdapters) {
  const RuntimeOptions options{.max_loras = 5};
  const auto graph_of = [&](const char* active, const spec::DeviationSet& deviations = {}) {
    return dispatch(options, {4, false, {{}, {{"lora", active}}}}, deviations).key.at("lora");
  };
  EXPECT_EQ(graph_of("1"), "1");
  EXPECT_EQ(graph_of("3"), "4");
  EXPECT_EQ(graph_of("5"), "6") << "five adapters, or rows without one beside them";
  EXPECT_EQ(graph_of("6"), "6");
  spec::DeviationSet unrounded;
  unrounded.add(spec::Deviation::kLorasUnrounded);
  EXPECT_EQ(graph_of("3", unrounded), "3");
}

}  // namespace
}  // namespace graphgate::optimized
