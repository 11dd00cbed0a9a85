#include "optimized/cache/disk_cache.h"

#include "base/sha256.h"
#include "optimized/cache/entry_file.h"
#include "optimized/cache/key_json.h"
#include "optimized/cache/plan_codec.h"
#include "optimized/compilers/compiler.h"
#include "spec/loops.h"
#include "spec/plan_text.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
namespace fs = std::filesystem;

constexpr std::size_t kFolderDigits = 10;
constexpr std::int64_t kMostEntryBytes = 4096;  // beside the factors

class DiskCache final : public PlanCache {
 public:
  DiskCache(const DiskCacheOptions& options, const spec::Program& program,
            const CompileOptions& compile, KeyFactors factors)
      : options_(options),
        program_(program),
        compile_(compile),
        factors_(std::move(factors)),
        folder_hash_(factors_.hash()),
        folder_(folder_of(options, factors_, compile.deviations)) {}

  // Fails where the root cannot be made. What cannot be made or written below it keeps nothing, and
  // says so once: a cache is never worse than none.
  Result<void> prepare_folder() {
    GRAPHGATE_TRY_VOID(make_folder(options_.root));
    const auto writable = make_folders_below();
    is_writable_ = writable.ok();
    if (!is_writable_) warn(writable.error().message + "; plans are not kept");
    for (const fs::path& folder : {folder_, folder_ / "entries", folder_ / "artifacts"}) {
      remove_leftovers(folder);
    }
    GRAPHGATE_TRY_VOID(initialize_compiler());
    if (is_writable_) write_readable("cache_key_factors.json", print_factors_json(factors_));
    return {};
  }

  std::optional<spec::Plan> lookup(const PlanRequest& request) override {
    const KeyFactors factors = entry_factors(request, compile_);
    auto found = find(factors, *request.symbols);
    if (!found.ok()) {
      count(&CompileCounters::entries_rejected);
      warn(found.error().message + "; the plan is compiled anew");
      found = std::optional<spec::Plan>();
    }
    count(found.value() ? &CompileCounters::cache_hits : &CompileCounters::cache_misses);
    return std::move(found).value();
  }

  void store(const PlanRequest& request, const spec::Plan& plan) override {
    if (!is_writable_) return;
    const KeyFactors factors = entry_factors(request, compile_);
    const std::string bytes = encode_plan(plan);
    const EntryFile entry{folder_hash_, sha256_hex(bytes), factors.text()};
    const auto saved = save(artifact_path(entry.artifact), bytes, entry, entry_path(factors));
    if (!saved.ok()) warn("a plan is not kept: " + saved.error().message);
    if (plan.steps.empty() || has_readable_graph_) return;
    has_readable_graph_ = true;
    std::error_code ignored;
    if (fs::exists(folder_ / "computation_graph.txt", ignored)) return;
    write_readable("computation_graph.txt",
                   spec::print_plan(spec::number_plan(plan), *compile_.ops));
  }

  [[nodiscard]] bool saves_before_success() const override {
    return compile_.deviations.has(Deviation::kSavesBeforeSuccess);
  }

 private:
  static Result<void> make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error) return {};
    return infrastructure("the cache folder " + folder.string() +
                          " cannot be made: " + error.message());
  }

  [[nodiscard]] Result<void> make_folders_below() const {
    for (const fs::path& folder : {folder_ / "entries", folder_ / "artifacts"}) {
      GRAPHGATE_TRY_VOID(make_folder(folder));
      // Permissions do not tell (root, read-only file systems, quotas): a file does.
      const fs::path probe = folder / ("probe." + sha256_hex(folder.string()).substr(0, 8));
      const auto written = write_file(probe, "probe", {.sync = false});
      std::error_code ignored;
      fs::remove(probe, ignored);
      if (!written.ok()) {
        return infrastructure("the cache folder cannot be written: " + written.error().message);
      }
    }
    return {};
  }

  // A compiler of the caller's own may keep things of its own beside the plans.
  Result<void> initialize_compiler() const {
    if (!compile_.compiler.own) return {};
    const fs::path folder = folder_ / "compiler";
    const auto made = make_folder(folder);
    if (made.ok()) return compile_.compiler.own->initialize_cache(folder);
    warn(made.error().message + "; the compiler keeps nothing there");
    return {};
  }

  [[nodiscard]] fs::path entry_path(const KeyFactors& factors) const {
    return folder_ / "entries" / factors.hash();
  }
  [[nodiscard]] fs::path artifact_path(const std::string& hash) const {
    return folder_ / "artifacts" / (hash + ".plan");
  }

  // Nothing when there is no entry; an Error when there is one that cannot be used.
  Result<std::optional<spec::Plan>> find(const KeyFactors& factors,
                                         const spec::SymbolValues& symbols) {
    const fs::path path = entry_path(factors);
    // Its own lines are few; the factors are known.
    const auto most_bytes = static_cast<std::int64_t>(factors.text().size()) + kMostEntryBytes;
    GRAPHGATE_TRY(const std::optional<std::string> text, read_file(path, most_bytes));
    if (!text) return std::optional<spec::Plan>();
    const auto entry = parse_entry(*text);
    if (!entry.ok()) return entry.error().at(path.string());
    const fs::path artifact = artifact_path(entry.value().artifact);
    GRAPHGATE_TRY(const std::optional<std::string> bytes, read_file(artifact));
    if (!bytes) return bad_input(artifact.string() + ": the artifact is gone");
    if (sha256_hex(*bytes) != entry.value().artifact) {
      return bad_input(artifact.string() + ": the artifact is damaged");
    }
    auto plan = decode_plan(*bytes);
    if (!plan.ok()) return plan.error().at(artifact.string());
    if (!compile_.deviations.has(Deviation::kSkipsValidationOnHit)) {
      const auto sound = validate(entry.value(), factors, plan.value(), symbols);
      if (!sound.ok()) return sound.error().at(path.string());
    }
    count(&CompileCounters::artifacts_loaded);
    return std::optional<spec::Plan>(std::move(plan).value());
  }

  Result<void> validate(const EntryFile& entry, const KeyFactors& factors, const spec::Plan& plan,
                        const spec::SymbolValues& symbols) const {
    if (entry.folder != folder_hash_) return bad_input("the entry is of another configuration");
    if (entry.factors != factors.text()) return bad_input("the entry is of another key");
    return check_stored_plan(plan, program_, symbols, *compile_.ops);
  }

  Result<void> save(const fs::path& artifact, std::string_view bytes, const EntryFile& entry,
                    const fs::path& entry_path) {
    if (static_cast<std::int64_t>(bytes.size()) > kMostFileBytes) {
      return infrastructure(artifact.string() + ": the plan has " + std::to_string(bytes.size()) +
                            " bytes, more than a cache takes");
    }
    const WriteOptions write{compile_.deviations.has(Deviation::kWritesInPlace), true,
                             options_.write_probe};
    const auto there = read_file(artifact);
    if (!there.ok() || !there.value() || *there.value() != bytes) {
      GRAPHGATE_TRY_VOID(write_file(artifact, bytes, write));
      count(&CompileCounters::artifacts_saved);
    }
    GRAPHGATE_TRY_VOID(write_file(entry_path, print_entry(entry), write));
    count(&CompileCounters::entries_saved);
    return {};
  }

  void write_readable(const char* name, const std::string& text) {
    const auto there = read_file(folder_ / name, static_cast<std::int64_t>(text.size()));
    if (there.ok() && there.value() && *there.value() == text) return;
    const auto written = write_file(folder_ / name, text, {.sync = false});
    if (!written.ok()) warn(written.error().message);
  }

  void count(std::int64_t CompileCounters::*counter) const {
    if (options_.counters != nullptr) ++(options_.counters->*counter);
  }
  void warn(const std::string& message) const {
    if (options_.log != nullptr) options_.log->warning(message);
  }

  const DiskCacheOptions options_;
  const spec::Program& program_;
  const CompileOptions& compile_;
  const KeyFactors factors_;
  const std::string folder_hash_;
  const fs::path folder_;
  bool is_writable_ = false;
  bool has_readable_graph_ = false;
};

class DiskStore final : public PlanStore {
 public:
  explicit DiskStore(DiskCacheOptions options) : options_(std::move(options)) {}

  Result<std::unique_ptr<PlanCache>> open(const spec::Program& program,
                                          const CompileOptions& options,
                                          bool allow_zero_and_one) override {
    const std::string& tag = options_.tag;
    if (tag.empty() || tag == "." || tag == ".." || tag.find('/') != std::string::npos) {
      return bad_input("the tag '" + tag + "' cannot be the name of a folder");
    }
    GRAPHGATE_TRY(KeyFactors factors,
                  folder_factors(program, options, allow_zero_and_one, options_.context));
    auto cache = std::make_unique<DiskCache>(options_, program, options, std::move(factors));
    GRAPHGATE_TRY_VOID(cache->prepare_folder());
    return std::unique_ptr<PlanCache>(std::move(cache));
  }

 private:
  const DiskCacheOptions options_;
};

Result<void> check_ops(const spec::Node& node, const spec::OpTable& ops) {
  if (node.op == kFusedOp || node.op == "higher_order.cond" || spec::is_loop(node.op)) return {};
  const spec::OpRow* row = ops.find(node.op);
  if (row != nullptr && find_kernel(*row) != nullptr) return {};
  return bad_input("step '" + node.name + "': no kernel for " + node.op);
}

}  // namespace

std::shared_ptr<PlanStore> make_disk_store(DiskCacheOptions options) {
  return std::make_shared<DiskStore>(std::move(options));
}

fs::path folder_of(const DiskCacheOptions& options, const KeyFactors& factors,
                   const spec::DeviationSet& deviations) {
  const KeyContext& context = options.context;
  fs::path folder = options.root / factors.hash().substr(0, kFolderDigits);
  if (!deviations.has(Deviation::kRanksShareFolder)) {
    folder /=
        "rank_" + std::to_string(context.rank) + "_" + std::to_string(context.data_parallel_rank);
  }
  return folder / options.tag;
}

Result<void> check_stored_plan(const spec::Plan& plan, const spec::Program& program,
                               const spec::SymbolValues& symbols, const spec::OpTable& ops) {
  GRAPHGATE_TRY_VOID(spec::check_plan(plan));
  if (plan.name != program.name) return bad_input("the plan is of program '" + plan.name + "'");
  if (!std::equal(plan.symbols.begin(), plan.symbols.end(), symbols.begin(), symbols.end())) {
    return bad_input("the plan is for other sizes");
  }
  const auto same_input = [](const spec::PlanInput& a, const spec::ProgramInput& b) {
    return a.kind == b.kind && a.target == b.target;
  };
  if (!std::equal(plan.inputs.begin(), plan.inputs.end(), program.inputs.begin(),
                  program.inputs.end(), same_input)) {
    return bad_input("the plan has other inputs than the program");
  }
  for (const spec::PlanStep& step : plan.steps) {
    GRAPHGATE_TRY_VOID(check_ops(step.node, ops));
    for (const spec::Node& node : step.body) GRAPHGATE_TRY_VOID(check_ops(node, ops));
  }
  return {};
}

}  // namespace graphgate::optimized
