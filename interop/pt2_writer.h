// spec::Program -> torch.export archives (.pt2) that torch.export.load opens.
//
// The inverse of pt2_reader.h: read_pt2(write_pt2(p)) is the same program (spec::same_program) when
// its values are numbered by definition. Facts that PyTorch wants and the program has no annotation
// for (pytree specs, opset, verifier) are made up: a tuple of tensors in, a tuple out.
//
// Refused as kUnsupported, with the reason: what the schema cannot say. That is values without a
// type, tensor lists read by getitem, mixed lists of numbers, and a storage shared between weights
// and constants or between dtypes. When the op table is given, ops are refused whose rows carry
// undeclared writes, hidden state or ordering tokens.
#pragma once

#include <string>

#include "base/result.h"
#include "interop/pt2_reader.h"
#include "spec/program.h"

namespace graphgate::interop {

// Replaces `path` only when all is written. The same program gives the same bytes. Weights are not
// copied. PyTorch loads archives whose names end in .pt2.
[[nodiscard]] Result<void> write_pt2(const spec::Program& program, const std::string& path,
                                     const Pt2Options& options = {});

}  // namespace graphgate::interop
