// Fused launches against the same nodes one by one, to the bit, over geometries drawn from genes.
#include "optimized/runtime/host/fused_launch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

// A program over x: f32[d0, d1, d2], seen through one of several geometries, and operands that
// broadcast into it. Every gene adds a node.
class Drawer {
 public:
  explicit Drawer(const std::vector<std::int64_t>& sizes) : sizes_(sizes) {
    text_ = "program \"p\" {\n  input %x : f32" + print_sizes(sizes) + "\n  input %row : f32[" +
            std::to_string(sizes[2]) + "]\n  input %column : f32[" + std::to_string(sizes[1]) +
            ", 1]\n";
    values_ = {"x"};
  }

  void add(std::uint16_t gene) {
    const std::string a = "%" + values_[gene / 11U % values_.size()];
    const std::string b = "%" + values_[gene / 7U % values_.size()];
    const std::string name = "v" + std::to_string(values_.size());
    text_ += "  %" + name + " = " + node(gene, a, b) + "\n";
    values_.push_back(name);
  }

  std::string finish() {
    std::string text = text_;
    for (std::size_t i = values_.size() > 3 ? values_.size() - 2 : 0; i < values_.size(); ++i) {
      text += "  output %" + values_[i] + "\n";
    }
    return text + "}\n";
  }

 private:
  static std::string node(std::uint16_t gene, const std::string& a, const std::string& b) {
    switch (gene % 10U) {
      case 0:
        return "aten.add.Tensor(" + a + ", " + b + ")";
      case 1:
        return "aten.mul.Tensor(" + a + ", %row)";
      case 2:
        return "aten.sub.Tensor(" + a + ", %column)";
      case 3:
        return "aten._softmax.default(" + a + ", -1, False)";
      case 4:
        return "aten.tanh.default(" + a + ")";
      case 5:
        return "aten.add_.Tensor(" + a + ", " + b + ", alpha=0.25)";
      case 6:
        return "aten.maximum.default(" + a + ", " + b + ")";
      case 7:
        return "aten.clone.default(" + a + ")";
      case 8:
        return "aten.relu_.default(" + a + ")";
      default:
        return "aten.clamp.default(" + a + ", -1.5, 2.5)";
    }
  }

  std::vector<std::int64_t> sizes_;
  std::string text_;
  std::vector<std::string> values_;
};

spec::HostTensor numbers(std::vector<std::int64_t> sizes) {
  const std::int64_t count = checked_count(sizes);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i * 37 % 101) * 0.13F - 5.0F);
  }
  return f32(std::move(sizes), std::move(values));
}

std::vector<std::vector<std::byte>> bytes_of(const std::string& text, const std::string& compiler,
                                             const Inputs& inputs) {
  Options options;
  options.compile.compiler.name = compiler;
  std::vector<std::vector<std::byte>> out;
  for (const spec::CallResult& result : run_calls(program_of(text), {inputs, inputs}, options)) {
    for (const spec::OutputValue& value : result.outputs) {
      out.push_back(spec::packed_bytes(std::get<spec::HostTensor>(value)));
    }
  }
  return out;
}

RC_GTEST_PROP(FusedLaunch, HasTheBitsOfItsNodesOneByOne,
              (std::vector<std::uint16_t> genes, std::uint16_t shape)) {
  const std::vector<std::int64_t> sizes = {1 + shape % 3, 1 + shape / 3 % 7, 1 + shape / 21 % 40};
  Drawer drawer(sizes);
  for (const std::uint16_t gene : genes) {
    drawer.add(gene);
  }
  const std::string text = drawer.finish();
  const Inputs inputs = {numbers(sizes), numbers({sizes[2]}), numbers({sizes[1], 1})};
  const auto eager = bytes_of(text, "eager", inputs);
  RC_ASSERT(!eager.empty());
  RC_ASSERT(bytes_of(text, "fused", inputs) == eager);
}

// Many tiles, and a last one that is shorter.
TEST(FusedLaunch, RunsManyTilesAndATail) {
  const std::string text = R"(program "p" {
  input %x : f32[4099, 9]
  input %w : f32[9]
  %a = aten.mul.Tensor(%x, %w)
  %m = aten.amax.default(%a, [1], True)
  %s = aten.sub.Tensor(%a, %m)
  %e = aten.exp.default(%s)
  %o = aten.add_.Tensor(%x, %e)
  output %e
  output %o
})";
  const Inputs inputs = {numbers({4099, 9}), numbers({9})};
  const auto eager = bytes_of(text, "eager", inputs);
  ASSERT_EQ(eager.size(), 4U);
  EXPECT_EQ(bytes_of(text, "fused", inputs), eager);
}

TEST(FusedLaunch, ReadsTransposedOperands) {
  const std::string text = R"(program "p" {
  input %x : f32[70, 90]
  input %y : f32[90, 70]
  %t = aten.permute.default(%y, [1, 0])
  %a = aten.add.Tensor(%x, %t)
  %b = aten.mul.Tensor(%a, %x)
  output %b
})";
  const Inputs inputs = {numbers({70, 90}), numbers({90, 70})};
  EXPECT_EQ(bytes_of(text, "fused", inputs), bytes_of(text, "eager", inputs));
}

// Every kind of operand in one layout.
TEST(TileLayout, KeepsWhatIsTheSameForAllRowsWhereItIs) {
  const spec::OpRow* row = spec::builtin_op_table().find("aten.mul.Tensor");
  ASSERT_NE(row, nullptr);
  const auto tensor = [](const Sizes& sizes, StorageIndex storage) {
    return Tensor{.sizes = sizes, .strides = row_major_strides(sizes), .storage = storage};
  };
  TileCall call{
      row, find_kernel(*row), {{tensor({5000, 8}, 0)}, {tensor({8}, 1)}}, {tensor({5000, 8}, 2)}};
  EXPECT_EQ(possible_rows(call, true), (std::vector<std::int64_t>{1, 5000}));
  const TileLayout layout = lay_out_tile(std::span(&call, 1), [](StorageIndex) { return false; });
  EXPECT_EQ(layout.rows, 5000);
  EXPECT_EQ(layout.tile_rows, kTileBytes / 32);
  ASSERT_EQ(layout.places.size(), 3U);
  EXPECT_TRUE(layout.places[1].in_place);
  EXPECT_EQ(layout.loads.size(), 1U);
  EXPECT_EQ(layout.stores, std::vector<std::size_t>{2});
  EXPECT_EQ(layout.scratch_bytes, 2 * kTileBytes);
}

}  // namespace
}  // namespace graphgate::optimized
