#include "tools/store/programs.h"

#include <filesystem>

#include "base/file_io.h"
#include "interop/pt2_reader.h"
#include "interop/recording.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "tools/store/bundle.h"
#include "tools/store/check_input.h"

namespace graphgate::tools {
namespace {

using conformance::ExpectedCall;
using conformance::Geometry;

std::optional<Geometry> geometry(const interop::RecordedOutput& output) {
  if (!output.geometry) return std::nullopt;
  const interop::RecordedGeometry& g = *output.geometry;
  return Geometry{g.dtype, g.sizes, g.strides, g.storage_offset, g.device};
}

ExpectedCall expected_call(const interop::RecordedCall& call) {
  ExpectedCall expected;
  expected.inputs.assign(call.inputs.begin(), call.inputs.end());
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const auto& output = call.outputs[i];
    const auto number = call.numbers.find(i);
    expected.outputs.push_back(output                         ? spec::OutputValue(output->tensor)
                               : number != call.numbers.end() ? number->second
                                                              : spec::None{});
    expected.geometries.push_back(output ? geometry(*output) : std::nullopt);
    const bool known = output && output->geometry;
    expected.shared_with.push_back(known ? output->geometry->shares_storage_with : "");
  }
  for (const auto& [index, state] : call.final_inputs) {
    expected.final_inputs.emplace(index, state.tensor);
  }
  for (const auto& [name, state] : call.buffers) expected.final_states.emplace(name, state.tensor);
  return expected;
}

// NAME of NAME.pt2 and NAME.core.pt2, with its folder.
std::string stem(const std::string& program_path) {
  std::filesystem::path path(program_path);
  path.replace_extension();
  if (path.extension() == ".core") path.replace_extension();
  return path.string();
}

}  // namespace

Error in_file(const Error& error, const std::string& path) {
  const std::filesystem::path file(path);
  Error placed = error;
  if (placed.message.starts_with(path)) return placed;
  for (const std::string& name : {file.filename().string(), file.stem().string()}) {
    if (!placed.message.starts_with(name + ": ")) continue;
    placed.message.erase(0, name.size() + 2);
    break;
  }
  return placed.at(path);
}

Result<std::string> read_text(const std::string& path) { return read_whole(path); }

Result<spec::Program> program_of_text(const std::string& text, const std::string& path,
                                      const spec::OpTable& ops) {
  if (is_case_text(text)) {
    return bad_input(path +
                     ": is a case, expected a program; 'graphgate convert CASE NAME.pt2' makes "
                     "one of it");
  }
  if (text.starts_with("PK\x03\x04")) {
    GRAPHGATE_TRY_VOID(refuse_bundle(path));
    return bad_input(path + ": is a zip archive, and the name of a program in one ends in .pt2");
  }
  GRAPHGATE_TRY(spec::Program program, spec::parse_program(text, ops, path));
  const auto valid = spec::check_program(program, ops);
  if (!valid.ok()) return valid.error().at(path);
  return program;
}

Result<spec::Program> read_program(const std::string& path, const spec::OpTable& ops) {
  if (std::filesystem::path(path).extension() != ".pt2") {
    GRAPHGATE_TRY(const std::string text, read_text(path));
    return program_of_text(text, path, ops);
  }
  interop::Pt2Options options;
  options.ops = &ops;
  return interop::read_pt2(path, options);
}

Result<std::vector<ExpectedCall>> read_expected_calls(const std::string& program_path,
                                                      const std::string& data) {
  const std::string path = data.empty() ? stem(program_path) + ".safetensors" : data;
  if (data.empty()) {
    GRAPHGATE_TRY(const bool is_recorded, graphgate::is_there(path));
    if (!is_recorded) return std::vector<ExpectedCall>();
  }
  const std::string geometry_path =
      std::filesystem::path(path).replace_extension(".geometry.json").string();
  const auto recorded = interop::read_recording(path, geometry_path);
  if (!recorded.ok()) return data.empty() ? recorded.error() : in_file(recorded.error(), path);
  std::vector<ExpectedCall> calls;
  calls.reserve(recorded.value().size());
  for (const interop::RecordedCall& call : recorded.value()) calls.push_back(expected_call(call));
  return calls;
}

Result<spec::OpTable> load_op_table(const std::vector<std::string>& custom_ops) {
  spec::OpTable ops = spec::builtin_op_table();
  for (const std::string& path : custom_ops) {
    GRAPHGATE_TRY(const std::string text, read_text(path));
    GRAPHGATE_TRY_VOID(ops.add_text(text, path));
  }
  return ops;
}

}  // namespace graphgate::tools
