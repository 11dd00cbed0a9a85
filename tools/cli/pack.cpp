// graphgate plan --csv: the packer alone, on buffers from a CSV file.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/formatted.h"
#include "conformance/verify/packing.h"
#include "interop/minimalloc.h"
#include "optimized/memory/pack_until.h"
#include "tools/cli/pack_csv.h"
#include "tools/report/escape.h"

namespace graphgate::tools {
namespace {

using interop::MinimallocBuffer;
using optimized::BoundReason;
using optimized::PackEnd;
using optimized::Packing;
using optimized::PackRun;

Result<void> check_options(const PackCsvOptions& options) {
  if (options.capacity_bytes && *options.capacity_bytes < 0) {
    return bad_input("--capacity: expected a number of bytes that is not negative");
  }
  if (options.alignment_bytes <= 0) return bad_input("--alignment: expected a positive number");
  if (options.effort && (*options.effort < 0 || *options.effort > kPackEffortMax)) {
    return bad_input("--effort: expected 0 to " + std::to_string(kPackEffortMax));
  }
  return {};
}

std::vector<optimized::PackItem> items_of(const std::vector<MinimallocBuffer>& buffers) {
  std::vector<optimized::PackItem> items;
  items.reserve(buffers.size());
  for (const MinimallocBuffer& buffer : buffers) {
    items.push_back({buffer.lower, buffer.upper, buffer.size_bytes});
  }
  return items;
}

// Why no packing is lower than the bound.
std::string reason_of(const Packing& packing) {
  if (packing.bound_reason == BoundReason::kLoad) return "so many bytes are alive at one step";
  std::string reason = packing.bound_reason == BoundReason::kWindow
                           ? "the search of a run of steps alone was exhausted at "
                           : "the search was exhausted at ";
  reason += std::to_string(packing.refuted_bytes);
  if (packing.bound_bytes == packing.refuted_bytes + packing.unit_bytes) {
    return reason + ", " + std::to_string(packing.unit_bytes) + " (the unit of all sizes) below";
  }
  return reason + ", and no sum of sizes lies between";
}

std::string ratio(std::int64_t peak_bytes, std::int64_t bound_bytes) {
  if (bound_bytes == 0) return "1.00000";
  return formatted("%.5f", static_cast<double>(peak_bytes) /
                               static_cast<double>(std::max<std::int64_t>(bound_bytes, 1)));
}

std::string line(const char* name, const std::string& text) {
  std::string padded = name;
  padded.resize(13, ' ');
  return "  " + padded + text + "\n";
}

// What ended the work without an answer, and what to do about it.
std::string end_of(const PackCsvOptions& options, PackEnd end) {
  if (end == PackEnd::kOver) {
    return "--time " + formatted("%gs", options.seconds.value_or(kDefaultPackSeconds)) + " is over";
  }
  const int effort =
      options.effort.value_or(options.capacity_bytes ? kPolishPackEffort : kDefaultPackEffort);
  return "--effort " + std::to_string(effort) + " is used up";
}

std::string page_of(const PackCsvOptions& options, std::size_t buffers, const PackRun& run,
                    std::int64_t load_bytes) {
  const Packing& packing = run.packing;
  std::string page = plain_name(base_name(options.csv)) + ": " + std::to_string(buffers) +
                     " buffers, alignment " + std::to_string(options.alignment_bytes) + "\n";
  page += size_lines({packing.peak_bytes, load_bytes});
  if (packing.bound_bytes > load_bytes) {
    page += line("proven bound", std::to_string(packing.bound_bytes) + " (ratio " +
                                     ratio(packing.peak_bytes, packing.bound_bytes) + ")");
  }
  page += line("method", std::string(packing.method));
  page += line("optimal", packing.peak_bytes == packing.bound_bytes
                              ? "yes: " + reason_of(packing)
                              : "not proven: " + end_of(options, run.end));
  if (options.capacity_bytes) {
    const std::int64_t over = packing.peak_bytes - *options.capacity_bytes;
    std::string verdict = "met";
    if (over > 0) verdict = "missed by " + std::to_string(over);
    if (packing.bound_bytes > *options.capacity_bytes) {
      verdict += "; no packing meets it";
    } else if (over > 0) {
      verdict += "; undecided, for " + end_of(options, run.end);
    }
    page += line("capacity", std::to_string(*options.capacity_bytes) + ": " + verdict);
  }
  return page;
}

std::string placements_of(const std::vector<MinimallocBuffer>& buffers, const Packing& packing) {
  std::string text = "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    text += buffers[i].id + "," + std::to_string(buffers[i].lower) + "," +
            std::to_string(buffers[i].upper) + "," + std::to_string(buffers[i].size_bytes) + "," +
            std::to_string(packing.offsets_bytes[i]) + "\n";
  }
  return text;
}

// The packer's work, in the order that costs least.
Result<PackRun> packed(const PackCsvOptions& options,
                       const std::vector<optimized::PackItem>& items) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double> time(options.seconds.value_or(kDefaultPackSeconds));
  const bool has_goal = options.capacity_bytes || options.seconds;
  const bool searches_apart = (has_goal || options.jobs > 1) && options.effort != 0;
  const int effort = options.effort.value_or(kDefaultPackEffort);
  optimized::PackOptions budget;
  const std::int64_t search_work = budget.search_work;
  budget.fit_work *= has_goal ? std::min(effort, 1) : effort;
  budget.search_work = searches_apart ? 0 : search_work * effort;
  PackRun run;
  run.end = PackEnd::kWork;
  GRAPHGATE_TRY(run.packing, optimized::pack(items, options.alignment_bytes, budget));
  if (!searches_apart) return run;

  optimized::PackGoal goal;
  goal.capacity_bytes = options.capacity_bytes;
  goal.jobs = options.jobs;
  goal.seed = options.seed - 1;  // the usual seed gives the orders that pack() begins with
  if (options.effort || !has_goal) goal.work = search_work * effort;
  if (has_goal) {
    goal.is_over = [=] { return std::chrono::steady_clock::now() - begin > time; };
  }
  const auto improve = [&]() -> Result<void> {
    GRAPHGATE_TRY(run, optimized::pack_until(items, options.alignment_bytes, std::move(run.packing),
                                             budget, goal));
    return {};
  };
  GRAPHGATE_TRY_VOID(improve());
  if (options.capacity_bytes && run.end == PackEnd::kMet) {
    // A little lower, where that is cheap.
    goal.capacity_bytes.reset();
    goal.work = search_work * options.effort.value_or(kPolishPackEffort);
    GRAPHGATE_TRY_VOID(improve());
  }
  return run;
}

// Whether the verifier, which shares no code with the packer, finds nothing wrong.
Result<void> verify(const PackCsvOptions& options, const std::vector<MinimallocBuffer>& buffers,
                    const Packing& packing) {
  std::vector<verify::PackedBuffer> placed;
  placed.reserve(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const MinimallocBuffer& buffer = buffers[i];
    const std::int64_t offset = packing.offsets_bytes[i];
    placed.push_back({buffer.id, buffer.lower, buffer.upper, buffer.size_bytes, offset});
    if (offset % options.alignment_bytes != 0) {
      return Error{ErrorKind::kInternal, "buffer '" + buffer.id + "' was packed at offset " +
                                             std::to_string(offset) + ", off the alignment"};
    }
  }
  const auto findings = verify::verify_packing(placed, packing.peak_bytes);
  if (findings.empty()) return {};
  return Error{ErrorKind::kInternal, "the packing is wrong: " + findings.front().message};
}

}  // namespace

std::string size_lines(const PackedSize& size) {
  return line("peak", std::to_string(size.peak_bytes)) +
         line("lower bound", std::to_string(size.bound_bytes) + " (ratio " +
                                 ratio(size.peak_bytes, size.bound_bytes) + ")");
}

Result<ExitCode> run_pack_csv(const PackCsvOptions& options) {
  GRAPHGATE_TRY_VOID(check_options(options));
  GRAPHGATE_TRY(const auto buffers, interop::read_minimalloc(options.csv));
  const std::vector<optimized::PackItem> items = items_of(buffers);
  GRAPHGATE_TRY(const PackRun run, packed(options, items));
  const Packing& packing = run.packing;
  GRAPHGATE_TRY(const std::int64_t load_bytes,
                optimized::lower_bound_bytes(items, options.alignment_bytes));
  GRAPHGATE_TRY_VOID(verify(options, buffers, packing));
  const std::string page = page_of(options, buffers.size(), run, load_bytes);
  if (!options.out.empty()) {
    GRAPHGATE_TRY_VOID(write_text(placements_of(buffers, packing), options.out));
  }
  // Standard output takes one of the two.
  if (options.out != "-") GRAPHGATE_TRY_VOID(write_text(page, "-"));
  if (!options.capacity_bytes || packing.peak_bytes <= *options.capacity_bytes) {
    return ExitCode::kGood;
  }
  return packing.bound_bytes > *options.capacity_bytes ? ExitCode::kFindings
                                                       : ExitCode::kInconclusive;
}

}  // namespace graphgate::tools
