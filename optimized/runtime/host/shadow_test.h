// For tests of shadow memory: programs run under it, and what it said, as text.
#pragma once

#include <algorithm>
#include <functional>

#include "optimized/runtime/session_test.h"

namespace graphgate::optimized {

using Change = std::function<void(Options&)>;

inline std::string text_of(const std::vector<spec::Finding>& findings) {
  std::string text;
  for (const spec::Finding& finding : findings) {
    text += finding.rule + ": " + finding.message + "\n" + finding.drawing;
  }
  return text;
}

inline spec::HostTensor counting_tensor(std::vector<std::int64_t> sizes) {
  std::vector<float> values(static_cast<std::size_t>(spec::element_count(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 2.0F;
  return f32(std::move(sizes), values);
}

inline Options shadowed(const Change& change = {}) {
  Options options;
  options.runtime.instrument = InstrumentKind::kShadow;
  options.compile.compiler.name = "eager";
  if (change) change(options);
  return options;
}

// Of every call, in order; that of a call that fails stands in its message.
inline std::vector<spec::Finding> findings_of(const std::string& text,
                                              const std::vector<Inputs>& calls,
                                              const Options& options) {
  const Loaded loaded(text, options);
  std::vector<spec::Finding> out;
  for (const Inputs& inputs : calls) {
    const auto result = loaded.session->call(inputs);
    if (!result.ok()) {
      out.push_back({.message = result.error().message});
      continue;
    }
    out.insert(out.end(), result.value().findings.begin(), result.value().findings.end());
  }
  return out;
}

inline void lines(Options& options) { options.compile.memory.strategy = MemoryStrategy::kLines; }
inline void sized_four(Options& options) { options.runtime.capture_sizes = {4}; }
inline void cut_at_neg(Options& options) { options.compile.partition.split_ops = {"aten.neg"}; }
inline void on_two_streams(Options& options) {
  options.compile.streams.count = 2;
  options.compile.memory.in_place = false;
}

}  // namespace graphgate::optimized
