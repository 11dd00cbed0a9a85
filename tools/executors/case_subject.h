// Who is under test where cases are drawn, replayed or reduced: the optimized executor, or a
// process that speaks the protocol of docs/executors.md.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <set>
#include <string>

#include "tools/executors/external_source.h"

namespace graphgate::tools {

// As flags of a command line have it.
struct SubjectFlags {
  std::string executor;  // a command; empty: the optimized executor
  double seconds = 60;   // for each answer of a command
};
void add_subject_flags(CLI::App& app, SubjectFlags& flags);

// A subject is made again in each process that is forked: see late_external_source.
class CaseSubject {
 public:
  // The optimized executor, which takes every option.
  CaseSubject() = default;
  // Starts a command to hear who it is and what options it takes. kInfrastructure where it does not
  // answer, kBadInput for an option of the command line that it does not take. `exchange` is
  // ExternalCommand's.
  [[nodiscard]] static Result<CaseSubject> choose(const SubjectFlags& flags,
                                                  const conformance::Configuration& options,
                                                  const std::string& exchange = {});

  [[nodiscard]] bool is_command() const { return !command_.text.empty(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  // What cases for it are not drawn from, as --exclude has it.
  [[nodiscard]] const std::string& not_drawn() const { return not_drawn_; }
  // Of these options those that it takes: the others of a case are for executors that do.
  [[nodiscard]] conformance::Configuration taken_of(conformance::Configuration options) const;
  [[nodiscard]] std::unique_ptr<conformance::ExecutorSource> source() const;

 private:
  ExternalCommand command_;  // of no text: the optimized executor
  std::string name_ = "optimized";
  std::set<std::string, std::less<>> options_;  // of a command
  std::string not_drawn_;
};

}  // namespace graphgate::tools
