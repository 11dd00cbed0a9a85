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
#include <set>
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
  // The same of those of its kernels alone whose names are among these.
  [[nodiscard]] std::string source_of(const std::set<std::string>& names) const;

 private:
  [[nodiscard]] std::string with_headers(const std::string& kernels) const;

  bool is_fast_;
  std::map<std::string, std::string> kernels_;  // by name
};

// What every program's text includes: names, as the text has them, and contents.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> device_headers();
// What the compiler is told besides the architecture, so that the bits are the host's.
[[nodiscard]] std::vector<std::string> device_compile_options();

}  // namespace graphgate::optimized
