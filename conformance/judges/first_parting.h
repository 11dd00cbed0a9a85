// Where two runs part, node by node: two executors of one program, or two programs that are meant
// to compute the same.
//
// Both are run with taps (judge_nodes.h), so that what every node makes is seen, and once as they
// are, since what a plan does wrong may go where every value is an output. A number counts as the
// same where both lie within what rounding explains of the estimate of an oracle, integers and
// layouts of elements where they are equal. The first node that makes something else is named, with
// what it read, which of its elements differ, and what of the calls and states is off behind it.
// What differs where the oracle cannot tell which is right is neither: it is left open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/run/runs.h"

namespace graphgate::conformance {

// A tensor of which elements differ, seen from far: at most 48 rows of 96 cells, each of several
// elements, in row-major order.
struct ElementMap {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::int64_t> sizes;  // of the tensor
  std::vector<double> shares;       // by cell: how much of it differs, 0 to 1
  std::vector<double> distances;    // the largest distance there; infinite where one is no number
};

struct Parting {
  bool is_found = false;
  std::size_t call = 0;  // of the script
  std::string node;      // of the left program, with its op; empty with other_node: none is known
  std::string op;
  std::string other_node;  // its counterpart on the right; empty where there is none
  std::string other_op;
  std::string who;                   // "LEFT", "RIGHT" or "both": who is off; empty of two programs
  std::string element;               // the worst element, in words
  std::vector<std::string> read;     // a line for each operand
  std::string picture;               // of the elements that differ, whole lines; may be empty
  ElementMap elements;               // the same with numbers; empty where there is no picture
  std::vector<std::string> calls;    // a line for each call of which something is off
  std::vector<std::string> open;     // a line for each call of which something is left open
  std::size_t nodes = 0;             // that were compared, over all calls
  std::vector<std::string> remarks;  // what could not be compared
};

// What the sides are called in words.
struct PartingNames {
  std::string left;
  std::string right;
};

// Compares two executors on the same script. The oracle is that of `left`. kUnsupported where one
// side cannot be run with taps.
[[nodiscard]] Result<Parting> part_executors(Runs& left, Runs& right, const PartingNames& names,
                                             double false_alarm_rate);

// Compares two scripts that differ in their programs alone, call by call: nodes are matched by
// their ops, in order. Each runs on its own subject. kBadInput where a program has another count of
// outputs than its counterpart.
[[nodiscard]] Result<Parting> part_programs(Runs& left, Runs& right, const PartingNames& names,
                                            double false_alarm_rate);

// Returns a picture of which elements of a tensor of these sizes differ, in row-major order: a row
// a line, '.' for none, 'x' for some and '#' for all of those that a character stands for. At most
// 16 lines of 64 characters. Empty for a tensor of one element or none.
[[nodiscard]] std::string draw_elements(const std::vector<bool>& differs,
                                        const std::vector<std::int64_t>& sizes);

// Returns the same with numbers. `distances` has one for each element.
[[nodiscard]] ElementMap map_elements(const std::vector<bool>& differs,
                                      const std::vector<double>& distances,
                                      const std::vector<std::int64_t>& sizes);

}  // namespace graphgate::conformance
