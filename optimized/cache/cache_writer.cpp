// A process for tests of the cache: runs a program at some sizes, with plans kept in a folder or in
// an ahead-of-time file, and prints every bit of the results.
//
//   cache_writer folder ROOT SIZE...       plans in a folder
//   cache_writer in-place ROOT SIZE...     the same, written without a file aside
//   cache_writer save FILE SIZE...         makes an ahead-of-time file
//   cache_writer load FILE SIZE...         uses one
//
// With CACHE_WRITER_DIES_AT=N in the environment, the process kills itself as soon as N bytes of
// plans and entries have been written. Prints a line for each size, then the counters.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "optimized/cache/bundle.h"
#include "optimized/cache/disk_cache.h"
#include "optimized/optimized.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

// Enough nodes for a plan of several chunks of a write.
std::string program_text() {
  std::string text =
      "program \"long\" {\n  symbol s0 in [2, 4096]\n  input %x : f32[s0, 4]\n"
      "  %v0 = aten.mul.Tensor(%x, 0.37)\n";
  constexpr int kNodes = 200;
  for (int i = 1; i <= kNodes; ++i) {
    const std::string before = "%v" + std::to_string(i - 1);
    text += "  %v" + std::to_string(i) + " = ";
    text +=
        i % 2 == 0 ? "aten.sin.default(" + before + ")\n" : "aten.add.Tensor(" + before + ", %x)\n";
  }
  return text + "  output %v" + std::to_string(kNodes) + "\n}\n";
}

class StderrLog final : public CompileLog {
 public:
  void stage(std::string_view /*name*/, double /*seconds*/) override {}
  void warning(std::string_view message) override {
    std::fprintf(stderr, "warning: %.*s\n", static_cast<int>(message.size()), message.data());
  }
};

spec::HostTensor input_of(std::int64_t rows) {
  spec::HostTensor tensor = spec::make_host_tensor(spec::DType::kFloat32, {rows, 4});
  for (std::int64_t i = 0; i < 4 * rows; ++i) {
    const float value = 0.1F * static_cast<float>(i % 97);
    std::memcpy(tensor.storage->bytes.data() + 4 * i, &value, sizeof value);
  }
  return tensor;
}

std::function<void(std::size_t)> make_probe() {
  const char* dies_at = std::getenv("CACHE_WRITER_DIES_AT");
  if (dies_at == nullptr) return {};
  return [left = std::strtoull(dies_at, nullptr, 10),
          before = std::size_t{0}](std::size_t written) mutable {
    const std::size_t more = written > before ? written - before : written;
    before = written;
    if (more >= left) std::raise(SIGKILL);
    left -= more;
  };
}

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

Result<void> run(const spec::Program& program, const Options& options, int size_count,
                 char** sizes) {
  GRAPHGATE_TRY(const auto loaded, make_executor(options)->load(program));
  for (int i = 0; i < size_count; ++i) {
    const spec::InputValue input = input_of(std::strtoll(sizes[i], nullptr, 10));
    GRAPHGATE_TRY(const spec::CallResult result, loaded->call({&input, 1}));
    const auto bytes = spec::packed_bytes(std::get<spec::HostTensor>(result.outputs[0]));
    std::printf("%s ", sizes[i]);
    for (const std::byte byte : bytes) std::printf("%02x", std::to_integer<unsigned>(byte));
    std::printf("\n");
  }
  return {};
}

int run_main(int argc, char** argv) {
  if (argc < 4) return 4;
  const std::string_view verb = argv[1];
  const std::filesystem::path path = argv[2];
  StderrLog log;
  CompileCounters counters;
  Options options;
  options.compile.counters = &counters;
  std::shared_ptr<BundleStore> bundle;
  if (verb == "save") bundle = BundleStore::make({{}, &counters});
  if (verb == "load") {
    auto read = BundleStore::load(path, {{}, &counters});
    if (!read.ok()) return fail(read.error());
    bundle = std::move(read).value();
  }
  options.plan_store = bundle;
  if (!bundle) {
    DiskCacheOptions disk{
        .root = path, .log = &log, .counters = &counters, .write_probe = make_probe()};
    options.plan_store = make_disk_store(disk);
  }
  if (verb == "in-place") options.compile.deviations.add(*spec::find_deviation("writes_in_place"));
  const spec::Program program =
      spec::parse_program(program_text(), spec::builtin_op_table()).value();
  const auto ran = run(program, options, argc - 3, argv + 3);
  if (!ran.ok()) return fail(ran.error());
  if (verb == "save") {
    const auto saved = bundle->save(path);
    if (!saved.ok()) return fail(saved.error());
  }
  std::printf("%s\n", print_counters(counters).c_str());
  return 0;
}

}  // namespace
}  // namespace graphgate::optimized

int main(int argc, char** argv) { return graphgate::optimized::run_main(argc, argv); }
