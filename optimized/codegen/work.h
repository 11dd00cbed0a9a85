// What a launch does, told so that a device can do it too.
//
// A kernel's `bind` gives a launch that runs on the host. Where somebody listens (DeviceListener),
// the launches that the shared loops make (pointwise.h, loop.h, gemm.h...) also carry works: the
// very tensors, dtypes, numbers and functions that the host's loop would use. The runtime of a
// device turns works into kernels of its own (kernels.h); a launch without works runs on the host.
// So no op is written twice, and none of its decisions either.
//
// Addresses are the host's. A device backend has memory of its own for every host arena, and puts
// its addresses in their places.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// One operand of a pointwise function: elements of a tensor, cast to `as` first, or one number.
struct DeviceOperand {
  Tensor tensor;
  spec::DType as = spec::DType::kFloat32;
  bool is_number = false;
  std::uint64_t number = 0;  // its bits, in the compute type
};

// result[i] = function(operands[i]...), in the compute type whose own dtype is `compute`, rounded
// to `rounds_to`, then into the result's dtype. Operands broadcast to the result's sizes.
struct PointwiseWork {
  Tensor result;
  spec::DType rounds_to = spec::DType::kFloat32;
  spec::DType compute = spec::DType::kFloat32;
  std::string function;  // a C++ expression: a callable of elements.h
  std::vector<DeviceOperand> operands;
  bool is_inner = false;        // only works of the same launch read the result
  bool reports_faults = false;  // the function's text has the fault record as `fault` (prelude.cuh)
};

// Elements that a kernel reads, or writes some of.
struct DeviceAccess {
  Tensor tensor;
  bool is_written = false;
  bool is_early = false;  // read before the kernel waits for the launches before it (fast.cuh)
};

class CellsWrite;    // cells_text.h
struct RmsNormWork;  // row_text.h
struct WorkBehind;   // epilogue_text.h

// A kernel as text: statements in CUDA C++ that see the pointers as p0, p1... (char*), the number
// of the thread as `thread` (std::int64_t), and what text/prelude.cuh declares.
struct TextWork {
  std::string statements = {};
  std::vector<std::byte*> pointers = {};
  std::int64_t threads = 0;       // that do something; more may run
  bool reports_faults = false;    // sees the program's fault record as `fault` (prelude.cuh)
  std::string what = {};          // in words, for who reads times
  bool waits_itself = false;      // in fast arithmetic: for the launches before (fast.cuh)
  std::int64_t shared_bytes = 0;  // of dynamic shared memory, of a block
  std::int64_t cluster = 1;       // blocks that see each other's shared memory, at most 8
  int blocks_at_once = 1;         // on a multiprocessor: registers must do for as many
  // All that it touches, and maybe more. Empty: it does not tell, and keeps its place among works.
  std::vector<DeviceAccess> accesses = {};
  // Blocks of other works may stand beside its own in a launch: it takes no notice of blockIdx, and
  // has no shared memory.
  bool shares_launches = false;
  // The same work with another one behind it, done where its operands are made: nothing where they
  // do not go together. What it gives may take more.
  std::function<std::optional<TextWork>(const WorkBehind& behind)> with_epilogue = nullptr;
  // That it moves elements into cells and does nothing else, for who makes them; else null.
  std::shared_ptr<const CellsWrite> cells = nullptr;
  // That it normalizes rows and does nothing else, for who could do so itself; else null.
  std::shared_ptr<const RmsNormWork> norm = nullptr;
  // The same work with that one before it: it makes the row that it reads. Nothing where it reads
  // others, or would take longer.
  std::function<std::optional<TextWork>(const RmsNormWork& before)> with_norm = nullptr;
};

// Wants to know what launches do: an argument of whoever binds them (kernel.h).
class DeviceListener {
 public:
  // `reserve` gives bytes of the device alone, at an address that no host byte has, aligned to 256,
  // for as long as what is described may run; null where there are none.
  using Reserve = std::function<std::byte*(std::int64_t size_bytes)>;
  // Whether a tensor holds the same bytes all the time that a captured partition runs: a weight.
  using IsConstant = std::function<bool(const Tensor&)>;
  // Of strict arithmetic without `is_constant`, else of fast arithmetic. Works that need scratch
  // are told only where there is `reserve`.
  explicit DeviceListener(Reserve reserve, IsConstant is_constant = nullptr)
      : reserve_(std::move(reserve)), is_constant_(std::move(is_constant)) {}
  [[nodiscard]] std::byte* reserve(std::int64_t size_bytes) const {
    return reserve_ ? reserve_(size_bytes) : nullptr;
  }
  // Whether works may be told that keep to the bounds of tensor cores, and not to the host's bits.
  [[nodiscard]] bool is_fast() const { return is_constant_ != nullptr; }
  [[nodiscard]] bool is_constant(const Tensor& tensor) const {
    return is_fast() && is_constant_(tensor);
  }

 private:
  Reserve reserve_;
  IsConstant is_constant_;
};

// The launch, with what it does; as it is where that is not told.
[[nodiscard]] Launch described(Launch launch, DeviceWorks works);
[[nodiscard]] Launch described_if(Launch launch, std::optional<DeviceWorks> works);
// What a launch does, or null where it does not tell. An empty launch does nothing: no works.
[[nodiscard]] const DeviceWorks* works_of(const Launch& launch);
// Launches one after the other; described where all of them are.
[[nodiscard]] Launch in_turn(std::vector<Launch> launches);

}  // namespace graphgate::optimized
