// Where the numbers of random kernels come from: Philox4x32-10, a counter-based generator (Salmon,
// Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// The key is the node, by its name; the counter the call of the program, how often the node ran in
// it, and the element. So a run draws the same numbers again, calls draw different ones, and
// neither the order of nodes, elements and threads matters, nor what else the program has. Other
// numbers are passed as an input.
//
// Called by: kernels/random.cpp; who binds steps, which says for what node; and a session, which
// says when a call begins.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

namespace graphgate::optimized {

using PhiloxWords = std::array<std::uint32_t, 4>;
[[nodiscard]] PhiloxWords philox(PhiloxWords counter, std::array<std::uint32_t, 2> key);

// While one lives, launches on this thread belong to that call of a program.
class DrawScope {
 public:
  explicit DrawScope(std::uint64_t call);
  ~DrawScope();
  DrawScope(const DrawScope&) = delete;
  DrawScope& operator=(const DrawScope&) = delete;

 private:
  std::uint64_t call_before_;
  std::map<std::uint64_t, std::uint32_t> launches_before_;
};

// A node that draws. What is bound while a scope of its name lives belongs to it.
struct DrawSource {
  std::uint64_t node = 0;
};
class DrawSourceScope {
 public:
  explicit DrawSourceScope(std::string_view node);
  ~DrawSourceScope();
  DrawSourceScope(const DrawSourceScope&) = delete;
  DrawSourceScope& operator=(const DrawSourceScope&) = delete;

 private:
  DrawSource before_;
};
[[nodiscard]] DrawSource draw_source();

// The draws of one launch: made when it runs.
class Draws {
 public:
  explicit Draws(DrawSource source);

  // Numbers of element `index`, `which` of several: 64 bits, or a double in [0, 1) of 53 bits.
  [[nodiscard]] std::uint64_t bits(std::int64_t index, std::uint32_t which = 0) const;
  [[nodiscard]] double uniform(std::int64_t index, std::uint32_t which = 0) const;
  // In (0, 1].
  [[nodiscard]] double positive(std::int64_t index, std::uint32_t which = 0) const {
    return 1 - uniform(index, which);
  }
  // In [0, count); 0 stands for 2^64.
  [[nodiscard]] std::uint64_t below(std::uint64_t count, std::int64_t index) const;

 private:
  DrawSource source_;
  std::uint64_t call_;
  std::uint32_t launch_;  // of this node in the call
};

}  // namespace graphgate::optimized
