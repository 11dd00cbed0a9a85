// For tests of the cache: a folder, a small program, and requests.
#pragma once

#include <filesystem>
#include <vector>

#include "base/folder_test.h"
#include "optimized/cache/disk_cache.h"
#include "optimized/program_test.h"

namespace graphgate::optimized {

inline constexpr const char* kScaleProgram = R"(program "scale" {
  symbol s0 in [2, 64] hint 8
  input %x : f32[s0, 4]
  %y = aten.mul.Tensor(%x, 2.0)
  %z = aten.add.Tensor(%y, %x)
  output %z
})";

inline std::vector<std::filesystem::path> files_under(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Of those, the ones whose folder has this name ("entries", "artifacts").
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& root,
                                                   std::string_view folder) {
  std::vector<std::filesystem::path> files = files_under(root);
  std::erase_if(files, [&](const auto& path) { return path.parent_path().filename() != folder; });
  return files;
}

class RecordingLog final : public CompileLog {
 public:
  void stage(std::string_view name, double /*seconds*/) override { stages.emplace_back(name); }
  void warning(std::string_view message) override { warnings.emplace_back(message); }
  std::vector<std::string> stages;
  std::vector<std::string> warnings;
};

// Counts up from `first` in a tensor of `rows` rows of 4.
inline spec::HostTensor rows_of(std::int64_t rows, float first = 1) {
  std::vector<float> values(static_cast<std::size_t>(4 * rows));
  for (float& value : values) value = first++;
  return f32({rows, 4}, std::move(values));
}

// A program, options and inputs, with all that a cache asks for. What is public may be changed
// before the first use.
struct CacheUser {
  explicit CacheUser(const char* text = kScaleProgram) : program(program_of(text)) {}

  std::unique_ptr<PlanCache> open(const DiskCacheOptions& disk) const {
    return must(make_disk_store(disk)->open(program, options, allow_zero_and_one));
  }

  PlanRequest request() {
    symbols = must(bind_symbols(program, inputs, allow_zero_and_one));
    return {inputs, &symbols, range, dispatch};
  }

  spec::Plan compiled() { return good_plan_of(program, inputs, options); }

  spec::Program program;
  CompileOptions options;
  Inputs inputs = {rows_of(3)};
  bool allow_zero_and_one = false;
  std::optional<SizeRange> range;
  std::map<std::string, std::string> dispatch;
  spec::SymbolValues symbols;
};

}  // namespace graphgate::optimized
