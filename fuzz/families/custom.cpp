// Custom ops, which the case registers: with state that no argument carries, with effects alone,
// and unsafe to capture. They are overloads of ops that executors have bodies for.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

constexpr std::string_view kLook =
    "aten::neg.look(Tensor self) -> Tensor ; hidden_reads=cache ; orders=kv";
constexpr std::string_view kToken =
    "aten::add_.token(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!) ; "
    "hidden_writes=cache ; orders=kv";
constexpr std::string_view kNote = "aten::neg.note(Tensor self) -> Tensor ; hidden_writes=notes";
constexpr std::string_view kUnsafe =
    "aten::relu.unsafe(Tensor self) -> Tensor ; tags=cudagraph_unsafe";

enum Kind : std::size_t { kLooks, kNotes, kUnsafely };

// One operand, one result.
bool draw_unary(Draft& draft, GeneReader& genes, std::size_t variant) {
  static constexpr std::string_view kRowTexts[] = {kLook, kNote, kUnsafe};
  static constexpr const char* kNames[] = {"aten.neg.look", "aten.neg.note", "aten.relu.unsafe"};
  const TensorIndex self = draft.pick_floating(genes);
  const TensorIndex operands[] = {self};
  const DrawnTensor from = draft.tensor(self);
  const Layout layout = pointwise_layout(draft, operands, from.sizes, 0);
  draft.add_custom_op(kRowTexts[variant]);
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", self).fresh(from.dtype, from.sizes, layout);
  return true;
}

// A write in place that hidden state follows.
bool draw_token(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const auto other = draft.pick_broadcast(genes, from.dtype, from.sizes);
  if (!other || !draft.may_write(self) || !draft.may_read_while_writing(*other, self)) return false;
  draft.add_custom_op(kToken);
  NodeBuilder node(draft, "aten.add_.token");
  node.tensor("self", self).tensor("other", *other).written(self);
  return true;
}

// Nothing comes back: an argument is written, and hidden state.
bool draw_effect(Draft& draft, GeneReader& genes, std::size_t) {
  const auto halved = pick_halved(draft, genes);
  if (!halved) return false;
  draft.add_custom_op(kKeepingSilu);
  NodeBuilder node(draft, "vllm.silu_and_mul.keep");
  node.tensor("out", halved->out).tensor("input", halved->input).writes(halved->out);
  return true;
}

constexpr DrawnOp kCustomRows[] = {{"aten.neg.look", 2, draw_unary, kLooks},
                                   {"aten.neg.note", 2, draw_unary, kNotes},
                                   {"aten.relu.unsafe", 3, draw_unary, kUnsafely},
                                   {"aten.add_.token", 3, draw_token, 0},
                                   {"vllm.silu_and_mul.keep", 2, draw_effect, 0}};

}  // namespace

std::span<const DrawnOp> custom_rows() { return kCustomRows; }

}  // namespace graphgate::fuzz
