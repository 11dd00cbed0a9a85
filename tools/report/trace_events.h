// Plans and times as a trace that Perfetto and chrome://tracing open: the JSON object form of the
// trace event format. A form for eyes; nothing is read from it.
//
//   process "plan: tiny"           position in the order of execution, 1 microsecond each ->
//     partitions                   [0 captured          ][1 eager: split op]
//     stream 0                     [mm  ][add ]          [attention        ]
//     stream 1                     [mul ]
//     arena @p (counter)           live, peak and bound in bytes
//
// A plan has no times: what stands for them is the order of execution (spec/plan_drawing.h), in
// which the steps of a conditional's arms lie inside of the conditional's own slice. Runs have real
// times, in processes of their own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "spec/plan.h"
#include "tools/report/json.h"

namespace graphgate::tools {

// A slice of real time. On one track a slice lies inside of another, or apart from it.
struct TraceSpan {
  std::string track;
  std::string name;
  double begin_seconds = 0;  // since any time that all spans share
  double seconds = 0;
  Json args = Json::object();
};

// Time by the clock since it was made.
class TraceClock {
 public:
  [[nodiscard]] double seconds() const;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class TraceEvents {
 public:
  // Adds a process of the plan. It must pass check_plan.
  void add_plan(const std::string& name, const spec::Plan& plan);
  // Adds a process with a track for each name of a track, in the order in which they come.
  void add_spans(const std::string& process, const std::vector<TraceSpan>& spans);
  // Returns the whole file, with its line end.
  [[nodiscard]] std::string print() const;

 private:
  int begin_process(const std::string& name);
  void name_thread(int process, int thread, const std::string& name);
  // Adds a slice ("X"); times are in microseconds.
  void add_slice(int process, int thread, const std::string& name, double begin, double length,
                 Json args);

  Json events_ = Json::array();
  int processes_ = 0;
  int flows_ = 0;
};

}  // namespace graphgate::tools
