#include "tools/gate/gate_inputs.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file_io.h"
#include "base/sha256.h"
#include "conformance/judges/judge_report.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/generate/generator.h"
#include "spec/option.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
namespace option = spec::option;
using spec::Outcome;

// Whether a right executor passes the case as it is.
bool tells_of_a_side(const spec::CaseFile& the_case) {
  if (the_case.expectation.outcome != Outcome::kPass) return false;
  const auto& asked = the_case.options;
  return !asked.contains(option::kDeviation) && !asked.contains(option::kPlanMutation) &&
         !asked.contains(option::kProfile);
}

// Of its bytes; of a file that takes long to read, when it was written last.
Result<std::string> digest_of_file(const std::string& path) {
  constexpr std::uintmax_t kLargeBytes = std::uintmax_t{1} << 28U;
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  if (unknown || size <= kLargeBytes) {
    GRAPHGATE_TRY(const std::string bytes, read_whole(path));
    return sha256_hex(bytes);
  }
  const auto written = fs::last_write_time(path, unknown).time_since_epoch().count();
  return std::to_string(size) + " bytes of " + std::to_string(written);
}

}  // namespace

Result<std::vector<GateInput>> find_gate_inputs(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> by_name;
  for (const std::string& folder : folders) {
    GRAPHGATE_TRY(const auto files, list_files(folder, "", Depth::kBelow));
    for (const std::string& file : files) {
      const fs::path path(file);
      if (path.extension() != ".case" && path.extension() != ".pt2") continue;
      if (path.extension() == ".case") {
        GRAPHGATE_TRY(const std::string text, read_text(path.string()));
        const auto the_case = parse_checked_case(text, path.string());
        // A case with an op that nobody knows is judged, and comes to UNSUPPORTED; one that cannot
        // be read is bad input when its turn comes.
        if (the_case.ok() && !tells_of_a_side(the_case.value())) continue;
      }
      const std::string name = path.lexically_relative(folder).replace_extension().string();
      if (!by_name.emplace(name, path.string()).second) {
        return bad_input(path.string() + ": another file of the corpus is called '" + name +
                         "', too");
      }
    }
  }
  if (by_name.empty())
    return bad_input(conformance::join_names(folders, folders.size()) +
                     ": no case and no program is there");
  std::vector<GateInput> inputs;
  inputs.reserve(by_name.size());
  for (auto& [name, path] : by_name) inputs.push_back({name, std::move(path)});
  return inputs;
}

std::vector<GateInput> draw_gate_inputs(std::uint64_t seed, std::uint64_t begin,
                                        std::size_t count) {
  const fuzz::Alphabet alphabet;
  std::vector<GateInput> inputs;
  inputs.reserve(count);
  for (std::uint64_t index = begin; index < begin + count; ++index) {
    const std::string id = fuzz::print_case_id({fuzz::kGeneratorVersion, seed, {index, {}}});
    const auto genes = fuzz::genes_of(seed, index);
    inputs.push_back(
        {id, id, std::make_shared<const spec::CaseFile>(fuzz::draw_case(genes, alphabet))});
  }
  return inputs;
}

Result<std::vector<GateInput>> choose_inputs(std::vector<GateInput> inputs, const std::string& only,
                                             std::size_t limit) {
  if (!only.empty()) {
    const std::string pattern = "*" + only + "*";
    std::erase_if(inputs, [&](const GateInput& input) {
      return ::fnmatch(pattern.c_str(), input.name.c_str(), 0) != 0;
    });
    if (inputs.empty())
      return bad_input("--only '" + only + "': no case of the corpus is called so");
  }
  if (limit == 0 || limit >= inputs.size()) return inputs;
  std::vector<GateInput> chosen;
  chosen.reserve(limit);
  for (std::size_t i = 0; i < limit; ++i) chosen.push_back(inputs[i * inputs.size() / limit]);
  return chosen;
}

Result<std::string> digest_of(const std::vector<std::string>& folders) {
  std::string digests;
  for (const std::string& folder : folders) {
    GRAPHGATE_TRY(auto files, list_files(folder, "", Depth::kBelow));
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      std::error_code unknown;
      if (!fs::is_regular_file(file, unknown)) continue;
      digests += fs::path(file).lexically_relative(folder).string() + "\n";
      GRAPHGATE_TRY(const std::string digest, digest_of_file(file));
      digests += digest + "\n";
    }
  }
  return sha256_hex(digests);
}

}  // namespace graphgate::tools
