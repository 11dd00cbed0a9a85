// The verbs of the command line. Each add_NAME declares a subcommand with its options, help and an
// example; run_NAME does the work. main.cpp lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "spec/op_table.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/pack_csv.h"
#include "tools/cli/plan_verify.h"
#include "tools/cli/planner_options.h"
#include "tools/cli/subject_flags.h"

namespace graphgate::tools {

// What every verb that reads programs takes.
struct ProgramOptions {
  std::vector<std::string> files;       // .pt2 archives or graph text
  std::string data;                     // recorded calls; default: beside each file
  std::vector<std::string> custom_ops;  // op table text with the user's own ops
};
void add_program_options(CLI::App& app, ProgramOptions& options);

// builtin_op_table() and the user's files.
[[nodiscard]] Result<spec::OpTable> load_op_table(const std::vector<std::string>& custom_ops);

struct CheckVerb {
  ProgramOptions programs;
  std::vector<std::string> executors;  // names or commands; empty: what fits file and judges
  double executor_seconds = 60;        // for each answer of a command
  std::uint64_t seed = 1;
  int calls = 2;
  int jobs = 1;
  double false_alarm_rate = 1e-9;
  bool judge_nodes = false;
  std::string quality_baseline;      // a file of lines that `plan --quality` prints
  bool every_configuration = false;  // the whole table, not only the first few
  std::string judges;  // "all", or names; empty: all for cases, bounds and state for programs
  PlannerFlags planner;
  std::string json;            // a path, or "-"
  std::string junit;           // a path, or "-"
  std::string sarif;           // a path, or "-"
  std::string bundle;          // a .zip, or a folder
  std::string record;          // a folder for stored runs
  std::string judge_recorded;  // a folder with stored runs, instead of files
  std::vector<std::string> command_line;
  const CLI::App* app = nullptr;  // the subcommand, once it is added
};
CLI::App* add_check(CLI::App& app, CheckVerb& verb);
[[nodiscard]] Result<ExitCode> run_check(const CheckVerb& verb);

struct PlanVerb {
  ProgramOptions programs;
  int call = 0;
  std::uint64_t seed = 1;
  PlannerFlags planner;
  bool text = false;  // the canonical text instead of the summary
  bool dot = false;
  bool quality = false;  // one line of numbers for each call
  bool verbose = false;  // the time of each stage, on stderr
  PackCsvOptions pack;   // of a CSV file, instead of a program
  std::string diff;      // a stored plan to compare with
  std::string json;
  PlanVerifyOptions verify;  // of a stored plan, instead of a program
};
CLI::App* add_plan(CLI::App& app, PlanVerb& verb);
[[nodiscard]] Result<ExitCode> run_plan(const PlanVerb& verb);

struct RunVerb {
  ProgramOptions programs;
  std::string mode = "eager";
  std::uint64_t seed = 1;
  int calls = 1;  // seeded calls, where there is no data
  bool allow_zero_and_one = false;
  std::string executor = "reference";
  DeviceFlags device;  // of the optimized executor
  std::string save;    // a .safetensors for outputs, final inputs and states
};
CLI::App* add_run(CLI::App& app, RunVerb& verb);
[[nodiscard]] Result<ExitCode> run_run(const RunVerb& verb);

struct OpsVerb {
  std::string pattern;                 // ops whose name contains it
  std::string cases;                   // judge these recorded calls instead
  std::string executor = "reference";  // whose results are judged
  bool bounds_report = false;          // how tight bounds are, and what they catch
  std::vector<std::string> models;     // for the bounds report: programs with recordings
  std::vector<std::string> coverage;   // programs whose ops are counted instead
  std::vector<std::string> custom_ops;
  int failures_shown = 20;  // per op
  std::string json;
};
CLI::App* add_ops(CLI::App& app, OpsVerb& verb);
[[nodiscard]] Result<ExitCode> run_ops(const OpsVerb& verb);

struct ConvertVerb {
  std::string input;
  std::string output;
  bool inline_tensors = false;
  std::vector<std::string> custom_ops;
};
CLI::App* add_convert(CLI::App& app, ConvertVerb& verb);
[[nodiscard]] Result<ExitCode> run_convert(const ConvertVerb& verb);

struct BenchVerb {
  std::string what;               // "plan", "judges", "fuzz", "replay" or "decode"
  std::vector<std::string> only;  // parts; empty: all
  std::size_t nodes = 100'000;
  std::int64_t tensor_mib = 256;
  std::string model;                     // of a part; empty: the part's own
  std::string models = "golden/models";  // a folder
  std::string json;
  std::uint64_t cases = 4000;                        // of bench fuzz
  std::vector<std::int64_t> batches = {1, 16, 128};  // of bench decode
  std::string torch;                                 // of bench decode: a command; empty: none
  DeviceFlags device;                                // of bench replay and decode
  std::vector<std::int64_t> capture_sizes;           // of bench replay; empty: 1, 2, 4 ... 512
};
CLI::App* add_bench(CLI::App& app, BenchVerb& verb);
[[nodiscard]] Result<ExitCode> run_bench(const BenchVerb& verb);

struct DoctorVerb {
  std::string json;
};
CLI::App* add_doctor(CLI::App& app, DoctorVerb& verb);
[[nodiscard]] Result<ExitCode> run_doctor(const DoctorVerb& verb);

struct MutantsVerb {
  std::vector<std::string> folders = {"golden/cases"};
  std::vector<std::string> filters;
  std::size_t every = 1;
  std::string known;  // a file
  int jobs = 1;
  std::uint32_t timeout_seconds = 600;
  bool list = false;
  std::string json;  // a path, or "-"
};
CLI::App* add_mutants(CLI::App& app, MutantsVerb& verb);
[[nodiscard]] Result<ExitCode> run_mutants_verb(const MutantsVerb& verb);

struct FuzzVerb {
  std::uint64_t seed = 1;
  std::uint64_t cases = 0;  // 0: by time; neither: kDefaultFuzzCases
  std::string time;         // "8h", "90s"
  int jobs = 0;             // 0: as many as the machine has processors
  std::string shard;        // "i/N"; empty: as the environment says
  std::string corpus = "fuzz-corpus";
  std::string ledger;  // empty: CORPUS/ledger.txt, if it is there
  bool resume = false;
  bool replay_only = false;
  bool no_replay = false;
  std::string judges;  // empty: the quick ones
  std::string ops;
  std::string exclude;
  std::uint64_t data_sets = 1;
  double timeout_seconds = 0;  // 0: as kFuzzTimeout and kCommandTimeout say
  std::string memory_limit;    // empty: 4GiB, none with a command
  double reduce_seconds = 10;
  std::string case_log;
  bool feedback = false;
  std::string target;          // a score; empty: none
  std::uint32_t lineages = 0;  // 0: as many as there are shards
  SubjectFlags subject;
  PlannerFlags planner;
  std::string json;                // a path, or "-"
  std::string junit;               // a path, or "-"
  std::string sarif;               // a path, or "-"
  std::vector<std::string> merge;  // corpora of the verb `fuzz merge`
  std::string merge_into;
  const CLI::App* app = nullptr;
  const CLI::App* merge_app = nullptr;
};
CLI::App* add_fuzz(CLI::App& app, FuzzVerb& verb);
[[nodiscard]] Result<ExitCode> run_fuzz(const FuzzVerb& verb);

struct GateVerb {
  std::string baseline;                                // tools/gate/side_choice.h
  std::vector<std::string> candidates;                 // the same, oldest first
  std::string overrides;                               // "vllm", or a path; over both sides
  std::vector<std::string> corpus = {"golden/cases"};  // folders
  std::string judges;                                  // empty: all
  std::string waivers;                                 // a file
  double plan_threshold_percent = 5;
  int jobs = 1;
  std::uint32_t timeout_seconds = 120;
  double executor_seconds = 60;  // for each answer of a command
  int reruns = 2;
  std::string time;  // for drawn cases; empty: none
  std::uint64_t seed = 1;
  DeviceFlags device;    // of profiles
  std::string save;      // a .json for the candidate's side
  std::string json;      // a path, or "-"
  std::string markdown;  // a path, or "-"
  std::string junit;     // a path, or "-"
  std::string sarif;     // a path, or "-"
};
CLI::App* add_gate(CLI::App& app, GateVerb& verb);
[[nodiscard]] Result<ExitCode> run_gate(const GateVerb& verb);

struct ServeVerb {
  std::string executor = "optimized";
  PlannerFlags planner;           // over what a request asks for
  const CLI::App* app = nullptr;  // the subcommand, once it is added
};
CLI::App* add_serve(CLI::App& app, ServeVerb& verb);
[[nodiscard]] Result<ExitCode> run_serve(const ServeVerb& verb);

struct ReduceVerb {
  std::string file;       // a case, graph text or a .pt2 archive
  std::string output;     // empty: beside the file
  std::string check;      // a command; empty: the signature
  std::string judges;     // empty: all
  std::string signature;  // empty: the one that stands for the case
  double seconds = 60;
  std::size_t checks = 100'000;
  bool isolate = false;
  std::uint32_t timeout_seconds = 0;  // 0: not given
  std::uint64_t seed = 1;
  int calls = 2;
  std::string neighbour;  // a file for the nearest passing case
  std::vector<std::string> custom_ops;
  SubjectFlags subject;
  PlannerFlags planner;
  std::string json;               // a path, or "-"
  const CLI::App* app = nullptr;  // the subcommand, once it is added
};
CLI::App* add_reduce(CLI::App& app, ReduceVerb& verb);
[[nodiscard]] Result<ExitCode> run_reduce(const ReduceVerb& verb);

struct ReplayVerb {
  std::vector<std::string> words;      // a file, an id, a finding's name, or a line with one
  std::string judges;                  // empty: all
  std::string corpus = "fuzz-corpus";  // a folder
  std::string ops;                     // of an id
  std::string exclude;
  std::uint64_t data_sets = 1;
  std::uint32_t timeout_seconds = 60;
  std::string write;  // a path, or "-": where the case goes instead of being run
  SubjectFlags subject;
  PlannerFlags planner;
  std::string json;               // a path, or "-"
  const CLI::App* app = nullptr;  // the subcommand, once it is added
};
CLI::App* add_replay(CLI::App& app, ReplayVerb& verb);
[[nodiscard]] Result<ExitCode> run_replay(const ReplayVerb& verb);

}  // namespace graphgate::tools
