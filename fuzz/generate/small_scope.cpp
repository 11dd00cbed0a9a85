#include "fuzz/generate/small_scope.h"

#include <optional>

namespace graphgate::fuzz {
namespace {

constexpr std::int64_t kElements = 4;

constexpr SmallOp kAlphabet[] = {
    {"aten.add.Tensor", "", 0, 0, 2, true},
    {"aten.neg.default", "", 0, 0, 1, false},
    {"aten.slice.Tensor", ", 0, 0, 2", kElements, 2, 1, false},
    {"aten.slice.Tensor", ", 0, 1, 3", kElements, 2, 1, false},
    {"aten.slice.Tensor", ", 0, 2, 4", kElements, 2, 1, false},
    {"aten.add_.Tensor", "", 0, 0, 2, false},
    {"aten.copy_.default", "", 0, 0, 2, false},
    {"aten.neg_.default", "", 0, 0, 1, false},
};

struct SmallValue {
  std::string name;
  std::int64_t elements = 0;
};

class Enumeration {
 public:
  Enumeration(std::uint32_t nodes, const std::function<bool(const SmallProgram&)>& visit)
      : nodes_(nodes), visit_(visit) {
    for (const char* name : {"%x", "%w"}) values_.push_back({name, kElements});
  }

  std::uint64_t run() {
    add_node(0);
    return visited_;
  }

 private:
  // Every program whose first nodes are those of `body_`.
  void add_node(std::uint32_t index) {
    if (index == nodes_) return finish();
    for (const SmallOp& op : kAlphabet) {
      for (std::size_t a = 0; a < values_.size() && !is_over_; ++a) {
        if (op.operand_elements != 0 && values_[a].elements != op.operand_elements) continue;
        if (op.operands == 1) {
          with_node(index, op, a, std::nullopt);
          continue;
        }
        for (std::size_t b = op.is_commutative ? a : 0; b < values_.size() && !is_over_; ++b) {
          if (values_[b].elements == values_[a].elements) with_node(index, op, a, b);
        }
      }
    }
  }

  void with_node(std::uint32_t index, const SmallOp& op, std::size_t a,
                 std::optional<std::size_t> b) {
    const std::size_t length = body_.size();
    const std::string name = "%n" + std::to_string(index);
    body_ += "  " + name + " = " + std::string(op.name) + "(" + values_[a].name;
    if (b) body_ += ", " + values_[*b].name;
    body_ += std::string(op.arguments) + ")\n";
    values_.push_back({name, op.result_elements != 0 ? op.result_elements : values_[a].elements});
    add_node(index + 1);
    values_.pop_back();
    body_.resize(length);
  }

  void finish() {
    std::string all;
    for (std::uint32_t n = 0; n < nodes_; ++n) all += "  output %n" + std::to_string(n) + "\n";
    hand_out("  output %n" + std::to_string(nodes_ - 1) + "\n");
    if (nodes_ > 1) hand_out(all);
  }

  void hand_out(const std::string& outputs) {
    if (is_over_) return;
    ++visited_;
    is_over_ =
        !visit_({"program \"small\" {\n"
                 "  buffer %w \"w\" : f32[4] = [2.0, -3.0, 5.0, -7.0]\n"
                 "  input %x : f32[4]\n" +
                     body_ + outputs + "}\n",
                 nodes_});
  }

  const std::uint32_t nodes_;
  const std::function<bool(const SmallProgram&)>& visit_;
  std::vector<SmallValue> values_;
  std::string body_;
  std::uint64_t visited_ = 0;
  bool is_over_ = false;
};

}  // namespace

std::span<const SmallOp> small_alphabet() { return kAlphabet; }

std::uint64_t for_each_small_program(std::uint32_t nodes,
                                     const std::function<bool(const SmallProgram&)>& visit) {
  return nodes == 0 ? 0 : Enumeration(nodes, visit).run();
}

}  // namespace graphgate::fuzz
