// The compilers that come with the executor; compiler.h says what they do. Only compiler.cpp, which
// finds them by name, makes them.
#pragma once

#include "optimized/compilers/compiler.h"

namespace graphgate::optimized {

[[nodiscard]] std::shared_ptr<PartitionCompiler> make_fused_compiler();
[[nodiscard]] std::shared_ptr<PartitionCompiler> make_eager_compiler();
[[nodiscard]] std::shared_ptr<PartitionCompiler> make_standalone_compiler();

}  // namespace graphgate::optimized
