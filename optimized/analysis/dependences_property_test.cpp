// Dependences of random accesses against sets of bytes, and how many there are.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "optimized/analysis/dependences.h"

namespace graphgate::optimized {
namespace {

// The bytes of a tensor's elements, one by one.
std::set<std::int64_t> bytes_of(const Tensor& tensor) {
  std::set<std::int64_t> out;
  std::vector<std::int64_t> index(tensor.sizes.size(), 0);
  const std::int64_t count = tensor.count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t element = tensor.offset;
    std::int64_t rest = i;
    for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
      element += rest % tensor.sizes[d] * tensor.strides[d];
      rest /= tensor.sizes[d];
    }
    for (std::int64_t b = 0; b < tensor.item_bytes(); ++b) {
      out.insert(element * tensor.item_bytes() + b);
    }
  }
  return out;
}

bool meet(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::int64_t byte) { return b.contains(byte); });
}

Tensor random_tensor(StorageIndex storages) {
  Tensor tensor;
  tensor.dtype = *rc::gen::element(spec::DType::kFloat32, spec::DType::kFloat16);
  const auto rank = *rc::gen::inRange<std::size_t>(0, 3);
  for (std::size_t d = 0; d < rank; ++d) {
    tensor.sizes.push_back(*rc::gen::inRange<std::int64_t>(0, 5));
    tensor.strides.push_back(*rc::gen::element<std::int64_t>(0, 1, 2, 3, 4, 8));
  }
  tensor.offset = *rc::gen::inRange<std::int64_t>(0, 12);
  tensor.storage = *rc::gen::inRange<StorageIndex>(0, storages);
  return tensor;
}

RC_GTEST_PROP(ProvablyDisjoint, NeverSaysSoOfTensorsThatShareAByte, ()) {
  const Tensor a = random_tensor(1);
  const Tensor b = random_tensor(1);
  if (provably_disjoint(a, b)) RC_ASSERT(!meet(bytes_of(a), bytes_of(b)));
}

// A graph of copies between random views.
SizedGraph random_copies(std::size_t count) {
  const spec::OpRow* row = spec::builtin_op_table().find("aten.copy_.default");
  SizedGraph graph;
  graph.storages.resize(2);
  graph.blocks.push_back({"main", {}, {}});
  const auto add_value = [&] {
    graph.values.push_back({.tensor = random_tensor(2)});
    return spec::ValueId{static_cast<std::uint32_t>(graph.values.size() - 1)};
  };
  for (std::size_t n = 0; n < count; ++n) {
    SizedNode node;
    node.row = row;
    const spec::ValueId target = add_value();
    const spec::ValueId source = add_value();
    node.node = {"n", "aten.copy_.default", {{"self", {target}}, {"src", {source}}}, {}};
    node.node.results.push_back({false, {target}});
    graph.blocks.front().nodes.push_back(std::move(node));
  }
  return graph;
}

// A set of nodes, 64 to a word.
class NodeSet {
 public:
  explicit NodeSet(std::size_t nodes) : words_((nodes + 63) / 64, 0) {}
  void add(std::size_t node) { words_[node / 64] |= std::uint64_t{1} << (node % 64); }
  void add(const NodeSet& other) {
    std::transform(words_.begin(), words_.end(), other.words_.begin(), words_.begin(),
                   [](std::uint64_t a, std::uint64_t b) { return a | b; });
  }
  [[nodiscard]] bool has(std::size_t node) const {
    return ((words_[node / 64] >> (node % 64)) & 1) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// By node: the nodes that it follows, over others too.
std::vector<NodeSet> closure_of(const Dependences& dependences) {
  std::vector<NodeSet> out(dependences.size(), NodeSet(dependences.size()));
  for (std::size_t n = 0; n < dependences.size(); ++n) {
    for (const Dependence& one : dependences[n]) {
      out[n].add(one.node);
      out[n].add(out[one.node]);
    }
  }
  return out;
}

// Whoever shares a byte that one of the two writes is reached; and no edge is there for nothing,
// as far as byte ranges go. (What has no element is kept behind what makes its storage.)
RC_GTEST_PROP(Dependences, AreCompleteAndHaveAReason, ()) {
  const SizedGraph graph = random_copies(*rc::gen::inRange<std::size_t>(2, 12));
  const Dependences dependences = analyze_dependences(graph, 0);
  const auto follows = closure_of(dependences);
  const auto tensor = [&](std::size_t node, std::size_t which) -> const Tensor& {
    return graph.values[2 * node + which].tensor;
  };
  for (std::size_t n = 0; n < dependences.size(); ++n) {
    for (std::size_t m = 0; m < n; ++m) {
      bool shares = false;
      bool may_share = false;
      for (const auto& [a, b] : {std::pair{0, 0}, std::pair{0, 1}, std::pair{1, 0}}) {
        const Tensor& x = tensor(n, static_cast<std::size_t>(a));
        const Tensor& y = tensor(m, static_cast<std::size_t>(b));
        shares |= x.storage == y.storage && meet(bytes_of(x), bytes_of(y));
        const bool is_empty = x.count() == 0 || y.count() == 0;
        may_share |= !provably_disjoint(x, y) || (is_empty && x.storage == y.storage);
      }
      if (shares) RC_ASSERT(follows[n].has(m));
      const bool is_edge = std::any_of(dependences[n].begin(), dependences[n].end(),
                                       [&](const Dependence& one) { return one.node == m; });
      if (is_edge) RC_ASSERT(may_share);
    }
  }
}

// Many columns of one storage written and the whole read, over and over: every reader follows
// every column's last writer, and edges stay few.
TEST(Dependences, StayFewWhereAWholeIsReadAfterManyParts) {
  constexpr std::int64_t kColumns = 300;
  constexpr std::size_t kRounds = 4;
  const spec::OpTable& ops = spec::builtin_op_table();
  SizedGraph graph;
  graph.storages.resize(2);
  graph.blocks.push_back({"main", {}, {}});
  const auto value = [&](std::int64_t columns, std::int64_t offset, StorageIndex storage) {
    SizedValue out;
    out.tensor.sizes = {2, columns};
    out.tensor.strides = {kColumns, 1};
    out.tensor.offset = offset;
    out.tensor.storage = storage;
    graph.values.push_back(std::move(out));
    return spec::ValueId{static_cast<std::uint32_t>(graph.values.size() - 1)};
  };
  const auto add = [&](spec::ValueId target, spec::ValueId source) {
    SizedNode node{.node = {"n", "aten.copy_.default", {{"self", {target}}, {"src", {source}}}, {}},
                   .row = ops.find("aten.copy_.default")};
    node.node.results.push_back({false, {target}});
    graph.blocks.front().nodes.push_back(std::move(node));
  };
  const spec::ValueId other = value(1, 0, 1);
  const spec::ValueId sink = value(kColumns, kColumns, 1);
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::int64_t c = 0; c < kColumns; ++c) add(value(1, c, 0), other);
    for (std::int64_t r = 0; r < kColumns; ++r) add(sink, value(kColumns, 0, 0));
  }
  const Dependences dependences = analyze_dependences(graph, 0);
  const auto follows = closure_of(dependences);
  std::size_t edges = 0;
  for (const auto& list : dependences) edges += list.size();
  EXPECT_LT(edges, 64 * dependences.size()) << "without a bound, 150 for each node";
  const auto per_round = static_cast<std::size_t>(2 * kColumns);
  for (std::size_t n = 0; n < follows.size(); ++n) {
    if (n % per_round < static_cast<std::size_t>(kColumns)) continue;  // a writer
    for (std::size_t m = 0; m < n; ++m) {
      const bool is_writer = m % per_round < static_cast<std::size_t>(kColumns);
      if (is_writer && !follows[n].has(m)) FAIL() << n << " does not follow " << m;
    }
  }
}

}  // namespace
}  // namespace graphgate::optimized
