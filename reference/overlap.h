// Writes over what is read: where eager PyTorch refuses, or says nothing, and compiled code does
// not look.
//
// PyTorch's iterators refuse a written tensor that holds an element twice, and one that overlaps an
// operand in part. Ops that write at indices refuse any operand that shares bytes with what they
// write (assert_no_overlap). Other ops, and geometries with gaps, are not looked at: the order of
// the kernel's loop decides. An oracle has nothing to say of any of these, so all of them end in
// Undecidable: neither who refuses nor who goes on is blamed.
#pragma once

#include <span>

#include "reference/tensor.h"
#include "spec/op_table.h"

namespace graphgate::reference {

// Throws Undecidable unless the elements of each written argument lie apart. Throws it too unless
// each argument that is not written, stretched to the sizes of what is, is element for element the
// same memory or shares no byte with it. Ops that change geometries only (tag inplace_view) or
// write one number everywhere (fill_, zero_) may do anything. `arguments` has one Datum per
// argument of the row's schema.
void require_no_partial_overlap(const spec::OpRow& row, std::span<const Datum> arguments);

// The same, of one tensor that is copied into another.
void require_no_partial_overlap(const Tensor& written, const Tensor& read);
// Whether a tensor broadcasts to the sizes.
[[nodiscard]] bool broadcasts_to(const Tensor& tensor, const std::vector<std::int64_t>& sizes);

// Throws Undecidable if a written argument shares a byte with one that is not written.
void require_apart(const spec::OpRow& row, std::span<const Datum> arguments);

// Throws Undecidable if a written argument shares a byte with any other, written or not: of ops
// that write some operands and read others, in an order of their kernel's.
void require_apart_from_all(const spec::OpRow& row, std::span<const Datum> arguments);

}  // namespace graphgate::reference
