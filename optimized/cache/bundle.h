// A whole program ahead of time: every plan made so far, in one file.
//
//   build:  auto store = BundleStore::make({});        run the sizes that are wanted;
//   store->save(path) serve:  auto store = BundleStore::load(path, {});  Options::plan_store =
//   store
//
//   "ggbundle" version | folder factors | artifacts, each once | entries: factors, artifact |
//   SHA-256
//
// The file says what it was made from: the program (graph, geometry of parameters, ops with their
// schemas), the guards (ranges of symbols), options, environment and code. open() compares all of
// them with the program that is loaded, and refuses another one naming what differs: a file given
// by hand is an answer to a question, not a cache. Each call's inputs are compared too, so that no
// guard goes unevaluated; a size that is not in the file is compiled as usual, and joins the file
// when it is saved again.
#pragma once

#include <filesystem>

#include "optimized/cache/key.h"
#include "optimized/compile_counters.h"

namespace graphgate::optimized {

struct BundleOptions {
  KeyContext context = {};
  CompileCounters* counters = nullptr;  // outlives the store's caches
};

// Holds one program's plans. Not for several threads at once.
class BundleStore final : public PlanStore, public std::enable_shared_from_this<BundleStore> {
 public:
  [[nodiscard]] static std::shared_ptr<BundleStore> make(BundleOptions options);

  // kBadInput for a file that is missing, cut, altered, or of another version.
  [[nodiscard]] static Result<std::shared_ptr<BundleStore>> load(const std::filesystem::path& path,
                                                                 BundleOptions options);

  // kBadInput when the plans held are of another program or configuration.
  [[nodiscard]] Result<std::unique_ptr<PlanCache>> open(const spec::Program& program,
                                                        const CompileOptions& options,
                                                        bool allow_zero_and_one) override;

  // Whole or not at all (atomic_file.h). kBadInput when there is no plan to save.
  [[nodiscard]] Result<void> save(const std::filesystem::path& path) const;

  // Takes whatever is opened next for what the plans were made from.
  void forget_source() { factors_.reset(); }

  [[nodiscard]] std::size_t plan_count() const { return entries_.size(); }
  // Plans that differ: entries with equal plans share one.
  [[nodiscard]] std::size_t artifact_count() const { return artifacts_.size(); }

 private:
  class Cache;

  explicit BundleStore(BundleOptions options) : options_(std::move(options)) {}
  Result<void> read(std::string_view bytes);

  BundleOptions options_;
  std::optional<KeyFactors> factors_;             // of the folder
  std::map<std::string, std::string> artifacts_;  // encoded plans, by hash
  std::map<std::string, std::string> entries_;    // KeyFactors::text() -> hash of the artifact
};

}  // namespace graphgate::optimized
