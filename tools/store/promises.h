// What an executor promises, as its greeting and stored runs have it. `arithmetic` is a name of
// reference/number/arithmetic.h ("strict" where it is missing). `kernels` is "cpu" (where it is
// missing), "cuda" or "own". `split_sums` is a list of 16-bit dtypes (none where it is missing).
// `tf32` is a list that may name "convolution" (nothing where it is missing). `layouts` is "kept"
// (where it is missing) or "free". `torch` is the version of PyTorch whose ops it computes as;
// where it is missing that is open.
#pragma once

#include "conformance/run/executor_source.h"
#include "fuzz/generate/alphabet.h"
#include "interop/json_cursor.h"

namespace graphgate::tools {

// Of these members of an object; kBadInput names another word.
[[nodiscard]] Result<conformance::Promises> read_promises(const interop::JsonCursor& object);
// Reads what it does not take, for generators of cases. The members are lists of words: `devices`
// (types of devices that it has), `not_wrapped` (namespaces whose ops it does not run in
// auto_functionalized_v2) and `ops` (those that it takes). An executor that says nothing has no
// limits.
[[nodiscard]] Result<fuzz::SubjectLimits> read_limits(const interop::JsonCursor& object);
// "kept" or "free".
[[nodiscard]] const char* layouts_word(const conformance::Promises& promises);

}  // namespace graphgate::tools
