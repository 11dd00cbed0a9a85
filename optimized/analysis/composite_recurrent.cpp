// Composite ops that run over time: recurrent layers and their cells.
#include <array>

#include "optimized/analysis/composite.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using Values = std::vector<Argument>;

enum class CellKind : std::uint8_t { kLstm, kGru, kTanh, kRelu };

// Weights of one direction of a layer; what is absent is None.
struct CellWeights {
  Argument input;
  Argument hidden;
  Argument input_bias = {spec::None{}};
  Argument hidden_bias = {spec::None{}};
  Argument projection = {spec::None{}};
};

// A cell's state and how it goes on.
class Cell {
 public:
  Cell(Parts& parts, CellKind kind, CellWeights weights, Argument hidden, Argument memory)
      : parts_(parts),
        kind_(kind),
        weights_(std::move(weights)),
        hidden_(std::move(hidden)),
        memory_(std::move(memory)) {}

  [[nodiscard]] const Argument& hidden() const { return hidden_; }
  [[nodiscard]] const Argument& memory() const { return memory_; }

  // The share of the inputs, of one step or of all.
  Argument share_of(const Argument& input) {
    return parts_.run("aten.linear.default", {input, weights_.input, weights_.input_bias});
  }

  void go_on(const Argument& share) {
    const Argument own =
        parts_.run("aten.linear.default", {hidden_, weights_.hidden, weights_.hidden_bias});
    switch (kind_) {
      case CellKind::kLstm:
        return remember(op("aten.add.Tensor", own, share));
      case CellKind::kGru:
        return blend(own, share);
      case CellKind::kTanh:
        hidden_ = parts_.run("aten.tanh.default", {op("aten.add.Tensor", own, share)});
        return;
      case CellKind::kRelu:
        hidden_ = parts_.run("aten.relu.default", {op("aten.add.Tensor", own, share)});
        return;
    }
  }

 private:
  Argument op(std::string_view name, const Argument& a, const Argument& b) {
    return parts_.run(name, {a, b});
  }
  Argument sigmoid(const Argument& value) { return parts_.run("aten.sigmoid.default", {value}); }

  // Part i of `count` along the last dimension.
  Argument gate(const Argument& gates, std::int64_t i, std::int64_t count) {
    const std::int64_t size = parts_.of(gates).size(-1) / count;
    return parts_.run("aten.slice.Tensor",
                      {gates, {std::int64_t{-1}}, {i * size}, {(i + 1) * size}});
  }

  // The gates are: in, forget, candidate, out.
  void remember(const Argument& gates) {
    const Argument kept = op("aten.mul.Tensor", sigmoid(gate(gates, 1, 4)), memory_);
    const Argument in = sigmoid(gate(gates, 0, 4));
    const Argument candidate = parts_.run("aten.tanh.default", {gate(gates, 2, 4)});
    memory_ = op("aten.add.Tensor", kept, op("aten.mul.Tensor", in, candidate));
    const Argument out = sigmoid(gate(gates, 3, 4));
    hidden_ = op("aten.mul.Tensor", out, parts_.run("aten.tanh.default", {memory_}));
    if (weights_.projection.as<spec::ValueId>() != nullptr) {
      hidden_ = parts_.run("aten.linear.default", {hidden_, weights_.projection});
    }
  }

  // The gates are: reset, update, candidate. The reset goes over the hidden state's share alone.
  void blend(const Argument& own, const Argument& share) {
    const auto gate_of_both = [&](std::int64_t i) {
      return sigmoid(op("aten.add.Tensor", gate(own, i, 3), gate(share, i, 3)));
    };
    const Argument reset = gate_of_both(0);
    const Argument update = gate_of_both(1);
    const Argument renewed = op("aten.mul.Tensor", gate(own, 2, 3), reset);
    const Argument candidate =
        parts_.run("aten.tanh.default", {op("aten.add.Tensor", gate(share, 2, 3), renewed)});
    const Argument change = op("aten.sub.Tensor", hidden_, candidate);
    hidden_ = op("aten.add.Tensor", op("aten.mul.Tensor", change, update), candidate);
  }

  Parts& parts_;
  CellKind kind_;
  CellWeights weights_;
  Argument hidden_;
  Argument memory_;
};

Argument row_of(Parts& parts, const Argument& value, std::int64_t i) {
  return parts.run("aten.select.int", {value, {std::int64_t{0}}, {i}});
}

Argument swapped_batch(Parts& parts, const Argument& value) {
  return parts.run("aten.transpose.int", {value, {std::int64_t{0}}, {std::int64_t{1}}});
}

template <CellKind kKind>
Values layers_over_time(Parts& parts) {
  constexpr bool kHasMemory = kKind == CellKind::kLstm;
  const std::int64_t layers = parts.integer("num_layers");
  const bool drops = parts.boolean("train") && parts.real("dropout") != 0;
  if (parts.tensor("input").rank() != 3) throw OpError("expected batches of sequences");
  const Values begin = kHasMemory ? parts.values("hx") : Values{parts["hx"]};
  if (kHasMemory && begin.size() != 2) throw OpError("an LSTM has two states");
  const bool projects = kHasMemory && parts.of(begin[0]).size(2) != parts.of(begin[1]).size(2);
  const bool has_biases = parts.boolean("has_biases");
  const std::int64_t directions = parts.boolean("bidirectional") ? 2 : 1;
  const Values weights = parts.values("params");
  const std::int64_t each = 2 + (has_biases ? 2 : 0) + (projects ? 1 : 0);
  if (std::ssize(weights) != each * layers * directions) {
    throw OpError("the layers have another number of weights");
  }
  const bool batch_first = parts.boolean("batch_first");
  Argument sequence = batch_first ? swapped_batch(parts, parts["input"]) : parts["input"];
  const std::int64_t times = parts.of(sequence).size(0);
  Argument::List hidden;
  Argument::List memory;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    if (layer > 0 && drops) {
      sequence = parts.run("aten.dropout.default", {sequence, parts["dropout"], {true}});
    }
    Argument::List both;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t index = layer * directions + direction;
      const Argument* const own = &weights[at(index * each)];
      CellWeights by{own[0], own[1]};
      if (has_biases) {
        by.input_bias = own[2];
        by.hidden_bias = own[3];
      }
      if (projects) by.projection = own[each - 1];
      Cell cell(parts, kKind, std::move(by), row_of(parts, begin[0], index),
                kHasMemory ? row_of(parts, begin[1], index) : Argument{spec::None{}});
      const Argument shares = cell.share_of(sequence);
      Argument::List steps(at(times));
      for (std::int64_t i = 0; i < times; ++i) {
        const std::int64_t time = direction == 0 ? i : times - 1 - i;
        cell.go_on(row_of(parts, shares, time));
        steps[at(time)] = cell.hidden();
      }
      both.push_back(parts.run("aten.stack.default", {{std::move(steps)}}));
      hidden.push_back(cell.hidden());
      if (kHasMemory) memory.push_back(cell.memory());
    }
    sequence = directions == 1
                   ? both.front()
                   : parts.run("aten.cat.default", {{std::move(both)}, {std::int64_t{2}}});
  }
  Values out = {batch_first ? swapped_batch(parts, sequence) : sequence,
                parts.run("aten.stack.default", {{std::move(hidden)}})};
  if (kHasMemory) out.push_back(parts.run("aten.stack.default", {{std::move(memory)}}));
  return out;
}

template <CellKind kKind>
Values one_step(Parts& parts) {
  CellWeights by{parts["w_ih"], parts["w_hh"], parts["b_ih"], parts["b_hh"]};
  if constexpr (kKind == CellKind::kLstm) {
    const Values begin = parts.values("hx");
    if (begin.size() != 2) throw OpError("an LSTM has two states");
    Cell cell(parts, kKind, std::move(by), begin[0], begin[1]);
    cell.go_on(cell.share_of(parts["input"]));
    return {cell.hidden(), cell.memory()};
  } else {
    Cell cell(parts, kKind, std::move(by), parts["hx"], {spec::None{}});
    cell.go_on(cell.share_of(parts["input"]));
    return {cell.hidden()};
  }
}

constexpr CompositeOp kCompositeRecurrent[] = {
    {"aten.gru", layers_over_time<CellKind::kGru>},
    {"aten.gru_cell", one_step<CellKind::kGru>},
    {"aten.lstm", layers_over_time<CellKind::kLstm>},
    {"aten.lstm_cell", one_step<CellKind::kLstm>},
    {"aten.rnn_relu", layers_over_time<CellKind::kRelu>},
    {"aten.rnn_relu_cell", one_step<CellKind::kRelu>},
    {"aten.rnn_tanh", layers_over_time<CellKind::kTanh>},
    {"aten.rnn_tanh_cell", one_step<CellKind::kTanh>},
};

}  // namespace

std::span<const CompositeOp> composite_recurrent() { return kCompositeRecurrent; }

}  // namespace graphgate::optimized
