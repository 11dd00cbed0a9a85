#include "reference/loops.h"

#include <optional>
#include <utility>

#include "spec/loops.h"

namespace graphgate::reference {
namespace {

// Operand `index` of a loop.
Datum loop_operand(const spec::Node& node, std::size_t index, const Environment& environment) {
  if (index >= node.arguments.size()) throw OpError("too few operands");
  return evaluate_argument(node.arguments[index].argument, environment);
}

Datum::List loop_list(const spec::Node& node, std::size_t index, const Environment& environment) {
  Datum given = loop_operand(node, index, environment);
  auto* list = std::get_if<Datum::List>(&given.value);
  if (!list) throw OpError("operand " + std::to_string(index) + " is no list");
  return std::move(*list);
}

const Prepared& loop_graph(const Prepared& prepared, const spec::Node& node, std::size_t index) {
  const auto* id = index < node.arguments.size()
                       ? node.arguments[index].argument.as<spec::SubgraphId>()
                       : nullptr;
  if (!id || id->index >= prepared.subgraphs.size()) throw OpError("expected a subgraph");
  return prepared.subgraphs[id->index];
}

Datum::List joined(const Datum::List& first, const Datum::List& second) {
  Datum::List out = first;
  out.insert(out.end(), second.begin(), second.end());
  return out;
}

// Runs one op for the loop's node itself; arguments that are left out have the schema's defaults.
Datum run_for_loop(const std::string& op, std::vector<Datum> arguments, const Prepared& prepared,
                   const spec::Node& node, Run& run) {
  const spec::OpRow* row = run.options.ops->find(op);
  const Body body = row ? find_body(*row) : nullptr;
  if (!body) throw OpError("a loop needs " + op + ", which has no body");
  for (std::size_t i = arguments.size(); i < row->schema.arguments.size(); ++i) {
    arguments.push_back(default_datum(row->schema.arguments[i]));
  }
  run.node = &node;
  run.graph = prepared.graph;
  return run_op(*row, body, arguments, run).front();
}

std::vector<Datum> run_while(const Prepared& prepared, const spec::Node& node,
                             const Environment& environment, Run& run) {
  const Prepared& condition = loop_graph(prepared, node, 0);
  const Prepared& body = loop_graph(prepared, node, 1);
  Datum::List carried = loop_list(node, 2, environment);
  const Datum::List additional = loop_list(node, 3, environment);
  for (std::int64_t iteration = 0;; ++iteration) {
    const Datum::List inputs = joined(carried, additional);
    const std::vector<Datum> asked = run_graph(condition, inputs, run);
    run.node = &node;
    if (asked.size() != 1) throw OpError("the condition has another number of results than one");
    if (truth(asked.front())) {
      if (iteration == spec::kMostIterations) {
        throw OpError("the loop is not over after " + std::to_string(iteration) + " iterations");
      }
      Datum::List results = run_graph(body, inputs, run);
      run.node = &node;
      if (results.size() != carried.size()) {
        throw OpError("the body results in " + std::to_string(results.size()) + " values, where " +
                      std::to_string(carried.size()) + " are carried");
      }
      carried = std::move(results);
      continue;
    }
    if (iteration > 0) return carried;
    for (Datum& value : carried) {
      if (value.as<TensorRef>()) {
        value = run_for_loop("aten.clone.default", {value}, prepared, node, run);
      }
    }
    return carried;
  }
}

// The slices of the tensors that a scan or map goes along.
class Slices {
 public:
  Slices(const Datum::List& tensors, const Prepared& prepared, const spec::Node& node, Run& run)
      : prepared_(prepared), node_(node), run_(run) {
    if (tensors.empty()) throw OpError("a loop along no tensor");
    for (const Datum& datum : tensors) {
      const auto* tensor = datum.as<TensorRef>();
      if (!tensor || (*tensor)->sizes.empty()) throw OpError("a loop along what has no dimension");
      if (!tensors_.empty() && (*tensor)->sizes.front() != count()) {
        throw OpError("a loop along tensors of different sizes");
      }
      tensors_.push_back(*tensor);
    }
  }

  [[nodiscard]] std::int64_t count() const { return tensors_.front()->sizes.front(); }
  // Views.
  Datum::List at(std::int64_t index) {
    Datum::List out;
    for (const TensorRef& tensor : tensors_) {
      out.push_back(run_for_loop("aten.select.int", {{tensor}, {std::int64_t{0}}, {index}},
                                 prepared_, node_, run_));
    }
    return out;
  }
  // Of the form of a slice: zeros.
  [[nodiscard]] Datum::List examples() const {
    Datum::List out;
    for (const TensorRef& tensor : tensors_) {
      const std::vector<std::int64_t> sizes(tensor->sizes.begin() + 1, tensor->sizes.end());
      out.push_back({new_tensor(tensor->dtype, sizes, tensor->device)});
    }
    return out;
  }

 private:
  std::vector<TensorRef> tensors_;
  const Prepared& prepared_;  // of the graph that the loop stands in
  const spec::Node& node_;
  Run& run_;
};

// What scan stacks, slice by slice into row-major memory. Places that are no tensor stay None.
class Stacks {
 public:
  Stacks(std::int64_t count, const Prepared& prepared, const spec::Node& node, Run& run)
      : count_(count), prepared_(prepared), node_(node), run_(run) {}

  void make(std::span<const Datum> slices) {
    for (const Datum& slice : slices) {
      const auto* tensor = slice.as<TensorRef>();
      if (!tensor) {
        stacks_.emplace_back();
        continue;
      }
      std::vector<std::int64_t> sizes = {count_};
      sizes.insert(sizes.end(), (*tensor)->sizes.begin(), (*tensor)->sizes.end());
      stacks_.push_back({new_tensor((*tensor)->dtype, std::move(sizes), (*tensor)->device)});
    }
  }
  void put(std::span<const Datum> slices, std::int64_t index) {
    if (slices.size() != stacks_.size()) throw OpError("the body has another number of results");
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (stacks_[i].is_none()) continue;
      const Datum place = run_for_loop("aten.select.int", {stacks_[i], {std::int64_t{0}}, {index}},
                                       prepared_, node_, run_);
      run_for_loop("aten.copy_.default", {place, slices[i]}, prepared_, node_, run_);
    }
  }
  Datum::List take() { return std::move(stacks_); }

 private:
  std::int64_t count_;
  const Prepared& prepared_;  // of the graph that the loop stands in
  const spec::Node& node_;
  Run& run_;
  Datum::List stacks_;
};

std::vector<Datum> run_scan(const Prepared& prepared, const spec::Node& node,
                            const Environment& environment, Run& run) {
  const Prepared& body = loop_graph(prepared, node, 0);
  const Datum::List initial = loop_list(node, 1, environment);
  Slices slices(loop_list(node, 2, environment), prepared, node, run);
  const Datum::List additional = loop_list(node, 3, environment);
  Stacks stacks(slices.count(), prepared, node, run);
  Datum::List carried = initial;
  const auto run_body = [&](Datum::List scanned) {
    Datum::List results = run_graph(body, joined(joined(carried, scanned), additional), run);
    run.node = &node;
    if (results.size() < carried.size()) throw OpError("the body results in too few values");
    return results;
  };
  const auto stacked_of = [&](const Datum::List& results) {
    return std::span(results).subspan(initial.size());
  };
  if (slices.count() == 0) {
    stacks.make(stacked_of(run_body(slices.examples())));
    return joined(initial, stacks.take());
  }
  for (std::int64_t i = 0; i < slices.count(); ++i) {
    Datum::List scanned = slices.at(i);
    if (i == 0) {  // PyTorch gives the body row-major copies of the first slices
      for (Datum& slice : scanned) {
        slice = run_for_loop("aten.clone.default", {slice, {spec::MemoryFormat::kContiguous}},
                             prepared, node, run);
      }
    }
    const Datum::List results = run_body(std::move(scanned));
    if (i == 0) stacks.make(stacked_of(results));
    stacks.put(stacked_of(results), i);
    carried.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(initial.size()));
  }
  return joined(carried, stacks.take());
}

std::vector<Datum> run_map(const Prepared& prepared, const spec::Node& node,
                           const Environment& environment, Run& run) {
  const Prepared& body = loop_graph(prepared, node, 0);
  Slices slices(loop_list(node, 1, environment), prepared, node, run);
  const Datum::List additional = loop_list(node, 2, environment);
  if (slices.count() == 0) throw OpError("a map along no slice");
  std::vector<Datum::List> by_result;
  for (std::int64_t i = 0; i < slices.count(); ++i) {
    Datum::List results = run_graph(body, joined(slices.at(i), additional), run);
    if (i == 0) by_result.resize(results.size());
    if (results.size() != by_result.size()) throw OpError("the body has another number of results");
    for (std::size_t r = 0; r < results.size(); ++r) by_result[r].push_back(std::move(results[r]));
  }
  std::vector<Datum> out;
  for (Datum::List& results : by_result) {
    const bool is_none = results.front().is_none();
    out.push_back(
        is_none ? Datum{}
                : run_for_loop("aten.stack.default", {{std::move(results)}}, prepared, node, run));
  }
  return out;
}

}  // namespace

std::vector<Datum> run_loop(const Prepared& prepared, const spec::Node& node,
                            const Environment& environment, Run& run) {
  if (node.op == spec::kWhileLoop) return run_while(prepared, node, environment, run);
  if (node.op == spec::kScan) return run_scan(prepared, node, environment, run);
  return run_map(prepared, node, environment, run);
}

}  // namespace graphgate::reference
