// RMSNorm+quantization and attention+quantization.
#include "optimized/passes/pass_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::DType;

std::string cast_f32(const std::string& dtype, const std::string& from, const std::string& to,
                     const std::string& sizes) {
  if (dtype == "f32")
    return "  %" + to + " : f32" + sizes + " = aten.alias.default(%" + from + ")\n";
  return "  %" + to + " : f32" + sizes + " = aten._to_copy.default(%" + from + ", dtype=f32)\n";
}

// %n, an RMSNorm of %s, weighed by %w.
std::string norm_of(const std::string& dtype) {
  return cast_f32(dtype, "s", "x", "[s0, 24]") + R"(
  %p : f32[s0, 24] = aten.mul.Tensor(%x, %x)
  %m : f32[s0, 1] = aten.mean.dim(%p, [-1], True)
  %a : f32[s0, 1] = aten.add.Tensor(%m, 1e-06)
  %r : f32[s0, 1] = aten.rsqrt.default(%a)
  %y : f32[s0, 24] = aten.mul.Tensor(%x, %r)
  %z : )" +
         dtype + "[s0, 24] = aten._to_copy.default(%y, dtype=" + dtype + ")\n  %n : " + dtype +
         "[s0, 24] = aten.mul.Tensor(%z, %w)\n";
}

std::string static_quant(const std::string& dtype, const std::string& from,
                         const std::string& sizes, const std::string& op = "div") {
  return cast_f32(dtype, from, "wide", sizes) + "  %d : f32" + sizes + " = aten." + op +
         ".Tensor(%wide, %scale)\n  %c : f32" + sizes +
         " = aten.clamp.default(%d, -448, 448)\n  %q : f8e4m3" + sizes +
         " = aten._to_copy.default(%c, dtype=f8e4m3)\n";
}

std::string dynamic_quant(const std::string& dtype) {
  return cast_f32(dtype, "n", "wide", "[s0, 24]") + R"(
  %abs : f32[s0, 24] = aten.abs.default(%wide)
  %top : f32[s0, 1] = aten.amax.default(%abs, [-1], True)
  %low : f32[s0, 1] = aten.clamp_min.default(%top, 0.001)
  %row : f32[s0, 1] = aten.div.Tensor(%low, 448.0)
  %d : f32[s0, 24] = aten.div.Tensor(%wide, %row)
  %c : f32[s0, 24] = aten.clamp.default(%d, -448.0, 448.0)
  %q : f8e4m3[s0, 24] = aten._to_copy.default(%c, dtype=f8e4m3)
)";
}

spec::Program quant_program(const std::string& dtype, const std::string& nodes) {
  const std::string tensor = " : " + dtype + "[s0, 24]\n";
  return program_of("program \"" + dtype + "\" {\n  symbol s0 in [1, 64] hint 8\n  input %u" +
                    tensor + "  input %v" + tensor + "  input %w : " + dtype +
                    "[24]\n  input %scale : f32[]\n" + nodes + "}");
}

std::vector<Inputs> calls_of(DType dtype) {
  std::vector<Inputs> calls;
  for (const std::int64_t rows : {8, 1, 3}) {
    calls.push_back({values_of(dtype, {rows, 24}, 1), values_of(dtype, {rows, 24}, 2),
                     values_of(dtype, {24}, 3), f32({}, {0.037F})});
  }
  return calls;
}

struct QuantDtype {
  const char* name;
  DType dtype;
};
constexpr QuantDtype kQuantDtypes[] = {
    {"f32", DType::kFloat32}, {"bf16", DType::kBFloat16}, {"f16", DType::kFloat16}};

std::string sum_by(const std::string& dtype, const std::string& op) {
  return "  %s : " + dtype + "[s0, 24] = aten." + op + ".Tensor(%u, %v)\n";
}

TEST(FuseNormQuant, KeepsEveryRoundingOfAStaticScale) {
  for (const auto& [name, dtype] : kQuantDtypes) {
    for (const char* op : {"div", "mul"}) {
      const std::string tail = norm_of(name) + static_quant(name, "n", "[s0, 24]", op);
      const spec::Program alone =
          quant_program(name, std::string("  %s : ") + name +
                                  "[s0, 24] = aten.alias.default(%u)\n" + tail + "  output %q\n");
      EXPECT_EQ(ops_of(alone), "rms_norm_static_quant") << name << op;
      expect_unchanged(alone, calls_of(dtype));
      const spec::Program added =
          quant_program(name, sum_by(name, "add") + tail + "  output %q\n  output %s\n");
      EXPECT_EQ(ops_of(added), "add_rms_norm_static_quant") << name << op;
      expect_unchanged(added, calls_of(dtype));
    }
  }
}

TEST(FuseNormQuant, KeepsEveryRoundingOfAScalePerRow) {
  for (const auto& [name, dtype] : kQuantDtypes) {
    const spec::Program program =
        quant_program(name, sum_by(name, "add_") + norm_of(name) + dynamic_quant(name) +
                                "  output %q\n  output %row\n");
    EXPECT_EQ(ops_of(program), "add_rms_norm_dynamic_quant_") << name;
    expect_unchanged(program, calls_of(dtype));
  }
}

TEST(FuseNormQuant, MatchesVllmsNormalizationInPlace) {
  for (const auto& [name, dtype] : kQuantDtypes) {
    const std::string head = std::string("  %s : ") + name +
                             "[s0, 24] = aten.neg.default(%v)\n  %n : " + name +
                             "[s0, 24] = aten.abs.default(%v)\n"
                             "  vllm.fused_add_rms_norm.default(%n, %u, %w, 1e-06) as norm\n";
    const spec::Program fixed =
        quant_program(name, head + static_quant(name, "n", "[s0, 24]") + "  output %q\n");
    EXPECT_EQ(ops_of(fixed), "abs add_rms_norm_static_quant_") << name;
    expect_unchanged(fixed, calls_of(dtype));
    const spec::Program per_row =
        quant_program(name, head + dynamic_quant(name) + "  output %q\n  output %row\n");
    EXPECT_EQ(ops_of(per_row), "abs add_rms_norm_dynamic_quant_") << name;
    expect_unchanged(per_row, calls_of(dtype));
  }
}

TEST(FuseNormQuant, LeavesANormalizationThatOthersRead) {
  const spec::Program program = quant_program("bf16", sum_by("bf16", "add") + norm_of("bf16") +
                                                          static_quant("bf16", "n", "[s0, 24]") +
                                                          "  output %q\n  output %n\n");
  EXPECT_EQ(counts_of(program).at("fuse_norm_quant").matches, 0);
  expect_unchanged(program, calls_of(DType::kBFloat16));
}

TEST(FuseNormQuant, LeavesAScaleThatIsWrittenInBetween) {
  const spec::Program program =
      quant_program("f32", sum_by("f32", "add") + norm_of("f32") +
                               "  %changed : f32[] = aten.mul_.Tensor(%scale, 2.0)\n" +
                               static_quant("f32", "n", "[s0, 24]") + "  output %q\n");
  EXPECT_EQ(counts_of(program).at("fuse_norm_quant").matches, 0);
  expect_unchanged(program, calls_of(DType::kFloat32));
  EXPECT_TRUE(changes(program, calls_of(DType::kFloat32)[0],
                      deviating_by(Deviation::kMatchesAcrossMutations)));
}

spec::Program attention_program(const std::string& dtype, const std::string& nodes) {
  std::string inputs;
  for (const char* name : {"q0", "k0", "v0"}) {
    inputs += std::string("  input %") + name + " : " + dtype + "[5, 2, 8]\n";
  }
  return program_of("program \"" + dtype + "\" {\n" + inputs + "  input %scale : f32[1]\n" + nodes +
                    "}");
}

Inputs attention_inputs(DType dtype) {
  return {values_of(dtype, {5, 2, 8}, 1), values_of(dtype, {5, 2, 8}, 2),
          values_of(dtype, {5, 2, 8}, 3), f32({1}, {0.019F})};
}

std::string vllm_attention(const std::string& dtype) {
  return "  %o : " + dtype + "[5, 2, 8] = aten.empty.memory_format([5, 2, 8], dtype=" + dtype +
         ")\n  vllm.unified_attention_with_output.default(%q0, %k0, %v0, %o, \"layer\") as attn\n" +
         "  %flat : " + dtype + "[5, 16] = aten.view.default(%o, [5, -1])\n";
}

TEST(FuseAttentionQuant, WritesNoBufferForVllmsAttention) {
  for (const auto& [name, dtype] : kQuantDtypes) {
    const spec::Program program = attention_program(
        name, vllm_attention(name) + static_quant(name, "flat", "[5, 16]") + "  output %q\n");
    EXPECT_EQ(ops_of(program), "attention_static_quant view") << name;
    expect_unchanged(program, {attention_inputs(dtype)});
  }
}

TEST(FuseAttentionQuant, LeavesAnOutputThatOthersRead) {
  const spec::Program program = attention_program(
      "bf16", vllm_attention("bf16") + static_quant("bf16", "flat", "[5, 16]") +
                  "  %more : bf16[5, 2, 8] = aten.neg.default(%o)\n  output %q\n  output %more\n");
  EXPECT_EQ(counts_of(program).at("fuse_attention_quant").matches, 0);
  expect_unchanged(program, {attention_inputs(DType::kBFloat16)});
}

TEST(FuseAttentionQuant, MovesTheElementsOfScaledDotProductAttentionAfterTheCast) {
  for (const auto& [name, dtype] : kQuantDtypes) {
    const std::string heads = std::string(" : ") + name + "[2, 5, 8]{8, 16, 1} = ";
    const spec::Program program = attention_program(
        name, "  %qh" + heads + "aten.transpose.int(%q0, 0, 1)\n  %kh" + heads +
                  "aten.transpose.int(%k0, 0, 1)\n  %vh" + heads +
                  "aten.transpose.int(%v0, 0, 1)\n  %att : " + name +
                  "[2, 5, 8] = aten.scaled_dot_product_attention.default(%qh, %kh, %vh, None, 0.0, "
                  "True)\n  %back : " +
                  name + "[5, 2, 8]{8, 40, 1} = aten.transpose.int(%att, 0, 1)\n  %flat : " + name +
                  "[5, 16] = aten.reshape.default(%back, [5, 16])\n" +
                  static_quant(name, "flat", "[5, 16]", "mul") + "  output %q\n");
    EXPECT_EQ(ops_of(program), "transpose transpose transpose sdpa_static_quant transpose reshape")
        << name;
    expect_unchanged(program, {attention_inputs(dtype)});
  }
}

TEST(FuseAttentionQuant, LeavesAnAttentionWithHiddenState) {
  spec::OpTable ops = spec::builtin_op_table();
  spec::OpTable with_cache;
  std::string text;
  for (const auto& [name, row] : ops.rows()) {
    std::string line = spec::print_row(*row);
    if (name == "vllm.unified_attention_with_output.default") line += " ; hidden_reads=layer_name";
    text += line + "\n";
  }
  ASSERT_TRUE(with_cache.add_text(text, "test").ok());
  const spec::Program program = attention_program(
      "bf16", vllm_attention("bf16") + static_quant("bf16", "flat", "[5, 16]") + "  output %q\n");
  CompileOptions options;
  options.ops = &with_cache;
  EXPECT_EQ(counts_of(program, options).at("fuse_attention_quant").matches, 0);
}

}  // namespace
}  // namespace graphgate::optimized
