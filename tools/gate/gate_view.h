// What a gate shows while it runs: a line that redraws itself on a terminal, NDJSON elsewhere.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/gate/gate_results.h"

namespace graphgate::tools {

struct GateProgress {
  std::size_t cases = 0;       // of the corpus that are done, before a resume too
  std::size_t planned = 0;     // of the corpus
  std::size_t resumed = 0;     // of `cases`, those that an earlier run did
  std::size_t drawn = 0;       // cases beside the corpus
  std::size_t differing = 0;   // cases in which some side shows what another does not
  double seconds = 0;          // of this run, so far
  double planned_seconds = 0;  // for drawn cases; 0 where none are drawn
  // What workers are at, the longest first: "'op/conversion' on new".
  std::vector<std::pair<std::string, double>> in_work = {};
};

// What a case came to on a side.
struct SideNews {
  std::string side;
  const GateCase* one = nullptr;
};

class GateView {
 public:
  virtual ~GateView() = default;
  // Before it begins: a side's process is being started, which takes seconds.
  virtual void starting(const std::string& side) = 0;
  virtual void begin(const std::vector<std::string>& sides, const GateProgress& progress,
                     int jobs) = 0;
  virtual void progress(const GateProgress& progress) = 0;
  // Returns how often it wants to hear of it, in seconds.
  [[nodiscard]] virtual double progress_seconds() const = 0;
  // The sides in their order, stored ones included.
  virtual void done(const std::string& name, const std::vector<SideNews>& sides,
                    const GateProgress& progress) = 0;
  virtual void end(const GateProgress& progress, bool is_interrupted) = 0;
};

// Returns the seconds until all of it is done, as this run has gone so far; nothing where that
// cannot be told.
[[nodiscard]] std::optional<double> seconds_left(const GateProgress& progress);

// Whether some side shows what another does not, or comes to another outcome.
[[nodiscard]] bool sides_differ(const std::vector<SideNews>& sides);

// For people. With `redraws` the last line is written over: for terminals of `columns`.
[[nodiscard]] std::unique_ptr<GateView> gate_text_view(std::FILE* file, bool redraws, int columns);
// A JSON object a line: {"event": "case", ...}.
[[nodiscard]] std::unique_ptr<GateView> gate_ndjson_view(std::FILE* file);
// In the form that the file has.
[[nodiscard]] std::unique_ptr<GateView> gate_view_for(std::FILE* file);

}  // namespace graphgate::tools
