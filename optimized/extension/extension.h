// Passes and compilers from a shared object of the user's (graphgate_extension.h says how one is
// written).
//
// Nothing of the object ever runs in this process: each call forks, loads it there, and takes the
// answer as text. So no answer depends on an earlier call, and whatever the object does to itself
// is an error with its path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "optimized/compilers/compiler.h"
#include "optimized/passes/pass.h"

namespace graphgate::optimized {

struct ExtensionLimits {
  std::uint32_t seconds = 20;  // of one call
};

class Extension {
 public:
  // Asks the object what it has. kBadInput, with the path, where it cannot be loaded, exports no
  // entry, was built for another ABI, or names nothing; kInfrastructure where no process can be
  // made.
  [[nodiscard]] static Result<std::shared_ptr<const Extension>> load(const std::string& path,
                                                                     ExtensionLimits limits = {});

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // The object's own version, and a hash of its bytes.
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] bool has_pass() const { return has_pass_; }
  [[nodiscard]] bool has_compiler() const { return has_compiler_; }

  // What the object's function answers. kBadInput, with the path, for errors of its own, for a
  // process that ended, and for one that takes longer than the limit.
  [[nodiscard]] Result<std::string> run_pass(const std::string& program) const;
  [[nodiscard]] Result<std::string> compile(const std::string& partition) const;

 private:
  enum class Function : std::uint8_t { kPass, kCompile };
  [[nodiscard]] Result<std::string> call(Function function, const std::string& text) const;

  std::string path_;
  ExtensionLimits limits_;
  std::string name_;
  std::string version_;
  bool has_pass_ = false;
  bool has_compiler_ = false;
};

// Whether a value of --pass or --compiler names a shared object: it ends in ".so".
[[nodiscard]] bool names_extension(std::string_view value);

// The pass of the object. kBadInput where it has none.
[[nodiscard]] Result<Pass> pass_of(const std::shared_ptr<const Extension>& extension);

// The compiler of the object. kBadInput where it has none.
[[nodiscard]] Result<std::shared_ptr<PartitionCompiler>> compiler_of(
    const std::shared_ptr<const Extension>& extension);

}  // namespace graphgate::optimized
