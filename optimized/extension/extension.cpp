#include "optimized/extension/extension.h"

#include <dlfcn.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "base/child_processes.h"
#include "base/file_io.h"
#include "base/sha256.h"
#include "optimized/extension/extension_text.h"
#include "optimized/extension/graphgate_extension.h"

namespace graphgate::optimized {
namespace {

constexpr const char* kEntry = "graphgate_extension_entry";

// What a child hands back: that it is well, and texts; or what is wrong.
constexpr const char* kGood = "good";
constexpr const char* kWrong = "wrong";

std::string wrong(const std::string& what) { return join_texts({kWrong, what}); }

void append(void* to, const char* bytes, std::size_t count) {
  static_cast<std::string*>(to)->append(bytes, count);
}

// The extension of a file, in a process that is for this alone; or null and what is wrong.
const graphgate_extension* loaded(const std::string& path, std::string& what) {
  // What it prints must not stand between the lines of a protocol.
  (void)::dup2(STDERR_FILENO, STDOUT_FILENO);
  // Without a slash the loader would look elsewhere.
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    what = std::string("cannot be loaded: ") + dlerror();
    return nullptr;
  }
  using Entry = const graphgate_extension* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kEntry));
  if (entry == nullptr) {
    what = std::string("exports no ") + kEntry + " (graphgate_extension.h)";
    return nullptr;
  }
  const graphgate_extension* const extension = entry();
  if (extension == nullptr) {
    what = std::string(kEntry) + " returns nothing";
    return nullptr;
  }
  if (extension->abi == GRAPHGATE_EXTENSION_ABI) return extension;
  what = "was built for version " + std::to_string(extension->abi) +
         " of graphgate_extension.h, expected " + std::to_string(GRAPHGATE_EXTENSION_ABI);
  return nullptr;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

std::string describe(const std::string& path) {
  std::string what;
  const graphgate_extension* const extension = loaded(path, what);
  if (extension == nullptr) return wrong(what);
  return join_texts({kGood, text_of(extension->name), text_of(extension->version),
                     extension->pass == nullptr ? "" : "pass",
                     extension->compile == nullptr ? "" : "compile"});
}

// Runs the work in a process of its own, and takes what it says. Errors begin with the path.
Result<std::vector<std::string>> run_apart(const std::string& path, ExtensionLimits limits,
                                           const std::function<std::string()>& work) {
  ChildOptions options;
  options.timeout_seconds = limits.seconds;
  GRAPHGATE_TRY(const std::vector<ChildResult> children,
                run_children(1, options, [&](std::size_t) { return work(); }));
  const ChildResult& child = children.front();
  if (child.ending == ChildEnding::kNoMemory) {
    return infrastructure(path + ": was " + child.describe());
  }
  if (child.ending == ChildEnding::kTimedOut) {
    return bad_input(path + ": did not end within " + std::to_string(limits.seconds) + " s");
  }
  if (child.ending != ChildEnding::kExited) return bad_input(path + ": was " + child.describe());
  std::vector<std::string> said = take_texts(child.output);
  if (said.empty()) return bad_input(path + ": ended by itself without a result");
  const bool is_good = said.front() == kGood;
  said.erase(said.begin());
  if (is_good) return said;
  return bad_input(path + ": " + (said.empty() ? "" : said.front()));
}

}  // namespace

Result<std::shared_ptr<const Extension>> Extension::load(const std::string& path,
                                                         ExtensionLimits limits) {
  GRAPHGATE_TRY(const std::string bytes, read_whole(path));
  GRAPHGATE_TRY(const auto said, run_apart(path, limits, [&] { return describe(path); }));
  if (said.size() != 4) return bad_input(path + ": ended by itself without a result");
  auto extension = std::make_shared<Extension>();
  extension->path_ = path;
  extension->limits_ = limits;
  extension->name_ = said[0];
  extension->version_ = said[1] + " " + sha256_hex(bytes);
  extension->has_pass_ = !said[2].empty();
  extension->has_compiler_ = !said[3].empty();
  if (said[0].empty() || said[1].empty()) return bad_input(path + ": has no name or no version");
  return std::shared_ptr<const Extension>(std::move(extension));
}

Result<std::string> Extension::call(Function function, const std::string& text) const {
  const auto work = [&]() -> std::string {
    std::string what;
    const graphgate_extension* const extension = loaded(path_, what);
    if (extension == nullptr) return wrong(what);
    const auto run = function == Function::kPass ? extension->pass : extension->compile;
    if (run == nullptr) return wrong("is another file than it was");
    std::string answer;
    const graphgate_answer to{append, &answer};
    const int status = run(text.c_str(), &to);
    if (status == 0) return join_texts({kGood, answer});
    return wrong(answer.empty() ? "returned " + std::to_string(status) : answer);
  };
  GRAPHGATE_TRY(std::vector<std::string> said, run_apart(path_, limits_, work));
  if (said.empty()) return bad_input(path_ + ": ended by itself without a result");
  return std::move(said.front());
}

Result<std::string> Extension::run_pass(const std::string& program) const {
  return call(Function::kPass, program);
}

Result<std::string> Extension::compile(const std::string& partition) const {
  return call(Function::kCompile, partition);
}

bool names_extension(std::string_view value) { return value.ends_with(".so"); }

namespace {

// A pass says what is wrong by what it throws. Where the machine makes no process it lacks memory.
[[noreturn]] void raise(const Error& error) {
  if (error.kind == ErrorKind::kInfrastructure) throw std::bad_alloc();
  throw std::runtime_error(error.message);
}

class ExtensionCompiler final : public PartitionCompiler {
 public:
  explicit ExtensionCompiler(std::shared_ptr<const Extension> extension)
      : extension_(std::move(extension)), usual_(make_compiler({})) {}
  [[nodiscard]] std::string name() const override { return extension_->name(); }
  [[nodiscard]] std::string hash() const override {
    return extension_->name() + " " + extension_->version();
  }
  Result<CompiledPartition> compile(const CompilerSource& source,
                                    const CompilerContext& context) override {
    GRAPHGATE_TRY(const CompiledPartition usual, usual_->compile(source, context));
    GRAPHGATE_TRY(const std::string answer,
                  extension_->compile(print_partition(source, context, usual)));
    auto compiled = parse_compiled(answer);
    if (!compiled.ok()) return compiled.error().at("the answer of " + extension_->path());
    return compiled;
  }

 private:
  std::shared_ptr<const Extension> extension_;
  std::shared_ptr<PartitionCompiler> usual_;
};

}  // namespace

Result<Pass> pass_of(const std::shared_ptr<const Extension>& extension) {
  if (!extension->has_pass()) return bad_input(extension->path() + ": has no pass");
  Pass pass;
  pass.name = extension->name();
  pass.version = extension->version();
  pass.run = [extension](spec::Graph& graph, PassContext& context) {
    auto answer = extension->run_pass(print_graph(graph, context));
    if (!answer.ok()) raise(answer.error());
    if (answer.value().empty()) return;
    const auto taken = take_graph(answer.value(), extension->path(), graph, context);
    if (!taken.ok()) raise(taken.error());
    if (taken.value()) context.count_match();
  };
  return pass;
}

Result<std::shared_ptr<PartitionCompiler>> compiler_of(
    const std::shared_ptr<const Extension>& extension) {
  if (!extension->has_compiler()) return bad_input(extension->path() + ": has no compiler");
  return std::shared_ptr<PartitionCompiler>(std::make_shared<ExtensionCompiler>(extension));
}

}  // namespace graphgate::optimized
