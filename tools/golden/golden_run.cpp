#include "tools/golden/golden_run.h"

#include <filesystem>
#include <map>
#include <new>
#include <system_error>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/on_threads.h"
#include "tools/golden/golden_diff.h"
#include "tools/golden/golden_text.h"
#include "tools/golden/whole_texts.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNames[] = {"same",    "changed", "new",    "stale",  "skipped",
                                       "damaged", "refused", "failed", "not run"};

// What the pattern means, and every program that it takes.
struct Choice {
  std::vector<GoldenProgram> programs;
  std::vector<std::string> texts;
  std::map<std::string, GoldenProgram> to_run;  // by path
};

Choice choose(const GoldenList& list, const std::string& only) {
  Choice choice;
  for (const GoldenProgram& program : list.programs) {
    if (!is_meant(program.path, only)) continue;
    choice.programs.push_back(program);
    choice.to_run.emplace(program.path, program);
  }
  for (const std::string& text : list.texts) {
    if (!is_meant(text, only)) continue;
    choice.texts.push_back(text);
    for (const GoldenProgram& program : programs_of_text(text, list)) {
      choice.to_run.emplace(program.path, program);
    }
  }
  return choice;
}

Result<RecordedProgram> record_safely(const GoldenProgram& program, const GoldenOptions& options) {
  try {
    return record_program(options.folder, program, {options.flags, options.is_update});
  } catch (const std::bad_alloc&) {
    return infrastructure(program.path + ": out of memory");
  } catch (const std::system_error& error) {
    return infrastructure(program.path + ": the machine refused: " + error.what());
  } catch (const std::exception& error) {
    return Error{ErrorKind::kInternal, program.path + ": " + error.what()};
  }
}

// What came of every program that is needed.
struct ProgramRuns {
  RecordedPrograms recorded;
  std::map<std::string, Error> errors;
};

ProgramRuns run_all(const Choice& choice, const GoldenOptions& options) {
  std::vector<GoldenProgram> programs;
  programs.reserve(choice.to_run.size());
  for (const auto& [path, program] : choice.to_run) programs.push_back(program);
  std::vector<std::optional<Result<RecordedProgram>>> results(programs.size());
  on_threads(programs.size(), options.jobs, [&](std::size_t i) {
    if (options.should_stop && options.should_stop()) return;
    results[i] = record_safely(programs[i], options);
  });
  ProgramRuns runs;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (!results[i]) continue;
    Result<RecordedProgram>& result = *results[i];
    if (result.ok()) {
      runs.recorded.emplace(programs[i].path, std::move(result).value());
    } else {
      runs.errors.emplace(programs[i].path, result.error());
    }
  }
  return runs;
}

// False where a program that the item is made from failed, or was objected to.
bool take_runs(const std::vector<GoldenProgram>& programs, const ProgramRuns& runs,
               GoldenItem& item) {
  for (const GoldenProgram& program : programs) {
    const auto failed = runs.errors.find(program.path);
    if (failed != runs.errors.end()) {
      item.state = GoldenState::kFailed;
      item.error = failed->second;
      return false;
    }
    const auto made = runs.recorded.find(program.path);
    if (made == runs.recorded.end()) {
      item.state = GoldenState::kNotRun;
      item.sentences = {"a signal came before it was run"};
      return false;
    }
    const std::string& objection = made->second.objection;
    if (objection.empty()) continue;
    item.state = GoldenState::kRefused;
    item.sentences.push_back(program.path + ": " + objection);
  }
  return item.state != GoldenState::kRefused;
}

void compare_record(const std::string& stored_text, const RecordedProgram& now, GoldenItem& item) {
  auto stored = parse_golden(stored_text, item.file);
  auto changes = stored.ok() ? diff_golden(stored.value(), now.record, *now.ops) : stored.error();
  if (!changes.ok()) {
    item.state = GoldenState::kDamaged;
    item.error = in_file(changes.error(), item.file);
    return;
  }
  item.sentences = std::move(changes).value();
  if (item.sentences.empty()) {
    GoldenRecord same = now.record;
    same.provenance = stored.value().provenance;
    item.text = print_golden(same);
    if (item.text == stored_text) return;
    item.sentences.emplace_back("is not in the form that graphgate prints");
  }
  item.state = GoldenState::kChanged;
}

GoldenItem compare_program(const GoldenProgram& program, const GoldenList& list,
                           const ProgramRuns& runs, const GoldenOptions& options) {
  GoldenItem item;
  item.name = program.path;
  item.file = list.record_path("strict", program.path);
  if (!take_runs({program}, runs, item)) return item;
  const RecordedProgram& now = runs.recorded.at(program.path);
  item.file = list.record_path(now.record.provenance.arithmetic, program.path);
  const auto is_there = graphgate::is_there(item.file);
  auto stored = is_there.ok() && is_there.value() ? read_text(item.file) : std::string();
  if (!is_there.ok() || !stored.ok()) {
    item.state = GoldenState::kFailed;
    item.error = is_there.ok() ? stored.error() : is_there.error();
    return item;
  }
  if (is_there.value()) {
    compare_record(stored.value(), now, item);
  } else {
    item.state = GoldenState::kNew;
  }
  if (item.state == GoldenState::kSame) return item;
  GoldenRecord record = now.record;
  record.provenance.command = "graphgate golden update --only " + program.path;
  record.provenance.reason = options.reason;
  item.text = print_golden(record);
  return item;
}

GoldenItem compare_text(const std::string& name, const GoldenList& list, const ProgramRuns& runs) {
  GoldenItem item;
  item.name = name;
  item.file = list.folder + "/" + name;
  if (!take_runs(programs_of_text(name, list), runs, item)) return item;
  auto text = make_whole_text(name, list, runs.recorded);
  const auto is_there = graphgate::is_there(item.file);
  auto stored = is_there.ok() && is_there.value() ? read_text(item.file) : std::string();
  if (!text.ok() || !is_there.ok() || !stored.ok()) {
    item.state = GoldenState::kFailed;
    item.error = !text.ok() ? text.error() : is_there.ok() ? stored.error() : is_there.error();
    return item;
  }
  item.text = std::move(text).value();
  item.sentences = diff_texts(stored.value(), item.text);
  if (!is_there.value()) {
    item.state = GoldenState::kNew;
    item.sentences.clear();
  } else if (!item.sentences.empty()) {
    item.state = GoldenState::kChanged;
  }
  return item;
}

// Records that none of `known` is.
Result<void> add_others(const GoldenList& list, const std::string& only,
                        const std::vector<GoldenItem>& known, std::vector<GoldenItem>& items) {
  GRAPHGATE_TRY(const auto records, find_records(list.folder));
  for (const std::string& path : records) {
    GoldenItem item;
    item.file = list.folder + "/recorded/" + path;
    const std::size_t slash = path.find('/');
    const std::string arithmetic = path.substr(0, slash);
    item.name = fs::path(path.substr(std::min(slash, path.size() - 1) + 1)).replace_extension();
    if (!is_meant(item.name, only)) continue;
    const auto is_it = [&](const GoldenItem& each) { return each.file == item.file; };
    if (std::any_of(known.begin(), known.end(), is_it)) continue;
    const bool is_listed =
        std::any_of(list.programs.begin(), list.programs.end(),
                    [&](const GoldenProgram& program) { return program.path == item.name; });
    const bool is_arithmetic = arithmetic == "strict" || arithmetic == "fast";
    item.state = is_listed && is_arithmetic ? GoldenState::kSkipped : GoldenState::kStale;
    item.sentences.push_back(!is_arithmetic ? "no arithmetic is called '" + arithmetic + "'"
                             : is_listed    ? "recorded in " + arithmetic +
                                               ", which the executor does not compute in"
                                         : "recorded/list.txt has no such program");
    items.push_back(std::move(item));
  }
  return {};
}

}  // namespace

std::string_view golden_state_name(GoldenState state) {
  return kNames[static_cast<std::size_t>(state)];
}

Result<std::vector<GoldenItem>> compare_golden(const GoldenOptions& options) {
  GRAPHGATE_TRY(const GoldenList list, read_golden_list(options.folder));
  const Choice choice = choose(list, options.only);
  const ProgramRuns runs = run_all(choice, options);
  std::vector<GoldenItem> items;
  items.reserve(choice.programs.size() + choice.texts.size());
  for (const GoldenProgram& program : choice.programs) {
    items.push_back(compare_program(program, list, runs, options));
  }
  for (const std::string& text : choice.texts) items.push_back(compare_text(text, list, runs));
  std::vector<GoldenItem> others;
  GRAPHGATE_TRY_VOID(add_others(list, options.only, items, others));
  items.insert(items.end(), others.begin(), others.end());
  if (items.empty()) {
    return bad_input("--only " + options.only + ": no program or text of " + options.folder +
                     "/recorded/list.txt is meant");
  }
  return items;
}

Result<void> write_golden(const std::vector<GoldenItem>& items) {
  for (const GoldenItem& item : items) {
    std::error_code error;
    if (item.state == GoldenState::kStale) {
      if (!fs::remove(item.file, error)) {
        return infrastructure(item.file + ": cannot be removed: " + error.message());
      }
    }
    const bool is_written = item.state == GoldenState::kChanged ||
                            item.state == GoldenState::kNew || item.state == GoldenState::kDamaged;
    if (!is_written) continue;
    const std::string folder = fs::path(item.file).parent_path().string();
    fs::create_directories(folder, error);
    if (error) return infrastructure(folder + ": cannot be made: " + error.message());
    GRAPHGATE_TRY_VOID(write_text(item.text, item.file));
  }
  return {};
}

}  // namespace graphgate::tools
