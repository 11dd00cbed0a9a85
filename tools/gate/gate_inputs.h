// What a gate runs: cases and programs of a corpus, all or some of them, and cases that are drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/case_file.h"

namespace graphgate::tools {

struct GateInput {
  std::string name;  // its path below the folder, without the ending; the id of a drawn case
  std::string path;  // of a case, or of a .pt2 archive; of a drawn case its id, too
  std::shared_ptr<const spec::CaseFile> drawn = nullptr;
};

// Returns those below these folders, sorted by name. Cases that say themselves what is wrong
// (another expectation than PASS, a planted deviation, a profile of their own) tell nothing of a
// side and are left out. kBadInput for a folder that cannot be read, a case that does not parse,
// and where nothing is left.
[[nodiscard]] Result<std::vector<GateInput>> find_gate_inputs(
    const std::vector<std::string>& folders);

// Returns those whose names hold `only`, in which * and ? stand for anything ("" takes all); of
// these at most `limit` (0: all), spread evenly over them. kBadInput where no name fits.
[[nodiscard]] Result<std::vector<GateInput>> choose_inputs(std::vector<GateInput> inputs,
                                                           const std::string& only,
                                                           std::size_t limit);

// Returns a digest of the names and bytes of all files below these folders, recordings and data
// beside the cases included.
[[nodiscard]] Result<std::string> digest_of(const std::vector<std::string>& folders);

// Returns cases [begin, begin + count) of a seed, as `graphgate fuzz` draws them.
[[nodiscard]] std::vector<GateInput> draw_gate_inputs(std::uint64_t seed, std::uint64_t begin,
                                                      std::size_t count);

}  // namespace graphgate::tools
