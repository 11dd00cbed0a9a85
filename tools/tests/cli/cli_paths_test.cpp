// Every option that takes a path, of every verb, with every kind of bad path: one line that names
// the path, exit code 3 or 4, and nothing half written. Never a defect, a signal or a wait.
//
// The options are those that --help prints, by the names of tools/cli/flags.h. An option or
// a verb that this test does not know is a failure: a new one is tried without anyone thinking of
// it.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "base/on_threads.h"
#include "base/one_line.h"
#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

constexpr const char* kProgram = R"(program "small" {
  symbol s0 in [2, 64] hint 8
  input %x : f32[s0, 4]
  %y : f32[s0, 4] = aten.mul.Tensor(%x, 2.0)
  output %y
}
)";
constexpr const char* kSmallCase = R"(graphgate-case 1
name "small"
seed 1
program "small" {
  input %x : f32[3, 4]
  %y = aten.mul.Tensor(%x, 2.0)
  output %y
}
scenario {
  call small
}
expect PASS
)";

using Words = std::vector<std::string>;

// What --help says of an option.
struct Option {
  std::string verb;  // "fuzz merge"
  std::string name;  // "--json", or "files" of a word without a name
  std::string type;  // "OUTPUT"; empty: a flag
  std::string text;

  [[nodiscard]] bool is_positional() const { return name[0] != '-'; }
  [[nodiscard]] std::string title() const { return verb + " " + name; }
};

// A verb that does as little as it can. The options' own words come last.
struct Base {
  Words options;
  Words files;  // words without a name
};

constexpr const char* kServed = GRAPHGATE_BINARY " serve reference";
constexpr const char* kEndsEarly = GRAPHGATE_BINARY " serve reference | sed -u 3q";
constexpr const char* kServedSide = "cmd:" GRAPHGATE_BINARY " serve reference";

// By verb, or by verb and option where that goes with other words than the verb's other options.
const std::map<std::string, Base>& bases() {
  static const std::map<std::string, Base> kBases = {
      {"bench", {{"fuzz", "--only", "draw", "--cases", "8"}, {}}},
      {"bench --model", {{"plan", "--only", "start"}, {}}},
      {"bench --models", {{"judges", "--only", "verifier"}, {}}},
      {"bench --torch", {{"decode", "--device", "emulated", "--batch", "1"}, {}}},
      {"check", {{}, {"small.case"}}},
      {"check --data", {{}, {"small.txt"}}},
      {"check --log-protocol", {{"--executor", kServed}, {"small.case"}}},
      {"check --judge-recorded", {}},
      {"completion", {{}, {"bash"}}},
      {"convert", {{}, {"small.txt", "made.txt"}}},
      {"convert --output", {{}, {"small.txt"}}},
      {"doctor", {}},
      {"fuzz",
       {{"--cases", "1", "--jobs", "1", "--seed", "3", "--judges", "exact", "--reduce-time", "0"},
        {}}},
      {"fuzz --log-protocol",
       {{"--cases", "1", "--jobs", "1", "--seed", "3", "--judges", "exact", "--executor", kServed},
        {}}},
      {"fuzz merge", {{}, {"corpus"}}},
      {"gate",
       {{"--baseline", "fixed", "--candidate", "fixed", "--corpus", "cases", "--reruns", "0"}, {}}},
      {"gate --baseline", {{"--candidate", "fixed", "--corpus", "cases", "--reruns", "0"}, {}}},
      {"gate --candidate", {{"--baseline", "fixed", "--corpus", "cases", "--reruns", "0"}, {}}},
      {"gate --log-protocol",
       {{"--baseline", kServedSide, "--candidate", "fixed", "--corpus", "cases", "--reruns", "0"},
        {}}},
      {"gate --corpus", {{"--baseline", "fixed", "--candidate", "fixed"}, {}}},
      {"golden check", {{}, {"golden_files"}}},
      {"golden update", {{"--reason", "a test", "--dry-run"}, {"golden_files"}}},
      {"help", {}},
      {"mutants", {{"--filter", "frees_twice"}, {"cases"}}},
      {"ops", {{"--only", "aten.mul.Tensor"}, {}}},
      {"ops --coverage", {}},
      {"ops --models", {{"--bounds-report"}, {}}},
      {"plan", {{}, {"small.txt"}}},
      {"plan --csv", {}},
      {"plan --out", {{"--csv", "small.csv"}, {}}},
      {"plan --program", {{"--verify", "small.plan"}, {}}},
      {"plan --verify", {}},
      {"reduce", {{"--check", "true", "--checks", "1"}, {"small.case"}}},
      {"reduce --check", {{"--checks", "1"}, {"small.case"}}},
      {"reduce --log-protocol", {{"--executor", kEndsEarly, "--checks", "1"}, {"small.case"}}},
      {"reduce --neighbour", {{"--check", "grep -q aten.mul", "--checks", "20"}, {"small.case"}}},
      {"replay", {{}, {"small.case"}}},
      {"replay --log-protocol", {{"--executor", kServed}, {"small.case"}}},
      {"replay --corpus", {{}, {"no-such-finding"}}},
      {"run", {{}, {"small.txt"}}},
      {"run --ahead-of-time", {{"--executor", "optimized", "--wrapper", "stock"}, {"small.txt"}}},
      {"run --cache", {{"--executor", "optimized"}, {"small.txt"}}},
      {"serve", {}},
  };
  return kBases;
}

// Words that are no paths.
bool is_plain_word(const std::string& type) {
  static const std::set<std::string> kPlain = {"INT",   "UINT",  "FLOAT",    "NAME",
                                               "NAMES", "BYTE",  "DURATION", "BYTES",
                                               "I/N",   "WORDS", "BEGIN:END"};
  if (type.starts_with("TEXT:{") || type.starts_with("INT:") || type.starts_with("UINT:") ||
      type.starts_with("FLOAT:")) {
    return true;  // one of those listed, or a number
  }
  return kPlain.contains(type);
}

bool is_path(const std::string& type) {
  static const std::set<std::string> kPaths = {"FILE",      "OUTPUT", "FOLDER", "NEWFOLDER",
                                               "vllm|FILE", "CASE",   "SIDE",   "COMMAND"};
  return kPaths.contains(type);
}

// A way for a path to be bad.
struct Bad {
  std::string kind;
  std::string path;
  bool is_for_nobody = false;  // bad only for who has no rights
};

struct Ending {
  int status = 0;
  bool is_late = false;
  std::string err;

  [[nodiscard]] std::string describe() const {
    if (is_late) return "does not end";
    if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
    return "exit code " + std::to_string(WEXITSTATUS(status));
  }
};

class CliPaths : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    // For nobody, who has to get here.
    fs::permissions(folder_, fs::perms::all);
    write("small.txt", kProgram);
    write("small.case", kSmallCase);
    write("small.csv", "id,lower,upper,size\n0,0,1,4\n");
    fs::create_directory(folder_ / "cases");
    write("cases/small.case", kSmallCase);
    fs::create_directories(folder_ / "golden_files/recorded");
    fs::create_directories(folder_ / "golden_files/effects");
    write("golden_files/recorded/list.txt", "text effects/aten.txt\n");
    fs::copy_file(fs::path(GRAPHGATE_GOLDEN_DIR) / "effects/aten.txt",
                  folder_ / "golden_files/effects/aten.txt");
    fs::create_directories(folder_ / "out");
    fs::permissions(folder_ / "out", fs::perms::all);
    const std::string in_folder = "--corpus " + (folder_ / "corpus").string();
    ASSERT_LT(run("fuzz --cases 1 --jobs 1 --seed 3 --judges exact " + in_folder).code, 3);
    fs::create_directories(folder_ / "corpus/regression");
    write("corpus/regression/small.case", kSmallCase);
    write("corpus/ledger.txt", "# nothing is known\n");
    const CliRun plan = run("plan --text " + (folder_ / "small.txt").string());
    ASSERT_EQ(plan.code, 0) << plan.err;
    write("small.plan", plan.out);
    can_be_nobody_ = ::geteuid() == 0 && execute({"doctor"}, true).status == 0;
  }

  void TearDown() override {
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder_, ignored)) {
      if (!entry.is_symlink()) fs::permissions(entry.path(), fs::perms::owner_all, ignored);
    }
    Cli::TearDown();
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // `graphgate WORDS` in the folder, without input.
  Ending execute(const Words& words, bool as_nobody) {
    constexpr int kNobody = 65534;
    const std::string program = GRAPHGATE_BINARY;
    const std::string err = "err" + std::to_string(next_++) + ".txt";
    std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::string folder = folder_.string();
    const pid_t process = ::fork();
    if (process == 0) {
      const int nothing = ::open("/dev/null", O_RDWR);
      if (::chdir(folder.c_str()) != 0) ::_exit(126);
      const int file = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      (void)::dup2(nothing, STDIN_FILENO);
      const int out = ::open("/dev/null", O_WRONLY);
      (void)::dup2(out, STDOUT_FILENO);
      (void)::dup2(file, STDERR_FILENO);
      if (as_nobody &&
          (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
        ::_exit(126);
      }
      ::execv(program.c_str(), arguments.data());
      ::_exit(127);
    }
    Ending ending;
    for (int waited = 0; ::waitpid(process, &ending.status, WNOHANG) == 0; ++waited) {
      ::usleep(2'000);
      if (waited < 30'000) continue;  // a minute: nothing here takes a second
      ending.is_late = true;
      (void)::kill(process, SIGKILL);
      (void)::waitpid(process, &ending.status, 0);
      break;
    }
    ending.err = read_file(folder_ / err);
    fs::remove(folder_ / err);
    return ending;
  }

  // The bad paths for names that end so, relative to the folder; made when they are asked for.
  std::vector<Bad> bad_paths(const std::string& ending) {
    const std::string at = "bad" + std::to_string(next_++) + "/";
    fs::create_directory(folder_ / at);
    fs::permissions(folder_ / at, fs::perms::all);
    const auto path = [&](const char* name) { return at + name + ending; };
    std::vector<Bad> all = {{"missing", path("missing")}, {"empty", ""}};
    fs::create_directory(folder_ / path("folder"));
    all.push_back({"folder", path("folder")});
    fs::create_symlink(fs::path(path("loop")).filename(), folder_ / path("loop"));
    all.push_back({"loop", path("loop")});
    EXPECT_EQ(::mkfifo((folder_ / path("pipe")).c_str(), 0666), 0);
    all.push_back({"pipe", path("pipe")});
    add_devices(at, ending, all);
    add_socket(folder_ / path("socket"));
    all.push_back({"socket", path("socket")});
    if (make_sparse(folder_ / path("sparse"))) all.push_back({"sparse", path("sparse")});
    write(at + "file", "");
    all.push_back({"below a file", at + "file/below" + ending});
    all.push_back({"long name", at + std::string(300, 'n') + ending});
    std::string deep = at;
    while (deep.size() < 4200) deep += std::string(200, 'd') + "/";
    all.push_back({"long path", deep + "x" + ending});
    all.push_back({"no UTF-8", at + "\xff\xfe" + ending});
    fs::create_symlink("/proc/self/mem", folder_ / path("unreadable"));
    all.push_back({"input error", path("unreadable")});
    if (can_be_nobody_ || ::geteuid() != 0) {
      write(path("locked"), kProgram);
      fs::permissions(folder_ / path("locked"), fs::perms::none);
      all.push_back({"no permission", path("locked"), true});
      fs::create_directory(folder_ / (at + "closed"));
      write(at + "closed/file" + ending, kProgram);
      fs::permissions(folder_ / (at + "closed"), fs::perms::none);
      all.push_back({"in a closed folder", at + "closed/file" + ending, true});
    }
    return all;
  }

  // More bytes than any machine has memory, and none on the disk.
  static bool make_sparse(const fs::path& path) {
    std::ofstream(path).close();
    std::error_code failed;
    fs::resize_file(path, std::uintmax_t{1} << 42U, failed);
    return !failed;
  }

  // Nodes of our own, so that a fault costs the machine nothing.
  void add_devices(const std::string& at, const std::string& ending, std::vector<Bad>& all) {
    for (const auto& [name, minor] : {std::pair("null", 3), {"zero", 5}, {"full", 7}}) {
      const fs::path node = folder_ / (at + name + ending);
      if (::mknod(node.c_str(), S_IFCHR | 0666, makedev(1, static_cast<unsigned>(minor))) != 0) {
        if (::geteuid() == 0) continue;
        fs::create_symlink(std::string("/dev/") + name, node);
      }
      const int file = ::open(node.c_str(), O_WRONLY | O_CLOEXEC);
      if (file < 0) continue;  // a file system without devices
      ::close(file);
      ::chmod(node.c_str(), 0666);
      all.push_back({name, at + name + ending});
    }
  }

  static void add_socket(const fs::path& path) {
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.string().size(), sizeof(address.sun_path));
    std::strcpy(address.sun_path, path.c_str());
    EXPECT_EQ(::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ::close(file);
  }

  // ---- what --help says ----

  std::vector<Option> options_of(const std::string& verb, Words* verbs = nullptr) {
    const CliRun help = run(verb + " --help");
    EXPECT_EQ(help.code, 0) << verb;
    std::vector<Option> found;
    std::istringstream lines(help.out);
    std::string section;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line[0] != ' ') section = line;
      if (line.size() < 3 || !line.starts_with("  ")) continue;
      if (section == "Examples:" || section == "Example:") continue;
      if (line[2] == ' ') {  // the text of the line above
        if (!found.empty()) found.back().text += line;
        continue;
      }
      const std::size_t gap = std::min(line.find("  ", 2), line.size());
      std::istringstream head(line.substr(2, gap - 2));
      Option option;
      option.verb = verb;
      option.text = line.substr(gap);
      head >> option.name >> option.type;
      if (section == "Subcommands:") {
        if (verbs) verbs->push_back((verb.empty() ? "" : verb + " ") + option.name);
        continue;
      }
      option.name = option.name.substr(option.name.rfind(',') + 1);
      if (option.type == "Excludes:" || option.type == "Needs:") option.type.clear();
      if (!option.type.starts_with("TEXT:"))
        option.type = option.type.substr(0, option.type.find('='));
      found.push_back(std::move(option));
    }
    return found;
  }

  // All verbs that do something, "fuzz merge" too.
  Words all_verbs() {
    Words out;
    Words next;
    (void)options_of("", &next);
    while (!next.empty()) {
      const std::string verb = next.back();
      next.pop_back();
      Words below;
      (void)options_of(verb, &below);
      next.insert(next.end(), below.begin(), below.end());
      if (below.empty() || bases().contains(verb)) out.push_back(verb);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  // ".pt2" of "archives (.pt2), or graph text"; without an ending, too.
  static std::set<std::string> endings_of(const Option& option) {
    std::set<std::string> endings = {""};
    if (option.type == "SIDE" || option.type == "vllm|FILE") return {".json"};
    static const std::regex kEnding("[( ,](\\.(pt2|json|jsonl|safetensors|zip|case))\\b");
    for (std::sregex_iterator at(option.text.begin(), option.text.end(), kEnding), end; at != end;
         ++at) {
      endings.insert((*at)[1]);
    }
    if (option.text.find("cases") != std::string::npos && option.type == "FILE") {
      endings.insert(".case");
    }
    return endings;
  }

  // The command line with a path for the option.
  static Words words_for(const Option& option, const std::string& path) {
    const auto own = bases().find(option.title());
    const Base& base = own != bases().end() ? own->second : bases().at(option.verb);
    Words words;
    std::istringstream verb(option.verb);
    for (std::string word; verb >> word;) words.push_back(word);
    words.insert(words.end(), base.options.begin(), base.options.end());
    if (option.verb == "fuzz" && option.name != "--corpus") {
      static std::atomic<int> count = 0;
      words.insert(words.end(), {"--corpus", "out/corpus" + std::to_string(count++)});
    }
    if (option.verb == "reduce" && option.name != "--output") {
      static std::atomic<int> count = 0;
      words.insert(words.end(), {"--output", "out/reduced" + std::to_string(count++) + ".case"});
    }
    Words files = base.files;
    if (option.is_positional()) {
      // The last word of convert is written.
      if (option.verb == "convert") {
        files[option.name == "output" ? 1 : 0] = path;
      } else {
        files = {path};
      }
    } else {
      words.insert(words.end(), {option.name, path});
    }
    if (!files.empty()) words.emplace_back("--");
    words.insert(words.end(), files.begin(), files.end());
    return words;
  }

  // Where a path of that kind is good.
  static bool may_be_good(const Option& option, const Bad& bad) {
    const bool is_new = bad.kind == "missing" || bad.kind == "no UTF-8";
    if (option.type == "NEWFOLDER") return is_new || bad.kind == "folder";
    if (option.type == "OUTPUT") {
      const bool is_device = bad.kind == "null" || bad.kind == "zero" || bad.kind == "sparse";
      const bool takes_folder = option.text.find("folder") != std::string::npos;
      return is_new || is_device || (takes_folder && bad.kind == "folder");
    }
    // An environment of Python; an executor that reads nothing and says nothing is a subject.
    return false;
  }

  // Those that are no events of a gate that had begun.
  static std::size_t lines_for_a_person(const std::string& text) {
    std::size_t count = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) count += !line.starts_with("{\"event\":");
    return count;
  }

  // What is wrong with how it ended; empty: nothing.
  static std::string complaint(const Option& option, const Bad& bad, const Ending& ending) {
    if (ending.is_late || !WIFEXITED(ending.status)) return ending.describe();
    const int code = WEXITSTATUS(ending.status);
    const bool is_refused = code == 3 || code == 4;
    if (!is_refused && !(may_be_good(option, bad) && code <= 2)) return ending.describe();
    if (!is_refused) return "";
    const std::size_t lines = lines_for_a_person(ending.err);
    if (lines != 1) return std::to_string(lines) + " lines on standard error";
    if (option.type == "COMMAND") return "";  // what a shell says of it differs
    // Some files have another beside them: NAME.safetensors of NAME.jsonl.
    // Bytes that are no UTF-8 are printed as question marks.
    const std::string name = one_line(fs::path(bad.path).replace_extension().string());
    if (ending.err.find(name) == std::string::npos) {
      return "does not name the path";
    }
    return "";
  }

  void try_verb(const std::string& verb);
  void try_folder(const std::string& folder, const Words& words);

  bool can_be_nobody_ = false;
  std::atomic<int> next_ = 0;
};

void CliPaths::try_verb(const std::string& verb) {
  struct Trial {
    Option option;
    Bad bad;
  };
  std::vector<Trial> trials;
  // What is written is not what is read: outputs appear where nothing was.
  std::map<std::pair<bool, std::string>, std::vector<Bad>> made;
  for (const Option& option : options_of(verb)) {
    if (!is_path(option.type) || option.title() == "bench --torch") continue;  // takes minutes
    for (const std::string& ending : endings_of(option)) {
      const bool is_written = option.type == "OUTPUT" || option.type == "NEWFOLDER";
      auto& bad = made[{is_written, ending}];
      if (bad.empty()) bad = bad_paths(ending);
      for (const Bad& each : bad) {
        const bool is_word = option.type == "SIDE" || option.type == "COMMAND";
        if (is_word && each.path.empty()) continue;  // no path is meant
        trials.push_back({option, each});
      }
    }
  }
  ASSERT_FALSE(trials.empty()) << verb << " has no option that takes a path";
  std::mutex printing;
  on_threads(trials.size(), 2, [&](std::size_t i) {
    const auto& [option, bad] = trials[i];
    const Words words = words_for(option, bad.path);
    const Ending ending = execute(words, bad.is_for_nobody && ::geteuid() == 0);
    const std::string wrong = complaint(option, bad, ending);
    if (wrong.empty()) return;
    std::string line = "graphgate";
    for (const std::string& word : words) line += " '" + word.substr(0, 100) + "'";
    const std::lock_guard lock(printing);
    ADD_FAILURE() << option.title() << ", " << bad.kind << ": " << wrong << "\n  " << line << "\n  "
                  << ending.err.substr(0, 600);
  });
  for (const auto& entry :
       fs::recursive_directory_iterator(folder_, fs::directory_options::skip_permission_denied)) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(contains(name, ".partial-")) << "half written: " << entry.path();
    EXPECT_FALSE(contains(name, ".tmp.")) << "half written: " << entry.path();
  }
  if (!can_be_nobody_ && ::geteuid() == 0) {
    std::printf("paths without permission are left out: nobody cannot run %s\n", GRAPHGATE_BINARY);
  }
}

TEST_F(CliPaths, KnowsEveryVerbAndTheWordOfEveryOption) {
  const Words verbs = all_verbs();
  ASSERT_GT(verbs.size(), 14U);
  std::size_t paths = 0;
  for (const std::string& verb : verbs) {
    EXPECT_TRUE(bases().contains(verb)) << "no quick command line is known for " << verb;
    for (const Option& option : options_of(verb)) {
      if (option.type.empty()) continue;  // a flag
      paths += is_path(option.type) ? 1 : 0;
      EXPECT_TRUE(is_path(option.type) || is_plain_word(option.type))
          << option.title() << ": nobody knows whether '" << option.type << "' is a path";
    }
  }
  EXPECT_GT(paths, 80U);
  for (const auto& [name, base] : bases()) {
    const std::string verb = name.substr(0, name.find(" -"));
    EXPECT_NE(std::find(verbs.begin(), verbs.end(), verb), verbs.end()) << name;
  }
}

// Names that are no UTF-8 go into reports that are.
TEST_F(CliPaths, WritesReportsOnFilesWhoseNamesAreNoUtf8) {
  const std::string the_case = "\xff\xfe.case";
  const std::string program = "\xff.txt";
  const std::string broken = "broken\xff.txt";
  write(the_case, kSmallCase);
  write(program, kProgram);
  write(broken, "no program\xff\n");
  for (const auto& [files, code] : {std::pair(Words{the_case, program}, 0),
                                    {Words{the_case, broken}, 4},
                                    {Words{the_case, "none\xff"}, 4}}) {
    for (const char* option : {"--json", "--junit", "--sarif", "--bundle", "--record"}) {
      Words words = {"check", option, "report"};
      words.insert(words.end(), files.begin(), files.end());
      const Ending ending = execute(words, false);
      EXPECT_EQ(ending.status, code << 8) << option << ": " << ending.describe() << ending.err;
      if (std::string_view(option) == "--json" || std::string_view(option) == "--sarif") {
        EXPECT_TRUE(nlohmann::json::accept(read_file(folder_ / "report"))) << option;
      }
      fs::remove_all(folder_ / "report");
    }
  }
  const std::vector<Words> others = {
      {"plan", "--json", "report", program},
      {"run", "--save", "report", program},
      {"convert", program, "report.pt2"},
      {"replay", "--json", "report", the_case},
      {"reduce", "--check", "true", "--checks", "1", "-o", "report", "--json", "other", the_case},
      {"ops", "--coverage", program, "--json", "report"},
      {"check", "--executor", GRAPHGATE_BINARY " serve", the_case, program},
  };
  for (const Words& words : others) {
    const Ending ending = execute(words, false);
    EXPECT_EQ(ending.status, 0) << words.front() << ": " << ending.describe() << ending.err;
    fs::remove_all(folder_ / "report");
  }
}

// A path of a process substitution is a pipe without a name.
TEST_F(CliPaths, ReadsTextFromAPipeOfTheShell) {
  const CliRun read = run("run /dev/stdin <" + (folder_ / "small.txt").string());
  EXPECT_EQ(read.code, 0) << read.err;
  std::string command = "cat " + (folder_ / "small.txt").string() +
                        " | " GRAPHGATE_BINARY " check /dev/stdin >/dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): our own words
}

TEST_F(CliPaths, WritesToStandardOutputByItsName) {
  const CliRun named = run("plan --json /dev/stdout " + (folder_ / "small.txt").string());
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out.front(), '{');
  EXPECT_TRUE(contains(named.out, "plan \"small\""));  // and the page
}

// ---- the cache ----

// Whatever lies where a cache is or was is no fault of the executor.
TEST_F(CliPaths, NeverTakesADamagedCacheForAFault) {
  const Words check = {"check", "--cache", "cache", "--judges", "exact", "small.case"};
  ASSERT_EQ(execute(check, false).status, 0);
  std::vector<fs::path> inside;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "cache")) {
    inside.push_back(entry.path());
  }
  ASSERT_GT(inside.size(), 6U);
  for (const fs::path& path : inside) {
    for (const char* what : {"file", "folder", "pipe", "loop", "zero"}) {
      const std::string kind = what;
      fs::remove_all(path);
      ASSERT_TRUE(fs::exists(path.parent_path()) || execute(check, false).status == 0);
      fs::remove_all(path);
      if (kind == "file") std::ofstream(path) << "spoilt";
      if (kind == "folder") fs::create_directories(path / "in the way");
      ASSERT_TRUE(kind != "pipe" || ::mkfifo(path.c_str(), 0600) == 0);
      if (kind == "loop") fs::create_symlink(path.filename(), path);
      if (kind == "zero") fs::create_symlink("/dev/zero", path);
      const Ending ending = execute(check, false);
      EXPECT_EQ(ending.status, 0) << path << " is a " << kind << ": " << ending.describe()
                                  << ending.err;
    }
    fs::remove_all(folder_ / "cache");
    ASSERT_EQ(execute(check, false).status, 0);
  }
}

TEST_F(CliPaths, TakesACacheThatCannotBeMadeOrWrittenForNoFault) {
  write("file", "");
  // On the command line: one line, before any work.
  Ending ending = execute({"check", "--cache", "file/below", "small.case"}, false);
  EXPECT_EQ(ending.status, 3 << 8) << ending.err;
  EXPECT_EQ(line_count(ending.err), 1U) << ending.err;
  // Of a case: infrastructure.
  std::string text = kSmallCase;
  text.insert(text.find("program"),
              "option \"cache\" \"" + (folder_ / "file/below").string() + "\"\n");
  write("cached.case", text);
  ending = execute({"check", "cached.case"}, false);
  EXPECT_EQ(ending.status, 3 << 8) << ending.err;
  EXPECT_EQ(line_count(ending.err), 1U) << ending.err;
  ending = execute({"replay", "cached.case"}, false);
  EXPECT_EQ(ending.status, 3 << 8) << ending.err;
  // One that cannot be written keeps nothing.
  if (!can_be_nobody_) GTEST_SKIP() << "nobody cannot run the program here";
  ASSERT_EQ(execute({"check", "--cache", "cache", "small.case"}, false).status, 0);
  for (const fs::perms rights : {fs::perms::none, fs::perms::owner_all}) {
    fs::permissions(folder_ / "cache", rights);
    ending = execute({"check", "--cache", "cache", "small.case"}, true);
    EXPECT_EQ(ending.status, 0) << ending.describe() << ending.err;
    EXPECT_TRUE(contains(ending.err, "plans are not kept"));
  }
}

// ---- folders that hold what others have put there ----

// Every file of the folder, for a verb that reads it: it is refused in one line that names it, or
// passed over; nobody waits for it, and nobody reads it to its end.
void CliPaths::try_folder(const std::string& folder, const Words& words) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / folder)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder_ / folder));
  }
  ASSERT_FALSE(files.empty()) << folder;
  for (const fs::path& file : files) {
    for (const std::string kind : {"pipe", "sparse"}) {
      fs::remove_all(folder_ / "used");
      fs::remove_all(folder_ / "merged");
      fs::copy(folder_ / folder, folder_ / "used", fs::copy_options::recursive);
      const fs::path bad = folder_ / "used" / file;
      fs::remove(bad);
      ASSERT_TRUE(kind != "pipe" || ::mkfifo(bad.c_str(), 0600) == 0);
      if (kind == "sparse" && !make_sparse(bad)) continue;
      const Ending ending = execute(words, false);
      const std::string title = file.string() + " is a " + kind + ": ";
      EXPECT_FALSE(ending.is_late) << title << ending.describe();
      ASSERT_TRUE(WIFEXITED(ending.status)) << title << ending.describe();
      const int code = WEXITSTATUS(ending.status);
      EXPECT_LE(code, 4) << title << ending.err;
      if (code != 3 && code != 4) continue;
      EXPECT_EQ(line_count(ending.err), 1U) << title << ending.err;
      EXPECT_TRUE(contains(ending.err, file.filename().string())) << title << ending.err;
    }
  }
}

TEST_F(CliPaths, WaitsForNothingInACorpusThatGoesOn) {
  try_folder("corpus", {"fuzz", "--resume", "--cases", "1", "--jobs", "1", "--seed", "3",
                        "--judges", "exact", "--corpus", "used"});
}
TEST_F(CliPaths, WaitsForNothingInACorpusThatIsReplayed) {
  try_folder("corpus",
             {"fuzz", "--replay-only", "--jobs", "1", "--judges", "exact", "--corpus", "used"});
}
TEST_F(CliPaths, WaitsForNothingInACorpusThatIsMerged) {
  try_folder("corpus", {"fuzz", "merge", "used", "--into", "merged"});
}
TEST_F(CliPaths, WaitsForNothingInTheCorpusOfAGate) {
  try_folder("corpus", {"gate", "--baseline", "fixed", "--candidate", "fixed", "--reruns", "0",
                        "--corpus", "used"});
}
TEST_F(CliPaths, WaitsForNothingAmongGoldenFiles) {
  try_folder("golden_files", {"golden", "check", "used"});
}
TEST_F(CliPaths, WaitsForNothingAmongCases) {
  try_folder("cases", {"mutants", "--filter", "frees_twice", "used"});
  try_folder("cases", {"ops", "--coverage", "used"});
}

// One test for each verb: they run beside each other.
TEST_F(CliPaths, OfBench) { try_verb("bench"); }
TEST_F(CliPaths, OfCheck) { try_verb("check"); }
TEST_F(CliPaths, OfConvert) { try_verb("convert"); }
TEST_F(CliPaths, OfDoctor) { try_verb("doctor"); }
TEST_F(CliPaths, OfFuzz) { try_verb("fuzz"); }
TEST_F(CliPaths, OfFuzzMerge) { try_verb("fuzz merge"); }
TEST_F(CliPaths, OfGate) { try_verb("gate"); }
TEST_F(CliPaths, OfGoldenCheck) { try_verb("golden check"); }
TEST_F(CliPaths, OfGoldenUpdate) { try_verb("golden update"); }
TEST_F(CliPaths, OfMutants) { try_verb("mutants"); }
TEST_F(CliPaths, OfOps) { try_verb("ops"); }
TEST_F(CliPaths, OfPlan) { try_verb("plan"); }
TEST_F(CliPaths, OfReduce) { try_verb("reduce"); }
TEST_F(CliPaths, OfReplay) { try_verb("replay"); }
TEST_F(CliPaths, OfRun) { try_verb("run"); }
TEST_F(CliPaths, OfServe) { try_verb("serve"); }

}  // namespace
}  // namespace graphgate::tools
