// All kernels of one device program: works become text, and equal texts become one kernel.
//
//   DeviceProgramText program;
//   std::vector<DeviceCall> calls = program.add(works);   // in order, for each launch
//   compile(program.source(), program.headers());
//
// A kernel's name is a hash of what it says, so that the same works give the same text in any
// process, and a program's text says nothing of where anything lies.
#pragma once

#include <map>
#include <span>

#include "optimized/codegen/work.h"
#include "spec/plan.h"

namespace graphgate::optimized {

inline constexpr int kDeviceBlock = 256;  // threads of a block

// One launch: kernel `name` with these pointers (the host's addresses), over so many threads.
struct DeviceCall {
  std::string name;
  std::vector<std::byte*> pointers;
  std::int64_t threads = 0;       // rounded up to whole blocks by whoever launches
  bool reports_faults = false;    // takes the address of the program's DeviceFault last
  std::string what = {};          // in words; may be empty
  std::int64_t shared_bytes = 0;  // of dynamic shared memory, of a block
  std::int64_t cluster = 1;       // blocks of one; divides the blocks
  // All that it touches, and maybe more. Empty: it does not tell. The fault record is not among it:
  // kernels settle by an atomic exchange which of them has it.
  std::vector<DeviceAccess> accesses = {};
  // Where it stands among the calls that it is launched with (call_order.h), as steps of a plan do.
  std::uint32_t stream = 0;
  std::vector<spec::EventId> waits = {};    // before it
  std::vector<spec::EventId> records = {};  // behind it
};

// What a program has found wrong, as the device writes it: a value that the host refuses, too
// (value_errors.h), or a broken canary (canaries.h). Zero while nothing is; the first one stays.
struct DeviceFault {
  static constexpr std::int32_t kIndexOutOfRange = 1;
  static constexpr std::int32_t kBrokenCanary = 2;
  static constexpr std::int32_t kDivisionByZero = 3;
  static constexpr std::int32_t kIndexOutsidePlane = 4;
  static constexpr std::int32_t kGroupsDoNotAscend = 5;
  static constexpr std::int32_t kSourceTooShort = 6;
  static constexpr std::int32_t kSorterOutOfRange = 7;
  static constexpr std::int32_t kElementsNotFinite = 8;
  static constexpr std::int32_t kBinsNotFinite = 9;
  std::int32_t kind = 0;
  std::int32_t unused = 0;
  std::int64_t index = 0;  // of a canary: the byte of its arena
  std::int64_t dim = 0;    // the arena
  std::int64_t size = 0;   // the job
};

// Where there is one: throws OpError with the words that the host has for it, which may throw its
// own like that, or BrokenCanary.
void throw_fault(const DeviceFault& fault);

// In fast arithmetic kernels may begin before the launches ahead of them have ended, and wait for
// those themselves (programmatic dependent launch): whoever launches allows it.
class DeviceProgramText {
 public:
  explicit DeviceProgramText(bool is_fast = false) : is_fast_(is_fast) {}
  [[nodiscard]] bool is_fast() const { return is_fast_; }
  [[nodiscard]] std::vector<DeviceCall> add(const DeviceWorks& works);
  [[nodiscard]] bool empty() const { return kernels_.empty(); }
  [[nodiscard]] std::size_t kernel_count() const { return kernels_.size(); }
  // CUDA C++, the kernels by name.
  [[nodiscard]] std::string source() const;

 private:
  bool is_fast_;
  std::map<std::string, std::string> kernels_;  // by name
};

// What every program's text includes: names, as the text has them, and contents.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> device_headers();
// What the compiler is told besides the architecture, so that the bits are the host's.
[[nodiscard]] std::vector<std::string> device_compile_options();

}  // namespace graphgate::optimized
