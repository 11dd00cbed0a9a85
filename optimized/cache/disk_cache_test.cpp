#include "optimized/cache/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "base/sha256.h"
#include "optimized/cache/cache_test_support.h"
#include "optimized/cache/entry_file.h"
#include "optimized/cache/plan_codec.h"
#include "optimized/compilers/compiler.h"

namespace graphgate::optimized {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheOptions disk() {
    return DiskCacheOptions{.root = folder_.path(), .log = &log_, .counters = &counters_};
  }
  Options executor_options() {
    Options options;
    options.plan_store = make_disk_store(disk());
    options.compile.counters = &counters_;
    return options;
  }
  std::vector<spec::CallResult> run(const std::vector<std::int64_t>& sizes,
                                    const char* text = kScaleProgram) {
    const spec::Program program = program_of(text);
    std::vector<Inputs> calls;
    for (const std::int64_t size : sizes) calls.push_back({rows_of(size)});
    return run_calls(program, calls, executor_options());
  }
  static std::string bytes_of(const fs::path& path) { return read_file(path).value().value(); }
  // Where the one model of the test keeps its entries.
  fs::path model_folder() const {
    return files_in(folder_.path(), "entries").at(0).parent_path().parent_path();
  }
  static void overwrite(const fs::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  TestFolder folder_;
  RecordingLog log_;
  CompileCounters counters_;
};

TEST_F(DiskCacheTest, GivesTheSamePlanColdAndWarm) {
  CacheUser user;
  const spec::Plan plan = user.compiled();
  user.open(disk())->store(user.request(), plan);
  const auto found = user.open(disk())->lookup(user.request());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, plan);
  EXPECT_EQ(log_.warnings, std::vector<std::string>{});
}

TEST_F(DiskCacheTest, GivesTheSameBitsColdAndWarm) {
  const auto cold = run({3, 5, 3});
  EXPECT_EQ(unmet({}, counters_, {.plans_compiled = 2, .cache_hits = 0, .entries_saved = 2}), "");
  const CompileCounters before = counters_;
  const auto warm = run({5, 3});
  EXPECT_EQ(unmet(before, counters_,
                  {.plans_compiled = 0,
                   .cache_hits = 2,
                   .cache_misses = 0,
                   .entries_saved = 0,
                   .artifacts_loaded = 2}),
            "");
  ASSERT_EQ(cold.size(), 3U);
  ASSERT_EQ(warm.size(), 2U);
  EXPECT_EQ(floats(warm[0].outputs[0]), floats(cold[1].outputs[0]));
  EXPECT_EQ(floats(warm[1].outputs[0]), floats(cold[0].outputs[0]));
}

TEST_F(DiskCacheTest, LaysOutAFolderThatPeopleCanRead) {
  run({3});
  const fs::path model = model_folder();
  EXPECT_EQ(model.filename(), "model");
  EXPECT_EQ(model.parent_path().filename(), "rank_0_0");
  EXPECT_EQ(model.parent_path().parent_path().filename().string().size(), 10U);
  const std::string factors = bytes_of(model / "cache_key_factors.json");
  EXPECT_TRUE(contains(factors, "\"split_ops\": \"vllm.unified_attention_with_output\\n\""));
  const std::string graph = bytes_of(model / "computation_graph.txt");
  EXPECT_EQ(graph.rfind("plan \"scale\"", 0), 0U);
  EXPECT_TRUE(contains(graph, "partition 0 captured"));
}

TEST_F(DiskCacheTest, KeepsEqualPlansOnce) {
  CacheUser user;
  const spec::Plan plan = user.compiled();
  auto cache = user.open(disk());
  cache->store(user.request(), plan);
  user.range = SizeRange{2, 9};
  cache->store(user.request(), plan);
  EXPECT_EQ(unmet({}, counters_, {.entries_saved = 2, .artifacts_saved = 1}), "");
  EXPECT_EQ(files_in(folder_.path(), "entries").size(), 2U);
  EXPECT_EQ(files_in(folder_.path(), "artifacts").size(), 1U);
  EXPECT_EQ(cache->lookup(user.request()), plan);
}

TEST_F(DiskCacheTest, KeepsModelsAndRanksApart) {
  CacheUser user;
  user.open(disk())->store(user.request(), user.compiled());
  DiskCacheOptions other = disk();
  other.tag = "drafter";
  EXPECT_FALSE(user.open(other)->lookup(user.request()).has_value());
  other = disk();
  other.context.data_parallel_rank = 1;
  EXPECT_FALSE(user.open(other)->lookup(user.request()).has_value());
  EXPECT_TRUE(user.open(disk())->lookup(user.request()).has_value());
}

// Puts something in the place of a file that is no file of ours. Returns false where this machine
// has no such thing.
bool put_wrong_thing(const fs::path& path, const std::string& what) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
  if (what == "pipe") return ::mkfifo(path.c_str(), 0600) == 0;
  if (what == "loop") fs::create_symlink(path.filename(), path);
  if (what == "dangling") fs::create_symlink("nothing", path);
  if (what == "device") fs::create_symlink("/dev/zero", path);
  if (what == "unreadable") fs::create_symlink("/proc/self/mem", path);
  if (what == "folder") fs::create_directories(path / "in the way");
  if (what == "file") std::ofstream(path, std::ios::binary) << "no folder";
  if (what == "sparse") {
    std::ofstream(path, std::ios::binary) << "sparse";
    constexpr std::uintmax_t kBytes = std::uintmax_t{1} << 42;
    fs::resize_file(path, kBytes, ignored);
    return !ignored;  // some file systems have no files so large
  }
  return true;
}

// Whatever lies where an entry, an artifact or a readable file was: values as without a cache,
// nobody waits, and no memory is taken for sizes that are claimed.
TEST_F(DiskCacheTest, ComputesTheSameWhateverLiesWhereAFileWas) {
  const auto cold = run({3});
  const fs::path model = model_folder();
  const std::vector<fs::path> files = {
      files_in(folder_.path(), "entries").at(0), files_in(folder_.path(), "artifacts").at(0),
      model / "cache_key_factors.json", model / "computation_graph.txt"};
  for (const fs::path& file : files) {
    for (const char* what :
         {"pipe", "loop", "dangling", "device", "unreadable", "folder", "sparse"}) {
      if (!put_wrong_thing(file, what)) continue;
      log_.warnings.clear();
      const auto again = run({3});
      EXPECT_EQ(floats(again[0].outputs[0]), floats(cold[0].outputs[0])) << file << " " << what;
      if (std::string_view(what) == "folder") fs::remove_all(file);
      run({3});  // makes it good
      const CompileCounters before = counters_;
      run({3});
      EXPECT_EQ(unmet(before, counters_, {.plans_compiled = 0, .cache_hits = 1}), "")
          << file << " " << what;
    }
  }
}

// Whatever lies where a folder was, at each step of the path.
TEST_F(DiskCacheTest, ComputesTheSameWhateverLiesWhereAFolderWas) {
  const auto cold = run({3});
  const fs::path model = model_folder();
  const std::vector<fs::path> folders = {model / "entries", model / "artifacts", model,
                                         model.parent_path(), model.parent_path().parent_path()};
  for (const fs::path& folder : folders) {
    for (const char* what : {"file", "pipe", "loop", "dangling", "device"}) {
      ASSERT_TRUE(put_wrong_thing(folder, what));
      log_.warnings.clear();
      const auto again = run({3, 3});
      EXPECT_EQ(floats(again[0].outputs[0]), floats(cold[0].outputs[0])) << folder << " " << what;
      ASSERT_FALSE(log_.warnings.empty()) << folder << " " << what;
      EXPECT_TRUE(contains(log_.warnings[0], "; plans are not kept"));
      fs::remove_all(folder);
      run({3});
    }
  }
}

// A limit on the size of files ends a write as a full disk does.
TEST_F(DiskCacheTest, ComputesTheSameOnAFullDisk) {
  const auto cold = run({3});
  fs::remove_all(folder_.path());
  fs::create_directory(folder_.path());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{7}, rlim_t{100}, rlim_t{600}, rlim_t{1000}}) {
    log_.warnings.clear();
    const rlimit full{bytes, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
    const auto again = run({3, 5, 3});
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(floats(again[0].outputs[0]), floats(cold[0].outputs[0])) << bytes;
    EXPECT_EQ(floats(again[2].outputs[0]), floats(cold[0].outputs[0])) << bytes;
    if (bytes > 100) continue;  // some files fit
    EXPECT_FALSE(log_.warnings.empty()) << bytes;
    EXPECT_TRUE(files_in(folder_.path(), "entries").empty()) << bytes;
  }
  (void)std::signal(SIGXFSZ, handler);
}

// Every way in which files may be spoilt: a miss with a warning, and the next store makes it good.
TEST_F(DiskCacheTest, TakesSpoiltFilesForAMissAndReplacesThem) {
  CacheUser user;
  const spec::Plan plan = user.compiled();
  for (const char* kind : {"entries", "artifacts"}) {
    for (const char* damage : {"", "cut", "foreign", "flip", "gone", "folder"}) {
      user.open(disk())->store(user.request(), plan);
      const fs::path file = files_in(folder_.path(), kind).at(0);
      std::string bytes = bytes_of(file);
      const std::string how = damage;
      if (how == "cut") bytes.resize(bytes.size() / 2);
      if (how.empty()) bytes.clear();
      if (how == "foreign") bytes = "#!/bin/sh\n";
      if (how == "flip") bytes[bytes.size() / 2] ^= 1;
      if (how == "gone" || how == "folder") fs::remove(file);
      if (how == "folder") fs::create_directory(file);
      if (how != "gone" && how != "folder") overwrite(file, bytes);
      log_.warnings.clear();
      const bool is_plain_miss = how == "gone" && std::string_view(kind) == "entries";
      EXPECT_FALSE(user.open(disk())->lookup(user.request()).has_value()) << kind << " " << how;
      EXPECT_EQ(log_.warnings.size(), is_plain_miss ? 0U : 1U) << kind << " " << how;
      if (how == "folder") fs::remove(file);
    }
  }
  user.open(disk())->store(user.request(), plan);
  EXPECT_EQ(user.open(disk())->lookup(user.request()), plan);
}

TEST_F(DiskCacheTest, ComputesTheSameThroughASpoiltCache) {
  const auto cold = run({3});
  for (const fs::path& file : files_in(folder_.path(), "artifacts")) overwrite(file, "spoilt");
  const CompileCounters before = counters_;
  const auto again = run({3});
  EXPECT_EQ(floats(again[0].outputs[0]), floats(cold[0].outputs[0]));
  EXPECT_EQ(
      unmet(before, counters_,
            {.plans_compiled = 1, .cache_hits = 0, .entries_rejected = 1, .artifacts_saved = 1}),
      "");
}

TEST_F(DiskCacheTest, ChecksThatAPlanIsSoundAndOfThisProgram) {
  CacheUser user;
  const auto is_served = [&](const spec::Plan& plan) {
    user.open(disk())->store(user.request(), plan);
    return user.open(disk())->lookup(user.request()).has_value();
  };
  EXPECT_TRUE(is_served(user.compiled()));
  spec::Plan plan = user.compiled();
  plan.buffers.back().offset_bytes = 1 << 20;  // outside of its pool
  EXPECT_FALSE(is_served(plan));
  plan = user.compiled();
  plan.inputs[0].target = "y";
  EXPECT_FALSE(is_served(plan));
  plan = user.compiled();
  plan.symbols["s0"] = 4;
  EXPECT_FALSE(is_served(plan));
  plan = user.compiled();
  plan.steps[0].node.op = "aten.no_such_op.default";
  EXPECT_FALSE(is_served(plan));
  EXPECT_EQ(counters_.entries_rejected, 4);
}

// The name of an entry file is a hash; what is inside must be of this very key all the same.
TEST_F(DiskCacheTest, ComparesTheFactorsOnAHit) {
  CacheUser user;
  user.open(disk())->store(user.request(), user.compiled());
  const fs::path path = files_in(folder_.path(), "entries").at(0);
  const EntryFile entry = parse_entry(bytes_of(path)).value();
  EntryFile other = entry;
  other.factors += "[more]\n";
  overwrite(path, print_entry(other));
  EXPECT_FALSE(user.open(disk())->lookup(user.request()).has_value());
  other = entry;
  other.folder = sha256_hex("another configuration");
  overwrite(path, print_entry(other));
  EXPECT_FALSE(user.open(disk())->lookup(user.request()).has_value());
  overwrite(path, print_entry(entry));
  EXPECT_TRUE(user.open(disk())->lookup(user.request()).has_value());
}

TEST_F(DiskCacheTest, LeavesNothingOfAFailedCompile) {
  CacheUser user;
  auto cache = user.open(disk());
  EXPECT_EQ(
      failure_of(find_or_make_plan(cache.get(), user.request(),
                                   [] { return Result<spec::Plan>(unsupported("no kernel")); }))
          .message,
      "no kernel");
  EXPECT_EQ(files_in(folder_.path(), "entries").size(), 0U);
  const auto good = must(find_or_make_plan(cache.get(), user.request(),
                                           [&] { return Result<spec::Plan>(user.compiled()); }));
  EXPECT_EQ(good, user.compiled());
}

TEST_F(DiskCacheTest, RefusesAFolderThatCannotBeMadeBeforeCompiling) {
  overwrite(folder_.path() / "file", "");
  DiskCacheOptions options = disk();
  options.root = folder_.path() / "file" / "below";
  Options executor;
  executor.plan_store = make_disk_store(options);
  const spec::Program program = program_of(kScaleProgram);
  const Error loaded = failure_of(make_executor(executor)->load(program));
  EXPECT_EQ(loaded.kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(contains(loaded.message, "cannot be made"));
  EXPECT_EQ(files_under(folder_.path()).size(), 1U);
}

TEST_F(DiskCacheTest, RefusesATagThatIsNoName) {
  const CacheUser user;
  for (const char* tag : {"", ".", "..", "a/b"}) {
    DiskCacheOptions options = disk();
    options.tag = tag;
    EXPECT_EQ(
        failure_of(make_disk_store(options)->open(user.program, user.options, false), tag).kind,
        ErrorKind::kBadInput);
  }
  EXPECT_TRUE(files_under(folder_.path()).empty());
}

class OwnCompiler final : public PartitionCompiler {
 public:
  [[nodiscard]] std::string name() const override { return "own"; }
  [[nodiscard]] std::string hash() const override { return version; }
  Result<void> initialize_cache(const fs::path& path) override {
    folder = path;
    return {};
  }
  Result<CompiledPartition> compile(const CompilerSource& source,
                                    const CompilerContext& /*context*/) override {
    CompiledPartition compiled;
    for (std::uint32_t n = 0; n < source.nodes().size(); ++n) compiled.launches.push_back({n});
    return compiled;
  }
  std::string version = "1";
  fs::path folder;
};

TEST_F(DiskCacheTest, GivesACompilerOfTheCallersOwnAFolderAndAKey) {
  const auto compiler = std::make_shared<OwnCompiler>();
  CacheUser user;
  user.options.compiler.own = compiler;
  user.open(disk())->store(user.request(), user.compiled());
  EXPECT_EQ(compiler->folder, model_folder() / "compiler");
  EXPECT_TRUE(fs::is_directory(compiler->folder));
  EXPECT_TRUE(user.open(disk())->lookup(user.request()).has_value());
  compiler->version = "2";
  EXPECT_FALSE(user.open(disk())->lookup(user.request()).has_value());
}

TEST_F(DiskCacheTest, OnlyWarnsWhenTheReadableFilesCannotBeWritten) {
  run({3});
  const fs::path model = model_folder();
  for (const char* name : {"cache_key_factors.json", "computation_graph.txt"}) {
    fs::remove(model / name);
    fs::create_directories(model / name / "in the way");
  }
  log_.warnings.clear();
  const CompileCounters before = counters_;
  run({3, 4});
  EXPECT_EQ(unmet(before, counters_, {.cache_hits = 1, .entries_saved = 1}), "");
  ASSERT_EQ(log_.warnings.size(), 1U);
  EXPECT_TRUE(contains(log_.warnings[0], "cache_key_factors.json"));
}

TEST_F(DiskCacheTest, CompilesOnWhenAPlanCannotBeStored) {
  CacheUser user;
  auto cache = user.open(disk());
  for (const char* name : {"entries", "artifacts"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.path().filename() != name) continue;
      fs::remove(entry.path());
      break;
    }
  }
  const auto plan = find_or_make_plan(cache.get(), user.request(),
                                      [&] { return Result<spec::Plan>(user.compiled()); });
  EXPECT_TRUE(plan.ok());
  ASSERT_FALSE(log_.warnings.empty());
  EXPECT_TRUE(contains(log_.warnings[0], "a plan is not kept"));
}

}  // namespace
}  // namespace graphgate::optimized
