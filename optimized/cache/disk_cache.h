// Plans in a folder, shared by processes.
//
//   ROOT/0123456789/                 hash of the folder's key factors (key.h), 10 digits
//     rank_0_0/                      tensor-parallel and data-parallel rank
//       TAG/                         the model, where several live side by side
//         cache_key_factors.json     the factors, for people
//         computation_graph.txt      the first plan stored, as text: the split graph, for people
//         entries/<hash of entry factors>
//         artifacts/<hash of bytes>.plan
//         compiler/                  for a compiler of the caller's own (initialize_cache)
//
// An entry names an artifact; entries whose plans are equal share one. Every file is written aside
// and renamed (atomic_file.h), the artifact before the entry, so that a process killed at any
// point, and any number of processes at once, leave only whole files. A file that is damaged or
// foreign all the same is found by its hash, is a miss with a warning, and is replaced.
//
// What a hit gives has been checked. The folder's and the entry's factors are those of the request,
// factor by factor. The plan passes check_plan, has the request's symbols and the program's inputs,
// and only ops that the table and the executor have.
#pragma once

#include <filesystem>

#include "base/atomic_file.h"
#include "optimized/cache/key.h"
#include "optimized/compile_counters.h"
#include "optimized/compile_log.h"

namespace graphgate::optimized {

struct DiskCacheOptions {
  std::filesystem::path root = {};
  std::string tag = "model";  // one path component: no '/', not "." or ".."
  KeyContext context = {};
  CompileLog* log = nullptr;                          // warnings; outlives the store's caches
  CompileCounters* counters = nullptr;                // the same
  std::function<void(std::size_t)> write_probe = {};  // WriteOptions::probe
};

// From open(): kInfrastructure when the root cannot be made, kBadInput when the tag is no name.
// What cannot be made or written below the root is a warning.
[[nodiscard]] std::shared_ptr<PlanStore> make_disk_store(DiskCacheOptions options);

// Where open() would put the entries of these factors.
[[nodiscard]] std::filesystem::path folder_of(const DiskCacheOptions& options,
                                              const KeyFactors& factors,
                                              const spec::DeviationSet& deviations);

// Whether a plan from outside may serve the request: the checks on a plan listed above. kBadInput
// says why not.
[[nodiscard]] Result<void> check_stored_plan(const spec::Plan& plan, const spec::Program& program,
                                             const spec::SymbolValues& symbols,
                                             const spec::OpTable& ops);

}  // namespace graphgate::optimized
