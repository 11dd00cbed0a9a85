// Ops that the op table, or an executor, lacks: one form of words for all, so that a report counts
// by op whatever process has said it.
//
//   node 'y': the reference has no body for aten.a.default, nor for aten.b.default
//
// Readers of programs and executors say it of a whole program at once; tools/ counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::spec {

// What becomes of nodes in a text whose ops the table lacks. They are refused as
// kUnsupported, all of them at once and after what is no text at all; or kept, with arguments under
// the names that the text gives.
enum class UnknownOps { kRefuse, kKeep };

// The party that lacks it: how the sentence begins.
inline constexpr std::string_view kNoSchema = "the op table has no schema";
inline constexpr std::string_view kNoBody = "the reference has no body";
inline constexpr std::string_view kNoKernel = "the optimized executor has no kernel";

// The nodes of a program whose ops somebody lacks, in order.
class MissingOps {
 public:
  void add(std::string_view node, std::string_view op);
  [[nodiscard]] bool empty() const { return ops_.empty(); }
  // Each once, as they came.
  [[nodiscard]] const std::vector<std::string>& ops() const { return ops_; }
  // kUnsupported: the sentence, with the first node in front where it has a name.
  [[nodiscard]] Error error(std::string_view who_lacks_what) const;

 private:
  std::string node_;  // the first
  std::vector<std::string> ops_;
};

// The ops that such a sentence names, wherever it stands in `message`; none where there is none.
[[nodiscard]] std::vector<std::string> missing_ops_in(std::string_view message);

// Adds the ops of a graph and its subgraphs that the table lacks. Higher-order ops have no schema
// and are left out; an op that a node has for an argument is its executor's to find.
void add_ops_without_schema(const Graph& graph, const OpTable& ops, MissingOps& missing);

// kUnsupported where there are any.
[[nodiscard]] Result<void> check_schemas_known(const Graph& graph, const OpTable& ops);

}  // namespace graphgate::spec
