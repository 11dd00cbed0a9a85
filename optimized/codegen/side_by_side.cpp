#include "optimized/codegen/side_by_side.h"

#include <algorithm>

#include "optimized/codegen/kernels.h"
#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

// "2 x cells written, Add": the parts' words, each once.
std::string words_of(const std::vector<TextWork>& texts) {
  std::vector<std::pair<std::string, int>> counts;
  for (const TextWork& text : texts) {
    const auto known =
        std::ranges::find_if(counts, [&](const auto& one) { return one.first == text.what; });
    if (known == counts.end()) {
      counts.emplace_back(text.what, 1);
    } else {
      ++known->second;
    }
  }
  std::string words;
  for (const auto& [what, count] : counts) {
    if (what.empty()) continue;
    words += (words.empty() ? "" : ", ") +
             (count == 1 ? std::string() : std::to_string(count) + " x ") + what;
  }
  return words;
}

}  // namespace

TextWork side_by_side(const std::vector<TextWork>& texts) {
  TextWork out;
  out.what = words_of(texts);
  std::string functions;
  std::string calls;
  std::vector<std::string> bodies;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const TextWork& text = texts[t];
    std::string body = "[=](std::int64_t thread";
    std::string call = "thread - " + std::to_string(out.threads);
    for (std::size_t i = 0; i < text.pointers.size(); ++i) {
      body += ", char* p" + std::to_string(i);
      call += ", p" + std::to_string(out.pointers.size() + i);
    }
    body += ") {\n" + text.statements + "  };\n";
    const auto known = std::ranges::find(bodies, body);
    const std::string name = "part" + std::to_string(known - bodies.begin());
    if (known == bodies.end()) {
      functions += joined({"  const auto ", name, " = ", body});
      bodies.push_back(std::move(body));
    }
    out.pointers.insert(out.pointers.end(), text.pointers.begin(), text.pointers.end());
    out.accesses.insert(out.accesses.end(), text.accesses.begin(), text.accesses.end());
    out.reports_faults |= text.reports_faults;
    const bool is_last = t + 1 == texts.size();
    const std::int64_t blocks = (text.threads + kDeviceBlock - 1) / kDeviceBlock;
    out.threads += is_last ? text.threads : blocks * kDeviceBlock;
    calls += is_last ? "  " : joined({"  if (thread < ", std::to_string(out.threads), ") return "});
    calls += joined({name, "(", call, ");\n"});
  }
  out.statements = functions + calls;
  return out;
}

}  // namespace graphgate::optimized
