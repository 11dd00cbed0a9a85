#include "tools/golden/golden_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/formatted.h"
#include "spec/plan_diff.h"
#include "spec/plan_text.h"
#include "tools/golden/golden_values.h"
#include "tools/report/plan_words.h"

namespace graphgate::tools {
namespace {

using Sentences = std::vector<std::string>;

std::string changed(const std::string& what, const std::string& before, const std::string& after) {
  return what + " " + before + " became " + after;
}

std::string print_figure(const std::string& name, std::int64_t figure) {
  const bool is_bytes =
      name == "peak" || name == "lower-bound" || name == "no-reuse" || name == "copied-in";
  return is_bytes ? print_bytes(figure) : std::to_string(figure);
}

std::string print_growth(std::int64_t before, std::int64_t after) {
  const std::int64_t more = after - before;
  const std::string signed_more = (more > 0 ? "+" : "") + std::to_string(more);
  if (before <= 0) return " (" + signed_more + ")";
  const double percent = 100.0 * static_cast<double>(more) / static_cast<double>(before);
  return " (" + signed_more + formatted(", %+.1f%%)", percent);
}

void diff_call(const std::string& where, const GoldenCall& before, const GoldenCall& after,
               Sentences& out) {
  if (before.program != after.program) {
    out.push_back(where + ": " + changed("the program", before.program, after.program));
  }
  const auto print = [](const std::optional<std::size_t>& plan) {
    return plan ? "plan " + std::to_string(*plan) : std::string("no plan");
  };
  if (before.plan != after.plan) {
    out.push_back(where + ": follows " + print(after.plan) + " now, and followed " +
                  print(before.plan));
  }
  std::map<std::string, const GoldenValue*> known;
  for (const GoldenValue& value : before.values) known.emplace(value.place, &value);
  std::set<std::string> seen;
  for (const GoldenValue& value : after.values) {
    seen.insert(value.place);
    const auto found = known.find(value.place);
    if (found == known.end()) {
      const bool is_output = value.place.starts_with("output");
      out.push_back(where + ", " + value.place + (is_output ? ": is new" : ": is changed now"));
      continue;
    }
    for (const std::string& words : diff_values(*found->second, value)) {
      out.push_back(where + ", " + value.place);
      out.back().append(": ").append(words);
    }
  }
  for (const GoldenValue& value : before.values) {
    if (seen.contains(value.place)) continue;
    const bool is_output = value.place.starts_with("output");
    out.push_back(where + ", " + value.place + (is_output ? ": is gone" : ": is as before now"));
  }
}

void diff_figures(const std::string& where, const GoldenPlan& before, const GoldenPlan& after,
                  Sentences& out) {
  std::map<std::string, std::int64_t> known(before.figures.begin(), before.figures.end());
  for (const auto& [name, figure] : after.figures) {
    const auto found = known.find(name);
    if (found == known.end()) {
      out.push_back(where + name + " is new, " + print_figure(name, figure));
      continue;
    }
    if (found->second != figure) {
      out.push_back(where +
                    changed(name, print_figure(name, found->second), print_figure(name, figure)) +
                    print_growth(found->second, figure));
    }
    known.erase(found);
  }
  for (const auto& [name, figure] : known) {
    out.push_back(where + name + " is gone, was " + print_figure(name, figure));
  }
}

Result<spec::Plan> read_plan(const std::string& text, const spec::OpTable& ops,
                             const std::string& what) {
  GRAPHGATE_TRY(spec::Plan plan, spec::parse_plan(text, ops, what));
  const auto checked = spec::check_plan(plan);
  if (!checked.ok()) return checked.error().at(what);
  return plan;
}

Result<void> diff_plan(std::size_t number, const GoldenPlan& before, const GoldenPlan& after,
                       const spec::OpTable& ops, Sentences& out) {
  const std::string name = "plan " + std::to_string(number);
  const std::string where = name + ": ";
  const std::size_t known = out.size();
  diff_figures(where, before, after, out);
  if (before.text.empty() != after.text.empty()) {
    out.push_back(where + (after.text.empty() ? "its text is kept no longer"
                                              : "its text is kept from now on"));
  } else if (before.digest != after.digest && !before.text.empty()) {
    GRAPHGATE_TRY(const spec::Plan old_plan, read_plan(before.text, ops, "the stored " + name));
    GRAPHGATE_TRY(const spec::Plan new_plan, read_plan(after.text, ops, "the new " + name));
    for (const std::string& words : spec::diff_plans(old_plan, new_plan)) {
      out.push_back(where + words);
    }
  }
  if (before.digest != after.digest && out.size() == known) {
    out.push_back(where + (before.text.empty() ? "changed, and none of its figures"
                                               : "changed in its text alone"));
  }
  return {};
}

// "kernels: 2 are new (a, b)".
void tell(const std::string& where, const std::string& how, const Sentences& keys, Sentences& out) {
  if (keys.empty()) return;
  out.push_back(where + std::to_string(keys.size()) + (keys.size() == 1 ? " is " : " are ") + how +
                " (" + spec::print_some(keys) + ")");
}

// The rest of a line by what stands before its first colon, or else its first blank.
std::map<std::string, std::string> by_key(const Sentences& lines) {
  std::map<std::string, std::string> out;
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(": ");
    const std::size_t end =
        std::min(colon == std::string::npos ? line.find(' ') : colon, line.size());
    const std::size_t rest = std::min(line.find_first_not_of(": ", end), line.size());
    out.emplace(line.substr(0, end), line.substr(rest));
  }
  return out;
}

// Lines of "KEY: WORDS" or "KEY WORDS".
void diff_keyed(const std::string& where, const Sentences& before, const Sentences& after,
                Sentences& out) {
  const auto old_lines = by_key(before);
  const auto new_lines = by_key(after);
  Sentences fresh;
  Sentences gone;
  for (const auto& [key, words] : new_lines) {
    const auto found = old_lines.find(key);
    if (found == old_lines.end()) {
      fresh.push_back(key);
    } else if (found->second != words) {
      out.push_back(where + key);
      out.back().append(": '").append(found->second).append("' became '").append(words) += '\'';
    }
  }
  for (const auto& [key, words] : old_lines) {
    if (!new_lines.contains(key)) gone.push_back(key);
  }
  tell(where, "new", fresh, out);
  tell(where, "gone", gone, out);
}

Sentences only_in(const Sentences& some, const Sentences& others) {
  Sentences out;
  for (const std::string& line : some) {
    if (std::find(others.begin(), others.end(), line) == others.end()) out.push_back(line);
  }
  return out;
}

void diff_findings(const Sentences& before, const Sentences& after, Sentences& out) {
  for (const std::string& line : only_in(after, before)) out.push_back("a new finding: " + line);
  for (const std::string& line : only_in(before, after)) out.push_back("no finding now: " + line);
}

// Where lists differ and no sentence says so: their order does, or how often a line stands there.
template <class List>
void diff_rest(const std::string& what, const List& before, const List& after, std::size_t known,
               Sentences& out) {
  if (before != after && out.size() == known) out.push_back(what + " stand in another order");
}

}  // namespace

Result<Sentences> diff_golden(const GoldenRecord& before, const GoldenRecord& after,
                              const spec::OpTable& ops) {
  Sentences out;
  const GoldenProvenance& from = before.provenance;
  const GoldenProvenance& to = after.provenance;
  if (from.program != to.program) out.push_back(changed("the program", from.program, to.program));
  if (from.arithmetic != to.arithmetic) {
    out.push_back(changed("the arithmetic", from.arithmetic, to.arithmetic));
  }
  if (from.sources != to.sources) {
    out.push_back("the program or its data changed (" + from.sources + " became " + to.sources +
                  ")");
  }
  const std::size_t calls = std::max(before.calls.size(), after.calls.size());
  for (std::size_t c = 0; c < calls; ++c) {
    const std::string where = "call " + std::to_string(c);
    if (c >= after.calls.size()) {
      out.push_back(where + ": is gone");
    } else if (c >= before.calls.size()) {
      out.push_back(where + ": is new");
    } else {
      const std::size_t known = out.size();
      diff_call(where, before.calls[c], after.calls[c], out);
      diff_rest(where + ": values", before.calls[c], after.calls[c], known, out);
    }
  }
  if (before.end != after.end) {
    const auto print = [](const std::string& end) { return end.empty() ? "its last step" : end; };
    out.push_back("the run: ends at " + print(after.end) + " now, and ended at " +
                  print(before.end));
  }
  const std::size_t plans = std::max(before.plans.size(), after.plans.size());
  for (std::size_t p = 0; p < plans; ++p) {
    const std::string where = "plan " + std::to_string(p);
    if (p >= after.plans.size()) {
      out.push_back(where + ": is gone");
    } else if (p >= before.plans.size()) {
      out.push_back(where + ": is new");
    } else {
      GRAPHGATE_TRY_VOID(diff_plan(p, before.plans[p], after.plans[p], ops, out));
    }
  }
  const auto diff_lines = [&](const std::string& what, const Sentences& old_lines,
                              const Sentences& new_lines) {
    const std::size_t known = out.size();
    diff_keyed(what + ": ", old_lines, new_lines, out);
    diff_rest(what + ": lines", old_lines, new_lines, known, out);
  };
  diff_lines("kernels", before.kernels, after.kernels);
  diff_lines("effects", before.effects, after.effects);
  const std::size_t known = out.size();
  diff_findings(before.findings, after.findings, out);
  diff_rest("findings", before.findings, after.findings, known, out);
  return out;
}

Sentences diff_texts(const std::string& before, const std::string& after) {
  Sentences out;
  if (before == after) return out;
  const auto lines_of = [](const std::string& text) {
    Sentences lines;
    std::istringstream read(text);
    for (std::string line; std::getline(read, line);) lines.push_back(line);
    return lines;
  };
  const Sentences old_lines = lines_of(before);
  const Sentences new_lines = lines_of(after);
  const auto is_keyed = [](const Sentences& lines) {
    std::set<std::string> keys;
    return std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
      const std::size_t colon = line.find(": ");
      return line.starts_with('#') ||
             (colon != std::string::npos && keys.insert(line.substr(0, colon)).second);
    });
  };
  if (is_keyed(old_lines) && is_keyed(new_lines)) {
    const auto without_comments = [](Sentences lines) {
      std::erase_if(lines, [](const std::string& line) { return line.starts_with('#'); });
      return lines;
    };
    diff_keyed("", without_comments(old_lines), without_comments(new_lines), out);
  }
  if (!out.empty()) return out;
  const Sentences gone = only_in(old_lines, new_lines);
  const Sentences fresh = only_in(new_lines, old_lines);
  if (gone.empty() && fresh.empty()) return {"line ends or the order of lines changed"};
  std::string words =
      std::to_string(fresh.size()) + " lines are new, " + std::to_string(gone.size()) + " are gone";
  const auto place =
      std::mismatch(old_lines.begin(), old_lines.end(), new_lines.begin(), new_lines.end());
  const auto line = static_cast<std::size_t>(place.first - old_lines.begin()) + 1;
  out.push_back(words + ", from line " + std::to_string(line) + " on");
  return out;
}

}  // namespace graphgate::tools
