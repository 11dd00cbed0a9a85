// How reading, planning and running grow with the number of nodes.
//
//   build/release/tools/bench/scale [NODES]     (default 100000)
//
// A chain of pointwise nodes on f32[8] is made, written as an archive and as text, read back,
// checked, loaded and run by both executors, at a quarter, half and all of NODES. One line per
// stage: seconds at each size, and the ratio of the last two (2 is linear). Peak memory is the
// process's.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conformance/run/seeded_inputs.h"
#include "interop/pt2_reader.h"
#include "interop/pt2_writer.h"
#include "optimized/analysis/symbols.h"
#include "optimized/compile.h"
#include "optimized/runtime/host/host_program.h"
#include "reference/reference.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "tools/bench/chain.h"
#include "tools/bench/stopwatch.h"

namespace {

using namespace graphgate;

template <class T>
T expect(Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "scale: %s\n", result.error().message.c_str());
  std::exit(1);
}
void expect(const Result<void>& result) {
  if (result.ok()) return;
  std::fprintf(stderr, "scale: %s\n", result.error().message.c_str());
  std::exit(1);
}

// Stages in order, each with its seconds at every size.
class Table final : public optimized::CompileLog {
 public:
  void measure(const std::string& stage, const std::function<void()>& work) {
    this->stage(stage, tools::seconds_of<tools::WallClock>(work));
  }
  void stage(std::string_view name, double seconds) override {
    const auto [at, is_new] = seconds_.try_emplace(std::string(name));
    if (is_new) stages_.emplace_back(name);
    at->second.push_back(seconds);
  }
  void warning(std::string_view message) override {
    std::fprintf(stderr, "scale: %.*s\n", static_cast<int>(message.size()), message.data());
  }
  void print() const {
    for (const std::string& stage : stages_) {
      const std::vector<double>& row = seconds_.at(stage);
      std::printf("%-16s", stage.c_str());
      for (const double seconds : row) std::printf(" %9.3f s", seconds);
      std::printf("   x%.2f\n", row.back() / row[row.size() - 2]);
    }
  }

 private:
  std::vector<std::string> stages_;
  std::map<std::string, std::vector<double>> seconds_;
};

// Stage by stage, as compile() names them.
void run_optimized(const spec::Program& program, const std::vector<spec::InputValue>& inputs,
                   Table& table) {
  using namespace optimized;
  CompileOptions options;
  options.log = &table;
  const spec::Graph prepared = expect(prepare(program, options));
  const auto symbols = expect(bind_symbols(program, inputs, false));
  const spec::Plan plan = expect(compile(program, prepared, inputs, symbols, options));
  table.measure("check plan", [&] { expect(spec::check_plan(plan)); });
  StateMemory state;
  std::unique_ptr<HostProgram> runtime;
  table.measure("record",
                [&] { runtime = std::make_unique<HostProgram>(plan, *options.ops, state); });
  const spec::HostTensor* tensors[] = {&std::get<spec::HostTensor>(inputs.front())};
  table.measure("replay", [&] { runtime->run(tensors); });
}

void run_size(std::size_t nodes, Table& table) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("graphgate_scale_" + std::to_string(nodes) + ".pt2"))
                               .string();
  const spec::OpTable& ops = spec::builtin_op_table();
  spec::Program program;
  table.measure("make", [&] { program = tools::make_reusing_chain(nodes); });
  table.measure("write .pt2", [&] { expect(interop::write_pt2(program, path, {&ops})); });
  spec::Program read;
  table.measure("read .pt2", [&] { read = expect(interop::read_pt2(path)); });
  std::filesystem::remove(path);
  table.measure("check", [&] { expect(spec::check_program(read, ops)); });
  std::string text;
  table.measure("print text", [&] { text = spec::print_program(read, ops); });
  table.measure("parse text", [&] { (void)expect(spec::parse_program(text, ops, "chain")); });
  const auto inputs = expect(conformance::seeded_inputs(read, 1, 0));
  const auto run = [&](const std::string& name, reference::Mode mode, bool audit) {
    reference::Options options;
    options.mode = mode;
    options.audit_effects = audit;
    std::unique_ptr<spec::LoadedProgram> loaded;
    table.measure("load " + name,
                  [&] { loaded = expect(reference::make_executor(options)->load(read)); });
    table.measure("run " + name, [&] { (void)expect(loaded->call(inputs)); });
  };
  run("eager", reference::Mode::kEager, true);
  run("oracle", reference::Mode::kSampled, true);
  run_optimized(read, inputs, table);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t nodes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100000;
  if (nodes < 4) return std::fprintf(stderr, "scale: expected a number of nodes, at least 4\n"), 4;
  Table table;
  std::printf("%-16s", "nodes");
  for (const std::size_t size : {nodes / 4, nodes / 2, nodes}) {
    std::printf(" %11zu", size);
    std::fflush(stdout);
    run_size(size, table);
  }
  std::printf("\n");
  table.print();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("peak memory      %.0f MiB\n", static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}
