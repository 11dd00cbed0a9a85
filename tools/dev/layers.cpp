#include "tools/dev/layers.h"

#include <algorithm>

namespace graphgate::dev {

const std::vector<Layer>& layers() {
  static const std::vector<std::string_view> kEverything = {
      "base/", "spec/", "interop/", "reference/", "optimized/", "conformance/", "fuzz/", "tools/"};
  static const std::vector<Layer> kLayers = {
      {"base/", {}, {"openssl/"}},
      {"conformance/bounds/", {"base/", "spec/", "conformance/compare/", "conformance/run/"}, {}},
      {"conformance/compare/", {"base/", "spec/"}, {}},
      {"conformance/judges/", {"base/", "spec/", "conformance/"}, {"absl/"}},
      {"conformance/mutations/", {"base/", "spec/"}, {}},
      {"conformance/run/", {"base/", "spec/", "conformance/compare/"}, {}},
      {"conformance/verify/", {"base/", "spec/"}, {"absl/"}},
      {"fuzz/generate/", {"base/", "spec/", "conformance/"}, {}},
      {"fuzz/families/", {"base/", "spec/", "fuzz/generate/"}, {}},
      {"fuzz/reduce/", {"base/", "spec/", "conformance/", "fuzz/generate/"}, {}},
      {"fuzz/campaign/", {"base/", "spec/", "conformance/", "fuzz/generate/", "fuzz/reduce/"}, {}},
      {"interop/", {"base/", "spec/"}, {"nlohmann/", "zip.h"}},
      {"optimized/arithmetic/", {"base/", "spec/"}, {}},
      {"optimized/geometry/", {"spec/", "optimized/*", "optimized/kernels/elements/"}, {}},
      {"optimized/kernels/elements/", {"optimized/arithmetic/"}, {}},
      {"optimized/codegen/",
       {"base/", "spec/", "optimized/*", "optimized/analysis/", "optimized/arithmetic/",
        "optimized/geometry/", "optimized/kernels/elements/", "optimized/schedule/"},
       {}},
      {"optimized/kernels/",
       {"spec/", "optimized/*", "optimized/analysis/", "optimized/arithmetic/",
        "optimized/codegen/", "optimized/geometry/"},
       {}},
      {"optimized/runtime/device/",
       {"base/", "spec/", "optimized/codegen/", "optimized/value_errors.h"},
       {}},
      {"optimized/runtime/cuda/",
       {"base/", "optimized/codegen/", "optimized/runtime/device/"},
       {"openssl/"}},
      {"optimized/runtime/emulated/",
       {"base/", "optimized/codegen/", "optimized/runtime/device/"},
       {}},
      {"optimized/runtime/host/",
       {"base/", "spec/", "optimized/*", "optimized/arithmetic/", "optimized/codegen/",
        "optimized/runtime/device/", "optimized/schedule/"},
       {}},
      {"optimized/", {"base/", "spec/"}, {"absl/", "nlohmann/", "openssl/"}},
      {"reference/", {"base/", "spec/"}, {"boost/"}},
      {"spec/", {"base/"}, {}},
      {"tools/report/",
       {"base/", "spec/", "reference/", "optimized/", "conformance/", "fuzz/"},
       {"nlohmann/"}},
      {"tools/store/",
       {"base/", "spec/", "interop/", "reference/", "conformance/", "fuzz/", "tools/report/"},
       {"nlohmann/"}},
      {"tools/executors/",
       {"base/", "spec/", "interop/", "reference/", "optimized/", "conformance/", "fuzz/",
        "tools/report/", "tools/store/"},
       {"nlohmann/"}},
      {"tools/kit/",
       {"base/", "spec/", "conformance/", "fuzz/", "tools/executors/executor_sources.h"},
       {"gmock/", "rapidcheck"}},
      {"tools/dev/engine_consumer/",
       {"spec/", "tools/kit/", "my_executor.h"},  // of a project of its own
       {}},
      {"tools/cli/", kEverything, {"nlohmann/", "CLI/"}},
      {"tools/tests/", kEverything, {"nlohmann/"}},
      {"tools/", kEverything, {"nlohmann/"}, {"tools/cli/"}},
  };
  return kLayers;
}

namespace {

// What tests may include besides.
constexpr std::string_view kTestLibraries[] = {"gtest/", "gmock/", "rapidcheck"};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Whether a name of may_include covers a file.
bool covers(std::string_view folder, std::string_view file) {
  if (!folder.ends_with('*')) return starts_with(file, folder);
  folder.remove_suffix(1);
  return starts_with(file, folder) && file.find('/', folder.size()) == std::string_view::npos;
}

template <class Prefixes>
bool starts_with_any(std::string_view text, const Prefixes& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return starts_with(text, prefix); });
}

// The standard library's and the system's headers have no slash, or are POSIX's sys/; those under
// sanitizer/ come with the compiler.
bool is_standard(std::string_view header) {
  return (header.find('/') == std::string_view::npos && header != "zip.h") ||
         starts_with(header, "sys/") || starts_with(header, "sanitizer/");
}

// The target of an #include line with its delimiter: `"spec/ids.h` or `<vector`; "" for other
// lines.
std::string_view include_target(std::string_view line) {
  constexpr std::string_view kInclude = "#include ";
  if (!starts_with(line, kInclude)) return "";
  line.remove_prefix(kInclude.size());
  const char close = line[0] == '<' ? '>' : '"';
  return line.substr(0, line.find(close, 1));
}

bool is_test(std::string_view path) {
  return path.find("_test.") != std::string_view::npos ||
         path.find("test_") != std::string_view::npos ||
         path.find("_fuzzer.") != std::string_view::npos;
}

bool allowed(const Layer& layer, std::string_view path, std::string_view target) {
  const std::string_view name = target.substr(1);
  if (target[0] == '"') {
    const bool may = starts_with(name, layer.folder) ||
                     std::any_of(layer.may_include.begin(), layer.may_include.end(),
                                 [&](std::string_view folder) { return covers(folder, name); });
    return may && !starts_with_any(name, layer.but_not);
  }
  if (is_standard(name) || starts_with_any(name, layer.system_libraries)) return true;
  return is_test(path) && starts_with_any(name, kTestLibraries);
}

// The layer of a file, or null.
const Layer* layer_of(std::string_view path) {
  constexpr std::string_view kOwnRules[] = {"tools/cli/", "tools/tests/",
                                            "tools/dev/engine_consumer/"};
  const bool is_wide = is_test(path) && !starts_with_any(path, kOwnRules);
  const Layer* found = nullptr;
  for (const Layer& layer : layers()) {
    if (starts_with(path, layer.folder) && (found == nullptr || is_wide)) found = &layer;
  }
  return found;
}

}  // namespace

std::vector<std::string> forbidden_includes(std::string_view path, std::string_view text) {
  const Layer* const layer = layer_of(path);
  if (layer == nullptr) return {};
  std::vector<std::string> findings;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view target = include_target(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (target.empty() || allowed(*layer, path, target)) continue;
    findings.push_back(std::string(path) + ":" + std::to_string(number) + ": " +
                       std::string(layer->folder) + " may not include " +
                       std::string(target.substr(1)));
  }
  return findings;
}

}  // namespace graphgate::dev
