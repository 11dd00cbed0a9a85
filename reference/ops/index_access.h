// Reading and writing elements that indices name: what the indexing and scatter families share.
//
// Positions count elements of a tensor in row-major order, whatever its strides. Elements move with
// their bytes and marks (reference/movement.h), so a gather adds nothing to any radius. An index
// that depended on a tie (Whole::undecided) reaches elements that nobody can foretell: these get an
// infinite radius in oracle runs. Eager runs have no undecided indices.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "reference/call.h"

namespace graphgate::reference {

// An element named by an index.
struct Picked {
  std::int64_t position = 0;
  bool undecided = false;
};

// What a negative index means: counted from the back, or an error.
enum class Negative : std::uint8_t { kWraps, kRefused };

// Throws OpError unless an index tensor is int64 or int32.
void require_index(const Tensor& index);
// The elements of one. Throws as require_index().
[[nodiscard]] Array<Whole> load_index(const Tensor& index);

// `index` as a coordinate in [0, size). Throws OpError when a decided one is outside; an undecided
// one is brought inside.
[[nodiscard]] std::int64_t checked_index(Whole index, std::int64_t size, std::int64_t dim,
                                         Negative negative);

// Sizes as the ops along one dimension see them: a tensor without dimensions has one element along
// one dimension.
[[nodiscard]] Sizes at_least_1d(const Sizes& sizes);

// gather's and scatter's addressing: for each element of `index`, the position in an array of
// `sizes` with the same coordinates but for `dim`, where the coordinate is the element itself. Both
// have the same rank, at least 1; negative indices are refused.
[[nodiscard]] std::vector<Picked> positions_along(const Array<Whole>& index, const Sizes& sizes,
                                                  std::int64_t dim);
// The positions of whole rows: for each coordinate before `dim`, for each element of `index`, for
// each coordinate after `dim`. `sizes` has rank 1 or more.
[[nodiscard]] std::vector<Picked> rows_along(const Sizes& sizes, std::int64_t dim,
                                             const std::vector<Whole>& index, Negative negative);
// The first of both by blocks: `index` has one of the sizes of at_least_1d().
class PositionsAlong {
 public:
  PositionsAlong(const Tensor& index, const Sizes& sizes, std::int64_t dim);
  // The next ones. So many must be left.
  void next(std::span<Picked> picked);

 private:
  Reader<Whole> index_;
  ElementWalk starts_;  // of every element, its coordinate along dim set to 0
  std::vector<Whole> block_;
  std::int64_t size_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t dim_ = 0;
};
// For each element of an array of `part`, the position with the same coordinates in an array of
// `whole`. Equal ranks, no size of part larger.
[[nodiscard]] std::vector<std::int64_t> corner_positions(const Sizes& part, const Sizes& whole);

// The positions of the elements that differ from zero. From the first element on of which that is
// undecided, all that follow are undecided too: each might be one further along the result.
[[nodiscard]] std::vector<Picked> true_positions(Mode mode, const Tensor& tensor);
// Throws Undecidable where the oracle cannot tell of an element whether it is zero.
void require_decided_zeros(Mode mode, const Tensor& tensor);
// Whether nobody can tell of some element if it is zero.
[[nodiscard]] bool has_undecided_zero(Mode mode, const Tensor& tensor);
// The results of nonzero: coordinates of true_positions, [count, rank], strides {1, count}.
[[nodiscard]] TensorRef nonzero_of(Mode mode, const Tensor& tensor);

// For each element of an array of `sizes`, the position of the element of an array of `from` that
// broadcasting puts there. Throws OpError when it does not broadcast.
[[nodiscard]] std::vector<std::int64_t> stretched_positions(const Sizes& from, const Sizes& sizes);

// A new tensor whose i-th element is self's element picked[i]. Contiguous if `strides` is empty.
[[nodiscard]] TensorRef pick(const Tensor& self, const Sizes& sizes,
                             const std::vector<Picked>& picked, Sizes strides = {});

// The same, contiguous, of elements that next(block) names block by block, in order.
[[nodiscard]] TensorRef pick_blocks(const Tensor& self, const Sizes& sizes,
                                    const std::function<void(std::span<Picked>)>& next);

// The picked elements of `target` take those of `source` in turn, the last one of several. Several
// different ones leave it open which (PyTorch calls it undefined): an oracle's radius then reaches
// each. Undecided picks are the caller's business (mark_lines_unknown, mark_all_unknown).
void place(Mode mode, Tensor& target, const std::vector<Picked>& picked, const Tensor& source,
           const std::vector<std::int64_t>& source_positions);

// Says that nothing is known of these elements.
void mark_unknown(Tensor& tensor, const std::vector<std::int64_t>& positions);
void mark_all_unknown(Tensor& tensor);

// The elements of `index` that are undecided make unknown what they may reach: in `target`, all
// positions that differ from picked[i] along `dim` only.
void mark_lines_unknown(Tensor& target, const std::vector<Picked>& picked, std::int64_t dim);

}  // namespace graphgate::reference
