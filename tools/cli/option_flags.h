// Flags of the command line for the options of an executor, declared from their table
// (spec/option.h): what is given goes into a configuration as it was typed.
#pragma once

#include <CLI/CLI.hpp>

#include "spec/option.h"

namespace graphgate::tools {

// All of the optimized executor, in a group of their own in --help: what check, plan, fuzz, golden
// check, serve, reduce and replay share.
void add_planner_flags(CLI::App& app, spec::Configuration& given);

// Where captured partitions run alone: of run, gate and bench.
void add_device_flags(CLI::App& app, spec::Configuration& given);

// One of them. `row` is of option_rows().
CLI::Option* add_option_flag(CLI::App& app, const spec::OptionRow& row, spec::Configuration& given);

}  // namespace graphgate::tools
