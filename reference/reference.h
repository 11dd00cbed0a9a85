// The reference executor: the oracle of every judge, and the only thing in reference/ that others
// call.
//
// It exists to be right, not fast: one node after the other, one obvious body per op, nothing
// fused, reused or reordered. Do not take it for serving: it computes every element through wide
// arithmetic and copies every operand.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reference/number/arithmetic.h"
#include "reference/tensor.h"
#include "reference/trial.h"
#include "reference/version_facts.h"
#include "spec/executor.h"
#include "spec/op_table.h"

namespace graphgate::reference {

struct Options {
  // kEager gives what PyTorch's eager mode would, rounded at every node. The oracle modes also fill
  // the spreads of CallResult: with worst-case radii (meaningful for programs of one node), or with
  // standard deviations. kProvenance computes as kEager does, and fills CallResult::provenance.
  Mode mode = Mode::kEager;
  // Of kSampled: go on with numbers drawn from what right executors may have.
  std::optional<Trial> trial;
  // Oracle modes take the numbers that random ops draw here for those of every executor, instead of
  // leaving them open.
  bool knows_draws = false;
  // Oracle modes: the user inputs, by place, of whose storages only the elements are known: a view
  // that reaches around them reads what is open. An input that shares its storage may not be named.
  std::vector<std::size_t> open_gaps;
  // Of kProvenance: without words its rows tell geometry and storages alone, which costs little
  // beside an eager run.
  bool provenance_words = true;
  // Snapshots every operand before each node and compares with what the op's schema declares. A
  // violation is a defect of the reference or of the op table: ErrorKind::kInternal.
  bool audit_effects = true;
  // Accept sizes 0 and 1 for a symbol whose range starts at 2: PyTorch's export writes 2 there only
  // because it specializes 0 and 1.
  bool allow_zero_and_one = false;
  // What sums of products are declared to be, where an oracle allows for them: IEEE, or what a
  // matrix unit does (number/arithmetic.h). Eager runs do not change.
  Arithmetic arithmetic;
  // The release of PyTorch whose ops it computes as, and who collects where that matters. The log
  // outlives the executor.
  Semantics semantics;
  // The ops that programs may use; must outlive the executor.
  const spec::OpTable* ops = &spec::builtin_op_table();
};

// Executor::name() is "reference-eager", "reference-worst-case", "reference-sampled" or
// "reference-provenance".
[[nodiscard]] std::unique_ptr<spec::Executor> make_executor(Options options);

// Whether the reference has a body for the op of this row.
[[nodiscard]] bool supports(const spec::OpRow& row);

// Whether it runs this op, which has no schema ("higher_order.cond").
[[nodiscard]] bool runs_higher_order(std::string_view op);

// The family that the body belongs to ("reduction"); empty when there is no body.
[[nodiscard]] std::string_view family_of(const spec::OpRow& row);

}  // namespace graphgate::reference
