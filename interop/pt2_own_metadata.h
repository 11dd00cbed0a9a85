// What write_pt2 leaves in an archive so that a program comes back as it was.
//
// PyTorch's schema has no place for some of spec::Program: its name, annotations of other origin,
// hints of symbols that no size shows alone, and names that are no Python identifiers. They travel
// in the program's metadata under kOwnMetadataKey (pt2_reader.h), which PyTorch carries and
// ignores.
#pragma once

#include <set>
#include <string>

#include "interop/json_cursor.h"
#include "spec/program.h"

namespace graphgate::interop {

struct OwnMetadata {
  // Annotations that the writer made up: they are not kept.
  std::set<std::string, std::less<>> made_up;
};

// Reads it from graph_module.metadata, if it is there, and applies names, hints and annotations to
// the program, whose graph, signature and symbols are complete.
[[nodiscard]] Result<OwnMetadata> read_own_metadata(const JsonCursor& metadata,
                                                    spec::Program& program);

}  // namespace graphgate::interop
