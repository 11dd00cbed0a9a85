// graphgate plan --csv: the packer alone, on buffers from a CSV file.
#include <algorithm>
#include <vector>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/formatted.h"
#include "interop/minimalloc.h"
#include "optimized/memory/pack.h"
#include "tools/cli/pack_csv.h"
#include "tools/report/escape.h"

namespace graphgate::tools {
namespace {

using interop::MinimallocBuffer;
using optimized::BoundReason;
using optimized::Packing;

Result<void> check_options(const PackCsvOptions& options) {
  if (options.capacity_bytes && *options.capacity_bytes < 0) {
    return bad_input("--capacity: expected a number of bytes that is not negative");
  }
  if (options.alignment_bytes <= 0) return bad_input("--alignment: expected a positive number");
  if (options.effort < 0 || options.effort > kPackEffortMax) {
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

std::string page_of(const PackCsvOptions& options, std::size_t buffers, const Packing& packing,
                    std::int64_t load_bytes) {
  std::string page = plain_name(base_name(options.csv)) + ": " + std::to_string(buffers) +
                     " buffers, alignment " + std::to_string(options.alignment_bytes) + "\n";
  page += size_lines({packing.peak_bytes, load_bytes});
  if (packing.bound_bytes > load_bytes) {
    page += line("proven bound", std::to_string(packing.bound_bytes) + " (ratio " +
                                     ratio(packing.peak_bytes, packing.bound_bytes) + ")");
  }
  page += line("method", std::string(packing.method));
  page += line("optimal", packing.peak_bytes == packing.bound_bytes ? "yes: " + reason_of(packing)
                                                                    : "not proven");
  if (options.capacity_bytes) {
    const std::int64_t over = packing.peak_bytes - *options.capacity_bytes;
    std::string verdict = "met";
    if (over > 0) verdict = "missed by " + std::to_string(over);
    if (packing.bound_bytes > *options.capacity_bytes) verdict += "; no packing meets it";
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
  optimized::PackOptions budget;
  budget.fit_work *= options.effort;
  budget.search_work *= options.effort;
  GRAPHGATE_TRY(const Packing packing, optimized::pack(items, options.alignment_bytes, budget));
  GRAPHGATE_TRY(const std::int64_t load_bytes,
                optimized::lower_bound_bytes(items, options.alignment_bytes));
  if (const auto conflict = optimized::find_overlap(items, packing.offsets_bytes)) {
    return Error{ErrorKind::kInternal, "buffers '" + buffers[conflict->first].id + "' and '" +
                                           buffers[conflict->second].id + "' were packed onto " +
                                           "each other"};
  }
  const std::string page = page_of(options, buffers.size(), packing, load_bytes);
  if (!options.out.empty()) {
    GRAPHGATE_TRY_VOID(write_text(placements_of(buffers, packing), options.out));
  }
  // Standard output takes one of the two.
  if (options.out != "-") GRAPHGATE_TRY_VOID(write_text(page, "-"));
  const bool met = !options.capacity_bytes || packing.peak_bytes <= *options.capacity_bytes;
  return met ? ExitCode::kGood : ExitCode::kFindings;
}

}  // namespace graphgate::tools
