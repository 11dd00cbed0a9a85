// `graphgate plan --csv FILE --capacity N`: packs the buffers of a CSV file into one arena.
//
// The file has the form of interop/minimalloc.h (id,lower,upper,size). Printed is what the packer
// of optimized/memory reached, next to the bound that no packing goes below, and why the peak is
// optimal where that is known:
//
//   C.1048576.csv: 203 buffers, alignment 1
//     peak         1039360
//     lower bound  1039360 (ratio 1.00000)
//     method       search
//     optimal      yes: so many bytes are alive at one step
//     capacity     1048576: met
//
// With a capacity the packer goes on until it is met, until the bound proves that it cannot be, or
// until the time is over; the page says which. plan.cpp hands its options over; nothing else calls
// this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "tools/report/exit_code.h"

namespace graphgate::tools {

// --effort: 0 for near-linear methods only; the packer's budgets grow in proportion. Without the
// option: so much without a capacity; and so much to get lower once a capacity is met.
inline constexpr int kDefaultPackEffort = 4;
inline constexpr int kPolishPackEffort = 1;
inline constexpr double kDefaultPackSeconds = 60;
inline constexpr int kPackEffortMax = 10'000;

struct PackCsvOptions {
  std::string csv;                             // the file to pack
  std::optional<std::int64_t> capacity_bytes;  // of the arena; nothing: as low as possible
  std::int64_t alignment_bytes = 1;            // every offset is a multiple; sizes are rounded up
  std::optional<int> effort = {};  // nothing: see above; with a capacity: until the time is over
  std::string out = {};  // a CSV with the placements: id,lower,upper,size,offset; "-" for stdout
  // --time; with one, work goes on that long without a capacity, too.
  std::optional<double> seconds = {};
  int jobs = 1;            // threads
  std::uint64_t seed = 1;  // of the searches
};

// How high buffers with places are, and the most bytes that are in use at one time.
struct PackedSize {
  std::int64_t peak_bytes = 0;
  std::int64_t bound_bytes = 0;
};
// Returns two lines, indented: the peak; the bound, and the ratio of the two.
[[nodiscard]] std::string size_lines(const PackedSize& size);

// kFindings when no packing meets the capacity; kInconclusive when none was found, and there may
// be one. kBadInput for a file that cannot be read, for sizes
// beyond 63 bits, and for options out of range; then nothing is written.
[[nodiscard]] Result<ExitCode> run_pack_csv(const PackCsvOptions& options);

}  // namespace graphgate::tools
