// Programs on which a deviation shows: tests of the part that decides wrongly, of whole runs and of
// shadow memory take the same ones.
#pragma once

namespace graphgate::optimized::programs {

inline constexpr const char* kThreeProducts = R"(program "three" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%b, %x)
  output %c
})";

inline constexpr const char* kFourProducts = R"(program "short" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%b, %x)
  %d = aten.mm.default(%c, %x)
  output %d
})";

inline constexpr const char* kInPlaceThenReuse = R"(program "twice" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.neg.default(%a)
  %c = aten.mm.default(%x, %x)
  %d = aten.mm.default(%b, %c)
  output %d
})";

inline constexpr const char* kTwoSizes = R"(program "sizes" {
  input %x : f32[8, 8]
  input %y : f32[64, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%y, %x)
  %d = aten.mm.default(%c, %b)
  output %d
})";

inline constexpr const char* kProductsOfState = R"(program "state" {
  parameter %w "w" : f32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  input %x : f32[2, 2]
  %a = aten.mm.default(%x, %w)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%b, %x)
  output %c
})";

// %s is used in both arms; the first is done with it when the second has hardly begun.
inline constexpr const char* kArms = R"(program "arms" {
  input %p : bool[]
  input %x : f32[8, 8]
  graph @yes {
    input %u : f32[8, 8]
    input %ux : f32[8, 8]
    %u1 = aten.mm.default(%u, %ux)
    output %u1
  }
  graph @no {
    input %v : f32[8, 8]
    input %vx : f32[8, 8]
    %v1 = aten.mm.default(%vx, %vx)
    %v2 = aten.mm.default(%v1, %vx)
    %v3 = aten.mm.default(%v2, %v)
    output %v3
  }
  %s = aten.mm.default(%x, %x)
  %y = higher_order.cond(%p, @yes, @no, [%s, %x])
  output %y
})";

inline constexpr const char* kSymbolicProducts = R"(program "symbolic" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0, s0]
  %a : f32[s0, s0] = aten.mm.default(%x, %x)
  %b : f32[s0, s0] = aten.mm.default(%a, %x)
  %c : f32[s0, s0] = aten.mm.default(%a, %b)
  output %c
})";

// One tensor is written in place, and read by a node that knows it by another name (vllm#52033).
inline constexpr const char* kSharedInput = R"(program "shared" {
  input %x : f32[8]
  %h = aten.mul.Tensor(%x, 2.0)
  %view = aten.view.default(%h, [2, 4])
  %shared = aten.mul.Tensor(%view, 5.0)
  %experts = aten.add_.Tensor(%h, 1.0)
  output %shared
  output %experts
})";

// t's last reader in program order is u, on stream 1. v, on stream 0, comes behind it in program
// order, and no event says that it does (row C17 of the catalogue).
inline constexpr const char* kSideStream = R"(program "side" {
  input %x : f32[8]
  %p = aten.mul.Tensor(%x, 2.0)
  %t = aten.mul.Tensor(%x, 3.0)
  %u = aten.add.Tensor(%t, 1.0)
  %v = aten.mul.Tensor(%p, 5.0)
  %w = aten.add.Tensor(%u, %v)
  output %w
})";

inline constexpr const char* kPieces = R"(program "pieces" {
  symbol s0 in [1, 1024]
  input %x : f32[s0]
  %a : f32[s0] = aten.neg.default(%x)
  %b : f32[s0] = aten.mul.Tensor(%a, 3.0)
  output %b
})";

inline constexpr const char* kRowSum = R"(program "sum" {
  symbol s0 in [1, 64]
  input %x : f32[s0, 2]
  %y : f32[2] = aten.sum.dim_IntList(%x, [0])
  output %y
})";

inline constexpr const char* kScatter = R"(program "scatter" {
  symbol s0 in [1, 64]
  input %z : f32[3]
  input %x : f32[s0]
  input %i : i64[s0]
  %y : f32[3] = aten.index_put_.default(%z, [%i], %x)
  output %y
})";

inline constexpr const char* kLookup = R"(program "lookup" {
  symbol s0 in [1, 8]
  symbol s1 in [1, 100]
  input %i : i64[s0]
  input %w : f32[s1, 2]
  %y : f32[s0, 2] = aten.embedding.default(%w, %i)
  output %y
})";

inline constexpr const char* kViewedOutput = R"(program "viewed" {
  input %x : f32[8, 8]
  %a = aten.flip.default(%x, [0])
  %v = aten.view.dtype(%a, i16)
  %b = aten.cumsum.default(%x, 0)
  %c = aten.cumsum.default(%b, 0)
  %d = aten.cumsum.default(%c, 0)
  output %v
  output %d
})";

// %s is the sum in place: the storage of %y, alive until it is returned.
inline constexpr const char* kReturnedAlias = R"(program "alias" {
  input %x : f32[4]
  %y = aten.add.Tensor(%x, 1.0)
  %s = aten.add_.Tensor(%y, %x)
  %a = aten.neg.default(%x)
  %b = aten.mul.Tensor(%a, 10.0)
  %c = aten.add.Tensor(%b, %s)
  output %c
})";

inline constexpr const char* kCounter = R"(program "counter" {
  buffer %b "b" : f32[1] = [0.0]
  parameter %w "w" : f32[1] = [10.0]
  input %x : f32[1]
  %t = aten.add_.Tensor(%b, 1.0)
  %u = aten.mul.Tensor(%w, %x)
  %y = aten.add.Tensor(%u, %b)
  output %y
})";

inline constexpr const char* kScaledRows = R"(program "weights" {
  symbol s0 in [1, 1024]
  parameter %w "w" : f32[2] = [1.0, 1.0]
  input %x : f32[s0, 2]
  %a : f32[s0, 2] = aten.mul.Tensor(%x, 2.0)
  %y : f32[s0, 2] = aten.add.Tensor(%a, %w)
  output %y
})";

inline constexpr const char* kTwoInputs = R"(program "aliases" {
  input %a : f32[2]
  input %b : f32[2]
  %c = aten.add_.Tensor(%a, 1.0)
  %d = aten.mul.Tensor(%b, 2.0)
  output %d
})";

}  // namespace graphgate::optimized::programs
