// Specializing loops. What is carried has a place that is filled before the loop, and that the last
// nodes of the body's block write; so a body reads and writes the same places in every iteration.
//
//   while_loop   places = copies of what is carried       scan   places, a counter, stacks
//     block 1    the condition                              block  slices at the counter
//     block 2    the body; places = its results                    the body; stacks[counter] = ...
//                                                                   places = its results; counter
//                                                                   += 1
#include <algorithm>
#include <utility>

#include "optimized/analysis/node_symbols.h"
#include "optimized/analysis/specializer.h"
#include "optimized/binding.h"
#include "spec/loops.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::NamedArgument;
using spec::ValueId;
using spec::ValueKind;

const Argument& loop_operand(const spec::Node& node, std::size_t index) {
  if (index >= node.arguments.size()) throw OpError("too few operands");
  return node.arguments[index].argument;
}

const spec::Graph& graph_of(const spec::Graph& graph, const Argument& argument) {
  const auto* id = argument.as<spec::SubgraphId>();
  if (!id || id->index >= graph.subgraphs.size()) throw OpError("expected a subgraph");
  return graph.subgraphs[id->index];
}

Argument::List joined(Argument::List first, const Argument::List& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The dtype of a place for a number, and the number's kind; kTensor for what is none.
std::pair<ValueKind, spec::DType> number_kind(const Argument& argument, const SizedGraph& graph) {
  ValueKind kind = ValueKind::kTensor;
  if (const auto* id = argument.as<ValueId>()) kind = graph.value(*id).kind;
  if (argument.as<bool>()) kind = ValueKind::kSymBool;
  if (argument.as<std::int64_t>()) kind = ValueKind::kSymInt;
  if (argument.as<double>()) kind = ValueKind::kSymFloat;
  switch (kind) {
    case ValueKind::kSymBool:
      return {kind, spec::DType::kBool};
    case ValueKind::kSymInt:
      return {kind, spec::DType::kInt64};
    case ValueKind::kSymFloat:
      return {kind, spec::DType::kFloat64};
    default:
      return {ValueKind::kTensor, spec::DType::kFloat32};
  }
}

Argument list_of(const Sizes& sizes) {
  Argument::List out;
  for (const std::int64_t size : sizes) out.push_back({size});
  return {std::move(out)};
}

// Strides along dimensions of one element count for nothing.
bool same_strides(const Tensor& a, const Tensor& b) {
  for (std::size_t d = 0; d < a.sizes.size(); ++d) {
    if (a.sizes[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

// Whether stacking keeps another order of dimensions than the row-major one: what lies as images
// with channels last does.
bool has_channels_last(const Tensor& slice) {
  return (slice.sizes.size() == 3 || slice.sizes.size() == 4) && slice.strides.front() == 1 &&
         slice.sizes.front() > 1;
}

}  // namespace

// Nodes that a loop needs beside those of its graphs have names of their own.
std::string Specializer::part_name(const Loop& loop) {
  return unique_name(loop.node.name + "_part");
}

// Runs one op for a loop. A result that only the call knows is of this kind and type.
Argument Specializer::run_loop_op(const Loop& loop, const std::string& op,
                                  std::vector<NamedArgument> arguments, ValueKind kind,
                                  const std::optional<spec::TensorType>& type) {
  SizedNode sized;
  sized.row = ops_.find(op);
  sized.kernel = sized.row ? find_kernel(*sized.row) : nullptr;
  if (!sized.kernel) throw Unsupported("the optimized executor has no kernel for " + op);
  sized.node.name = part_name(loop);
  sized.node.op = op;
  sized.node.arguments = std::move(arguments);
  sized.symbols = loop.symbols;
  spec::Graph part;  // of its own: its value is the result
  part.values.push_back({sized.node.name, kind, type, {}, {}});
  spec::Node node;
  node.name = sized.node.name;
  node.op = op;
  node.results.push_back({false, {ValueId{0}}});
  Environment environment(1);
  run_resolved(part, node, std::move(sized), environment);
  return environment.front();
}

// Fills places for what is carried, in the block around the loop.
void Specializer::make_places(Loop& loop, const Argument::List& initial) {
  for (const Argument& argument : initial) {
    const auto [kind, dtype] = number_kind(argument, out_);
    Argument place;
    if (kind != ValueKind::kTensor) {
      spec::TensorType type;
      type.dtype = dtype;
      place =
          run_loop_op(loop, "aten.full.default",
                      {{"size", {Argument::List{}}}, {"fill_value", argument}, {"dtype", {dtype}}},
                      ValueKind::kTensor, type);
    } else {
      const auto* id = argument.as<ValueId>();
      if (id == nullptr) throw OpError("carries what is neither a tensor nor a number");
      const bool is_dynamic = out_.value(*id).is_dynamic;
      place = run_loop_op(loop, "aten.clone.default", {{"self", argument}}, ValueKind::kTensor,
                          out_.value(*id).declared);
      const auto* made = place.as<ValueId>();
      if (made && !is_dynamic && !same_strides(out_.value(*id).tensor, out_.value(*made).tensor)) {
        throw Unsupported("carries a tensor that is not dense into a loop");
      }
    }
    const auto* id = place.as<ValueId>();
    GRAPHGATE_CHECK(id != nullptr);
    loop.places.push_back({*id, kind});
  }
}

// What is carried, as the body or whoever comes behind the loop is given it.
Argument::List Specializer::read_places(const Loop& loop) {
  Argument::List out;
  for (const LoopPlace& place : loop.places) {
    out.push_back(place.kind == ValueKind::kTensor
                      ? Argument{place.id}
                      : run_loop_op(loop, "aten._local_scalar_dense.default",
                                    {{"self", {place.id}}}, place.kind, {}));
  }
  return out;
}

// Puts results of the body into the places, behind all that reads them.
void Specializer::write_places(const Loop& loop, Argument::List results) {
  const auto is_in_place = [&](ValueId id) {
    const auto storages = storages_of({id});
    return std::ranges::any_of(loop.places, [&](const LoopPlace& place) {
      return place.kind == ValueKind::kTensor && place.id != id &&
             std::ranges::find(storages, out_.value(place.id).tensor.storage) != storages.end();
    });
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (number_kind(results[i], out_).first == ValueKind::kTensor &&
        loop.places[i].kind != ValueKind::kTensor) {
      throw OpError("the body results in a tensor where a number is carried");
    }
    if (loop.places[i].kind != ValueKind::kTensor) continue;
    const auto* id = results[i].as<ValueId>();
    if (id == nullptr || out_.value(*id).kind != ValueKind::kTensor) {
      throw OpError("the body results in no tensor where one is carried");
    }
    const SizedValue& from = out_.value(*id);
    const SizedValue& to = out_.value(loop.places[i].id);
    if (from.is_dynamic != to.is_dynamic) {
      throw Unsupported("only the call knows the size of what the body results in");
    }
    if (!from.is_dynamic) {
      if (from.tensor.dtype != to.tensor.dtype || from.tensor.sizes != to.tensor.sizes) {
        throw OpError("the body results in a tensor of another type than is carried");
      }
      if (!same_strides(from.tensor, to.tensor)) {
        throw Unsupported("the body gives a carried tensor other strides");
      }
    }
    // It lies where another place is written first.
    if (is_in_place(*id)) {
      results[i] = run_loop_op(loop, "aten.clone.default", {{"self", results[i]}},
                               ValueKind::kTensor, from.declared);
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const LoopPlace& place = loop.places[i];
    if (place.kind != ValueKind::kTensor) {
      run_loop_op(loop, "aten.fill_.Scalar", {{"self", {place.id}}, {"value", results[i]}},
                  ValueKind::kTensor, {});
      continue;
    }
    const ValueId id = *results[i].as<ValueId>();
    if (id != place.id) emit_copy(place.id, id, part_name(loop), loop.symbols);
  }
}

// Begins a block that runs in every iteration.
std::size_t Specializer::open_loop_block(const Loop& loop, const std::string& suffix) {
  out_.blocks.push_back({unique_name(loop.node.name + suffix), {}, {}});
  return out_.blocks.size() - 1;
}

// Runs a subgraph of the loop into a block. The block begins with what `read` makes.
template <class Read, class Finish>
void Specializer::run_in_block(std::size_t block, const spec::Graph& graph, Read&& read,
                               Finish&& finish) {
  const spec::Node* place = place_;
  const std::size_t outer = std::exchange(block_, block);
  const std::size_t outer_values = std::exchange(values_before_arm_, out_.values.size());
  Argument::List results = run_graph(graph, read());
  place_ = place;
  finish(std::move(results));
  block_ = outer;
  values_before_arm_ = outer_values;
}

void Specializer::run_loop(const spec::Graph& graph, const spec::Node& node,
                           Environment& environment) {
  Loop loop{node, symbols_of(graph, node, deviations_), {}};
  if (node.op == spec::kWhileLoop) return run_while(graph, loop, environment);
  run_scan(graph, loop, environment);
}

void Specializer::run_while(const spec::Graph& graph, Loop& loop, Environment& environment) {
  const spec::Node& node = loop.node;
  const Argument carried = resolve(loop_operand(node, 2), environment);
  const Argument additional = resolve(loop_operand(node, 3), environment);
  const auto* initial = carried.as<Argument::List>();
  const auto* further = additional.as<Argument::List>();
  if (!initial || !further) throw OpError("expected two lists");
  const ValueIds results = flat_results(node);
  if (results.size() != initial->size()) throw OpError("the loop has another result count");
  make_places(loop, *initial);
  const std::size_t condition = open_loop_block(loop, "_while");
  const std::size_t body = open_loop_block(loop, "_do");
  const auto inputs = [&] { return joined(read_places(loop), *further); };
  run_in_block(condition, graph_of(graph, loop_operand(node, 0)), inputs,
               [&](Argument::List asked) {
                 if (asked.size() != 1) throw OpError("the condition has not one result");
                 out_.blocks[condition].outputs = std::move(asked);
               });
  run_in_block(body, graph_of(graph, loop_operand(node, 1)), inputs, [&](Argument::List made) {
    if (made.size() != loop.places.size()) {
      throw OpError("the body has another output count");
    }
    write_places(loop, std::move(made));
  });
  push_loop(loop,
            {{"", {spec::SubgraphId{static_cast<std::uint32_t>(condition)}}},
             {"", {spec::SubgraphId{static_cast<std::uint32_t>(body)}}}},
            {}, *further);
  const Argument::List left = read_places(loop);
  for (std::size_t i = 0; i < results.size(); ++i) environment[results[i].index] = left[i];
}

// The loop's own node: what it is given stays, whatever iteration reads it last.
void Specializer::push_loop(const Loop& loop, std::vector<NamedArgument> arguments,
                            const Argument::List& made, const Argument::List& further) {
  Argument::List places;
  for (const LoopPlace& place : loop.places) places.push_back({place.id});
  SizedNode sized;
  sized.node.name = loop.node.name;
  sized.node.op = loop.node.op;
  sized.symbols = loop.symbols;
  sized.node.arguments = std::move(arguments);
  sized.node.arguments.push_back({"", {joined(std::move(places), made)}});
  sized.node.arguments.push_back({"", {further}});
  out_.blocks[block_].nodes.push_back(std::move(sized));
}

// The size that all scanned tensors have along their first dimension.
std::int64_t Specializer::scanned_count(const Argument::List& scanned) const {
  std::optional<std::int64_t> count;
  for (const Argument& argument : scanned) {
    const auto* id = argument.as<ValueId>();
    if (id == nullptr || out_.value(*id).kind != ValueKind::kTensor) {
      throw OpError("a loop along what is no tensor");
    }
    const SizedValue& value = out_.value(*id);
    if (value.is_dynamic) throw Unsupported("only the call knows how often the loop runs");
    if (value.tensor.sizes.empty()) throw OpError("a loop along a tensor without dimensions");
    if (count && *count != value.tensor.sizes.front()) {
      throw OpError("a loop along tensors of different sizes");
    }
    count = value.tensor.sizes.front();
  }
  if (!count) throw OpError("a loop along no tensor");
  return *count;
}

// A tensor for what the loop stacks, as the program states it; None where nothing is stacked.
Argument Specializer::make_stack(const Loop& loop, const spec::Value& declared) {
  if (declared.kind == ValueKind::kNone) return {spec::None{}};
  const auto tensor = declared_tensor(declared);
  if (!tensor) throw Unsupported("stacks what the program states no type of");
  return run_loop_op(loop, "aten.full.default",
                     {{"size", list_of(tensor->sizes)},
                      {"fill_value", {std::int64_t{0}}},
                      {"dtype", {tensor->dtype}},
                      {"device", {tensor->device}}},
                     ValueKind::kTensor, declared.type);
}

// The slices at the counter. The first ones that a scan is given are row-major copies.
Argument::List Specializer::read_slices(const Loop& loop, const Argument::List& scanned,
                                        ValueId counter, std::int64_t count) {
  constexpr std::int64_t kFirst = 0;
  const auto slice_at_first = [&](const Argument& of) {
    return run_loop_op(loop, "aten.select.int",
                       {{"self", of}, {"dim", {kFirst}}, {"index", {kFirst}}}, ValueKind::kTensor,
                       {});
  };
  Argument::List out;
  for (const Argument& argument : scanned) {
    const Argument slice = slice_at_first(run_loop_op(
        loop, "aten.index_select.default",
        {{"self", argument}, {"dim", {kFirst}}, {"index", {counter}}}, ValueKind::kTensor, {}));
    const Argument seen = slice_at_first(argument);
    const bool is_copy = count == 1 && loop.node.op == spec::kScan;
    if (is_copy || same_strides(out_.value(*slice.as<ValueId>()).tensor,
                                out_.value(*seen.as<ValueId>()).tensor)) {
      out.push_back(slice);
      continue;
    }
    const Argument laid =
        run_loop_op(loop, "aten.clone.default", {{"self", seen}}, ValueKind::kTensor, {});
    emit_copy(*laid.as<ValueId>(), *slice.as<ValueId>(), part_name(loop), loop.symbols);
    out.push_back(laid);
  }
  return out;
}

void Specializer::write_stack(const Loop& loop, const Argument& stack, const Argument& slice,
                              ValueId counter) {
  const auto* to = stack.as<ValueId>();
  const auto* from = slice.as<ValueId>();
  if (to == nullptr && from == nullptr) return;
  if (to == nullptr || from == nullptr || out_.value(*from).kind != ValueKind::kTensor) {
    throw OpError("the body results in something else than the loop");
  }
  if (out_.value(*from).is_dynamic) {
    throw Unsupported("only the call knows the size of what the body results in");
  }
  const Tensor& whole = out_.value(*to).tensor;
  const Tensor& part = out_.value(*from).tensor;
  if (whole.dtype != part.dtype || !std::equal(part.sizes.begin(), part.sizes.end(),
                                               whole.sizes.begin() + 1, whole.sizes.end())) {
    throw OpError("the body results in a tensor of another type than is stacked");
  }
  if (loop.node.op == spec::kMap && has_channels_last(part)) {
    throw Unsupported("stacks tensors that lie with channels last");
  }
  constexpr std::int64_t kFirst = 0;
  const Argument source = run_loop_op(loop, "aten.unsqueeze.default",
                                      {{"self", slice}, {"dim", {kFirst}}}, ValueKind::kTensor, {});
  run_loop_op(loop, "aten.index_copy_.default",
              {{"self", stack}, {"dim", {kFirst}}, {"index", {counter}}, {"source", source}},
              ValueKind::kTensor, {});
}

void Specializer::run_scan(const spec::Graph& graph, Loop& loop, Environment& environment) {
  const spec::Node& node = loop.node;
  const bool carries = node.op == spec::kScan;
  const auto list_at = [&](std::size_t index) {
    const Argument given = resolve(loop_operand(node, index), environment);
    const auto* list = given.as<Argument::List>();
    if (list == nullptr) throw OpError("expected a list");
    return *list;
  };
  const Argument::List initial = carries ? list_at(1) : Argument::List{};
  const Argument::List scanned = list_at(carries ? 2 : 1);
  const Argument::List additional = list_at(carries ? 3 : 2);
  const std::int64_t count = scanned_count(scanned);
  const ValueIds results = flat_results(node);
  if (results.size() < initial.size()) throw OpError("the loop has another result count");
  if (count == 0 && !carries) throw OpError("a map along no slice");
  Argument::List stacks;
  for (std::size_t i = initial.size(); i < results.size(); ++i) {
    stacks.push_back(make_stack(loop, graph.value(results[i])));
    environment[results[i].index] = stacks.back();
  }
  if (count == 0) {  // what is carried comes out as it is
    for (std::size_t i = 0; i < initial.size(); ++i) environment[results[i].index] = initial[i];
    return;
  }
  make_places(loop, initial);
  const spec::Device device = out_.value(*scanned.front().as<ValueId>()).tensor.device;
  const Argument counter = run_loop_op(loop, "aten.full.default",
                                       {{"size", list_of({1})},
                                        {"fill_value", {std::int64_t{0}}},
                                        {"dtype", {spec::DType::kInt64}},
                                        {"device", {device}}},
                                       ValueKind::kTensor, {});
  const ValueId at = *counter.as<ValueId>();
  const std::size_t body = open_loop_block(loop, "_do");
  run_in_block(
      body, graph_of(graph, loop_operand(node, 0)),
      [&] {
        return joined(joined(read_places(loop), read_slices(loop, scanned, at, count)), additional);
      },
      [&](Argument::List made) {
        if (made.size() != results.size()) throw OpError("the body has another output count");
        for (std::size_t i = 0; i < stacks.size(); ++i) {
          write_stack(loop, stacks[i], made[initial.size() + i], at);
        }
        made.resize(initial.size());
        write_places(loop, std::move(made));
        run_loop_op(loop, "aten.add_.Tensor", {{"self", counter}, {"other", {std::int64_t{1}}}},
                    ValueKind::kTensor, {});
      });
  Argument::List made = {counter};
  for (const Argument& stack : stacks) {
    if (stack.as<ValueId>()) made.push_back(stack);
  }
  push_loop(loop, {{"", {count}}, {"", {spec::SubgraphId{static_cast<std::uint32_t>(body)}}}}, made,
            joined(scanned, additional));
  const Argument::List left = read_places(loop);
  for (std::size_t i = 0; i < initial.size(); ++i) environment[results[i].index] = left[i];
}

}  // namespace graphgate::optimized
