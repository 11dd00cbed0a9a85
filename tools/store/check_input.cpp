#include "tools/store/check_input.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "interop/safetensors.h"
#include "spec/case_file.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

class FilesBeside final : public conformance::CaseFiles {
 public:
  explicit FilesBeside(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] Result<interop::NamedTensors> tensors(const std::string& file) const override {
    GRAPHGATE_TRY(interop::Safetensors read, interop::read_safetensors((folder_ / file).string()));
    return std::move(read.tensors);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

bool is_case_text(std::string_view text) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (!text.starts_with('#')) return text.starts_with("graphgate-case");
    text.remove_prefix(std::min(text.size(), text.find('\n')));
  }
}

Result<spec::CaseFile> parse_checked_case(const std::string& text, const std::string& path) {
  GRAPHGATE_TRY(spec::CaseFile the_case, spec::parse_case(text, path));
  const auto checked = spec::check_case(the_case);
  if (!checked.ok()) return checked.error().at(path);
  return the_case;
}

std::vector<std::string> tensor_files_of(const spec::CaseFile& the_case) {
  std::set<std::string> files;
  const auto note = [&](const auto& data) {
    if (const auto* file = std::get_if<spec::FileData>(&data)) files.insert(file->file);
  };
  for (const spec::CaseWeights& weights : the_case.weights) note(weights.source);
  for (const spec::InputSet& set : the_case.inputs) {
    for (const spec::CaseInput& input : set.inputs) note(input.data);
  }
  for (const spec::ExpectedOutput& output : the_case.expectation.outputs) note(output.data);
  return {files.begin(), files.end()};
}

std::unique_ptr<conformance::CaseFiles> files_beside(const std::string& path) {
  return std::make_unique<FilesBeside>(std::filesystem::path(path).parent_path());
}

Result<conformance::Script> read_case(const std::string& text, const std::string& path) {
  GRAPHGATE_TRY(const spec::CaseFile the_case, parse_checked_case(text, path));
  auto script = conformance::script_of(the_case, *files_beside(path));
  if (!script.ok()) return script.error().at(path);
  if (script.value().name.empty()) {
    script.value().name = std::filesystem::path(path).stem().string();
  }
  return script;
}

Result<CheckInput> read_check_input(const std::string& path, const CallSource& from,
                                    std::shared_ptr<const spec::OpTable> ops) {
  CheckInput input;
  const bool is_text = std::filesystem::path(path).extension() != ".pt2";
  std::string text;
  if (is_text) {
    GRAPHGATE_TRY(text, read_text(path));  // once: a pipe gives it once
    input.is_case = is_case_text(text);
    if (input.is_case) {
      GRAPHGATE_TRY(input.script, read_case(text, path));
      return input;
    }
  }
  GRAPHGATE_TRY(spec::Program program,
                is_text ? program_of_text(text, path, *ops) : read_program(path, *ops));
  GRAPHGATE_TRY(const auto calls, read_expected_calls(path, from.data));
  input.recorded = !calls.empty();
  GRAPHGATE_TRY(input.script,
                conformance::script_of(std::make_shared<const spec::Program>(std::move(program)),
                                       calls, from.calls, from.seed, std::move(ops)));
  return input;
}

}  // namespace graphgate::tools
