// Recurrent layers and their cells (ATen's RNN.cpp): a step of time after the other.
#include <algorithm>

#include "reference/ops/composition.h"

namespace graphgate::reference {
namespace composite {
namespace {

// The parameters of one layer in one direction. Biases and the projection may be null.
struct RecurrentParameters {
  TensorRef w_ih;
  TensorRef w_hh;
  TensorRef b_ih = nullptr;
  TensorRef b_hh = nullptr;
  TensorRef w_hr = nullptr;
};

// What a layer hands from step to step. `cell` is an LSTM's alone.
struct RecurrentState {
  TensorRef hidden;
  TensorRef cell = nullptr;
};

// The kinds of cells, each by one step of it from what its input comes to.
class Recurrence {
 public:
  enum class Kind : std::uint8_t { kLstm, kGru, kTanh, kRelu };

  Recurrence(const Composition& run, Kind kind) : run_(run), kind_(kind) {}

  // What the inputs of all steps come to at once.
  [[nodiscard]] TensorRef of_input(const TensorRef& input, const RecurrentParameters& by) const {
    return linear(input, by.w_ih, by.b_ih);
  }

  [[nodiscard]] RecurrentState step(const TensorRef& from_input, const RecurrentState& before,
                                    const RecurrentParameters& by) const {
    const TensorRef from_hidden = linear(before.hidden, by.w_hh, by.b_hh);
    if (kind_ == Kind::kLstm) return lstm(add(from_hidden, from_input), before, by);
    if (kind_ == Kind::kGru) return gru(from_hidden, from_input, before);
    const TensorRef sum = add(from_hidden, from_input);
    return {run_(kind_ == Kind::kTanh ? "aten.tanh.default" : "aten.relu.default", {{sum}})};
  }

 private:
  [[nodiscard]] RecurrentState lstm(const TensorRef& gates, const RecurrentState& before,
                                    const RecurrentParameters& by) const {
    const std::vector<TensorRef> parts = chunks(gates, 4);
    const TensorRef input = sigmoid(parts[0]);
    const TensorRef forget = sigmoid(parts[1]);
    const TensorRef candidate = tanh_of(parts[2]);
    const TensorRef output = sigmoid(parts[3]);
    const TensorRef cell = add(mul(forget, before.cell), mul(input, candidate));
    TensorRef hidden = mul(output, tanh_of(cell));
    if (by.w_hr) hidden = linear(hidden, by.w_hr, nullptr);
    return {hidden, cell};
  }

  [[nodiscard]] RecurrentState gru(const TensorRef& from_hidden, const TensorRef& from_input,
                                   const RecurrentState& before) const {
    const std::vector<TensorRef> h = chunks(from_hidden, 3);
    const std::vector<TensorRef> i = chunks(from_input, 3);
    const TensorRef reset = sigmoid(add(h[0], i[0]));
    const TensorRef update = sigmoid(add(h[1], i[1]));
    const TensorRef candidate = tanh_of(add(i[2], mul(h[2], reset)));
    const TensorRef difference = run_("aten.sub.Tensor", {{before.hidden}, {candidate}});
    return {add(mul(difference, update), candidate)};
  }

  [[nodiscard]] TensorRef linear(const TensorRef& input, const TensorRef& weight,
                                 const TensorRef& bias) const {
    return run_("aten.linear.default", {{input}, {weight}, bias ? Datum{bias} : Datum{}});
  }
  [[nodiscard]] std::vector<TensorRef> chunks(const TensorRef& tensor, std::int64_t count) const {
    const std::int64_t size = tensor->sizes.back() / count;
    std::vector<TensorRef> out;
    out.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      out.push_back(part(run_, tensor, -1, i * size, (i + 1) * size));
    }
    return out;
  }
  [[nodiscard]] TensorRef add(const TensorRef& a, const TensorRef& b) const {
    return run_("aten.add.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef mul(const TensorRef& a, const TensorRef& b) const {
    return run_("aten.mul.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef sigmoid(const TensorRef& a) const {
    return run_("aten.sigmoid.default", {{a}});
  }
  [[nodiscard]] TensorRef tanh_of(const TensorRef& a) const {
    return run_("aten.tanh.default", {{a}});
  }

  const Composition& run_;
  Kind kind_;
};

using RecurrentKind = Recurrence::Kind;

// One cell after the other's layer, direction after direction.
std::vector<RecurrentParameters> gather_parameters(const Call& call, bool has_projection) {
  const std::vector<TensorRef> given = call.tensors("params");
  const bool has_biases = call.boolean("has_biases");
  const std::size_t each = 2 + (has_biases ? 2U : 0U) + (has_projection ? 1U : 0U);
  const std::size_t directions = call.boolean("bidirectional") ? 2 : 1;
  const auto layers = static_cast<std::size_t>(call.integer("num_layers"));
  if (given.size() != each * directions * layers) {
    throw OpError("the number of parameters does not fit the layers");
  }
  std::vector<RecurrentParameters> out;
  for (std::size_t at = 0; at < given.size(); at += each) {
    RecurrentParameters one{given[at], given[at + 1]};
    if (has_biases) {
      one.b_ih = given[at + 2];
      one.b_hh = given[at + 3];
    }
    if (has_projection) one.w_hr = given[at + each - 1];
    out.push_back(std::move(one));
  }
  return out;
}

// The hidden state of every step of time, [time, batch, features], in the order of time, and the
// state at the end.
std::pair<TensorRef, RecurrentState> run_direction(const Composition& run,
                                                   const Recurrence& recurrence,
                                                   const TensorRef& input, RecurrentState state,
                                                   const RecurrentParameters& by, bool is_reverse) {
  const TensorRef from_input = recurrence.of_input(input, by);
  const std::int64_t times = input->sizes[0];
  std::vector<TensorRef> hidden(static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) {
    const std::int64_t time = is_reverse ? times - 1 - i : i;
    const TensorRef now = run("aten.select.int", {{from_input}, {std::int64_t{0}}, {time}});
    state = recurrence.step(now, state, by);
    hidden[static_cast<std::size_t>(time)] = state.hidden;
  }
  return {run("aten.stack.default", {list_of(hidden)}), state};
}

void recurrent_layers(Call& call, RecurrentKind kind) {
  const Composition run(call);
  const bool drops = call.boolean("train") && call.real("dropout") != 0;
  const bool is_lstm = kind == RecurrentKind::kLstm;
  const std::vector<TensorRef> first =
      is_lstm ? call.tensors("hx") : std::vector{call.tensor("hx")};
  if (is_lstm && first.size() != 2) throw OpError("lstm expects two hidden states");
  const bool has_projection = is_lstm && first[0]->sizes.at(2) != first[1]->sizes.at(2);
  const std::vector<RecurrentParameters> all = gather_parameters(call, has_projection);
  const bool batch_first = call.boolean("batch_first");
  const std::size_t directions = call.boolean("bidirectional") ? 2 : 1;
  const Recurrence recurrence(run, kind);
  const auto layer_of = [&](const TensorRef& states, std::size_t i) {
    return run("aten.select.int", {{states}, {std::int64_t{0}}, {static_cast<std::int64_t>(i)}});
  };
  TensorRef layer = call.tensor("input");
  if (layer->rank() != 3) throw OpError("recurrent layers take batches of sequences");
  if (batch_first) layer = transposed(run, layer, 0, 1);
  std::vector<TensorRef> hidden;
  std::vector<TensorRef> cells;
  for (std::size_t at = 0; at < all.size(); at += directions) {
    if (at > 0 && drops) {
      layer = run("aten.dropout.default", {{layer}, call.datum("dropout"), {true}});
    }
    std::vector<TensorRef> outputs;
    for (std::size_t d = 0; d < directions; ++d) {
      RecurrentState state{layer_of(first[0], at + d)};
      if (is_lstm) state.cell = layer_of(first[1], at + d);
      const auto [output, end] =
          run_direction(run, recurrence, layer, std::move(state), all[at + d], d == 1);
      outputs.push_back(output);
      hidden.push_back(end.hidden);
      if (is_lstm) cells.push_back(end.cell);
    }
    layer = directions == 1 ? outputs.front()
                            : run("aten.cat.default", {list_of(outputs), {std::int64_t{-1}}});
  }
  call.emit_datum({batch_first ? transposed(run, layer, 0, 1) : layer});
  call.emit_datum({run("aten.stack.default", {list_of(hidden)})});
  if (is_lstm) call.emit_datum({run("aten.stack.default", {list_of(cells)})});
}
template <RecurrentKind kKind>
void recurrent(Call& call) {
  recurrent_layers(call, kKind);
}

template <RecurrentKind kKind>
void recurrent_cell(Call& call) {
  const Composition run(call);
  const Recurrence recurrence(run, kKind);
  const RecurrentParameters by{call.tensor("w_ih"), call.tensor("w_hh"),
                               call.optional_tensor("b_ih"), call.optional_tensor("b_hh")};
  constexpr bool kIsLstm = kKind == RecurrentKind::kLstm;
  RecurrentState state;
  if constexpr (kIsLstm) {
    const std::vector<TensorRef> both = call.tensors("hx");
    if (both.size() != 2) throw OpError("lstm_cell expects two hidden states");
    state = {both[0], both[1]};
  } else {
    state.hidden = call.tensor("hx");
  }
  state = recurrence.step(recurrence.of_input(call.tensor("input"), by), state, by);
  call.emit_datum({state.hidden});
  if (kIsLstm) call.emit_datum({state.cell});
}

constexpr OpBody kCompositeRecurrentOps[] = {
    OpBody{"aten.gru", recurrent<RecurrentKind::kGru>},
    OpBody{"aten.gru_cell", recurrent_cell<RecurrentKind::kGru>},
    OpBody{"aten.lstm", recurrent<RecurrentKind::kLstm>},
    OpBody{"aten.lstm_cell", recurrent_cell<RecurrentKind::kLstm>},
    OpBody{"aten.rnn_relu", recurrent<RecurrentKind::kRelu>},
    OpBody{"aten.rnn_relu_cell", recurrent_cell<RecurrentKind::kRelu>},
    OpBody{"aten.rnn_tanh", recurrent<RecurrentKind::kTanh>},
    OpBody{"aten.rnn_tanh_cell", recurrent_cell<RecurrentKind::kTanh>},
};

}  // namespace
}  // namespace composite

std::span<const OpBody> composite_recurrent_ops() { return composite::kCompositeRecurrentOps; }

}  // namespace graphgate::reference
