// Small scope: every program up to a few nodes over a small alphabet of ops, views and mutations.
//
// Many faults of partitioning, mutation and reuse need very few nodes. What random programs hit by
// chance, this enumerates: all choices of op and operands, all choices of what is returned, and for
// each program every set of cuts. tools/tests/cross/small_scope_test.cpp runs them all.
//
//   inputs   x : f32[4], a user input, and the state w : f32[4]
//   nodes    every op of the alphabet over every value there is by then whose size fits
//   outputs  the last value alone, or every value that nodes made
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphgate::fuzz {

// What an op is, as far as the enumeration must know: how many operands, and how many elements its
// result has, from operands that have `operand_elements` each. `arguments` follow the operands.
struct SmallOp {
  std::string_view name;
  std::string_view arguments;
  std::int64_t operand_elements = 0;  // 0: any, the same for all
  std::int64_t result_elements = 0;   // 0: as the operands
  std::uint32_t operands = 1;
  bool is_commutative = false;
};

// add, neg; halves of a tensor that overlap and that do not; add_, copy_, neg_.
[[nodiscard]] std::span<const SmallOp> small_alphabet();

// A program as graph text; node i is called "n<i>", counted from 0.
struct SmallProgram {
  std::string text;
  std::uint32_t nodes = 0;
};

// Every program of exactly `nodes` nodes, in a fixed order, until `visit` returns false. Programs
// that differ in the order of a commutative op's operands alone come once. Returns how many were
// visited.
std::uint64_t for_each_small_program(std::uint32_t nodes,
                                     const std::function<bool(const SmallProgram&)>& visit);

}  // namespace graphgate::fuzz
