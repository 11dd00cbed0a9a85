#include "tools/golden/whole_texts.h"

#include <algorithm>
#include <filesystem>

#include "base/file_io.h"
#include "conformance/verify/verify.h"
#include "spec/effects.h"
#include "spec/graph_text.h"
#include "spec/plan_text.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEffects = "effects/aten.txt";
constexpr std::string_view kQuality = "quality.txt";
constexpr std::string_view kFindings = "rules/findings.txt";
constexpr std::string_view kKernels = "kernels/";

bool is_kernels(const std::string& path) {
  return path.starts_with(kKernels) && fs::path(path).extension() == ".cu";
}

// "models/quant_mixed.pt2" of "kernels/quant_mixed.cu".
std::string model_of(const std::string& path) {
  return "models/" + fs::path(path).stem().string() + ".pt2";
}

bool is_model(const GoldenProgram& program) { return fs::path(program.path).extension() == ".pt2"; }

std::string effects_text() {
  std::string text =
      "# Effects of every op of spec/ops/*.txt as spec/effects.h derives them from the schemas.\n"
      "# Made by graphgate golden update --only effects/aten.txt.\n";
  for (const auto& [name, row] : spec::builtin_op_table().rows()) {
    text += spec::print_effects(row->schema, row->effects) + "\n";
  }
  return text;
}

std::string quality_text(const RecordedPrograms& recorded) {
  std::string text =
      "# What the plans of the golden models cost: graphgate plan --quality golden/models/*.pt2\n";
  for (const auto& [path, program] : recorded) {
    if (fs::path(path).extension() != ".pt2") continue;
    const GoldenRecord& record = program.record;
    for (std::size_t c = 0; c < record.calls.size(); ++c) {
      if (!record.calls[c].plan) continue;
      text +=
          conformance::print_quality(program.name, c, record.plans[*record.calls[c].plan].figures);
    }
  }
  return text;
}

// What the verifier says of one plan, with the ops and the program beside it, if there are any.
Result<std::vector<spec::Finding>> findings_of(const fs::path& path) {
  spec::OpTable ops = spec::builtin_op_table();
  fs::path beside = path;
  beside.replace_extension(".ops");
  GRAPHGATE_TRY(const bool has_ops, graphgate::is_there(beside.string()));
  if (has_ops) {
    GRAPHGATE_TRY(const std::string rows, read_text(beside.string()));
    GRAPHGATE_TRY_VOID(ops.add_text(rows, beside.string()));
  }
  GRAPHGATE_TRY(const std::string text, read_text(path.string()));
  GRAPHGATE_TRY(const spec::Plan plan, spec::parse_plan(text, ops, path.string()));
  const auto checked = spec::check_plan(plan);
  if (!checked.ok()) return checked.error().at(path.string());
  verify::PlanCase plan_case;
  plan_case.plan = &plan;
  plan_case.ops = &ops;
  std::optional<spec::Program> program;
  beside.replace_extension(".txt");
  GRAPHGATE_TRY(const bool has_program, graphgate::is_there(beside.string()));
  if (has_program) {
    GRAPHGATE_TRY(program, read_program(beside.string(), ops));
    plan_case.program = &*program;
  }
  return verify::verify_plan(plan_case);
}

Result<std::string> findings_text(const std::string& folder) {
  GRAPHGATE_TRY(const auto found, list_files(folder + "/plans/bad", ".plan", Depth::kFolder));
  const std::vector<fs::path> plans(found.begin(), found.end());
  if (plans.empty()) return bad_input(folder + "/plans/bad: has no plans");
  std::string text =
      "# What the plan verifier says of plans/bad/*.plan.\n"
      "# Made by graphgate golden update --only rules/findings.txt.\n";
  for (const fs::path& path : plans) {
    GRAPHGATE_TRY(const auto findings, findings_of(path));
    for (std::size_t i = 0; i < findings.size(); ++i) {
      text += path.stem().string() + (i == 0 ? "" : "/" + std::to_string(i)) + ": " +
              findings[i].rule + " " + std::string(spec::outcome_name(findings[i].outcome)) + " " +
              findings[i].message + "\n";
    }
  }
  return text;
}

}  // namespace

bool is_whole_text(const std::string& path) {
  return path == kEffects || path == kQuality || path == kFindings || is_kernels(path);
}

std::vector<GoldenProgram> programs_of_text(const std::string& path, const GoldenList& list) {
  std::vector<GoldenProgram> out;
  for (const GoldenProgram& program : list.programs) {
    const bool is_needed =
        path == kQuality ? is_model(program) : is_kernels(path) && program.path == model_of(path);
    if (is_needed) out.push_back(program);
  }
  return out;
}

Result<std::string> make_whole_text(const std::string& path, const GoldenList& list,
                                    const RecordedPrograms& recorded) {
  if (path == kEffects) return effects_text();
  if (path == kFindings) return findings_text(list.folder);
  if (path == kQuality) return quality_text(recorded);
  const auto found = recorded.find(model_of(path));
  if (found == recorded.end()) return bad_input(path + ": '" + model_of(path) + "' is not listed");
  return found->second.kernels;
}

}  // namespace graphgate::tools
