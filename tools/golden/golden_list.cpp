#include "tools/golden/golden_list.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/file_io.h"
#include "tools/golden/whole_texts.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

// The files of a pattern's folder that its last part matches, by path below `folder`.
Result<std::vector<std::string>> matches(const std::string& folder, const std::string& pattern) {
  std::vector<std::string> out;
  const fs::path wanted(pattern);
  GRAPHGATE_TRY(const auto files,
                list_files((fs::path(folder) / wanted.parent_path()).string(), "", Depth::kFolder));
  for (const std::string& file : files) {
    const std::string name = fs::path(file).filename().string();
    if (fnmatch(wanted.filename().c_str(), name.c_str(), 0) != 0) continue;
    out.push_back((wanted.parent_path() / name).string());
  }
  return out;
}

// A path that stays below the folder.
bool is_below(const std::string& path) {
  const fs::path parts(path);
  return !path.empty() && !parts.is_absolute() &&
         std::none_of(parts.begin(), parts.end(),
                      [](const fs::path& part) { return part == ".."; });
}

}  // namespace

std::string GoldenList::record_path(const std::string& arithmetic,
                                    const std::string& program) const {
  return folder + "/recorded/" + arithmetic + "/" + program + ".golden";
}

Result<GoldenList> read_golden_list(const std::string& folder) {
  const std::string path = folder + "/recorded/list.txt";
  GRAPHGATE_TRY(const std::string text, read_text(path));
  GoldenList list;
  list.folder = folder;
  std::map<std::string, bool> programs;  // by path, whether brief
  std::set<std::string> texts;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto bad = [&](const std::string& what) {
      std::string place = path;
      place.append(":").append(std::to_string(number)).append(": ");
      return bad_input(place + what);
    };
    std::istringstream words(line);
    std::string kind;
    if (!(words >> kind) || kind.starts_with('#')) continue;
    std::string name;
    std::string extra;
    std::string more;
    words >> name >> extra >> more;
    if (!is_below(name)) return bad("expected a path below the folder behind '" + kind + "'");
    if (kind == "text") {
      if (!extra.empty()) return bad("expected nothing behind '" + name + "'");
      if (!is_whole_text(name)) return bad("no text is called '" + name + "'");
      texts.insert(name);
      continue;
    }
    if (kind != "program") return bad("expected program or text, found '" + kind + "'");
    if ((!extra.empty() && extra != "brief") || !more.empty()) {
      std::string found = "expected brief or nothing behind '" + name;
      found.append("', found '").append(extra).append(more.empty() ? "" : " ").append(more);
      return bad(found + "'");
    }
    GRAPHGATE_TRY(const auto found, matches(folder, name));
    if (found.empty()) return bad("no program is called '" + name + "'");
    for (const std::string& program : found) programs[program] = !extra.empty();
  }
  for (const auto& [program, is_brief] : programs) list.programs.push_back({program, is_brief});
  list.texts.assign(texts.begin(), texts.end());
  if (list.programs.empty() && list.texts.empty()) return bad_input(path + ": lists nothing");
  return list;
}

Result<std::vector<std::string>> find_records(const std::string& folder) {
  const std::string root = folder + "/recorded";
  GRAPHGATE_TRY(auto paths, list_files(root, ".golden", Depth::kBelow));
  for (std::string& path : paths) path.erase(0, root.size() + 1);
  return paths;
}

bool is_meant(const std::string& path, const std::string& pattern) {
  if (pattern.find_first_of("*?") == std::string::npos) {
    return path.find(pattern) != std::string::npos;
  }
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0;
}

}  // namespace graphgate::tools
