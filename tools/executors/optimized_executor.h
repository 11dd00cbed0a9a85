// The optimized executor as a configuration asks for it: plain, or behind the wrapper that compiles
// once (option "wrapper", docs/wrapper.md).
#pragma once

#include <memory>

#include "optimized/optimized.h"
#include "spec/option.h"

namespace graphgate::tools {

// kBadInput for options that go with the wrapper alone, and for contradictions between it and
// others. Reads the configuration and nothing else.
[[nodiscard]] Result<void> check_wrapper(const spec::Configuration& configuration);

// `options` are what options_of() and open_resources() made of the same configuration.
[[nodiscard]] Result<std::unique_ptr<spec::Executor>> make_optimized(
    const spec::Configuration& configuration, optimized::Options options);

// What the wrapper makes of the options, for who compiles without an executor: `graphgate plan`.
[[nodiscard]] Result<optimized::Options> behind_wrapper(const spec::Configuration& configuration,
                                                        optimized::Options options);

}  // namespace graphgate::tools
