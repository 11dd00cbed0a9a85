// graphgate convert: a program from one form into another.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/atomic_file.h"
#include "interop/pt2_writer.h"
#include "spec/graph_text.h"
#include "tools/cli/flags.h"
#include "tools/cli/verb.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct ConvertVerb {
  std::string input;
  std::string output;
  bool inline_tensors = false;
  std::vector<std::string> custom_ops;
};

Result<ExitCode> run_convert(const ConvertVerb& verb) {
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.custom_ops));
  GRAPHGATE_TRY(const spec::Program program, in_file(read_program(verb.input, ops), verb.input));
  if (std::filesystem::path(verb.output).extension() == ".pt2") {
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
  convert->add_option("input", verb.input, "a torch.export archive (.pt2), or graph text")
      ->type_name(takes::kFile)
      ->required();
  convert
      ->add_option("output", verb.output,
                   "where to write: an archive if the name ends in .pt2, else graph text "
                   "(- for standard output)")
      ->type_name(takes::kOutput)
      ->required();
  convert->add_flag("--inline", verb.inline_tensors,
                    "write parameters and buffers into the text, not only their types");
  add_custom_ops_flag(*convert, verb.custom_ops);
  convert->footer("Example:\n  graphgate convert golden/models/mutations.pt2 -");
  return {convert, [owned](const auto& /*words*/) { return run_convert(*owned); }};
}

}  // namespace graphgate::tools
