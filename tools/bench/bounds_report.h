// How tight bounds are, and what they catch: `graphgate ops --bounds-report`.
//
// Two numbers per op family. How far recorded results of PyTorch lie inside the bound: the median
// of bound over error. And how many planted corruptions the bound of the node alone catches. In
// each, one element of a result moves by a relative 2^-8, away from zero or toward it. It moves by
// the least that its dtype can move, where that is more. The corrupted results are right but for
// that element: those that PyTorch recorded of single ops, and those of the reference at every node
// of programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/op_table.h"
#include "spec/tensor.h"
#include "tools/report/missing_ops.h"

namespace graphgate::tools {

struct Planted {
  std::int64_t planted = 0;
  std::int64_t caught = 0;
  std::vector<double> ratios;  // |error| / bound of right recorded results with an error
  [[nodiscard]] double share() const {
    return planted == 0 ? 1 : static_cast<double>(caught) / static_cast<double>(planted);
  }
};

struct BoundsReport {
  std::map<std::string, Planted> by_family;
  std::map<std::string, Planted> by_op;  // "aten.prod.dim_int bf16": of the result
  MissingOpCounts missing_ops;           // of calls, and of programs, that nothing was planted in
};

struct BoundsRequest {
  std::string cases;                // a file of op cases; empty: none
  std::vector<std::string> models;  // archives with recordings beside them
  int rounds = 4;  // corruptions per tensor of an op case, and runs of each program
  std::uint64_t seed = 1;
};

[[nodiscard]] Result<BoundsReport> report_bounds(const BoundsRequest& request,
                                                 const spec::OpTable& ops);

// The table of docs/bounds.md: a line for each family, then the ops below `least`.
[[nodiscard]] std::string print_bounds_report(const BoundsReport& report, double least = 0.95);

// The tensor, packed, with one finite element other than 0, drawn by the seed, moved by 2^-8 of
// itself or the least that is more. Nothing where there is no such element, or it would overflow.
[[nodiscard]] std::optional<spec::HostTensor> corrupted(const spec::HostTensor& tensor,
                                                        std::uint64_t seed);

}  // namespace graphgate::tools
