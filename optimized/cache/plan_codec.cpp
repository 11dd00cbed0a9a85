#include "optimized/cache/plan_codec.h"

#include "optimized/cache/byte_stream.h"

namespace graphgate::spec {

// The last enumerator of each enumeration that stands in plans: found by argument-dependent lookup.
constexpr DType last_of(DType) { return DType::kBool; }
constexpr Layout last_of(Layout) { return Layout::kNone; }
constexpr MemoryFormat last_of(MemoryFormat) { return MemoryFormat::kChannelsLast3d; }
constexpr PoolKind last_of(PoolKind) { return PoolKind::kCaller; }
constexpr ValueKind last_of(ValueKind) { return ValueKind::kNone; }
constexpr InputKind last_of(InputKind) { return InputKind::kUserInput; }
constexpr OutputLifetime last_of(OutputLifetime) { return OutputLifetime::kWeak; }
constexpr SymOp last_of(SymOp) { return SymOp::kAsinh; }

}  // namespace graphgate::spec

namespace graphgate::optimized {

using spec::Argument;
using spec::SymExpr;
using spec::SymOp;

// Structured bindings name every field: a struct with another field does not compile.
#define GRAPHGATE_FIELDS(type, ...) \
  template <>                       \
  struct Fields<type> {             \
    static auto tie(auto& x) {      \
      auto& [__VA_ARGS__] = x;      \
      return std::tie(__VA_ARGS__); \
    }                               \
  }

GRAPHGATE_FIELDS(spec::PoolId, index);
GRAPHGATE_FIELDS(spec::BufferId, index);
GRAPHGATE_FIELDS(spec::EventId, index);
GRAPHGATE_FIELDS(spec::ValueId, index);
GRAPHGATE_FIELDS(spec::SubgraphId, index);
GRAPHGATE_FIELDS(spec::Device, type, index);
GRAPHGATE_FIELDS(spec::OpName, name);
GRAPHGATE_FIELDS(spec::ComplexNumber, real, imag);
GRAPHGATE_FIELDS(spec::TensorType, dtype, sizes, strides, storage_offset, device, layout);
GRAPHGATE_FIELDS(spec::Value, name, kind, type, expr, hint);
GRAPHGATE_FIELDS(spec::NamedArgument, name, argument);
GRAPHGATE_FIELDS(spec::NodeResult, is_list, values);
GRAPHGATE_FIELDS(spec::Node, name, op, arguments, results);
GRAPHGATE_FIELDS(spec::PlanPool, name, kind, device, size_bytes, alignment_bytes);
GRAPHGATE_FIELDS(spec::PlanBuffer, name, pool, offset_bytes, size_bytes);
GRAPHGATE_FIELDS(spec::PlanValue, value, buffer);
GRAPHGATE_FIELDS(spec::PlanStep, node, body, stream, waits, records, workspace);
GRAPHGATE_FIELDS(spec::SignatureInput, buffer, deallocate);
GRAPHGATE_FIELDS(spec::PlanSignature, inputs, outputs, constants, symbols);
GRAPHGATE_FIELDS(spec::PlanPartition, captured, reason, begin_step, end_step, signature);
GRAPHGATE_FIELDS(spec::PlanBlock, name, partitions, outputs);
GRAPHGATE_FIELDS(spec::PlanPadding, symbol, input_dims, output_dims);
GRAPHGATE_FIELDS(spec::PlanInput, kind, target, value, constant, final_value);
GRAPHGATE_FIELDS(spec::Plan, name, arithmetic, symbols, pools, buffers, values, inputs, steps,
                 blocks, event_count, outputs, output_lifetimes, padding, key);

#undef GRAPHGATE_FIELDS

template <>
struct Fields<spec::None> {
  static auto tie(auto&) { return std::tie(); }
};

// The index of the alternative, then the alternative.
template <>
struct Codec<spec::Argument> {
  using Variant = decltype(Argument::value);

  static void write(ByteWriter& out, const Argument& argument) {
    out.number(argument.value.index());
    std::visit([&out](const auto& value) { out(value); }, argument.value);
  }
  static void read(ByteReader& in, Argument& argument) {
    read_alternative(in, argument.value, in.number(),
                     std::make_index_sequence<std::variant_size_v<Variant>>());
  }

 private:
  template <std::size_t... kIndex>
  static void read_alternative(ByteReader& in, Variant& variant, std::uint64_t index,
                               std::index_sequence<kIndex...>) {
    const bool found = ((index == kIndex && (in(variant.emplace<kIndex>()), true)) || ...);
    if (!found) in.fail();
  }
};

// The operation, then the constant, the name, or the operands.
template <>
struct Codec<SymExpr> {
  static void write(ByteWriter& out, const SymExpr& expr) {
    out(expr.op());
    if (expr.is_constant()) {
      out(expr.constant());
    } else if (expr.op() == SymOp::kSymbol) {
      out(expr.name());
    } else if (expr.op() == SymOp::kReal) {
      out(expr.real());
    } else {
      out(expr.operands());
    }
  }
  static void read(ByteReader& in, SymExpr& expr) {
    SymOp op{};
    in(op);
    if (op == SymOp::kConstant) {
      std::int64_t constant = 0;
      in(constant);
      expr = constant;
    } else if (op == SymOp::kSymbol) {
      std::string name;
      in(name);
      expr = SymExpr::symbol(std::move(name));
    } else if (op == SymOp::kReal) {
      double real = 0;
      in(real);
      expr = SymExpr::real(real);
    } else {
      std::vector<SymExpr> operands;
      in(operands);
      if (spec::takes_operands(op, operands.size())) {
        expr = SymExpr::apply(op, std::move(operands));
      } else {
        in.fail();
      }
    }
  }
};

namespace {
constexpr std::string_view kPlanMagic = "ggplan";
}  // namespace

std::string encode_plan(const spec::Plan& plan) {
  ByteWriter out;
  out.raw(kPlanMagic);
  out.number(kPlanCodecVersion);
  out(plan);
  return out.take();
}

Result<spec::Plan> decode_plan(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.raw() != kPlanMagic) return bad_input("this is no encoded plan");
  if (in.number() != kPlanCodecVersion) return bad_input("the plan is encoded by another version");
  spec::Plan plan;
  in(plan);
  if (!in.ok()) return bad_input("the encoded plan is damaged");
  return plan;
}

}  // namespace graphgate::optimized
