// graphgate convert: a program from one form into another.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/atomic_file.h"
#include "fuzz/campaign/reduce_case.h"
#include "interop/pt2_writer.h"
#include "spec/graph_text.h"
#include "tools/cli/flags.h"
#include "tools/cli/verb.h"
#include "tools/executors/case_archive.h"
#include "tools/executors/torch_script.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct ConvertVerb {
  std::string input;
  std::string output;
  bool inline_tensors = false;
  std::vector<std::string> custom_ops;
};

constexpr const char* kScript = ".py";
constexpr const char* kArchive = ".pt2";

bool ends_in(const std::string& path, const char* extension) {
  return std::filesystem::path(path).extension() == extension;
}

// What a case says of the finding that it keeps, for a script.
TorchScriptWords words_of(const spec::CaseFile& the_case) {
  TorchScriptWords words;
  const auto signature = fuzz::stored_signature(the_case);
  if (signature.ok() && signature.value()) words.signature = print_signature(*signature.value());
  return words;
}

Result<ExitCode> write_script(const spec::CaseFile& the_case, const ConvertVerb& verb) {
  const auto text = print_torch_script(the_case, verb.input, words_of(the_case));
  if (!text.ok()) return text.error().at(verb.input);
  GRAPHGATE_TRY_VOID(write_text(text.value(), verb.output));
  return ExitCode::kGood;
}

Result<ExitCode> convert_case(const std::string& text, const ConvertVerb& verb) {
  if (!verb.custom_ops.empty())
    return bad_input("--custom-ops goes with a program: a case has its own");
  GRAPHGATE_TRY(const spec::CaseFile the_case, parse_checked_case(text, verb.input));
  if (ends_in(verb.output, kScript)) return write_script(the_case, verb);
  if (!ends_in(verb.output, kArchive)) {
    return bad_input(verb.output + ": a case becomes a script (.py) or an archive (.pt2)");
  }
  const auto written = write_case_archive(the_case, verb.input, verb.output);
  if (!written.ok()) return written.error().at(verb.input);
  return ExitCode::kGood;
}

// Makes a case of a program: of the calls that were recorded of it, or of drawn data.
Result<spec::CaseFile> case_of(const spec::Program& program, const ConvertVerb& verb) {
  GRAPHGATE_TRY(const auto recorded, read_expected_calls(verb.input, ""));
  if (!recorded.empty()) return fuzz::case_of_recording(program, recorded);
  constexpr int kCalls = 2;
  return fuzz::case_of_program(program, kCalls, /*seed=*/1);
}

Result<ExitCode> run_convert(const ConvertVerb& verb) {
  const bool is_text = !ends_in(verb.output, kScript) && !ends_in(verb.output, kArchive);
  if (verb.inline_tensors && !is_text) return bad_input("--inline has no effect but on graph text");
  if (!ends_in(verb.input, kArchive)) {
    GRAPHGATE_TRY(const std::string text, read_text(verb.input));
    if (is_case_text(text)) return convert_case(text, verb);
  }
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.custom_ops));
  GRAPHGATE_TRY(const spec::Program program, in_file(read_program(verb.input, ops), verb.input));
  if (ends_in(verb.output, kScript)) {
    GRAPHGATE_TRY(const spec::CaseFile the_case, case_of(program, verb));
    return write_script(the_case, verb);
  }
  if (ends_in(verb.output, kArchive)) {
    interop::Pt2Options options;
    options.ops = &ops;
    GRAPHGATE_TRY_VOID(interop::write_pt2(program, verb.output, options));
    return ExitCode::kGood;
  }
  spec::PrintOptions print;
  if (verb.inline_tensors) print.max_inline_bytes = std::numeric_limits<std::int64_t>::max();
  GRAPHGATE_TRY_VOID(write_text(spec::print_program(program, ops, print), verb.output));
  return ExitCode::kGood;
}

}  // namespace

Verb add_convert(CLI::App& app) {
  const auto owned = std::make_shared<ConvertVerb>();
  ConvertVerb& verb = *owned;
  CLI::App* convert = app.add_subcommand(
      "convert", "write a program in another form: graph text, or an archive for PyTorch");
  convert->add_option("input", verb.input, "a torch.export archive (.pt2), graph text, or a case")
      ->type_name(takes::kFile)
      ->required();
  convert
      ->add_option("output,-o,--output", verb.output,
                   "where to write: an archive if the name ends in .pt2, a script that needs "
                   "PyTorch alone if it ends in .py, else graph text (- for standard output)")
      ->type_name(takes::kOutput)
      ->required();
  convert->add_flag("--inline", verb.inline_tensors,
                    "write parameters and buffers into the text, not only their types");
  add_custom_ops_flag(*convert, verb.custom_ops);
  convert->footer(
      "Examples:\n  graphgate convert golden/models/mutations.pt2 -\n"
      "  graphgate convert golden/cases/op/conversion.case -o repro.py\n\n"
      "A script runs the calls in eager mode and under torch.compile, and ends with status 1 where "
      "one of them gives what it must not.\n\n"
      "Exit code: 0 written, 2 the other form has no words for it, 3 infrastructure, 4 bad input.");
  return {convert, [owned](const auto& /*words*/) { return run_convert(*owned); }};
}

}  // namespace graphgate::tools
