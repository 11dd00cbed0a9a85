#include "optimized/runtime/emulated/emulated_device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "base/temporary_folder.h"
#include "optimized/codegen/embedded.h"
#include "optimized/runtime/device/call_order.h"
#include "optimized/runtime/device/compiler_log.h"
#include "optimized/runtime/device/recorded_twins.h"
#include "optimized/runtime/device/streams.h"
#include "optimized/runtime/emulated/block.h"
#include "optimized/runtime/emulated/emulated_memory.h"

namespace graphgate::optimized::emulated {
namespace {

namespace fs = std::filesystem;

static_assert(kThreads == kDeviceBlock);

TemporaryFolder make_folder() {
  auto made = TemporaryFolder::make("emulated");
  if (!made.ok()) throw DeviceError(made.error().message);
  return std::move(made).value();
}

void write_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    throw DeviceError(path.parent_path().string() + ": cannot be made: " + error.message());
  }
  const auto written = graphgate::write_file(path, text, {.sync = false});
  if (!written.ok()) throw DeviceError(written.error().message);
}

std::string first_lines(const fs::path& path) {
  const auto text = read_file(path.string());
  return shortened(text.ok() ? text.value().value_or("") : "");
}

using Call = void (*)(char** pointers);
using SetHooks = void (*)(Hooks*);

// A compiled kernel. Its library is loaded as long as the process lives, since its static memory
// would be another one otherwise.
struct Kernel {
  Call call = nullptr;
  SetHooks set_hooks = nullptr;  // of its library
};

template <class Function>
Function find(void* library, const std::string& name) {
  void* const found = dlsym(library, name.c_str());
  if (found == nullptr) throw DeviceError("the emulated program lacks '" + name + "'");
  return reinterpret_cast<Function>(found);  // NOLINT: what dlsym is for
}

// "void call_NAME(char** p) { NAME(p[0], p[1]); }"
std::string caller_text(const DeviceCall& call) {
  std::string arguments;
  for (std::size_t i = 0; i < call.pointers.size(); ++i) {
    arguments += (i == 0 ? "p[" : ", p[") + std::to_string(i) + "]";
  }
  if (call.reports_faults) {
    arguments += (arguments.empty() ? "" : ", ") +
                 std::string("reinterpret_cast<graphgate::optimized::device::Fault*>(p[") +
                 std::to_string(call.pointers.size()) + "])";
  }
  return "extern \"C\" void call_" + call.name + "(char** p) { graphgate::optimized::" + call.name +
         "(" + arguments + "); }\n";
}

void* compile(const std::string& compiler, const std::string& source) {
  const TemporaryFolder made = make_folder();
  const fs::path folder = made.path();
  for (const auto& [name, text] : device_headers()) write_file(folder / name, text);
  for (std::size_t i = 0; i < kEmulatedTextsCount; ++i) {
    const fs::path name = fs::path(kEmulatedTextsNames[i]).filename();
    const bool is_words = name == "cuda_words.h";
    write_file(folder / (is_words ? name : "optimized/codegen/text" / name),
               std::string(kEmulatedTexts[i]));
  }
  const fs::path program = folder / "plan.cpp";
  const fs::path library = folder / "plan.so";
  const fs::path log = folder / "log";
  write_file(program, "#include \"cuda_words.h\"\n" + source);
  // Without optimization it takes longer: templates become more text.
  const std::string command = compiler +
                              " -std=c++20 -Og -ffp-contract=off -w -fPIC -shared -nostdinc -I'" +
                              folder.string() + "' '" + program.string() + "' -o '" +
                              library.string() + "' > '" + log.string() + "' 2>&1";
  const int status = std::system(command.c_str());  // NOLINT: a command of our own
  if (status != 0) {
    throw DeviceError(compiler + " does not compile what is emulated: " + first_lines(log));
  }
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw DeviceError(std::string("what is emulated: ") + dlerror());
  return handle;
}

// Returns the kernels that the jobs launch, by name. Compiles, as one text, those that this process
// has not compiled yet: a name is a hash of what its kernel says, and plans of a model share most
// of theirs.
std::map<std::string, Kernel> kernels_of(const std::string& compiler, const DeviceProgramText& text,
                                         std::span<const Device::Job> jobs) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, bool>, std::map<std::string, Kernel>> all;
  const std::lock_guard lock(mutex);
  auto& kept = all[{compiler, text.is_fast()}];
  std::set<std::string> names;
  std::set<std::string> missing;
  std::string callers;
  for (const Device::Job& job : jobs) {
    for (const DeviceCall& call : job.calls) {
      if (!names.insert(call.name).second || kept.contains(call.name)) continue;
      missing.insert(call.name);
      callers += caller_text(call);
    }
  }
  if (!missing.empty()) {
    // In a namespace without a name: what no kernel of these uses is not compiled.
    void* const library =
        compile(compiler, "namespace {\n" + text.source_of(missing) + "}\n" + callers);
    const auto set_hooks = find<SetHooks>(library, "graphgate_set_hooks");
    for (const std::string& name : missing) {
      kept[name] = {find<Call>(library, "call_" + name), set_hooks};
    }
  }
  std::map<std::string, Kernel> asked;
  for (const std::string& name : names) asked[name] = kept.at(name);
  return asked;
}

// Blocks that may be under way at once: those of a launch, and the first ones of the next.
class Blocks {
 public:
  static constexpr unsigned kMost = 16;  // that begin early
  Block& at(unsigned side, unsigned index) {
    auto& blocks = sides_[side];
    while (blocks.size() <= index) blocks.push_back(std::make_unique<Block>());
    return *blocks[index];
  }

 private:
  std::array<std::vector<std::unique_ptr<Block>>, 2> sides_;
};

class EmulatedRun final : public DeviceRun {
 public:
  struct Launch {
    Kernel compiled;
    std::string name;
    unsigned blocks = 0;
    unsigned cluster = 1;  // blocks of one
    std::vector<char*> arguments;
    CapturedKernel kernel;
  };
  // With `overlaps` a launch that may begins, up to where it waits, before the one that runs does
  // more.
  EmulatedRun(Blocks& blocks, std::vector<Launch> launches, RecordedTwins twins, bool overlaps,
              const Device::Job& job)
      : blocks_(blocks), seed_(job.seed), twins_(std::move(twins)) {
    const std::vector<CallPlace> places = places_of(job.calls);
    if (job.is_captured) captured_.edges = edges_of(places, overlaps);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const CallPlace& place = places[i];
      queued_.push_back({job.calls[i].stream, {place.awaited.begin(), place.awaited.end()}});
      may_begin_early_.push_back(overlaps && place.is_behind_one());
    }
    for (Launch& launch : launches) {
      if (job.is_captured) captured_.kernels.push_back(std::move(launch.kernel));
      Bound bound{launch.name, launch.blocks, launch.cluster, {}};
      set_hooks_.insert(launch.compiled.set_hooks);
      bound.body = [call = launch.compiled.call,
                    arguments = std::move(launch.arguments)]() mutable { call(arguments.data()); };
      launches_.push_back(std::move(bound));
    }
  }

  [[nodiscard]] DeviceCapture captured() const override { return captured_; }
  // There is nothing around it.
  std::function<void()> bare_launch() override {
    return [this] { launch(); };
  }

  // Kernels' shared memory is one for the process: runs of several threads take turns.
  void launch() override {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    twins_.check();
    for (const SetHooks set_hooks : set_hooks_) set_hooks(&Block::hooks());
    const std::vector<std::uint32_t> order = interleave_launches(queued_, next_seed());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (!may_begin_early_[order[i]]) begin(order[i], i);
      if (i + 1 < order.size() && may_begin_early_[order[i + 1]]) begin(order[i + 1], i + 1);
      finish(order[i], i);
    }
  }

 private:
  struct Bound {
    std::string name;
    unsigned blocks = 0;
    unsigned cluster = 1;
    std::function<void()> body;
    // Blocks that begin early: whole clusters.
    [[nodiscard]] unsigned early() const {
      return std::min(blocks, Blocks::kMost / cluster * cluster);
    }
  };

  template <class Work>
  static void named(const Bound& launch, Work&& work) {
    try {
      work();
    } catch (const HangError& error) {
      throw DeviceError(launch.name + ": " + error.what());
    }
  }

  // Another one at every launch, and none that means program order.
  [[nodiscard]] std::uint64_t next_seed() {
    constexpr std::uint64_t kFarApart = std::uint64_t{1} << 32;
    return seed_ * kFarApart + ++launched_;
  }

  // `place`: the how manieth it is.
  void begin(std::uint32_t which, std::size_t place) {
    const Bound& launch = launches_[which];
    named(launch, [&] {
      for (unsigned b = 0; b < launch.early(); ++b) {
        blocks_.at(place % 2, b).begin(b, launch.body, b % launch.cluster);
      }
    });
  }

  void finish(std::uint32_t which, std::size_t place) {
    const Bound& launch = launches_[which];
    named(launch, [&] {
      for (unsigned b = launch.early(); b > 0; b -= launch.cluster) {
        finish_cluster(launch, place % 2, b - launch.cluster);
      }
      for (unsigned b = launch.early(); b < launch.blocks; b += launch.cluster) {
        for (unsigned rank = 0; rank < launch.cluster; ++rank) {
          blocks_.at(place % 2, rank).begin(b + rank, launch.body, rank);
        }
        finish_cluster(launch, place % 2, 0);
      }
    });
  }

  // The blocks of a cluster, from `first` on, to their ends: each until it waits for the others.
  void finish_cluster(const Bound& launch, unsigned side, unsigned first) {
    bool waits = false;
    const auto note = [&waits](const Block& block) { waits |= block.waits_for_cluster(); };
    for (unsigned b = first + launch.cluster; b-- > first;) {
      blocks_.at(side, b).finish();
      note(blocks_.at(side, b));
    }
    while (std::exchange(waits, false)) {
      for (unsigned b = first; b < first + launch.cluster; ++b) {
        blocks_.at(side, b).pass_cluster();
        note(blocks_.at(side, b));
      }
    }
  }

  Blocks& blocks_;
  std::set<SetHooks> set_hooks_;
  const std::uint64_t seed_;
  RecordedTwins twins_;
  std::uint64_t launched_ = 0;
  std::vector<QueuedLaunch> queued_;  // by call
  std::vector<bool> may_begin_early_;
  std::vector<Bound> launches_;
  DeviceCapture captured_;
};

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(std::string compiler, DeviceMemoryMode mode)
      : compiler_(std::move(compiler)), raw_(make_memory(mode)) {}
  [[nodiscard]] std::string description() const override { return "an emulated device"; }
  [[nodiscard]] DeviceMemory& memory() override { return memory_; }
  [[nodiscard]] std::vector<DeviceArena> arenas() override {
    auto arenas = memory_.arenas();
    arenas.push_back({reinterpret_cast<std::uint64_t>(&fault_), sizeof fault_});
    return arenas;
  }

  std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                               std::span<const Job> jobs) override {
    std::vector<std::unique_ptr<DeviceRun>> runs;
    const auto kernels = kernels_of(compiler_, text, jobs);
    for (const Job& job : jobs) {
      std::vector<EmulatedRun::Launch> launches;
      RecordedTwins twins(memory_);
      launches.reserve(job.calls.size());
      for (const DeviceCall& call : job.calls) {
        launches.push_back(bound(kernels.at(call.name), call, twins));
      }
      runs.push_back(std::make_unique<EmulatedRun>(blocks_, std::move(launches), std::move(twins),
                                                   text.is_fast(), job));
    }
    return runs;
  }

  void finish() override {
    raw_->check();
    throw_fault(std::exchange(fault_, {}));
  }

 private:
  EmulatedRun::Launch bound(const Kernel& compiled, const DeviceCall& call, RecordedTwins& twins) {
    EmulatedRun::Launch launch;
    launch.compiled = compiled;
    launch.name = call.what.empty() ? call.name : call.what;
    launch.blocks = static_cast<unsigned>((call.threads + kDeviceBlock - 1) / kDeviceBlock);
    launch.cluster = static_cast<unsigned>(call.cluster);
    if (call.cluster < 1 || call.cluster > 8 || launch.blocks % launch.cluster != 0) {
      throw DeviceError(launch.name + ": " + std::to_string(launch.blocks) +
                        " blocks in clusters of " + std::to_string(call.cluster));
    }
    for (const std::byte* pointer : call.pointers) {
      launch.arguments.push_back(reinterpret_cast<char*>(twins.note(pointer)));  // NOLINT
    }
    if (call.reports_faults) {
      launch.arguments.push_back(reinterpret_cast<char*>(&fault_));  // NOLINT: as a kernel has it
    }
    launch.kernel = {call.name,
                     {launch.blocks, 1, 1},
                     {kDeviceBlock, 1, 1},
                     static_cast<unsigned>(call.shared_bytes),
                     launch.cluster,
                     {}};
    for (const char* argument : launch.arguments) {
      launch.kernel.arguments.push_back(reinterpret_cast<std::uint64_t>(argument));
    }
    return launch;
  }

  const std::string compiler_;
  Blocks blocks_;
  std::unique_ptr<EmulatedMemory> raw_;
  DeviceMemory memory_{*raw_};
  DeviceFault fault_;
};

}  // namespace

Result<std::string> find_compiler() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody sets the environment
  const char* const own = std::getenv("CXX");
  const std::string command = own != nullptr && *own != '\0' ? own : "c++";
  const char* const path = std::getenv("PATH");
  // NOLINTEND(concurrency-mt-unsafe)
  const std::size_t end = std::min(command.find(' '), command.size());
  const std::string name = command.substr(0, end);
  const auto is_program = [](const std::string& file) { return access(file.c_str(), X_OK) == 0; };
  const auto quoted = [&](const std::string& file) {
    return "'" + file + "'" + command.substr(end);
  };
  if (name.find('/') != std::string::npos && is_program(name)) return quoted(name);
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    folder += "/" + name;
    if (is_program(folder)) return quoted(folder);
  }
  return infrastructure("emulating a device takes a C++ compiler, and there is no '" + name +
                        "' ($CXX, or c++)");
}

Result<std::shared_ptr<Device>> make_emulated_device(DeviceMemoryMode mode) {
  GRAPHGATE_TRY(std::string compiler, find_compiler());
  return std::shared_ptr<Device>(std::make_shared<EmulatedDevice>(std::move(compiler), mode));
}

}  // namespace graphgate::optimized::emulated
