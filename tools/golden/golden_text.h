// Golden records as text, one thing a line, so that a change reads well in a review.
//
//   graphgate-golden 1
//   program "cases/mutation/input-written.case"
//   arithmetic strict
//   sources sha256:5f0c5a3d1b7e9a11
//   generator "graphgate 1.0.0"
//   command "graphgate golden update --only cases/mutation/input-written.case"
//   reason "first recording"
//   call 0 of "writes" follows plan 0
//     output 0: f32[2]; sha256:0f1e2d3c4b5a6978; all: 0x1p+0 -0x1.8p+1
//     input 0: f32[2]; sha256:0f1e2d3c4b5a6978; shares output 0; all: 0x1p+0 -0x1.8p+1
//   plan 0: sha256:8d969eef6ecad3c2 peak 512 lower-bound 512 ...
//     plan "writes" strict {
//       ...
//     }
//   kernels
//     k_1417e27b2a5ac402 1
//   effects
//     aten.add_.Tensor: in_place; reads self, other; writes self; 0=self
//   findings
//     V3.overlap FAIL ...
//
// The grammar is in docs/formats.md. print(parse(text)) == text for printed text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/golden/golden_record.h"

namespace graphgate::tools {

inline constexpr int kGoldenVersion = 1;

[[nodiscard]] std::string print_golden(const GoldenRecord& record);

// kBadInput, "SOURCE:LINE: expected ..., found ...", for what is no record, another version, and a
// plan whose text is not what its digest says. Plan text is not parsed here: it takes the ops of
// its program.
[[nodiscard]] Result<GoldenRecord> parse_golden(std::string_view text, std::string_view source);

}  // namespace graphgate::tools
