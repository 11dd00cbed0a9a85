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

// Nothing, standard output, or what is open already and may lie where nothing can be made.
bool is_open_or_none(const std::string& path) {
  return path.empty() || path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/");
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
  if (is_open_or_none(path)) return {};
  const auto refused = [&](const char* why) {
    return infrastructure(path + ": cannot be written: " + why);
  };
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) return refused("is a folder");
    if (!S_ISREG(found.st_mode)) return {};  // a pipe or a device
  } else if (errno == ENAMETOOLONG || errno == ELOOP) {
    return refused(std::strerror(errno));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const char* const parent = folder.empty() ? "." : folder.c_str();
  if (::stat(parent, &found) != 0) return refused(std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) return refused(std::strerror(ENOTDIR));
  if (::access(parent, W_OK | X_OK) != 0) return refused(std::strerror(errno));
  return {};
}

namespace {

Result<void> check_each_output(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string type = option->get_type_name();
    if (type != takes::kOutput && type != takes::kOutputFolder) continue;
    for (const std::string& path : option->results()) {
      GRAPHGATE_TRY_VOID(is_folder(*option, path) ? check_makeable(path) : check_writable(path));
    }
  }
  for (const CLI::App* verb : app.get_subcommands()) GRAPHGATE_TRY_VOID(check_each_output(*verb));
  return {};
}

// A path of the command line, and what it was given for.
struct NamedPath {
  std::string option;  // "--json", or a word of the usage line
  std::string path;
};

struct NamedPaths {
  std::vector<NamedPath> read;
  std::vector<NamedPath> written;
  std::size_t to_stdout = 0;
};

void add_paths(const CLI::App& app, NamedPaths& paths) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_read = type == takes::kFile || type == takes::kCase;
    if (option->count() == 0 || (!is_read && type != takes::kOutput)) continue;
    for (const std::string& path : option->results()) {
      if (!is_read && path == "-") ++paths.to_stdout;
      if (!is_open_or_none(path)) {
        (is_read ? paths.read : paths.written).push_back({option->get_name(), path});
      }
    }
  }
  for (const CLI::App* verb : app.get_subcommands()) add_paths(*verb, paths);
}

// Whether both lead to one regular file, by whatever links, or would once it is made.
bool is_one_file(const std::string& one, const std::string& other) {
  struct stat found {};
  struct stat beside {};
  const bool is_there = ::stat(one.c_str(), &found) == 0;
  if (is_there != (::stat(other.c_str(), &beside) == 0)) return false;
  if (is_there) {
    return S_ISREG(found.st_mode) && found.st_dev == beside.st_dev && found.st_ino == beside.st_ino;
  }
  // A path whose first part is not there stays relative unless it is made absolute before.
  std::error_code failed;
  std::error_code failed_too;
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(one), failed);
  const auto other_path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(other), failed_too);
  return !failed && !failed_too && path == other_path;
}

Result<void> check_apart(const NamedPaths& paths) {
  if (paths.to_stdout > 1) return bad_input("only one report can go to standard output");
  for (std::size_t i = 0; i < paths.written.size(); ++i) {
    const NamedPath& output = paths.written[i];
    for (std::size_t k = 0; k < i; ++k) {
      if (!is_one_file(output.path, paths.written[k].path)) continue;
      return bad_input(output.path + ": " + paths.written[k].option + " and " + output.option +
                       " would write the same file; name another for one of them");
    }
    for (const NamedPath& input : paths.read) {
      struct stat found {};
      if (::stat(input.path.c_str(), &found) != 0 || !is_one_file(output.path, input.path))
        continue;
      return bad_input(output.path + ": " + output.option +
                       " would replace a file that is read; name another");
    }
  }
  return {};
}

}  // namespace

Result<void> check_outputs(const CLI::App& app) {
  GRAPHGATE_TRY_VOID(check_each_output(app));
  NamedPaths paths;
  add_paths(app, paths);
  return check_apart(paths);
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
