// Kernels: what the optimized executor knows of an op.
//
// A kernel has two halves. `infer` tells what a call makes (dtypes, sizes, strides, aliasing,
// scratch bytes) from geometry alone; the planner runs it once per plan. `bind` gets the same call
// with addresses in every tensor, and returns a launch: it may run any number of times, on those
// very addresses. A captured partition is a list of such launches.
//
// A kernel never asks whether it is the functional, the in-place or the out= form: Inference::make
// and Binding::result see to that, as the schema says. So `add`, `add_` and `add.out` share one.
//
//   void infer_relu(Inference& call) {
//     const Tensor& self = call.tensor("self");
//     call.make(self.dtype, self.sizes, pointwise_strides({&self}, self.sizes));
//   }
//   Launch bind_relu(const Binding& call) { ... }
//
// Where the result depends on what tensors hold (nonzero, item), `infer` calls needs_data() when
// has_data() is false; such a step runs outside of captures, and infers again when it runs.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "optimized/tensor.h"
#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::optimized {

// One argument as a kernel gets it. Symbolic sizes are integers by now.
struct Item {
  using List = std::vector<Item>;
  std::variant<spec::None, bool, std::int64_t, double, std::string, spec::DType, spec::Device,
               spec::Layout, spec::MemoryFormat, Tensor, List, spec::ComplexNumber>
      value;

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
  friend bool operator==(const Item&, const Item&) = default;
};

// A call's arguments, by the schema's names; defaults are filled in. has() is false for names that
// the schema lacks and for None. The others throw OpError when the argument is missing or of
// another kind.
class KernelCall {
 public:
  // `arguments` has one Item per argument of the row's schema, in order. The row outlives the call.
  KernelCall(const spec::OpRow& row, std::vector<Item> arguments);

  [[nodiscard]] const spec::OpRow& row() const { return *row_; }
  [[nodiscard]] std::vector<Item>& arguments() { return arguments_; }
  [[nodiscard]] const std::vector<Item>& arguments() const { return arguments_; }

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] const Item& item(std::string_view name) const;
  [[nodiscard]] const Tensor& tensor(std::string_view name) const;
  [[nodiscard]] const Tensor* optional_tensor(std::string_view name) const;       // null for None
  [[nodiscard]] std::vector<const Tensor*> tensors(std::string_view name) const;  // null for None
  [[nodiscard]] bool is_tensor(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;  // an int or a bool counts as one
  [[nodiscard]] std::optional<double> optional_real(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] bool boolean_or(std::string_view name, bool otherwise) const;
  [[nodiscard]] Sizes integers(std::string_view name) const;  // a lone int is a list of one
  [[nodiscard]] std::optional<Sizes> optional_integers(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] std::optional<spec::DType> optional_dtype(std::string_view name) const;
  [[nodiscard]] std::optional<spec::MemoryFormat> optional_format(std::string_view name) const;
  [[nodiscard]] spec::Device device_or(const spec::Device& otherwise) const;

  // Every tensor argument, those in lists included, in order.
  [[nodiscard]] std::vector<const Tensor*> all_tensors() const;
  // The device of new results: that of the first tensor with dimensions that is not on the CPU,
  // else of the first tensor; the CPU if there is none.
  [[nodiscard]] spec::Device result_device() const;
  // The argument that return `index` of the schema is written into (in-place and out= forms), or
  // null: then the result is new.
  [[nodiscard]] const Tensor* written_result(std::size_t index) const;
  // Whether tensors have addresses. The caller may look at what they hold.
  [[nodiscard]] bool has_data() const {
    asks_for_data_ = true;
    return has_data_;
  }
  // Whether anybody has asked: if not, the call comes to the same whatever tensors hold.
  [[nodiscard]] bool asks_for_data() const { return asks_for_data_; }

 protected:
  [[nodiscard]] const Item* find(std::string_view name) const;

  bool has_data_ = false;

 private:
  mutable bool asks_for_data_ = false;
  const spec::OpRow* row_;
  std::vector<Item> arguments_;
};

// One result, as `infer` describes it.
struct Made {
  enum class Kind : std::uint8_t {
    kNew,       // `tensor` without a storage: the planner finds the bytes
    kView,      // `tensor` over the storage of an argument
    kArgument,  // the very tensor that was passed (in-place and out= forms, `to` that has nothing
                // to do)
    kReshaped,  // the written argument takes the geometry of `tensor` (squeeze_)
    kNumber,    // `number`: bool, int64 or double
    kNone,
    kList,  // `list`
  };
  Kind kind = Kind::kNone;
  Tensor tensor;
  Item number;
  std::vector<Made> list;
};

// Thrown by needs_data().
struct NeedsData {};

// A call whose results are being inferred. Results are made in the order of the schema's returns.
class Inference : public KernelCall {
 public:
  Inference(const spec::OpRow& row, std::vector<Item> arguments, bool has_data);

  // The next result: a tensor of its own, row-major unless `strides` are given, on result_device()
  // unless `device` is. In the in-place and out= forms it is the written argument instead, whose
  // sizes must be these; its dtype and strides stay.
  void make(spec::DType dtype, Sizes sizes, Sizes strides = {},
            std::optional<spec::Device> device = {});
  // The next result: a view of `base`. In the in-place form (squeeze_), base takes the geometry.
  void make_view(const Tensor& base, Sizes sizes, Sizes strides, std::int64_t offset);
  // The next result is `argument` itself.
  void make_same(const Tensor& argument);
  void make_number(Item number);
  void make_none();
  // The next result is a Tensor[]: what is made until end_list() are its elements.
  void begin_list();
  void end_list();
  // Of the result that was made last: it has the sizes that the tensor operands broadcast to, and
  // its dtype depends on their dtypes and ranks alone.
  void follows_operands() { ++following_; }
  // Whether that was said of every result.
  [[nodiscard]] bool all_follow_operands() const { return following_ == results_.size(); }
  // Scratch bytes that the launch wants, aligned to 64; from Binding::workspace().
  void want_workspace(std::int64_t bytes);

  // Ends the inference: what comes next depends on bytes.
  [[noreturn]] static void needs_data() { throw NeedsData{}; }

  [[nodiscard]] const std::vector<Made>& results() const { return results_; }
  [[nodiscard]] std::vector<Made>& results() { return results_; }
  [[nodiscard]] std::int64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  Made& add(Made::Kind kind);
  std::vector<Made> results_;
  std::optional<std::vector<Made>> open_list_;
  std::size_t following_ = 0;
  std::int64_t workspace_bytes_ = 0;
};

struct PointwiseWork;  // codegen/work.h, as what follows
struct TextWork;
using DeviceWork = std::variant<PointwiseWork, TextWork>;
using DeviceWorks = std::vector<DeviceWork>;  // one after the other
class DeviceListener;

// What a call does when it runs. An empty one does nothing.
struct Launch {
  Launch() = default;
  template <std::invocable F>
  Launch(F f)
      : run(std::move(f)) {}  // NOLINT(google-explicit-constructor): kernels return closures
  std::function<void()> run;  // on the host; null: nothing to be done
  std::shared_ptr<const DeviceWorks> works;  // the same for a device; null where it is not told
  explicit operator bool() const { return bool(run) || bool(works); }
};

// A call with addresses. `results` has a place for every result that was inferred, in order, lists
// unpacked; numbers and None leave theirs empty.
class Binding : public KernelCall {
 public:
  // `listener` outlives the binding, but not what is bound: null in closures that bind when they
  // run.
  Binding(const spec::OpRow& row, std::vector<Item> arguments, std::vector<Tensor> results,
          std::byte* workspace, const DeviceListener* listener);

  // Where result `index` is to be written; counted over all results, lists unpacked.
  [[nodiscard]] const Tensor& result(std::size_t index = 0) const;
  [[nodiscard]] std::size_t result_count() const { return results_.size(); }
  [[nodiscard]] std::byte* workspace() const { return workspace_; }
  // The listener that wants to know what the launch does; null: none.
  [[nodiscard]] const DeviceListener* listener() const { return listener_; }

 private:
  std::vector<Tensor> results_;
  std::byte* workspace_;
  const DeviceListener* listener_;
};

// What a kernel stands when a tensor that it writes shares bytes with one that it reads. Where it
// stands less, it is given a private copy of what it reads (launch.h). Arguments that are written
// and not returned (vLLM's out arguments) are never copied: there the kernel sees to it itself.
enum class Overlap : std::uint8_t {
  kNone,          // nothing
  kSameGeometry,  // the same elements at the same places: it reads an element before it writes it
                  // (pointwise), or takes what is written for a copy that is made (scatter_)
};

// Says why a row of the results does not depend on the same row of the operands alone; nothing
// where it does. One of the rules of analysis/row_rules.h.
class RowCall;
struct Refusal;
using RowRule = std::optional<Refusal> (*)(const RowCall& call);

// When results are row-major at every size, whatever the caller passes (passes/row_major.h).
enum class RowMajorRule : std::uint8_t {
  kUnknown,          // but for pointwise ops of row-major operands
  kAlways,           // new and row-major, whatever the operands are
  kFactory,          // the same, unless a memory format is asked for
  kLikeSelf,         // row-major when self is; a format asked for is contiguous or preserve
  kLikeSelfInPlace,  // the same, and so is the in-place form
};

// How calls go into fused groups (schedule/fuse_rows.h).
enum class Fusion : std::uint8_t {
  kByTag,            // pointwise with the tag, else alone
  kPointwise,        // without the tag
  kAlongDim,         // by rows: each is what lies along the argument `dim`...
  kNormalizedShape,  // ...or along the dimensions of `normalized_shape`...
  kLastDim,          // ...or along the last one
  kScatter,          // by rows of the result
};

// Of a kernel that only moves elements: the arguments whose elements move. The others are read for
// their values (docs/provenance.md). No arguments: the kernel computes.
struct Moves {
  std::array<std::string_view, 2> arguments = {};
  // The result has the elements of the first one in their order, where it has as many.
  bool is_copy = false;
};

// What is known of an op. The facts behind `overlap` are set in the families' tables:
//   Kernel{"aten.flip", infer_flip, bind_flip}.rows(row_rules::along_dims).moves("self")
struct Kernel {
  std::string_view base_name;  // "aten.add" serves add.Tensor, add_.Tensor, add.out
  void (*infer)(Inference&) = nullptr;
  Launch (*bind)(const Binding&) = nullptr;  // null: nothing to launch, ever (views)
  Overlap overlap = Overlap::kNone;

  // Null: by the op's tags (analysis/padding_rules.h).
  RowRule row_rule = nullptr;
  // Whether results number the rows where the only tensor operand does.
  bool passes_row_numbers = false;
  RowMajorRule row_major_rule = RowMajorRule::kUnknown;
  Fusion fusion = Fusion::kByTag;
  Moves moved = {};
  // Looks at bytes of elements and never at numbers: complex ones, too.
  bool takes_any_dtype = false;

  [[nodiscard]] constexpr Kernel any_dtype() const {
    Kernel out = *this;
    out.takes_any_dtype = true;
    return out;
  }
  [[nodiscard]] constexpr Kernel rows(RowRule rule) const {
    Kernel out = *this;
    out.row_rule = rule;
    return out;
  }
  [[nodiscard]] constexpr Kernel row_numbers() const {
    Kernel out = *this;
    out.passes_row_numbers = true;
    return out;
  }
  [[nodiscard]] constexpr Kernel row_major(RowMajorRule rule) const {
    Kernel out = *this;
    out.row_major_rule = rule;
    return out;
  }
  [[nodiscard]] constexpr Kernel fuses(Fusion how) const {
    Kernel out = *this;
    out.fusion = how;
    return out;
  }
  [[nodiscard]] constexpr Kernel moves(std::string_view first, std::string_view second = "") const {
    Kernel out = *this;
    out.moved = {{first, second}};
    return out;
  }
  [[nodiscard]] constexpr Kernel copies(std::string_view first,
                                        std::string_view second = "") const {
    Kernel out = moves(first, second);
    out.moved.is_copy = true;
    return out;
  }
};

// The kernel of an op, or null. The table is made of the families in kernels/ (see registry.cpp).
[[nodiscard]] const Kernel* find_kernel(const spec::OpRow& row);
// The family (the file in kernels/) of an op's kernel, or "".
[[nodiscard]] std::string_view kernel_family(const spec::OpRow& row);

}  // namespace graphgate::optimized
