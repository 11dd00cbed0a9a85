#include "tools/cli/manners.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file_io.h"
#include "spec/option.h"
#include "tools/cli/flags.h"

namespace graphgate::tools {
namespace {

// Letters that are left out, put in, typed otherwise, or swapped with the next one.
std::size_t distance_between(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      least[i][j] =
          std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + change});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[a.size()][b.size()];
}

// kInfrastructure where there is no such folder, and none can be made.
Result<void> check_makeable(const std::string& path) {
  const auto refused = [&](int why) {
    return infrastructure(path + ": cannot be made: " + std::strerror(why));
  };
  std::filesystem::path folder = path;
  if (!folder.has_filename()) folder = folder.parent_path();  // FOLDER/
  struct stat found {};
  if (::stat(folder.c_str(), &found) == 0) return {};  // whoever writes there says what is wrong
  while (::stat(folder.empty() ? "." : folder.c_str(), &found) != 0) {
    if (errno != ENOENT) return refused(errno);
    folder = folder.parent_path();
  }
  if (!S_ISDIR(found.st_mode)) return refused(ENOTDIR);
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) return refused(errno);
  return {};
}

// A bundle is an archive or a folder, as its name ends.
bool is_folder(const CLI::Option& option, const std::string& path) {
  return option.get_type_name() == takes::kOutputFolder ||
         (option.check_lname("bundle") && !path.ends_with(".zip"));
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 100;  // letters; nobody mistypes more
  if (word.size() > kLongest) return "";
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = distance_between(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

Result<void> refuse_without_effect(const CLI::App& app, const FlagMode& mode) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    const bool is_planner = spec::find_option(name) != nullptr;
    if (mode.allowed.contains(name) || name == "help" || name == "text-limit") continue;
    if (is_planner && mode.takes_planner) continue;
    return bad_input("--" + name + " has no effect " + mode.name);
  }
  return {};
}

Result<void> refuse_beside_recording(const CLI::App& app, const std::string& path,
                                     const std::set<std::string>& flags) {
  const auto given = std::find_if(flags.begin(), flags.end(), [&](const std::string& flag) {
    return app.get_option("--" + flag)->count() > 0;
  });
  if (given == flags.end()) return {};
  return bad_input(path + ": --" + *given +
                   " has no effect on a program with a recording, which has its own calls");
}

Result<void> check_writable(const std::string& path) {
  // What is open already may lie where nothing can be made.
  const bool is_open = path.starts_with("/dev/") || path.starts_with("/proc/");
  if (path.empty() || path == "-" || is_open) return {};
  const auto refused = [&](const char* why) {
    return infrastructure(path + ": cannot be written: " + why);
  };
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) return refused("is a folder");
    if (!S_ISREG(found.st_mode)) return {};  // a pipe or a device
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const char* const parent = folder.empty() ? "." : folder.c_str();
  if (::stat(parent, &found) != 0) return refused(std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) return refused(std::strerror(ENOTDIR));
  if (::access(parent, W_OK | X_OK) != 0) return refused(std::strerror(errno));
  return {};
}

Result<void> check_outputs(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string type = option->get_type_name();
    if (type != takes::kOutput && type != takes::kOutputFolder) continue;
    for (const std::string& path : option->results()) {
      GRAPHGATE_TRY_VOID(is_folder(*option, path) ? check_makeable(path) : check_writable(path));
    }
  }
  for (const CLI::App* verb : app.get_subcommands()) GRAPHGATE_TRY_VOID(check_outputs(*verb));
  return {};
}

Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const char* ending : {".pt2", ".case"}) {
      GRAPHGATE_TRY(const auto below, list_files(path, ending, Depth::kBelow));
      files.insert(files.end(), below.begin(), below.end());
    }
    if (files.size() == before) {
      return bad_input(path + ": holds no program (.pt2) and no case (.case)");
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

Result<std::vector<std::string>> files_like(const std::vector<std::string>& files,
                                            const std::string& pattern) {
  if (pattern.empty()) return files;
  std::vector<std::string> chosen;
  for (const std::string& file : files) {
    const bool is_like =
        file.find(pattern) != std::string::npos || ::fnmatch(pattern.c_str(), file.c_str(), 0) == 0;
    if (is_like) chosen.push_back(file);
  }
  if (chosen.empty()) {
    return bad_input("-k '" + pattern + "': none of " + std::to_string(files.size()) +
                     " files is called so");
  }
  return chosen;
}

}  // namespace graphgate::tools
