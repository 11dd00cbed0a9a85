// Which works share a kernel or a launch, by hand. What joined works compute is judged beside the
// emulator (runtime/emulated/joined_works_test.cpp).
#include "optimized/codegen/join_works.h"

#include <algorithm>
#include <array>

#include "base/result_test.h"
#include "optimized/codegen/cells_text.h"
#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/fast_text.h"
#include "optimized/codegen/kernels.h"
#include "optimized/codegen/row_text.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

alignas(256) std::array<std::byte, 8192> arena;

Tensor tensor(std::size_t at, Sizes sizes) {
  Tensor out;
  out.sizes = std::move(sizes);
  out.strides = row_major_strides(out.sizes);
  out.bytes = arena.data() + at;
  return out;
}

Tensor strided(std::size_t at, Sizes sizes, Sizes strides) {
  Tensor out = tensor(at, std::move(sizes));
  out.strides = std::move(strides);
  return out;
}

PointwiseWork exp_of(const Tensor& result, const Tensor& operand) {
  return {result,
          DType::kFloat32,
          DType::kFloat32,
          "element::Exp{}",
          {{operand, DType::kFloat32, false, 0}}};
}

// A text that reads one tensor and writes another one.
TextWork text_of(const Tensor& result, const Tensor& operand) {
  return TextWork{.statements = "  if (thread == 0) p0[0] = p1[0];\n",
                  .pointers = {result.data(), operand.data()},
                  .threads = 1,
                  .what = "text",
                  .accesses = {{result, true}, {operand, false}}};
}

// One that does not tell.
TextWork silent_text() {
  TextWork work = text_of(tensor(8000, {1}), tensor(8004, {1}));
  work.accesses.clear();
  return work;
}

// The words of launches, in order.
std::vector<std::string> whats_of(const DeviceWorks& works) {
  std::vector<std::string> out;
  for (const DeviceWork& work : join_works(works)) out.push_back(std::get<TextWork>(work).what);
  return out;
}

using Whats = std::vector<std::string>;

const Tensor a = tensor(0, {8});
const Tensor b = tensor(256, {8});
const Tensor c = tensor(512, {8});
const Tensor d = tensor(768, {8});
const Tensor far_away = tensor(4096, {8});
const Tensor wide = tensor(2048, {64});
const Tensor wider = tensor(3072, {64});

TEST(Touched, TellsElementsApart) {
  EXPECT_FALSE(may_share_bytes(a, b));
  EXPECT_TRUE(may_share_bytes(a, tensor(28, {1})));
  EXPECT_FALSE(may_share_bytes(a, tensor(32, {1})));
  // Halves of rows.
  EXPECT_FALSE(may_share_bytes(strided(0, {4, 8}, {16, 1}), strided(32, {4, 8}, {16, 1})));
  EXPECT_TRUE(may_share_bytes(strided(0, {4, 8}, {16, 1}), strided(28, {4, 8}, {16, 1})));
  // Backwards.
  EXPECT_TRUE(may_share_bytes(strided(28, {8}, {-1}), tensor(0, {1})));
  EXPECT_FALSE(may_share_bytes(strided(28, {7}, {-1}), tensor(0, {1})));
  // Elements that lie across each other.
  EXPECT_TRUE(may_share_bytes(tensor(2, {1}), tensor(4, {1})));
  EXPECT_FALSE(may_share_bytes(tensor(2, {1}), tensor(6, {1})));
  EXPECT_FALSE(may_share_bytes(a, tensor(0, {0})));
}

TEST(Touched, KnowsTensorsThatMeetThemselves) {
  EXPECT_FALSE(may_meet_itself(strided(0, {4, 8}, {16, 1})));
  EXPECT_FALSE(may_meet_itself(strided(0, {4, 8}, {1, -4})));
  EXPECT_TRUE(may_meet_itself(strided(0, {4, 8}, {7, 1})));
  EXPECT_TRUE(may_meet_itself(strided(0, {4}, {0})));
}

TEST(JoinWorks, JoinsAChainAndStoresAllOfIt) {
  const DeviceWorks joined = join_works({exp_of(b, a), exp_of(c, b), exp_of(d, c)});
  ASSERT_EQ(joined.size(), 1U);
  const auto& work = std::get<TextWork>(joined.front());
  EXPECT_EQ(work.what, "Exp Exp Exp");
  EXPECT_EQ(work.pointers, (std::vector<std::byte*>{b.data(), c.data(), d.data(), a.data()}));
}

TEST(JoinWorks, KeepsInnerValuesInRegistersWhereNobodyElseReadsThem) {
  PointwiseWork inner = exp_of(b, a);
  inner.is_inner = true;
  const DeviceWorks alone = join_works({inner, exp_of(c, b)});
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(std::get<TextWork>(alone.front()).pointers,
            (std::vector<std::byte*>{c.data(), a.data()}));
  const DeviceWorks read = join_works({inner, exp_of(c, b), text_of(d, b)});
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(std::get<TextWork>(read.front()).pointers.size(), 3U);
  const DeviceWorks unknown = join_works({inner, exp_of(c, b), silent_text()});
  EXPECT_EQ(std::get<TextWork>(unknown.front()).pointers.size(), 3U);
}

TEST(JoinWorks, MovesAWorkOverOnesThatItDoesNotTouch) {
  EXPECT_EQ(whats_of({exp_of(b, a), text_of(far_away, a), exp_of(c, b)}),
            (Whats{"Exp Exp", "text"}));
}

TEST(JoinWorks, MovesAGroupWhereTheWorkCannotCome) {
  EXPECT_EQ(whats_of({exp_of(b, a), text_of(b, far_away), exp_of(c, b)}),
            (Whats{"Exp", "text", "Exp"}));
  PointwiseWork sum = exp_of(c, b);
  sum.function = "element::Add{}";
  sum.operands.push_back({far_away, DType::kFloat32, false, 0});
  EXPECT_EQ(whats_of({exp_of(b, a), text_of(far_away, a), sum}), (Whats{"text", "Exp Add"}));
  EXPECT_EQ(whats_of({exp_of(b, a), text_of(far_away, b), sum}), (Whats{"Exp", "text", "Add"}));
}

// `between` stands between what makes b and what reads it, and keeps both of them apart.
void expect_hazard(const DeviceWork& between, const DeviceWork& last) {
  EXPECT_EQ(join_works({exp_of(b, a), between, last}).size(), 3U);
}

TEST(JoinWorks, KeepsReadsBehindWrites) {
  // Half of b is written anew, by one that has read it, and then read.
  const Tensor half = tensor(256 + 28, {4});
  expect_hazard(text_of(half, b), exp_of(c, b));
  // The last one reads what stands between, which reads the first.
  PointwiseWork both = exp_of(c, b);
  both.operands.push_back({tensor(512 + 64, {8}), DType::kFloat32, false, 0});
  expect_hazard(text_of(tensor(512 + 92, {2}), b), both);
}

TEST(JoinWorks, KeepsWritesBehindReads) {
  TextWork between = text_of(far_away, tensor(512 + 28, {4}));
  between.accesses.push_back({tensor(256 + 16, {1}), false});
  expect_hazard(between, exp_of(c, b));
}

TEST(JoinWorks, KeepsWritesBehindWrites) {
  TextWork between = text_of(tensor(512 + 28, {4}), far_away);
  between.accesses.push_back({tensor(256 + 16, {1}), false});
  expect_hazard(between, exp_of(c, b));
}

TEST(JoinWorks, MovesNothingOverAWorkThatDoesNotTell) {
  expect_hazard(silent_text(), exp_of(c, b));
  expect_hazard(silent_text(), exp_of(d, c));
}

// ---- behind a product ----

// Its result, of 16 bits, and halves of the result's columns.
Tensor of_half(std::size_t at, Sizes sizes, Sizes strides) {
  Tensor out = strided(at, std::move(sizes), std::move(strides));
  out.dtype = DType::kBFloat16;
  return out;
}
const Tensor made = of_half(1024, {4, 16}, {16, 1});
const Tensor first_half = of_half(1024, {4, 8}, {16, 1});
const Tensor second_half = of_half(1024 + 16, {4, 8}, {16, 1});
const Tensor gated = of_half(2048, {4, 8}, {8, 1});
const Tensor terms = of_half(3072, {4, 8}, {8, 1});
const Tensor weight = of_half(3584, {16, 8}, {8, 1});

TextWork product_of_terms() {
  const DeviceListener listener([](std::int64_t) { return nullptr; },
                                [](const Tensor&) { return true; });
  Product product{
      .result = made, .a = terms, .b = swapped(weight, 0, 1), .rounds_to = DType::kBFloat16};
  return std::get<TextWork>(fast_product_works(listener, product).value().front());
}

PointwiseWork product_of(const Tensor& result, const Tensor& x, const Tensor& y) {
  const DType dtype = DType::kBFloat16;
  return {result,
          dtype,
          DType::kFloat32,
          "element::Multiply{}",
          {{x, dtype, false, 0}, {y, dtype, false, 0}}};
}

constexpr const char* kProductAndMore = "product 4 x 8 x 16, Multiply";

TEST(JoinWorks, AProductGoesOnWithHalvesOfWhatItHas) {
  EXPECT_EQ(whats_of({product_of_terms(), product_of(gated, first_half, second_half)}),
            Whats{kProductAndMore});
  EXPECT_EQ(whats_of({product_of_terms(), product_of(made, made, made)}), Whats{kProductAndMore});
  EXPECT_EQ(whats_of({product_of_terms(), product_of(second_half, first_half, second_half)}),
            Whats{kProductAndMore});
  // One half alone, and what another work has made before.
  EXPECT_EQ(whats_of({product_of_terms(), product_of(gated, second_half, of_half(0, {8}, {1}))}),
            Whats{kProductAndMore});
  EXPECT_EQ(whats_of({product_of_terms(), text_of(far_away, a),
                      product_of(gated, first_half, second_half)}),
            (Whats{kProductAndMore, "text"}));
}

TEST(JoinWorks, AProductLeavesWhatItsThreadsDoNotHave) {
  const auto expect_apart = [](const PointwiseWork& behind) {
    EXPECT_EQ(whats_of({product_of_terms(), behind}), (Whats{"product 4 x 8 x 16", "Multiply"}));
  };
  // Other columns, another order, other sizes, and a row for all.
  expect_apart(product_of(gated, of_half(1024 + 8, {4, 8}, {16, 1}), second_half));
  expect_apart(product_of(gated, of_half(1024, {4, 8}, {16, 2}), first_half));
  expect_apart(product_of(of_half(2048, {8, 4}, {4, 1}), of_half(1024, {8, 4}, {8, 1}),
                          of_half(0, {8, 4}, {4, 1})));
  expect_apart(product_of(gated, first_half, of_half(1024, {8}, {1})));
  // Over what other blocks still multiply.
  expect_apart(product_of(terms, first_half, second_half));
  expect_apart(product_of(of_half(3584 + 64, {4, 8}, {8, 1}), first_half, second_half));
}

TEST(JoinWorks, NothingMovesToAProductOverWhatItHangsOn) {
  const PointwiseWork behind = product_of(gated, first_half, second_half);
  const auto expect_apart = [&](const DeviceWork& between) {
    EXPECT_EQ(join_works({product_of_terms(), between, behind}).size(), 3U);
  };
  const Tensor last_gated = of_half(2048 + 62, {1}, {1});
  const Tensor last_made = of_half(1024 + 30, {1}, {1});
  const Tensor last_term = of_half(3072 + 62, {1}, {1});
  expect_apart(text_of(last_made, far_away));
  expect_apart(text_of(last_gated, last_made));
  expect_apart(silent_text());
  EXPECT_EQ(join_works({product_of_terms(), text_of(far_away, made), behind}).size(), 2U);
  // What does not depend on the product comes before it, with what it depends on.
  const auto expect_in_front = [&](const DeviceWork& between) {
    EXPECT_EQ(whats_of({product_of_terms(), between, behind}), (Whats{"text", kProductAndMore}));
  };
  expect_in_front(text_of(far_away, last_gated));
  expect_in_front(text_of(last_gated, far_away));
  EXPECT_EQ(
      join_works({product_of_terms(), text_of(a, far_away), text_of(last_gated, a), behind}).size(),
      4U);
  EXPECT_EQ(join_works({product_of_terms(), text_of(last_term, far_away),
                        text_of(last_gated, last_term), behind})
                .size(),
            4U);
}

// The columns are two heads of 8; a head's halves are 4 columns.
const Tensor left_halves = of_half(1024, {4, 2, 4}, {16, 8, 1});
const Tensor right_halves = of_half(1024 + 8, {4, 2, 4}, {16, 8, 1});
const Tensor turned = of_half(2048, {4, 2, 4}, {8, 4, 1});

TEST(JoinWorks, AProductGoesOnWithHalvesOfHeads) {
  EXPECT_EQ(whats_of({product_of_terms(), product_of(turned, left_halves, right_halves)}),
            Whats{kProductAndMore});
  EXPECT_EQ(whats_of({product_of_terms(), product_of(right_halves, left_halves, right_halves)}),
            Whats{kProductAndMore});
  // One head, and then the other one, of which only one half is read.
  const auto head = [](const Tensor& heads, std::int64_t h) {
    Tensor out = heads;
    out.sizes[1] = 1;
    out.offset += h * out.strides[1];
    return out;
  };
  EXPECT_EQ(
      whats_of({product_of_terms(),
                product_of(head(turned, 0), head(left_halves, 0), head(right_halves, 0)),
                product_of(head(left_halves, 1), head(left_halves, 1), head(left_halves, 1))}),
      Whats{"product 4 x 8 x 16, Multiply, Multiply"});
  // Halves of different heads.
  EXPECT_EQ(whats_of({product_of_terms(),
                      product_of(head(turned, 0), head(left_halves, 0), head(right_halves, 1))})
                .size(),
            2U);
}

TEST(JoinWorks, WhatStandsBehindAProductTwiceStaysApartWhereItMeets) {
  const Tensor other = of_half(512, {4, 8}, {8, 1});
  EXPECT_EQ(whats_of({product_of_terms(), product_of(gated, first_half, second_half),
                      product_of(of_half(2048, {4, 16}, {16, 1}), made, made)}),
            (Whats{kProductAndMore, "Multiply"}));
  // The second one reads halves that the first one has changed, all of them.
  EXPECT_EQ(whats_of({product_of_terms(), product_of(made, made, made),
                      product_of(other, first_half, second_half)}),
            (Whats{kProductAndMore, "Multiply"}));
}

// ---- cells ----

// Rows of `source` go where an index says, along dimension 0 of `cells`.
TextWork cells_written(Tensor cells, const Tensor& source, Tensor index) {
  index.dtype = DType::kInt64;
  index.strides.assign(index.sizes.size(), index.count() == 1 ? 0 : 1);
  const IndexedDim dim = indexed_dim(cells, 0, std::move(index), false);
  cells.sizes[0] = source.sizes[0];
  cells.strides[0] = 0;
  return write_cells_text({source.sizes, cells, {source}, {dim}}, source.item_bytes());
}

const Tensor eight_rows = tensor(1024, {8, 8});
const Tensor place = tensor(0, {1, 1});

TEST(JoinWorks, AGroupPutsWhatItMakesIntoCells) {
  const Tensor row = tensor(256, {1, 8});
  EXPECT_EQ(whats_of({exp_of(b, c), cells_written(eight_rows, row, place)}),
            Whats{"Exp, cells written"});
  // A part of what one work makes, and what two make together.
  Tensor half_rows = eight_rows;
  half_rows.sizes[1] = 4;
  EXPECT_EQ(whats_of({exp_of(b, c), cells_written(half_rows, tensor(272, {1, 4}), place)}),
            Whats{"Exp, cells written"});
  EXPECT_EQ(
      whats_of({exp_of(tensor(256, {4}), tensor(512, {4})),
                exp_of(tensor(272, {4}), tensor(528, {4})), cells_written(eight_rows, row, place)}),
      Whats{"Exp Exp, cells written"});
  const DeviceWorks joined = join_works({exp_of(b, c), cells_written(eight_rows, row, place)});
  EXPECT_TRUE(std::get<TextWork>(joined.front()).reports_faults);
}

TEST(JoinWorks, WhatAGroupDoesNotMakeGoesIntoCellsByItself) {
  const auto expect_apart = [](const DeviceWorks& works) {
    EXPECT_EQ(join_works(works).size(), works.size());
  };
  const Tensor row = tensor(256, {1, 8});
  // Some elements are somebody else's, or written again in between.
  expect_apart({exp_of(b, c), cells_written(eight_rows, tensor(272, {1, 8}), place)});
  expect_apart(
      {exp_of(b, c), text_of(tensor(256, {1}), far_away), cells_written(eight_rows, row, place)});
  // Cells that the group reads, and an index that it makes.
  expect_apart({exp_of(b, tensor(1024, {8})), cells_written(eight_rows, row, place)});
  expect_apart({exp_of(b, c), cells_written(eight_rows, row, tensor(256, {1, 1}))});
  // Two rows, which may be one.
  expect_apart({exp_of(tensor(256, {16}), tensor(512, {16})),
                cells_written(eight_rows, tensor(256, {2, 8}), tensor(0, {2, 1}))});
}

TEST(JoinWorks, AProductPutsWhatItMakesIntoCells) {
  const Tensor cells = of_half(4096, {8, 4, 4}, {16, 4, 1});
  const auto behind = [&](const Tensor& from) {
    Tensor source = from;  // a head's half, in every row
    source.sizes = {1, 4, 4};
    source.strides = {0, source.strides[0], 1};
    return cells_written(cells, source, tensor(0, {1, 1, 1}));
  };
  EXPECT_EQ(whats_of({product_of_terms(), behind(left_halves)}),
            Whats{"product 4 x 8 x 16, cells written"});
  EXPECT_EQ(whats_of({product_of_terms(), product_of(turned, left_halves, right_halves),
                      behind(turned), behind(right_halves)})
                .size(),
            2U);  // both go into the same cells
  EXPECT_EQ(
      whats_of({product_of_terms(), product_of(turned, left_halves, right_halves), behind(turned)}),
      Whats{"product 4 x 8 x 16, Multiply, cells written"});
}

// ---- in front of a product ----

alignas(256) std::array<std::byte, 32768> row_bytes;

Tensor row_of(std::size_t at, Sizes sizes) {
  Tensor out = of_half(0, sizes, row_major_strides(sizes));
  out.bytes = row_bytes.data() + at;
  return out;
}
const Tensor raw = row_of(0, {1, 512});
const Tensor scale = row_of(1024, {512});
const Tensor normed = row_of(2048, {1, 512});
const Tensor columns = row_of(4096, {16, 512});
const Tensor sums = row_of(24576, {1, 16});

TextWork norm_of(const Tensor& result, const Tensor& input) {
  const DeviceListener listener([](std::int64_t) { return nullptr; },
                                [](const Tensor&) { return true; });
  return rms_norm_text(listener, {result, input, nullptr, nullptr, scale}).value();
}

TextWork product_of_rows(const Tensor& rows, const Tensor& result) {
  const DeviceListener listener([](std::int64_t) { return nullptr; },
                                [](const Tensor&) { return true; });
  Product product{
      .result = result, .a = rows, .b = swapped(columns, 0, 1), .rounds_to = DType::kBFloat16};
  return std::get<TextWork>(fast_product_works(listener, product).value().front());
}

TEST(JoinWorks, AProductMakesTheRowThatItMultiplies) {
  const TextWork product = product_of_rows(normed, sums);
  EXPECT_EQ(whats_of({norm_of(normed, raw), product}), Whats{"rms_norm, product 1 x 512 x 16"});
  // What stands between comes before both; what comes behind goes on as ever.
  EXPECT_EQ(whats_of({norm_of(normed, raw), text_of(far_away, a), product}),
            (Whats{"text", "rms_norm, product 1 x 512 x 16"}));
  EXPECT_EQ(whats_of({norm_of(normed, raw), product, product_of(sums, sums, sums)}),
            Whats{"rms_norm, product 1 x 512 x 16, Multiply"});
  // It is in memory afterwards, for others.
  const DeviceWorks works = join_works({norm_of(normed, raw), product, text_of(far_away, normed)});
  ASSERT_EQ(works.size(), 2U);
  const auto& accesses = std::get<TextWork>(works.front()).accesses;
  EXPECT_TRUE(std::any_of(accesses.begin(), accesses.end(), [](const DeviceAccess& access) {
    return access.is_written && access.tensor.data() == normed.data();
  }));
}

TEST(JoinWorks, AProductLeavesNormsThatItCannotMake) {
  const auto expect_apart = [](const DeviceWorks& works) {
    const auto whats = whats_of(works);
    EXPECT_EQ(whats.size(), works.size());
    EXPECT_EQ(std::count(whats.begin(), whats.end(), "rms_norm"), 1);
  };
  const TextWork product = product_of_rows(normed, sums);
  // Others read or write in between what it makes or reads.
  expect_apart({norm_of(normed, raw), text_of(far_away, normed), product});
  expect_apart({norm_of(normed, raw), text_of(raw, far_away), product});
  // Another row, and two of them.
  expect_apart({norm_of(normed, raw), product_of_rows(raw, sums)});
  const Tensor two = row_of(25600, {2, 512});
  expect_apart(
      {norm_of(two, row_of(28672, {2, 512})), product_of_rows(two, row_of(24576, {2, 16}))});
  // In its own place, and where the product's result overlaps what other blocks still read.
  expect_apart({norm_of(raw, raw), product_of_rows(raw, sums)});
  expect_apart({norm_of(normed, raw), product_of_rows(normed, row_of(32, {1, 16}))});
  expect_apart({norm_of(normed, raw), product_of_rows(normed, row_of(1024 + 64, {1, 16}))});
}

// One block alone has put it there.
TEST(JoinWorks, NothingGoesOnWithARowThatAProductMakes) {
  const Tensor part = row_of(2048, {1, 16});
  EXPECT_EQ(
      whats_of({norm_of(normed, raw), product_of_rows(normed, sums), product_of(sums, sums, part)}),
      (Whats{"rms_norm, product 1 x 512 x 16", "Multiply"}));
  EXPECT_EQ(
      whats_of({norm_of(normed, raw), product_of_rows(normed, sums), product_of(part, sums, sums)}),
      (Whats{"rms_norm, product 1 x 512 x 16", "Multiply"}));
  EXPECT_EQ(whats_of({norm_of(normed, raw), product_of_rows(normed, sums),
                      product_of(row_of(0, {1, 16}), sums, sums)}),
            (Whats{"rms_norm, product 1 x 512 x 16", "Multiply"}));
}

TEST(JoinWorks, CopiesTakeTheDtypeOfWhatTheyCopy) {
  const DeviceWorks joined = join_works({exp_of(b, a), copy_work(c, b)});
  ASSERT_EQ(joined.size(), 1U);
  const auto& statements = std::get<TextWork>(joined.front()).statements;
  EXPECT_FALSE(contains(statements, "Plain<std::int32_t>"));
  // What comes from memory is moved as bytes: NaNs keep their payloads.
  const DeviceWorks moved = join_works({copy_work(c, b), copy_work(d, c)});
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_FALSE(contains(std::get<TextWork>(moved.front()).statements, "float"));
}

TEST(JoinWorks, ReadsBehindACopyOfBytesReadWhereTheyCameFrom) {
  const DeviceWorks joined = join_works({copy_work(b, a), exp_of(c, b)});
  ASSERT_EQ(joined.size(), 1U);
  const auto& work = std::get<TextWork>(joined.front());
  EXPECT_TRUE(contains(work.statements, "load<Plain<std::int32_t>"));
  EXPECT_TRUE(contains(work.statements, "load<Plain<float>"));
  EXPECT_EQ(work.pointers.size(), 3U);
  // Not where they are other ones by then.
  EXPECT_EQ(join_works({copy_work(b, a), exp_of(a, d), exp_of(c, b)}).size(), 2U);
}

TEST(JoinWorks, HalvesOfRowsGoOnWithWhatTheirMakersHave) {
  const Tensor left = tensor(1024, {4, 4});
  const Tensor right = tensor(1280, {4, 4});
  const Tensor from = tensor(0, {4, 4});
  const DeviceWorks joined = join_works({exp_of(left, from), exp_of(right, from),
                                         copy_work(strided(1536, {4, 4}, {8, 1}), left),
                                         copy_work(strided(1536 + 16, {4, 4}, {8, 1}), right)});
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(std::get<TextWork>(joined.front()).what, "Exp Exp Identity Identity");
}

TEST(JoinWorks, WorksThatDoNotHangOnEachOtherShareALaunch) {
  const DeviceWorks joined = join_works({exp_of(b, a), exp_of(wider, wide)});
  ASSERT_EQ(joined.size(), 1U);
  const auto& work = std::get<TextWork>(joined.front());
  EXPECT_EQ(work.what, "2 x Exp");
  EXPECT_EQ(work.threads, 256 + 64);
  EXPECT_EQ(work.pointers,
            (std::vector<std::byte*>{b.data(), a.data(), wider.data(), wide.data()}));
  const std::string& text = work.statements;
  EXPECT_TRUE(
      contains(text, "const auto part0 = [=](std::int64_t thread, char* p0, char* p1) {\n"));
  EXPECT_TRUE(contains(text,
                       "  if (thread < 256) return part0(thread - 0, p0, p1);\n"
                       "  part1(thread - 256, p2, p3);\n"));
  EXPECT_EQ(join_works({exp_of(b, a), exp_of(wide, tensor(256, {1}))}).size(), 2U);
}

TEST(JoinWorks, EqualTextsAreOneFunction) {
  TextWork one = text_of(b, a);
  TextWork other = text_of(d, c);
  one.shares_launches = other.shares_launches = true;
  one.reports_faults = true;
  const DeviceWorks joined = join_works({one, other});
  ASSERT_EQ(joined.size(), 1U);
  const auto& work = std::get<TextWork>(joined.front());
  EXPECT_FALSE(contains(work.statements, "part1"));
  EXPECT_EQ(work.what, "2 x text");
  EXPECT_TRUE(work.reports_faults);
}

TEST(JoinWorks, LeavesAloneWhatHasItsOwnWayWithBlocks) {
  EXPECT_EQ(whats_of({exp_of(b, a), text_of(d, c)}).size(), 2U);
  TextWork waits = text_of(d, c);
  waits.shares_launches = waits.waits_itself = true;
  EXPECT_EQ(whats_of({exp_of(b, a), waits}).size(), 2U);
}

TEST(JoinWorks, WhatAThreadMayNotHaveAsMemoryDoesStaysAlone) {
  const Tensor all_in_one = strided(256, {8}, {0});
  EXPECT_EQ(join_works({exp_of(all_in_one, a), exp_of(c, all_in_one)}).size(), 2U);
}

TEST(JoinWorks, LaunchesStaySmall) {
  DeviceWorks works;
  for (std::size_t i = 0; i < 100; ++i) works.emplace_back(exp_of(tensor(1024 + 32 * i, {8}), a));
  const DeviceWorks joined = join_works(works);
  EXPECT_EQ(joined.size(), 4U);
  for (const DeviceWork& work : joined) EXPECT_LE(std::get<TextWork>(work).pointers.size(), 64U);
}

TEST(JoinWorks, EqualWorksAtOtherAddressesAreEqualTexts) {
  DeviceProgramText program;
  const auto calls_at = [&](std::size_t at) {
    return program.add(
        join_works({exp_of(tensor(at, {8}), a), exp_of(tensor(at + 64, {8}), tensor(at, {8})),
                    exp_of(tensor(at + 256, {64}), wide)}));
  };
  const auto first = calls_at(4096);
  const auto second = calls_at(6144);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first.front().name, second.front().name);
}

TEST(JoinWorks, CellsAreAllThatIndicesMayName) {
  Tensor cache = tensor(1024, {8, 4});
  Tensor index = tensor(0, {1});
  index.dtype = DType::kInt64;
  index.sizes = {1, 1};
  index.strides = {0, 0};
  Tensor new_rows = tensor(64, {1, 4});
  IndexedCells parts{{1, 4}, cache, {new_rows}, {indexed_dim(cache, 0, index, false)}};
  parts.indexed.sizes[0] = 1;
  parts.indexed.strides[0] = 0;
  const TextWork write = write_cells_text(parts, 4);
  // The last row of the cache, and the one behind it.
  EXPECT_TRUE(Touched(write).keeps_order_with(Touched(exp_of(c, tensor(1024 + 7 * 16, {4})))));
  EXPECT_FALSE(Touched(write).keeps_order_with(Touched(exp_of(c, tensor(1024 + 8 * 16, {4})))));
  EXPECT_TRUE(Touched(write).keeps_order_with(Touched(exp_of(new_rows, c))));
  EXPECT_FALSE(Touched(write).keeps_order_with(Touched(exp_of(c, new_rows))));
}

}  // namespace
}  // namespace graphgate::optimized
