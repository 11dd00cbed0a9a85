#include "reference/provenance.h"

#include "reference/program_test.h"
#include "spec/provenance_words.h"

namespace graphgate::reference {
namespace {

using spec::ProvenanceRow;
using spec::ProvenanceWord;
using test::floats;
using test::program;

Options provenance() {
  Options options;
  options.mode = Mode::kProvenance;
  return options;
}

const ProvenanceRow& row(const spec::CallResult& result, std::string_view node,
                         std::string_view port) {
  static const ProvenanceRow kNone;
  for (const ProvenanceRow& one : result.provenance) {
    if (one.node == node && one.port == port) return one;
  }
  ADD_FAILURE() << "no row of '" << node << "' " << port;
  return kNone;
}

std::vector<std::uint64_t> hashes(const ProvenanceRow& one) {
  std::vector<std::uint64_t> out;
  for (const ProvenanceWord word : one.words) out.push_back(spec::provenance_hash(word));
  return out;
}

spec::CallResult run(std::string_view text, const test::Inputs& inputs) {
  const spec::Program tested = program(text);
  return test::Loaded(tested, provenance()).call(inputs);
}

TEST(Provenance, MovesWordsWithElements) {
  const auto result = run(R"(program "p" {
  input %x : f32[3]
  input %y : f32[1]
  %c = aten.cat.default([%x, %y], 0)
  %f = aten.flip.default(%c, [0])
  output %f
})",
                          {floats({3}, {0, 0, 0}), floats({1}, {0})});
  const auto x = row(result, "c", "operand 0").words;
  const auto y = row(result, "c", "operand 1").words;
  EXPECT_EQ(row(result, "", "output 0").words,
            (std::vector<ProvenanceWord>{y[0], x[2], x[1], x[0]}));
  EXPECT_NE(x[0], x[1]);
}

// What a plan's facts are taken from.
TEST(Provenance, TellsTheSameGeometryWithoutWords) {
  const spec::Program tested = program(R"(program "p" {
  buffer %s "s" : f32[2, 3] = [1, 2, 3, 4, 5, 6]
  input %x : f32[2, 3]
  %t = aten.t.default(%s)
  %a = aten.add_.Tensor(%s, %x)
  %m = aten.mm.default(%x, %t)
  output %m
})");
  const test::Inputs inputs = {floats({2, 3}, {1, 2, 3, 4, 5, 6})};
  const auto with_words = test::Loaded(tested, provenance()).call(inputs);
  Options options = provenance();
  options.provenance_words = false;
  const auto without = test::Loaded(tested, options).call(inputs);
  ASSERT_EQ(without.provenance.size(), with_words.provenance.size());
  for (std::size_t r = 0; r < without.provenance.size(); ++r) {
    const ProvenanceRow& a = without.provenance[r];
    const ProvenanceRow& b = with_words.provenance[r];
    EXPECT_EQ(std::tie(a.node, a.op, a.port, a.value, a.storage),
              std::tie(b.node, b.op, b.port, b.value, b.storage));
    EXPECT_EQ(std::tie(a.dtype, a.sizes, a.strides, a.storage_offset),
              std::tie(b.dtype, b.sizes, b.strides, b.storage_offset));
    EXPECT_TRUE(a.words.empty());
    EXPECT_EQ(b.words.empty(), b.node == "t") << b.node << " " << b.port;
  }
}

TEST(Provenance, TellsWhatIsFilledInFromWhatIsMoved) {
  const auto result = run(R"(program "p" {
  input %x : f32[2]
  %p = aten.constant_pad_nd.default(%x, [1, 0], 2.5)
  output %p
})",
                          {floats({2}, {1, 1})});
  const auto padded = hashes(row(result, "p", "result 0"));
  const auto x = hashes(row(result, "p", "operand 0"));
  EXPECT_NE(padded[0], x[0]);
  EXPECT_NE(padded[0], 0U);
  EXPECT_EQ(padded[1], x[0]);
}

TEST(Provenance, GivesInPlaceAndFunctionalFormsTheSameHistory) {
  const auto result = run(R"(program "p" {
  input %x : f32[2]
  input %z : f32[2]
  %a = aten.add.Tensor(%x, %z)
  %b = aten.add_.Tensor(%x, %z)
  output %a
  output %b
})",
                          {floats({2}, {1, 2}), floats({2}, {3, 4})});
  EXPECT_EQ(hashes(row(result, "", "output 0")), hashes(row(result, "", "output 1")));
  EXPECT_EQ(row(result, "", "input x").words, row(result, "b", "written 0").words);
  EXPECT_EQ(spec::provenance_producer(row(result, "", "input x").words[0]),
            spec::provenance_tag("b"));
}

TEST(Provenance, ReadsAnOperandThatIsResizedAsTheResultAsItWasBefore) {
  const auto result = run(R"(program "p" {
  input %x : f32[1]
  input %y : f32[1]
  input %z : f32[3]
  %a = aten.add.out(%x, %z, out=%y)
  %b = aten.add.out(%x, %z, out=%x)
  output %a
  output %b
})",
                          {floats({1}, {1}), floats({1}, {1}), floats({3}, {2, 3, 4})});
  EXPECT_EQ(hashes(row(result, "", "output 0")), hashes(row(result, "", "output 1")));
  EXPECT_EQ(row(result, "b", "operand 0").words.size(), 1U);
}

TEST(Provenance, HangsOnAttributes) {
  const auto result = run(R"(program "p" {
  input %x : f32[2, 2]
  %a = aten.sum.dim_IntList(%x, [0])
  %b = aten.sum.dim_IntList(%x, [1])
  %c = aten.mul.Tensor(%x, 2.0)
  %d = aten.mul.Tensor(%x, 3.0)
  output %a
  output %b
  output %c
  output %d
})",
                          {floats({2, 2}, {1, 1, 1, 1})});
  EXPECT_NE(hashes(row(result, "", "output 0")), hashes(row(result, "", "output 1")));
  EXPECT_NE(hashes(row(result, "", "output 2")), hashes(row(result, "", "output 3")));
}

TEST(Provenance, DigestsEveryElementOfWhatIsNeitherMovedNorPointwise) {
  const auto result = run(R"(program "p" {
  input %x : f32[2, 2]
  %before = aten.sum.dim_IntList(%x, [1])
  %part = aten.select.int(%x, 0, 1)
  %write = aten.mul_.Tensor(%part, 1.0)
  %after = aten.sum.dim_IntList(%x, [1])
  output %before
  output %after
})",
                          {floats({2, 2}, {1, 1, 1, 1})});
  const auto before = hashes(row(result, "", "output 0"));
  const auto after = hashes(row(result, "", "output 1"));
  EXPECT_NE(before[0], after[0]);
  EXPECT_NE(before[1], after[1]);
}

TEST(Provenance, CountsResultsThatAreNone) {
  const auto result =
      run(R"(program "p" {
  input %g : f32[1, 1, 2, 2]
  input %x : f32[1, 1, 3, 3]
  input %w : f32[1, 1, 2, 2]
  %gi, %gw, %gb = aten.convolution_backward.default(%g, %x, %w, [1], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, False, True])
  output %gb
})",
          {floats({1, 1, 2, 2}, std::vector<float>(4)), floats({1, 1, 3, 3}, std::vector<float>(9)),
           floats({1, 1, 2, 2}, std::vector<float>(4))});
  EXPECT_EQ(row(result, "gi", "result 2").value, "gb");
}

TEST(Provenance, SaysThatNothingHasWrittenAnEmptyTensor) {
  const auto result = run(R"(program "p" {
  input %x : f32[1]
  %e = aten.empty.memory_format([2])
  %s = aten.select.int(%e, 0, 1)
  %v = aten.view.default(%s, [1])
  %w = aten.copy_.default(%v, %x)
  output %e
})",
                          {floats({1}, {1})});
  const auto& words = row(result, "", "output 0").words;
  EXPECT_EQ(words[0], spec::kUnwrittenWord);
  EXPECT_EQ(words[1], row(result, "w", "operand 1").words[0]);
}

TEST(Provenance, FindsBytesThatAViewTookApartBackTogether) {
  const auto result = run(R"(program "p" {
  input %x : f32[2]
  %bytes = aten.view.dtype(%x, u8)
  %copy = aten.clone.default(%bytes)
  %back = aten.view.dtype(%copy, f32)
  %flipped = aten.flip.default(%bytes, [0])
  %other = aten.view.dtype(%flipped, f32)
  output %back
  output %other
})",
                          {floats({2}, {1, 2})});
  const auto x = hashes(row(result, "", "input x"));
  EXPECT_EQ(hashes(row(result, "", "output 0")), x);
  EXPECT_NE(hashes(row(result, "", "output 1"))[0], x[1]);
}

TEST(Provenance, KeepsWordsOfStateAndBeginsInputsAnew) {
  const spec::Program tested = program(R"(program "p" {
  buffer %s "s" : f32[1] = [1]
  input %x : f32[1]
  %a = aten.add_.Tensor(%s, %x)
  output %a
})");
  test::Loaded loaded(tested, provenance());
  const auto first = loaded.call({floats({1}, {0})});
  const auto second = loaded.call({floats({1}, {0})});
  EXPECT_EQ(row(first, "", "state s").words, row(second, "a", "operand 0").words);
  EXPECT_NE(hashes(row(first, "a", "operand 1")), hashes(row(second, "a", "operand 1")));
  EXPECT_EQ(spec::provenance_version(row(second, "", "state s").words[0]), 2U);
}

}  // namespace
}  // namespace graphgate::reference
