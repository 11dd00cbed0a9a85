// Call: one execution of one op, as its body sees it.
//
// A body asks for arguments by the schema's names (defaults are filled in), computes with Arrays,
// and emits one result per return of the schema. It never asks whether it is the in-place or the
// out= form: emit() writes into the aliased argument when the schema says so, and allocates
// otherwise. So `add`, `add_` and `add.out` share one body.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/array.h"
#include "reference/layout.h"
#include "reference/promotion.h"
#include "reference/tensor.h"
#include "spec/op_table.h"

namespace graphgate::reference {

class Call {
 public:
  // `arguments` has one Datum per argument of the row's schema, in order. Row and arguments must
  // outlive the call.
  Call(Mode mode, const spec::OpRow& row, const std::vector<Datum>& arguments);
  Call(Mode mode, const spec::OpRow& row, std::vector<Datum>&& arguments) = delete;

  // The seed of the numbers that the op draws. The run gives each call another one.
  // With `are_known` the numbers are taken for those of every executor.
  void seed_draws(std::uint64_t seed, bool are_known) {
    draw_seed_ = seed;
    knows_draws_ = are_known;
  }
  [[nodiscard]] bool knows_draws() const { return knows_draws_ || mode_ == Mode::kEager; }
  [[nodiscard]] std::uint64_t draw_seed() const { return draw_seed_; }

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] const spec::OpRow& row() const { return row_; }

  // Arguments by name. has() is false for names that the schema lacks and for None; the others
  // throw OpError when the argument is missing or of another kind.
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] const Datum& datum(std::string_view name) const;
  [[nodiscard]] const TensorRef& tensor(std::string_view name) const;
  [[nodiscard]] TensorRef optional_tensor(std::string_view name) const;       // null for None
  [[nodiscard]] std::vector<TensorRef> tensors(std::string_view name) const;  // null for None
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;  // a float, or an int as one
  [[nodiscard]] std::optional<double> optional_real(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] Sizes integers(std::string_view name) const;  // a lone int is a list of one
  [[nodiscard]] std::optional<Sizes> optional_integers(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] std::optional<spec::DType> optional_dtype(std::string_view name) const;
  [[nodiscard]] std::optional<spec::MemoryFormat> optional_format(std::string_view name) const;
  // The argument `device`, or `otherwise` when absent or None.
  [[nodiscard]] spec::Device device_or(const spec::Device& otherwise) const;

  // True when the next result goes into an argument that the schema writes.
  [[nodiscard]] bool next_is_written() const;
  // The tensor that the next result goes into; null when a new one is made.
  [[nodiscard]] TensorRef next_target() const;
  // Gives a written out= tensor other sizes, as PyTorch's resize_output does: row-major or with
  // `strides`, from the same offset on, over the same storage, which grows when it must. What it
  // holds is left open. Throws Undecidable where an operand lies in that storage, too.
  void resize_out(const TensorRef& target, const Sizes& sizes, const Sizes& strides = {});

  // The next result: `array` rounded into `dtype`. A new tensor has `strides` (contiguous if empty)
  // and the device of result_device(). Written arguments keep their own dtype and geometry; an
  // out= tensor of other sizes is resized.
  template <class N>
  void emit(const Array<N>& array, spec::DType dtype, const Sizes& strides = {});
  // The same, of numbers that make(block) fills into a std::span<N>, block by block in row-major
  // order. Each block is written before the next is made: what make() reads must not be changed by
  // that (reads_before_writing() tells).
  template <class N, class Make>
  void emit_blocks(const Sizes& sizes, spec::DType dtype, const Sizes& strides, Make&& make);
  // The same, of the elements of another tensor, converted to `as`, which shares no memory with the
  // result.
  template <class N>
  void emit_tensor(const Tensor& tensor, spec::DType as, spec::DType dtype);
  // Where the next result of these sizes goes; who writes it emits it after that. Throws OpError
  // where a written argument has other sizes.
  [[nodiscard]] TensorRef place_result(const Sizes& sizes, spec::DType dtype,
                                       const Sizes& strides = {});
  // Whether the next result, of these sizes, can be written block by block while an operand of the
  // same sizes is read so: it lies elsewhere, or element by element where the operand does.
  [[nodiscard]] bool reads_before_writing(const Tensor& operand, const Sizes& sizes) const;
  // The next result: a view of `base`. In the in-place form, base itself takes the geometry.
  void emit_view(const TensorRef& base, Sizes sizes, Sizes strides, std::int64_t offset);
  // The next result, as it is: a list of views, a number, a tensor made by the body.
  void emit_datum(Datum datum) { results_.push_back(std::move(datum)); }

  // Overwrites an argument that the schema writes without returning it (vLLM's out arguments).
  template <class N>
  void write(std::string_view name, const Array<N>& array) {
    store(*tensor(name), array);
  }

  // The device of new results: that of the first tensor argument with dimensions that is not on
  // the CPU, else of the first tensor; the CPU if there is none.
  [[nodiscard]] spec::Device result_device() const;

  [[nodiscard]] std::vector<Datum>& results() { return results_; }
  [[nodiscard]] const std::vector<Datum>& arguments() const { return arguments_; }

 private:
  [[nodiscard]] const Datum* find(std::string_view name) const;
  Mode mode_;
  std::uint64_t draw_seed_ = 0;
  bool knows_draws_ = false;
  const spec::OpRow& row_;
  const std::vector<Datum>& arguments_;
  std::vector<Datum> results_;
};

// Computed in the common dtype `dtype`, for a target of another one, into which an in-place or out=
// op converts after that.
template <class N>
void round_to_common(std::span<N> numbers, spec::DType dtype, const Tensor& target) {
  if (target.dtype == dtype) return;
  if constexpr (std::is_same_v<N, Whole>) {
    if (spec::is_floating_point(dtype)) return;
    for (Whole& x : numbers) x.value = wrap_to(x.value, dtype);
  } else {
    if (!spec::is_floating_point(dtype)) return;
    for (N& x : numbers) x = round_edge(x, dtype);
  }
}

template <class N, class Make>
void Call::emit_blocks(const Sizes& sizes, spec::DType dtype, const Sizes& strides, Make&& make) {
  const TensorRef target = place_result(sizes, dtype, strides);
  Writer<N> writer(*target);
  for_each_block<N>(target->count(), make, [&](std::span<N> block) {
    round_to_common(block, dtype, *target);
    writer.write(block);
  });
  emit_datum({target});
}

template <class N>
void Call::emit(const Array<N>& array, spec::DType dtype, const Sizes& strides) {
  if constexpr (requires { typename N::Real; }) {  // complex numbers, of two parts
    const TensorRef target = place_result(array.sizes, dtype, strides);
    store(*target, target->dtype == dtype ? array : round_all(array, dtype));
    emit_datum({target});
  } else {
    auto next = array.data.begin();
    emit_blocks<N>(array.sizes, dtype, strides, [&](std::span<N> block) {
      std::copy_n(next, block.size(), block.begin());
      next += std::ssize(block);
    });
  }
}

template <class N>
void Call::emit_tensor(const Tensor& tensor, spec::DType as, spec::DType dtype) {
  Reader<N> reader(tensor, as);
  emit_blocks<N>(tensor.sizes, dtype, {}, [&](std::span<N> block) { reader.read(block); });
}

// Runs `body.template operator()<N>()` with the number type of a mode and a dtype:
//   with_number(call.mode(), dtype, [&]<class N>() { ... });
template <class Body>
void with_real(Mode mode, Body&& body) {
  switch (mode) {
    case Mode::kEager:
    case Mode::kProvenance:
      body.template operator()<double>();
      break;
    case Mode::kWorstCase:
      body.template operator()<Bounded>();
      break;
    case Mode::kSampled:
      body.template operator()<Sampled>();
      break;
  }
}
template <class Body>
void with_number(Mode mode, spec::DType dtype, Body&& body) {
  if (spec::is_floating_point(dtype)) {
    with_real(mode, std::forward<Body>(body));
  } else {
    body.template operator()<Whole>();
  }
}

// A number argument (Datum holding bool, int or float) as N in the arithmetic of `dtype`: rounded
// to float32 for float32 and narrower dtypes, as ATen's kernels hold scalars.
template <class N>
[[nodiscard]] N number(const Datum& datum, spec::DType dtype);

// Between what a number argument lies: twice its value, but for floats that an oracle run knows
// within a radius. Throws Undecidable where it knows nothing of one.
struct NumberRange {
  long double least = 0;
  long double greatest = 0;
};
[[nodiscard]] NumberRange range_of(const Datum& number);
// fits(x) for what the number may be. Throws Undecidable where it holds for one end of its range
// alone.
template <class Fits>
[[nodiscard]] bool is_fitting(const Datum& number, Fits fits) {
  const NumberRange range = range_of(number);
  const bool is_so = fits(range.least);
  if (is_so == fits(range.greatest)) return is_so;
  throw Undecidable("whether a number fits its dtype depends on rounding");
}

}  // namespace graphgate::reference
