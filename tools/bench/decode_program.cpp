#include "tools/bench/decode_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "spec/graph_text.h"

namespace graphgate::tools {
namespace {

constexpr std::int64_t kItemBytes = 2;  // of bfloat16

std::string text_of(std::int64_t number) { return std::to_string(number); }

// The lines of a program, and how large the elements of its tensors are.
class DecodeText {
 public:
  explicit DecodeText(const DecodeShape& shape) : s_(shape) {}

  std::string text() {
    declare();
    begin();
    std::string sum = "%embedding";
    for (std::int64_t layer = 0; layer < s_.layers; ++layer) sum = add_layer(layer, sum);
    const std::string normed = norm("_last", sum, "%norm");
    const std::string tokens = text_of(s_.batch);
    line("%logits : bf16[" + tokens + ", " + text_of(s_.vocabulary) + "] = aten.linear.default(" +
         normed + ", %embed)");
    return "program \"decode\" {\n" + inputs_ + nodes_ + "  output %logits\n}\n";
  }

 private:
  void line(const std::string& text) { nodes_ += "  " + text + "\n"; }
  void parameter(const std::string& name, const std::string& sizes) {
    inputs_ += "  parameter %" + name + " \"" + name + "\" : bf16[" + sizes + "]\n";
  }
  void buffer(const std::string& name, const std::string& type) {
    inputs_ += "  buffer %" + name + " \"" + name + "\" : " + type + "\n";
  }

  [[nodiscard]] std::int64_t qkv_width() const {
    return (s_.heads + 2 * s_.kv_heads) * s_.head_size;
  }

  void declare() {
    const std::string width = text_of(s_.width);
    parameter("embed", text_of(s_.vocabulary) + ", " + width);
    const std::string cache = "bf16[" + text_of(s_.batch) + ", " + text_of(s_.kv_heads) + ", " +
                              text_of(s_.context) + ", " + text_of(s_.head_size) + "]";
    for (std::int64_t layer = 0; layer < s_.layers; ++layer) {
      const std::string l = text_of(layer);
      parameter("norm1_" + l, width);
      parameter("qkv_" + l, text_of(qkv_width()) + ", " + width);
      parameter("out_" + l, width + ", " + text_of(s_.heads * s_.head_size));
      parameter("norm2_" + l, width);
      parameter("gate_up_" + l, text_of(2 * s_.hidden) + ", " + width);
      parameter("down_" + l, width + ", " + text_of(s_.hidden));
    }
    parameter("norm", width);
    for (std::int64_t layer = 0; layer < s_.layers; ++layer) {
      buffer("keys_" + text_of(layer), cache);
      buffer("values_" + text_of(layer), cache);
    }
    const std::string table =
        "bf16[" + text_of(s_.context) + ", " + text_of(s_.head_size / 2) + "]";
    buffer("cos_table", table);
    buffer("sin_table", table);
    buffer("tokens", "i64[" + text_of(s_.batch) + "]");
    buffer("position", "i64[1]");
  }

  void begin() {
    const std::string context = text_of(s_.context);
    const std::string half = text_of(s_.head_size / 2);
    line("%embedding : bf16[" + text_of(s_.batch) + ", " + text_of(s_.width) +
         "] = aten.embedding.default(%embed, %tokens)");
    for (const char* name : {"cos", "sin"}) {
      line(std::string("%") + name + " : bf16[1, " + half + "] = aten.index_select.default(%" +
           name + "_table, 0, %position)");
    }
    line("%places : i64[" + context + "] = aten.arange.default(" + context +
         ", device=device(\"cpu\"), pin_memory=False)");
    line("%seen : bool[" + context + "] = aten.le.Tensor(%places, %position)");
    line("%mask : bool[1, 1, 1, " + context + "] = aten.view.default(%seen, [1, 1, 1, " + context +
         "])");
  }

  // RMSNorm in float32, as it is spelled in PyTorch.
  std::string norm(const std::string& name, const std::string& x, const std::string& weight) {
    const std::string b = text_of(s_.batch);
    const std::string rows = "[" + b + ", " + text_of(s_.width) + "]";
    const std::string n = "%norm" + name;
    line(n + "_wide : f32" + rows + " = aten._to_copy.default(" + x + ", dtype=f32)");
    line(n + "_square : f32" + rows + " = aten.pow.Tensor_Scalar(" + n + "_wide, 2)");
    line(n + "_mean : f32[" + b + ", 1] = aten.mean.dim(" + n + "_square, [-1], True)");
    line(n + "_more : f32[" + b + ", 1] = aten.add.Tensor(" + n + "_mean, 1e-05)");
    line(n + "_root : f32[" + b + ", 1] = aten.rsqrt.default(" + n + "_more)");
    line(n + "_scaled : f32" + rows + " = aten.mul.Tensor(" + n + "_wide, " + n + "_root)");
    line(n + "_narrow : bf16" + rows + " = aten._to_copy.default(" + n + "_scaled, dtype=bf16)");
    line(n + " : bf16" + rows + " = aten.mul.Tensor(" + weight + ", " + n + "_narrow)");
    return n;
  }

  // A product with a weight [n, k].
  std::string linear(const std::string& name, const std::string& x, std::int64_t n) {
    const std::string weight = "%" + name;
    const std::string out = weight + "_product";
    line(out + " : bf16[" + text_of(s_.batch) + ", " + text_of(n) + "] = aten.linear.default(" + x +
         ", " + weight + ")");
    return out;
  }

  std::string add(const std::string& name, const std::string& a, const std::string& b) {
    const std::string out = "%" + name;
    line(out + " : bf16[" + text_of(s_.batch) + ", " + text_of(s_.width) + "] = aten.add.Tensor(" +
         a + ", " + b + ")");
    return out;
  }

  // Columns [begin, end) of a row-major matrix with so many columns, as heads.
  std::string heads_of(const std::string& name, const std::string& x, std::int64_t begin,
                       std::int64_t end) {
    const std::string b = text_of(s_.batch);
    const std::string row = text_of(qkv_width());
    const std::string size = text_of(s_.head_size);
    const std::string at = begin == 0 ? "" : "@" + text_of(begin);
    const std::string out = "%" + name;
    line(out + "_flat : bf16[" + b + ", " + text_of(end - begin) + "]{" + row + ", 1}" + at +
         " = aten.slice.Tensor(" + x + ", 1, " + text_of(begin) + ", " + text_of(end) + ")");
    line(out + " : bf16[" + b + ", " + text_of((end - begin) / s_.head_size) + ", " + size + "]{" +
         row + ", " + size + ", 1}" + at + " = aten.view.default(" + out + "_flat, [" + b + ", " +
         text_of((end - begin) / s_.head_size) + ", " + size + "])");
    return out;
  }

  // Both halves of every head, turned by the position's angles.
  std::string rotated(const std::string& l, const std::string& x) {
    const std::string b = text_of(s_.batch);
    const std::int64_t heads = s_.heads + s_.kv_heads;
    const std::string half = text_of(s_.head_size / 2);
    const std::string sizes = "bf16[" + b + ", " + text_of(heads) + ", " + half + "]";
    const std::string view =
        sizes + "{" + text_of(qkv_width()) + ", " + text_of(s_.head_size) + ", 1}";
    line("%left_" + l + " : " + view + " = aten.slice.Tensor(" + x + ", 2, 0, " + half + ")");
    line("%right_" + l + " : " + view + "@" + half + " = aten.slice.Tensor(" + x + ", 2, " + half +
         ", " + text_of(s_.head_size) + ")");
    const auto product = [&](const std::string& name, const std::string& side, const char* by) {
      line("%" + name + l + " : " + sizes + " = aten.mul.Tensor(%" + side + "_" + l + ", " + by +
           ")");
    };
    product("lc_", "left", "%cos");
    product("rs_", "right", "%sin");
    product("rc_", "right", "%cos");
    product("ls_", "left", "%sin");
    line("%turned_left_" + l + " : " + sizes + " = aten.sub.Tensor(%lc_" + l + ", %rs_" + l + ")");
    line("%turned_right_" + l + " : " + sizes + " = aten.add.Tensor(%rc_" + l + ", %ls_" + l + ")");
    const std::string out = "%turned_" + l;
    line(out + " : bf16[" + b + ", " + text_of(heads) + ", " + text_of(s_.head_size) +
         "] = aten.cat.default([%turned_left_" + l + ", %turned_right_" + l + "], -1)");
    return out;
  }

  // Heads [begin, end) of [batch, heads, size] with a row for each query.
  std::string with_rows(const std::string& name, const std::string& x, std::int64_t stride,
                        std::int64_t begin, std::int64_t end) {
    const std::string b = text_of(s_.batch);
    const std::string heads = text_of(end - begin);
    const std::string size = text_of(s_.head_size);
    const std::string at = begin == 0 ? "" : "@" + text_of(begin * s_.head_size);
    const std::string out = "%" + name;
    line(out + "_heads : bf16[" + b + ", " + heads + ", " + size + "]{" + text_of(stride) + ", " +
         size + ", 1}" + at + " = aten.slice.Tensor(" + x + ", 1, " + text_of(begin) + ", " +
         text_of(end) + ")");
    line(out + " : bf16[" + b + ", " + heads + ", 1, " + size + "]{" + text_of(stride) + ", " +
         size + ", " + size + ", 1}" + at + " = aten.unsqueeze.default(" + out + "_heads, 2)");
    return out;
  }

  std::string attention(const std::string& l, const std::string& x) {
    const std::string b = text_of(s_.batch);
    const std::string size = text_of(s_.head_size);
    const std::int64_t kv_width = s_.kv_heads * s_.head_size;
    const std::string qkv = linear("qkv_" + l, x, qkv_width());
    const std::string queries_and_keys =
        heads_of("qk_" + l, qkv, 0, (s_.heads + s_.kv_heads) * s_.head_size);
    const std::string turned = rotated(l, queries_and_keys);
    const std::int64_t stride = (s_.heads + s_.kv_heads) * s_.head_size;
    const std::string query = with_rows("query_" + l, turned, stride, 0, s_.heads);
    const std::string key = with_rows("key_" + l, turned, stride, s_.heads, s_.heads + s_.kv_heads);
    line("%value_" + l + "_flat : bf16[" + b + ", " + text_of(kv_width) + "]{" +
         text_of(qkv_width()) + ", 1}@" + text_of(qkv_width() - kv_width) +
         " = aten.slice.Tensor(" + qkv + ", 1, " + text_of(qkv_width() - kv_width) + ", " +
         text_of(qkv_width()) + ")");
    line("%value_" + l + " : bf16[" + b + ", " + text_of(s_.kv_heads) + ", 1, " + size + "]{" +
         text_of(qkv_width()) + ", " + size + ", " + size + ", 1}@" +
         text_of(qkv_width() - kv_width) + " = aten.view.default(%value_" + l + "_flat, [" + b +
         ", " + text_of(s_.kv_heads) + ", 1, " + size + "])");
    const std::string cache =
        "bf16[" + b + ", " + text_of(s_.kv_heads) + ", " + text_of(s_.context) + ", " + size + "]";
    line("%new_keys_" + l + " : " + cache + " = aten.index_copy_.default(%keys_" + l +
         ", 2, %position, " + key + ")");
    line("%new_values_" + l + " : " + cache + " = aten.index_copy_.default(%values_" + l +
         ", 2, %position, %value_" + l + ")");
    line("%attention_" + l + " : bf16[" + b + ", " + text_of(s_.heads) + ", 1, " + size +
         "] = aten.scaled_dot_product_attention.default(" + query + ", %new_keys_" + l +
         ", %new_values_" + l + ", %mask, enable_gqa=True)");
    line("%attended_" + l + " : bf16[" + b + ", " + text_of(s_.heads * s_.head_size) +
         "] = aten.view.default(%attention_" + l + ", [" + b + ", " +
         text_of(s_.heads * s_.head_size) + "])");
    return linear("out_" + l, "%attended_" + l, s_.width);
  }

  std::string feed_forward(const std::string& l, const std::string& x) {
    const std::string b = text_of(s_.batch);
    const std::string both = linear("gate_up_" + l, x, 2 * s_.hidden);
    const std::string half =
        "bf16[" + b + ", " + text_of(s_.hidden) + "]{" + text_of(2 * s_.hidden) + ", 1}";
    const std::string own = "bf16[" + b + ", " + text_of(s_.hidden) + "]";
    line("%gate_" + l + " : " + half + " = aten.slice.Tensor(" + both + ", 1, 0, " +
         text_of(s_.hidden) + ")");
    line("%up_" + l + " : " + half + "@" + text_of(s_.hidden) + " = aten.slice.Tensor(" + both +
         ", 1, " + text_of(s_.hidden) + ", " + text_of(2 * s_.hidden) + ")");
    line("%silu_" + l + " : " + own + " = aten.silu.default(%gate_" + l + ")");
    line("%swiglu_" + l + " : " + own + " = aten.mul.Tensor(%silu_" + l + ", %up_" + l + ")");
    return linear("down_" + l, "%swiglu_" + l, s_.width);
  }

  std::string add_layer(std::int64_t layer, const std::string& sum) {
    const std::string l = text_of(layer);
    const std::string middle =
        add("middle_" + l, sum, attention(l, norm("ed1_" + l, sum, "%norm1_" + l)));
    return add("sum_" + l, middle, feed_forward(l, norm("ed2_" + l, middle, "%norm2_" + l)));
  }

  const DecodeShape s_;
  std::string inputs_;
  std::string nodes_;
};

// Uniform in [-1, 1), by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): four numbers a step.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}

  void fill(spec::HostTensor& tensor, float scale) {
    auto* const out =
        reinterpret_cast<std::uint16_t*>(tensor.storage->bytes.data());  // NOLINT: bf16
    const auto count = tensor.storage->bytes.size() / sizeof(std::uint16_t);
    for (std::size_t i = 0; i < count; i += 4) {
      std::uint64_t word = next();
      for (std::size_t j = i; j < std::min(i + 4, count); ++j, word >>= 16U) {
        const auto drawn = static_cast<std::int16_t>(word & 0xffffU);
        out[j] = bits_of(static_cast<float>(drawn) / 32768.0F * scale);
      }
    }
  }

  static std::uint16_t bits_of(float number) {  // towards zero: one draw is as good as another
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16U);
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

// The table of angles: position * 10000^(-2 i / head size).
void fill_angles(spec::HostTensor& tensor, const DecodeShape& shape, bool is_cosine) {
  auto* out = reinterpret_cast<std::uint16_t*>(tensor.storage->bytes.data());  // NOLINT: bf16
  const std::int64_t half = shape.head_size / 2;
  for (std::int64_t p = 0; p < shape.context; ++p) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(p) *
                           std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
      *out++ = Draws::bits_of(static_cast<float>(is_cosine ? std::cos(angle) : std::sin(angle)));
    }
  }
}

void fill_tensors(spec::Program& program, const DecodeShape& shape) {
  Draws draws(2026);
  for (const spec::ProgramInput& input : program.inputs) {
    const spec::TensorType& type = *program.graph.values[input.value.index].type;
    std::vector<std::int64_t> sizes;
    sizes.reserve(type.sizes.size());
    for (const auto& size : type.sizes) sizes.push_back(size.constant());
    spec::HostTensor tensor = spec::make_host_tensor(type.dtype, sizes);
    if (input.target == "cos_table" || input.target == "sin_table") {
      fill_angles(tensor, shape, input.target == "cos_table");
    } else if (input.target == "tokens" || input.target == "position") {
      auto* const out =
          reinterpret_cast<std::int64_t*>(tensor.storage->bytes.data());  // NOLINT: int64
      for (std::int64_t i = 0; i < sizes.front(); ++i) {
        out[i] = input.target == "position" ? shape.context - 1 : (i * 7919 + 1) % shape.vocabulary;
      }
    } else {
      // Sums of k such products with activations near 1 are near 1.
      const bool is_matrix = sizes.size() == 2;
      const auto columns = static_cast<float>(sizes.back());
      draws.fill(tensor, is_matrix ? std::sqrt(3.0F / columns) : 1.0F);
    }
    program.tensors.emplace(input.target, std::move(tensor));
  }
}

}  // namespace

DecodeShape DecodeShape::small() {
  DecodeShape shape;
  shape.layers = 2;
  shape.width = 128;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_size = 32;
  shape.hidden = 256;
  shape.vocabulary = 320;
  shape.context = 96;
  return shape;
}

std::int64_t DecodeShape::weight_bytes() const {
  const std::int64_t attention =
      width * (heads + 2 * kv_heads) * head_size + width * heads * head_size;
  return kItemBytes * (layers * (attention + 3 * width * hidden) + vocabulary * width);
}

std::int64_t DecodeShape::cache_bytes() const {
  return kItemBytes * 2 * layers * batch * kv_heads * context * head_size;
}

Result<spec::Program> make_decode_program(const DecodeShape& shape) {
  GRAPHGATE_TRY(spec::Program program,
                spec::parse_program(DecodeText(shape).text(), spec::builtin_op_table(), "decode"));
  fill_tensors(program, shape);
  return program;
}

}  // namespace graphgate::tools
