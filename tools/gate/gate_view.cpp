#include "tools/gate/gate_view.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/formatted.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
#include "tools/report/status_line.h"

namespace graphgate::tools {
namespace {

// A case that has run so long has its place in the line of a terminal.
constexpr double kLongLookSeconds = 5;

std::string status_of(const GateProgress& p) {
  std::string line = std::to_string(p.cases) + "/" + std::to_string(p.planned) + " cases";
  if (p.drawn > 0) line += ", " + std::to_string(p.drawn) + " drawn";
  line += ", " + std::to_string(p.differing) + (p.differing == 1 ? " differs" : " differ");
  if (const auto left = seconds_left(p)) line += ", ETA " + print_duration(*left);
  if (!p.in_work.empty() && p.in_work.front().second >= kLongLookSeconds) {
    line += ", " + p.in_work.front().first + " for " + print_duration(p.in_work.front().second);
  }
  return line;
}

std::string first_message(const GateCase& one) {
  return one.findings.empty() ? one.reason : one.findings.front().message;
}

class GateTextView final : public GateView {
 public:
  GateTextView(std::FILE* file, bool redraws, int columns) : line_(file, redraws, columns) {}

  GateTextView(const GateTextView&) = delete;
  GateTextView& operator=(const GateTextView&) = delete;
  // Also where the gate ends with an error, whose line comes next.
  ~GateTextView() override { line_.end(""); }

  void starting(const std::string& side) override { line_.show("starting " + side); }
  void begin(const std::vector<std::string>& sides, const GateProgress& progress,
             int jobs) override {
    std::string line = "gate of " + std::to_string(progress.planned) + " cases";
    for (std::size_t i = 0; i < sides.size(); ++i) {
      line += (i == 0 ? ", " : " -> ") + plain_name(sides[i]);
    }
    line += ", " + std::to_string(jobs) + (jobs == 1 ? " job" : " jobs");
    if (progress.resumed > 0) {
      line += ", resumed behind " + std::to_string(progress.resumed) + " cases";
    }
    line_.print(line);
  }
  void progress(const GateProgress& progress) override { line_.show(status_of(progress)); }
  [[nodiscard]] double progress_seconds() const override { return 0.25; }
  void done(const std::string& name, const std::vector<SideNews>& sides,
            const GateProgress& progress) override {
    if (sides_differ(sides)) {
      std::string line = "differs '" + plain_name(name) + "':";
      for (const SideNews& news : sides) {
        line +=
            " " + plain_name(news.side) + " " + std::string(spec::outcome_name(news.one->outcome));
        const std::string message = first_message(*news.one);
        if (!message.empty()) line += " (" + message + ")";
        line += ";";
      }
      line.pop_back();
      line_.print(line);
    }
    line_.show(status_of(progress));
  }
  void end(const GateProgress& /*progress*/, bool /*is_interrupted*/) override { line_.end(""); }

 private:
  StatusLine line_;
};

class GateNdjsonView final : public GateView {
 public:
  explicit GateNdjsonView(std::FILE* file) : file_(file) {}

  void starting(const std::string& side) override {
    print({{"event", "starting"}, {"side", side}});
  }
  void begin(const std::vector<std::string>& sides, const GateProgress& progress,
             int jobs) override {
    Json json = {{"event", "begin"}, {"sides", sides}, {"jobs", jobs}};
    add(progress, json);
    print(json);
  }
  void progress(const GateProgress& progress) override {
    Json json = {{"event", "progress"}};
    add(progress, json);
    for (const auto& [what, seconds] : progress.in_work) {
      json["in_work"].push_back({{"look", what}, {"seconds", rounded(seconds)}});
    }
    print(json);
  }
  [[nodiscard]] double progress_seconds() const override { return 10; }
  void done(const std::string& name, const std::vector<SideNews>& sides,
            const GateProgress& progress) override {
    Json json = {{"event", "case"}, {"case", name}, {"differs", sides_differ(sides)}};
    for (const SideNews& news : sides) {
      Json one = {{"side", news.side}, {"outcome", spec::outcome_name(news.one->outcome)}};
      one["signatures"] = Json::array();
      for (const GateFinding& finding : news.one->findings) {
        one["signatures"].push_back(finding.signature);
      }
      const std::string message = first_message(*news.one);
      if (!message.empty()) one["message"] = plain_text(message);
      one["seconds"] = rounded(news.one->seconds);
      json["sides"].push_back(std::move(one));
    }
    add(progress, json);
    print(json);
  }
  void end(const GateProgress& progress, bool is_interrupted) override {
    Json json = {{"event", "end"}, {"interrupted", is_interrupted}};
    add(progress, json);
    print(json);
  }

 private:
  static double rounded(double seconds) { return std::round(seconds * 1000) / 1000; }
  static void add(const GateProgress& p, Json& json) {
    json["cases"] = p.cases;
    json["planned_cases"] = p.planned;
    if (p.resumed > 0) json["resumed_cases"] = p.resumed;
    if (p.drawn > 0) json["drawn_cases"] = p.drawn;
    json["differing"] = p.differing;
    json["seconds_so_far"] = rounded(p.seconds);
    if (const auto left = seconds_left(p)) json["seconds_left"] = std::round(*left);
  }
  void print(const Json& json) {
    std::fprintf(file_, "%s\n", json_line(json).c_str());
    std::fflush(file_);
  }

  std::FILE* file_;
};

}  // namespace

std::optional<double> seconds_left(const GateProgress& p) {
  const std::size_t done_now = p.cases - std::min(p.resumed, p.cases);
  const auto left = static_cast<double>(p.planned - std::min(p.cases, p.planned));
  if (left == 0) return std::max(0.0, p.planned_seconds);
  if (done_now == 0) return std::nullopt;
  return left * p.seconds / static_cast<double>(done_now) + p.planned_seconds;
}

bool sides_differ(const std::vector<SideNews>& sides) {
  const auto shown = [](const SideNews& news) {
    std::set<std::string> signatures;
    for (const GateFinding& finding : news.one->findings) signatures.insert(finding.signature);
    return signatures;
  };
  return std::any_of(sides.begin(), sides.end(), [&](const SideNews& news) {
    return news.one->outcome != sides.front().one->outcome || shown(news) != shown(sides.front());
  });
}

std::unique_ptr<GateView> gate_text_view(std::FILE* file, bool redraws, int columns) {
  return std::make_unique<GateTextView>(file, redraws, columns);
}

std::unique_ptr<GateView> gate_ndjson_view(std::FILE* file) {
  return std::make_unique<GateNdjsonView>(file);
}

std::unique_ptr<GateView> gate_view_for(std::FILE* file) {
  const auto columns = terminal_columns(file);
  return columns ? gate_text_view(file, true, *columns) : gate_ndjson_view(file);
}

}  // namespace graphgate::tools
