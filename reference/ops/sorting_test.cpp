#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/split_mix.h"
#include "reference/ops/op_test.h"
#include "reference/ops/open_order.h"

namespace graphgate::reference::test {
namespace {

TEST(Sort, PutsNaNLastAscendingAndFirstDescending) {
  const auto x = tensor(DType::kFloat32, {4}, {2, kNan, 1, 3});
  EXPECT_EQ(values(result(run("aten.sort.default", {{"self", {x}}}), 1)), (Numbers{2, 0, 3, 1}));
  const auto down = run("aten.sort.default", {{"self", {x}}, {"descending", {true}}});
  EXPECT_EQ(values(result(down, 1)), (Numbers{1, 3, 0, 2}));
}

TEST(Sort, KeepsTheOrderOfEqualElementsWhenStable) {
  Numbers keys;
  for (int i = 0; i < 40; ++i) keys.push_back(i % 2);
  const auto x = tensor(DType::kInt64, {40}, keys);
  const auto out = run("aten.sort.stable", {{"self", {x}}, {"stable", {true}}});
  const Numbers indices = values(result(out, 1));
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(indices[i], static_cast<double>(2 * i));
    EXPECT_EQ(indices[20 + i], static_cast<double>(2 * i + 1));
  }
}

TEST(Sort, KeepsTheStridesOfADenseInput) {
  const auto x = tensor(DType::kFloat32, {2, 3}, {3, 2, 1, 6, 5, 4}, {1, 2});
  const auto out = run("aten.sort.default", {{"self", {x}}, {"dim", {std::int64_t{1}}}});
  EXPECT_EQ(result(out, 0).strides, (Sizes{1, 2}));
  EXPECT_EQ(values(result(out, 0)), (Numbers{1, 2, 3, 4, 5, 6}));
}

// Every pair compared, as the definition has it.
template <class N>
std::vector<std::vector<std::size_t>> rivals_of_all_pairs(std::span<const N> numbers,
                                                          const std::vector<std::size_t>& order,
                                                          bool ties_open) {
  const std::size_t count = order.size();
  std::vector<std::vector<std::size_t>> out(count);
  for (std::size_t p = 0; p < count; ++p) {
    const auto meet = [&](std::size_t q) {
      const N& a = numbers[order[p]];
      const N& b = numbers[order[q]];
      const bool both_nan = is_certain_nan(a) && is_certain_nan(b);
      return is_open(a, b) || (ties_open && (both_nan || equal(a, b).value != 0));
    };
    std::size_t before = 0;
    std::size_t behind = 0;
    for (std::size_t q = 0; q < p; ++q) before += meet(q) ? 1 : 0;
    for (std::size_t q = p + 1; q < count; ++q) behind += meet(q) ? 1 : 0;
    for (std::size_t place = p - before; place <= p + behind; ++place) {
      if (place != p) out[place].push_back(p);
    }
  }
  return out;
}

template <class P>
void expect_same_rivals(std::uint64_t seed, bool descending) {
  SplitMix64 draw(seed);
  constexpr std::array<double, 8> kRadii = {
      0, 0, 1e-9, 1e-3, 0.1, 2, 0x1p-1074, std::numeric_limits<double>::infinity()};
  std::vector<Tracked<P>> line;
  for (std::uint64_t i = 0, count = draw.next() % 40; i < count; ++i) {
    const std::uint64_t bits = draw.next();
    const double step = static_cast<double>(bits % 64) / 4 - 8;
    const double value = bits % 31 == 0 ? kNan : bits % 29 == 0 ? step * 1e308 * 1e10 : step;
    // Infinite radii are rare: such a number has no place that is its own.
    const std::size_t most = bits % 101 == 0 ? kRadii.size() : kRadii.size() - 1;
    line.emplace_back(static_cast<long double>(value), kRadii[(bits >> 32) % most],
                      Tracked<P>::Arithmetic::kFloat32);
  }
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const long double x = line[descending ? b : a].value;
    const long double y = line[descending ? a : b].value;
    return x < y || (!std::isnan(x) && std::isnan(y));
  });
  const std::span<const Tracked<P>> numbers = line;
  for (const bool ties_open : {false, true}) {
    EXPECT_EQ(rivals(numbers, order, ties_open), rivals_of_all_pairs(numbers, order, ties_open))
        << "seed " << seed << (descending ? ", descending" : "");
  }
}

TEST(Rivals, AreThoseOfAllPairsThoughMostPairsAreNotCompared) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    expect_same_rivals<WorstCase>(seed, seed % 2 == 1);
    expect_same_rivals<RootSumSquare>(seed, seed % 2 == 0);
  }
}

TEST(Sort, LeavesOpenWhatOverlaps) {
  const auto x = counting({3});
  x->storage->marks = {{1.0L, 0.25}, {5.0L, 0}, {1.125L, 0}};
  const auto out = run("aten.sort.default", {{"self", {x}}}, Mode::kWorstCase);
  const Numbers widths = radii(result(out, 0));
  EXPECT_NEAR(widths[0], 0.25, 1e-6);
  EXPECT_NEAR(widths[1], 0.25, 1e-6);
  EXPECT_EQ(widths[2], 0);
  EXPECT_TRUE(std::isinf(radii(result(out, 1))[0]));
  EXPECT_EQ(radii(result(out, 1))[2], 0);
}

TEST(Topk, TakesNaNAsLargest) {
  const auto x = tensor(DType::kFloat32, {4}, {2, kNan, 1, 3});
  const auto out = run("aten.topk.default", {{"self", {x}}, {"k", {std::int64_t{2}}}});
  EXPECT_EQ(values(result(out, 1)), (Numbers{1, 3}));
}

TEST(Topk, RefusesMoreThanThereIs) {
  EXPECT_THROW(run("aten.topk.default", {{"self", {counting({2})}}, {"k", {std::int64_t{3}}}}),
               OpError);
}

TEST(Kthvalue, LeavesTheIndexAmongSeveralNaNsOpen) {
  const auto index = [](const Numbers& line, std::int64_t k) {
    const auto x = tensor(DType::kFloat32, {static_cast<std::int64_t>(line.size())}, line);
    return radii(result(run("aten.kthvalue.default", {{"self", {x}}, {"k", {k}}}), 1)).front();
  };
  EXPECT_TRUE(std::isinf(index({kNan, 1, kNan, 2}, 3)));
  EXPECT_EQ(index({kNan, 1, kNan, 2}, 2), 0);
  EXPECT_EQ(index({1, kNan, 2}, 3), 0);
}

TEST(Median, IsTheLowerOfTheMiddleTwo) {
  const auto x = tensor(DType::kFloat32, {4}, {4, 1, 3, 2});
  EXPECT_EQ(values(*run_tensor("aten.median.default", {{"self", {x}}})), Numbers{2});
  const auto with_nan = tensor(DType::kFloat32, {3}, {4, kNan, 3});
  EXPECT_TRUE(std::isnan(values(*run_tensor("aten.median.default", {{"self", {with_nan}}}))[0]));
  EXPECT_EQ(values(*run_tensor("aten.nanmedian.default", {{"self", {with_nan}}})), Numbers{3});
}

TEST(Nanmedian, OfNaNsAloneTakesTheOneThatASelectionBringsToTheFront) {
  const auto index = [](std::size_t length) {
    const auto x =
        tensor(DType::kFloat32, {static_cast<std::int64_t>(length)}, Numbers(length, kNan));
    return values(result(run("aten.nanmedian.dim", {{"self", {x}}, {"dim", {0L}}}), 1)).front();
  };
  EXPECT_EQ(index(3), 0);
  EXPECT_EQ(index(4), 2);
  EXPECT_EQ(index(7), 5);
}

TEST(Cumsum, WrapsIntegersAndWidensThemToInt64) {
  const auto x = tensor(DType::kInt8, {3}, {100, 100, 100});
  const Arguments arguments = {{"self", {x}}, {"dim", {std::int64_t{0}}}};
  const auto out = run_tensor("aten.cumsum.default", arguments);
  EXPECT_EQ(out->dtype, DType::kInt64);
  EXPECT_EQ(values(*out), (Numbers{100, 200, 300}));
  EXPECT_EQ(values(*run_tensor("aten.cumsum_.default", arguments)), (Numbers{100, -56, 44}));
}

TEST(Cummax, TakesTheLastOfEqualElementsAndOfNaNs) {
  const auto x = tensor(DType::kFloat32, {6}, {1, 3, 3, kNan, 2, kNan});
  const auto out = run("aten.cummax.default", {{"self", {x}}, {"dim", {std::int64_t{0}}}});
  EXPECT_EQ(values(result(out, 1)), (Numbers{0, 1, 2, 3, 3, 5}));
}

TEST(Diff, TakesExclusiveOrOfBooleansAndStopsAtNothing) {
  const auto mask = tensor(DType::kBool, {4}, {1, 1, 0, 1});
  EXPECT_EQ(values(*run_tensor("aten.diff.default", {{"self", {mask}}})), (Numbers{0, 1, 1}));
  const auto gone =
      run_tensor("aten.diff.default", {{"self", {counting({2, 3})}}, {"n", {std::int64_t{7}}}});
  EXPECT_EQ(gone->sizes, (Sizes{2, 0}));
}

TEST(Diff, PutsPrependAndAppendAround) {
  const auto out = run_tensor("aten.diff.default", {{"self", {tensor(DType::kInt64, {2}, {5, 9})}},
                                                    {"prepend", {tensor(DType::kInt64, {1}, {2})}},
                                                    {"append", {tensor(DType::kInt64, {1}, {0})}}});
  EXPECT_EQ(values(*out), (Numbers{3, 4, -9}));
}

// Marks of a line of float32 numbers: values with their radii.
TensorRef marked(const std::vector<Mark>& marks) {
  const auto x = counting({static_cast<std::int64_t>(marks.size())});
  x->storage->marks.assign(marks.begin(), marks.end());
  return x;
}
std::vector<bool> openness(const Tensor& tensor) {
  std::vector<bool> out;
  for (const double radius : radii(tensor)) out.push_back(std::isinf(radius));
  return out;
}
const double kOpen = std::numeric_limits<double>::infinity();

// The first number may stand anywhere, though it is next to the second alone.
TEST(Sort, LooksAtAllElementsThatMayStandAtAPlace) {
  const auto x = marked({{1.0L, 10}, {2.0L, 0}, {3.0L, 0}, {30.0L, 0}});
  const auto out = run("aten.sort.default", {{"self", {x}}}, Mode::kWorstCase);
  EXPECT_EQ(openness(result(out, 1)), (std::vector<bool>{true, true, true, false}));
  EXPECT_GE(radii(result(out, 0))[2], 8);  // 11 may stand where 3 does
  EXPECT_EQ(radii(result(out, 0))[3], 0);
}

TEST(Sort, LeavesEqualElementsOpenWhereOthersSteerTheAlgorithm) {
  const auto index = [](bool stable) {
    const auto x = marked({{5.0L, 0}, {5.0L, 0}, {1.0L, 0.5}, {1.25L, 0}});
    return openness(result(
        run("aten.sort.stable", {{"self", {x}}, {"stable", {stable}}}, Mode::kWorstCase), 1));
  };
  EXPECT_EQ(index(true), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(index(false), (std::vector<bool>{true, true, true, true}));
}

TEST(CudaKernels, LeaveOpenWhichOfEqualElementsComesFirst) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const auto x = tensor(DType::kFloat32, {4}, {3, 1, 3, 2});
  const auto index = [&](const char* op, Arguments more, std::size_t which = 1) {
    more.emplace_back("self", Datum{x});
    return openness(result(run(op, more, Mode::kWorstCase), which));
  };
  const Datum two{std::int64_t{2}};
  const Datum zero{std::int64_t{0}};
  EXPECT_EQ(index("aten.sort.default", {}), (std::vector<bool>{false, false, false, false}));
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_EQ(index("aten.sort.default", {}), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(index("aten.sort.default", {}, 0), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(index("aten.sort.stable", {{"stable", {true}}}),
            (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(index("aten.topk.default", {{"k", two}}), (std::vector<bool>{true, true}));
  EXPECT_EQ(index("aten.topk.default", {{"k", two}}, 0), (std::vector<bool>{false, false}));
  EXPECT_EQ(index("aten.topk.default", {{"k", two}, {"sorted", {false}}}, 0),
            (std::vector<bool>{true, true}));
  EXPECT_EQ(index("aten.median.dim", {{"dim", zero}}), (std::vector<bool>{false}));
  const auto equal = tensor(DType::kFloat32, {3}, {1, 1, 1});
  EXPECT_EQ(openness(result(
                run("aten.median.dim", {{"self", {equal}}, {"dim", zero}}, Mode::kWorstCase), 1)),
            (std::vector<bool>{true}));
}

// An engine's own kernels may take equal elements in any order, and round as the CPU's do.
TEST(OwnKernels, LeaveOpenWhichOfEqualElementsComesFirst) {
  Arithmetic arithmetic;
  arithmetic.has_own_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  const Arguments two_of_four = {{"self", {tensor(DType::kFloat32, {4}, {3, 1, 3, 2})}},
                                 {"k", {std::int64_t{2}}}};
  const std::vector<Datum> taken = run("aten.topk.default", two_of_four, Mode::kWorstCase);
  EXPECT_EQ(openness(result(taken, 1)), (std::vector<bool>{true, true}));
  EXPECT_EQ(openness(result(taken, 0)), (std::vector<bool>{false, false}));
  const Arguments stable = {{"self", {tensor(DType::kFloat32, {3}, {1, 1, 1})}},
                            {"stable", {true}}};
  EXPECT_EQ(openness(result(run("aten.sort.stable", stable, Mode::kWorstCase), 1)),
            (std::vector<bool>{false, false, false}));
}

// Zeros are equal, whatever their signs: 1 / kthvalue is an infinity of either, on a CPU too.
TEST(CudaKernels, LeaveOpenWhichOfTwoZerosIsTaken) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const Datum zero{std::int64_t{0}};
  const Datum one{std::int64_t{1}};
  const auto inverse = [&](const char* op, const Arguments& more, const Numbers& line) {
    Arguments given = more;
    given.emplace_back("self", Datum{tensor(DType::kFloat16, {3}, line)});
    const TensorRef taken = *run(op, given, Mode::kWorstCase)[0].as<TensorRef>();
    EXPECT_EQ(values(*taken)[0], 0) << op;
    const Arguments power = {{"self", {taken}}, {"exponent", {-1.0}}};
    return radii(*run_tensor("aten.pow.Tensor_Scalar", power, Mode::kWorstCase))[0];
  };
  const std::vector<std::pair<const char*, Arguments>> ops = {
      {"aten.kthvalue.default", {{"k", one}, {"dim", zero}}},
      {"aten.median.dim", {{"dim", zero}}},
      {"aten.sort.default", {}},
      {"aten.topk.default", {{"k", one}, {"largest", {false}}}}};
  for (const auto& [op, more] : ops) {
    const bool is_median = std::string_view(op) == "aten.median.dim";
    const Numbers mixed = is_median ? Numbers{-1, 0.0, -0.0} : Numbers{0.0, -0.0, 1};
    const Numbers alike = is_median ? Numbers{-1, 0.0, 0.0} : Numbers{0.0, 0.0, 1};
    const bool is_open_on_cpu = std::string_view(op) == "aten.kthvalue.default";
    EXPECT_EQ(std::isinf(inverse(op, more, mixed)), is_open_on_cpu) << op;
    const DeclaredArithmetic declared(arithmetic);
    EXPECT_EQ(inverse(op, more, alike), 0) << op;
    EXPECT_TRUE(std::isinf(inverse(op, more, mixed))) << op;
  }
}

// 257 is no bfloat16: 256 + 1 is 256 there, and 1 + 1 + 256 is 258.
TEST(CudaKernels, RoundPartialSumsToTheDtype) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const auto x = tensor(DType::kBFloat16, {3}, {256, 1, 1});
  const auto sums = [&] {
    const Arguments given = {{"self", {x}}, {"dim", {std::int64_t{0}}}};
    return run_tensor("aten.cumsum.default", given, Mode::kWorstCase);
  };
  EXPECT_EQ(values(*sums()), (Numbers{256, 257, 258}));
  EXPECT_EQ(radii(*sums())[2], 0);
  {
    // That indices send to one element is added in its dtype there; running sums are not.
    const DeclaredArithmetic fast(*parse_arithmetic("fast"));
    EXPECT_EQ(radii(*sums())[2], 0);
  }
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_EQ(radii(*sums())[0], 0);
  EXPECT_GE(radii(*sums())[2], 2);  // 256 + 1 + 1 by steps
  EXPECT_LE(radii(*sums())[2], 8);
}

TEST(CudaKernels, RoundPartialLogsumexpsToTheDtype) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const auto x = tensor(DType::kBFloat16, {3}, {1, 1, 1});
  const auto radius = [&] {
    const Arguments given = {{"self", {x}}, {"dim", {std::int64_t{0}}}};
    return radii(*run_tensor("aten.logcumsumexp.default", given, Mode::kWorstCase))[2];
  };
  EXPECT_LT(radius(), 0x1.01p-7);  // the last rounding
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_GE(radius(), 0x1.8p-6);  // and two steps below 4, half an ulp each
  EXPECT_LE(radius(), 0x1p-5);
}

// Steps round beside an element that adds nothing, too.
TEST(LogCumSumExp, AllowsForRoundingsBesideMinusInfinity) {
  const auto radius = [](const Numbers& line) {
    const auto x = tensor(DType::kFloat32, {static_cast<std::int64_t>(line.size())}, line);
    const Arguments given = {{"self", {x}}, {"dim", {std::int64_t{0}}}};
    return radii(*run_tensor("aten.logcumsumexp.default", given, Mode::kWorstCase)).back();
  };
  EXPECT_GE(radius({8, -detail::kInfinity, 1, 1}), radius({8, 1, 1}));
}

TEST(CudaKernels, MultiplyASumByTheReciprocalOfTheCount) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  Numbers twelve(13, -1);
  twelve[0] = 0;
  const auto x = tensor(DType::kFloat32, {13}, twelve);
  const auto radius = [&] {
    const Arguments given = {{"self", {x}}};
    return radii(*run_tensor("aten.mean.default", given, Mode::kWorstCase))[0];
  };
  const double off = 12.0 * (1.0F / 13.0F) - 12.0 / 13;  // before its own rounding
  EXPECT_LT(radius(), std::fabs(off) + 0x1p-25);
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_GE(radius(), std::fabs(off) + 0x1p-25);
  EXPECT_LE(radius(), 0x1p-22);
}

TEST(CudaKernels, TakeSubnormalFloat32ForZeroWhereTheyAddAtomically) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const auto radius = [&] {
    const Arguments given = {{"self", {tensor(DType::kFloat32, {1}, {0})}},
                             {"dim", {std::int64_t{0}}},
                             {"index", {tensor(DType::kInt64, {1}, {0})}},
                             {"src", {tensor(DType::kFloat32, {1}, {0x1p-140L})}}};
    return radii(*run_tensor("aten.scatter_add.default", given, Mode::kWorstCase))[0];
  };
  EXPECT_EQ(radius(), 0);
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_GE(radius(), 0x1p-140);
  EXPECT_LE(radius(), 0x1p-124);
}

TEST(Sort, LeavesOpenWhereWhatMayBeNaNStands) {
  const auto x = marked({{1.0L, 0}, {2.0L, kOpen}, {std::nanl(""), 0}});
  const auto out = run("aten.sort.default", {{"self", {x}}}, Mode::kWorstCase);
  EXPECT_EQ(openness(result(out, 0)), (std::vector<bool>{true, true, true}));
}

TEST(Topk, OutOfOrderIsOpenWhereAnyComparisonIs) {
  const auto values_of = [](double radius, bool sorted) {
    const auto x = marked({{4.0L, 0}, {1.0L, radius}, {1.25L, 0}, {3.0L, 0}});
    const Arguments given = {{"self", {x}}, {"k", {std::int64_t{2}}}, {"sorted", {sorted}}};
    return openness(result(run("aten.topk.default", given, Mode::kWorstCase), 0));
  };
  EXPECT_EQ(values_of(0.5, false), (std::vector<bool>{true, true}));
  EXPECT_EQ(values_of(0.5, true), (std::vector<bool>{false, false}));
  EXPECT_EQ(values_of(0, false), (std::vector<bool>{false, false}));
}

TEST(Median, HangsOnWhatMayBeNaN) {
  const auto median = [](const char* op, const std::vector<Mark>& line) {
    return run_tensor(op, {{"self", {marked(line)}}}, Mode::kWorstCase);
  };
  const std::vector<Mark> maybe = {{1.0L, 0}, {2.0L, kOpen}, {3.0L, 0}};
  EXPECT_TRUE(std::isinf(radii(*median("aten.median.default", maybe))[0]));
  const std::vector<Mark> nan = {{1.0L, 0}, {2.0L, kOpen}, {std::nanl(""), 0}};
  EXPECT_EQ(radii(*median("aten.median.default", nan))[0], 0);
  EXPECT_TRUE(std::isinf(radii(*median("aten.nanmedian.default", nan))[0]));
}

TEST(Extremum, BesideWhatMayBeNaNIsOpen) {
  const auto index = [](const std::vector<Mark>& line) {
    const auto out =
        run_tensor("aten.argmax.default", {{"self", {marked(line)}}}, Mode::kWorstCase);
    return std::isinf(radii(*out)[0]);
  };
  const Mark nan = {std::nanl(""), 0};
  EXPECT_TRUE(index({{1.0L, kOpen}, nan}));  // the first NaN counts
  EXPECT_FALSE(index({nan, {1.0L, kOpen}}));
  EXPECT_TRUE(index({{std::nanl(""), kOpen}, {1.0L, 0}}));
}

TEST(Cummax, IsDecidedAgainBehindACertainMaximum) {
  const auto x = marked({{1.0L, 0.5}, {1.25L, 0}, {9.0L, 0}, {3.0L, 0}});
  const auto out =
      run("aten.cummax.default", {{"self", {x}}, {"dim", {std::int64_t{0}}}}, Mode::kWorstCase);
  EXPECT_EQ(openness(result(out, 1)), (std::vector<bool>{false, true, false, false}));
}

}  // namespace
}  // namespace graphgate::reference::test
