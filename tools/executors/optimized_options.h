// Turns what is asked for by name (spec/option.h) into the optimized executor's options.
//
// A profile comes first, overrides change it, deviations by name are added; then every other option
// decides for itself, over what the profile chose. What is absent is the profile's choice, or the
// executor's default.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimized/optimized.h"
#include "spec/option.h"

namespace graphgate::tools {

// Returns kBadInput for an option or a value that there is not, or a contradiction. The same for a
// profile, an override file, a deviation, a pass or an op that is none, and for a shared object
// that is none or that nobody allowed. Opens neither device nor cache; of files it reads that of
// the overrides and shared objects alone. `ops` outlives the options. `remarks` gets what came of
// each override, in words.
[[nodiscard]] Result<optimized::Options> options_of(const spec::Configuration& configuration,
                                                    const spec::OpTable& ops,
                                                    std::vector<std::string>* remarks = nullptr);

// kBadInput as options_of, whatever ops are named: those of a case are in the case's own table.
[[nodiscard]] Result<void> check_options(const spec::Configuration& configuration);

// The variable with files and folders, apart by colons, from which shared objects may be loaded
// that cases or requests name.
inline constexpr const char* kExtensionsVariable = "GRAPHGATE_EXTENSIONS";

// Lets options name the shared object at this path: somebody typed it. To be called while the
// process has one thread.
void allow_extension(const std::string& path);

// Sets the device and the cache that are asked for, a folder of plans or one of bundles.
// kInfrastructure where the one is not there, or the other's folder cannot be made; one that cannot
// be written keeps nothing, and is remarked on.
[[nodiscard]] Result<void> open_resources(const spec::Configuration& configuration,
                                          optimized::Options& options,
                                          std::vector<std::string>* remarks = nullptr);
// One of both.
[[nodiscard]] Result<std::shared_ptr<optimized::Device>> open_device(
    const spec::Configuration& configuration);
[[nodiscard]] Result<void> open_cache(const spec::Configuration& configuration,
                                      optimized::Options& options,
                                      std::vector<std::string>* remarks = nullptr);

// The value of the option "device".
[[nodiscard]] std::string device_of(const spec::Configuration& configuration);
// Whether captured partitions run on the host.
[[nodiscard]] bool is_on_host(const spec::Configuration& configuration);

// kBadInput for a kind of memory that the device does not have.
[[nodiscard]] Result<void> check_device(const spec::Configuration& configuration);

// Checks, before any work, what a command line says of the profile, overrides, deviations and the
// folder of the cache. All else is checked together with what each case asks for.
[[nodiscard]] Result<void> check_named(const spec::Configuration& configuration);

}  // namespace graphgate::tools
