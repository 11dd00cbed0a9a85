#include "spec/scenario.h"

#include <charconv>

#include "spec/sleep_text.h"
#include "spec/sym_expr_text.h"

namespace graphgate::spec {
namespace {

constexpr std::string_view kFlag = "flag.";

std::string_view mode_name(CallMode mode) {
  return mode == CallMode::kEager ? "eager" : "captured";
}

std::string print_port(const PortRef& port, std::string_view side) {
  const std::string program = port.program.empty() ? "" : print_name(port.program) + ".";
  return program + std::string(side) + std::to_string(port.index);
}

struct StepPrinter {
  std::string operator()(const CallStep& step) const {
    std::string text = "call " + print_name(step.program);
    for (const auto& [symbol, size] : step.sizes) text += " " + symbol + "=" + std::to_string(size);
    if (step.mode) text += " mode=" + std::string(mode_name(*step.mode));
    if (step.inputs) text += " inputs=" + print_name(*step.inputs);
    for (const auto& [flag, value] : step.flags) {
      text += " " + std::string(kFlag) + flag + "=" + print_name(value);
    }
    return text;
  }
  std::string operator()(const HoldStep& step) const {
    return "hold " + print_port(step.output, "out");
  }
  std::string operator()(const ReleaseStep& step) const {
    return "release " + print_port(step.output, "out");
  }
  std::string operator()(const SwapWeightsStep& step) const {
    std::string text = "swap-weights " + print_name(step.program);
    if (step.seed) text += " seed=" + std::to_string(*step.seed);
    if (step.target) text += " target=" + print_name(*step.target);
    return step.rebind ? text + " rebind=true" : text;
  }
  std::string operator()(const FeedBackStep& step) const {
    return "feed-back " + print_port(step.output, "out") + " -> " + print_port(step.input, "in");
  }
  std::string operator()(const StaticStep& step) const {
    return "static " + print_port(step.input, "in");
  }
  std::string operator()(const CheckStep& step) const {
    return step.what == CheckStep::What::kHeld ? "check held" : "check state";
  }
  std::string operator()(const RestartStep& step) const {
    std::string text = "restart";
    for (const auto& [key, value] : step.options) text += " " + key + "=" + quote_string(value);
    for (const std::string& row : step.ops) text += " op=" + quote_string(row);
    return text;
  }
  std::string operator()(const SleepStep& step) const {
    std::string text = "sleep level=" + std::to_string(step.asked.level);
    for (const std::string& cache : step.asked.caches) text += " cache=" + print_name(cache);
    return text;
  }
  std::string operator()(const WakeStep& step) const {
    if (!step.part) return "wake";
    return "wake " + std::string(sleep_part_name(*step.part));
  }
};

class StepReader {
 public:
  explicit StepReader(TextReader& reader) : reader_(reader) {}

  Result<Step> read() {
    constexpr std::string_view kWanted =
        "a step (call, hold, release, swap-weights, feed-back, check, restart, static, sleep or "
        "wake)";
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::string word, reader_.take_dashed_word(kWanted));
    if (word == "call") return read_call();
    if (word == "swap-weights") return read_swap();
    if (word == "feed-back") return read_feed_back();
    if (word == "check") return read_check();
    if (word == "restart") return read_restart();
    if (word == "hold" || word == "release") {
      GRAPHGATE_TRY(PortRef output, read_port("out"));
      if (word == "hold") return Step{HoldStep{std::move(output)}};
      return Step{ReleaseStep{std::move(output)}};
    }
    if (word == "sleep") return read_sleep();
    if (word == "wake") return read_wake();
    if (word == "static") {
      GRAPHGATE_TRY(PortRef input, read_port("in"));
      return Step{StaticStep{std::move(input)}};
    }
    return reader_.error_at(start, "expected " + std::string(kWanted) + ", found '" + word + "'");
  }

 private:
  Result<Step> read_call() {
    CallStep step;
    GRAPHGATE_TRY(step.program, reader_.take_name("the name of a program"));
    while (reader_.at(TokenKind::kWord)) {
      const Token key = reader_.take();
      GRAPHGATE_TRY_VOID(reader_.expect("="));
      if (key.text == "mode") {
        GRAPHGATE_TRY_VOID(read_mode(key, step));
      } else if (key.text == "inputs") {
        if (step.inputs) return again(key);
        GRAPHGATE_TRY(step.inputs, reader_.take_name("the name of a set of inputs"));
      } else if (key.text.starts_with(kFlag)) {
        GRAPHGATE_TRY(std::string value, reader_.take_name("the value of a flag"));
        const std::string flag(key.text.substr(kFlag.size()));
        if (!step.flags.try_emplace(flag, std::move(value)).second) return again(key);
      } else {
        GRAPHGATE_TRY_VOID(read_size(key, step));
      }
    }
    return Step{std::move(step)};
  }

  Error again(const Token& key) const {
    return reader_.error_at(
        key, "expected each setting once, found '" + std::string(key.text) + "' again");
  }

  Result<void> read_mode(const Token& key, CallStep& step) {
    if (step.mode) return again(key);
    if (!reader_.at("eager") && !reader_.at("captured"))
      return reader_.expected("eager or captured");
    step.mode = reader_.take().text == "eager" ? CallMode::kEager : CallMode::kCaptured;
    return {};
  }

  Result<void> read_size(const Token& key, CallStep& step) {
    if (!is_symbol_name(key.text)) {
      return reader_.error_at(key, "expected a symbol, mode, inputs or flag.NAME, found '" +
                                       std::string(key.text) + "'");
    }
    for (const auto& [symbol, size] : step.sizes) {
      if (symbol == key.text) return again(key);
    }
    GRAPHGATE_TRY(const std::int64_t size, reader_.take_integer("a size"));
    step.sizes.emplace_back(key.text, size);
    return {};
  }

  Result<Step> read_swap() {
    SwapWeightsStep step;
    GRAPHGATE_TRY(step.program, reader_.take_name("the name of a program"));
    while (reader_.at(TokenKind::kWord)) {
      const Token key = reader_.take();
      GRAPHGATE_TRY_VOID(reader_.expect("="));
      if (key.text == "seed") {
        if (step.seed) return again(key);
        GRAPHGATE_TRY(step.seed, reader_.take_seed());
      } else if (key.text == "target") {
        if (step.target) return again(key);
        GRAPHGATE_TRY(step.target, reader_.take_name("a parameter or buffer"));
      } else if (key.text == "rebind") {
        if (step.rebind) return again(key);
        GRAPHGATE_TRY_VOID(reader_.expect("true"));
        step.rebind = true;
      } else {
        return reader_.error_at(
            key, "expected seed, target or rebind, found '" + std::string(key.text) + "'");
      }
    }
    return Step{std::move(step)};
  }

  // [OPTION="VALUE"]... [op="ROW"]...
  Result<Step> read_restart() {
    RestartStep step;
    while (reader_.at(TokenKind::kWord)) {
      const Token key = reader_.peek();
      GRAPHGATE_TRY(std::string name, reader_.take_dashed_word("an option"));
      GRAPHGATE_TRY_VOID(reader_.expect("="));
      GRAPHGATE_TRY(std::string value, reader_.take_string("a value in quotes"));
      if (name == "op") {
        step.ops.push_back(std::move(value));
      } else if (!step.options.try_emplace(std::move(name), std::move(value)).second) {
        return again(key);
      }
    }
    return Step{std::move(step)};
  }

  // [level=1|2] [cache=NAME]...
  Result<Step> read_sleep() {
    SleepStep step;
    bool has_level = false;
    while (reader_.at(TokenKind::kWord)) {
      const Token key = reader_.take();
      GRAPHGATE_TRY_VOID(reader_.expect("="));
      if (key.text == "level") {
        if (std::exchange(has_level, true)) return again(key);
        const Token start = reader_.peek();
        GRAPHGATE_TRY(const std::int64_t level, reader_.take_integer("1 or 2"));
        if (level != 1 && level != 2) {
          return reader_.error_at(start, "expected 1 or 2, found '" + std::to_string(level) + "'");
        }
        step.asked.level = static_cast<int>(level);
      } else if (key.text == "cache") {
        GRAPHGATE_TRY(step.asked.caches.emplace_back(), reader_.take_name("a buffer"));
      } else {
        return reader_.error_at(key,
                                "expected level or cache, found '" + std::string(key.text) + "'");
      }
    }
    return Step{std::move(step)};
  }

  // [weights|caches]
  Result<Step> read_wake() {
    WakeStep step;
    for (const SleepPart part : {SleepPart::kWeights, SleepPart::kCaches}) {
      if (!step.part && reader_.accept(sleep_part_name(part))) step.part = part;
    }
    return Step{step};
  }

  Result<Step> read_feed_back() {
    FeedBackStep step;
    GRAPHGATE_TRY(step.output, read_port("out"));
    GRAPHGATE_TRY_VOID(reader_.expect("->"));
    GRAPHGATE_TRY(step.input, read_port("in"));
    return Step{std::move(step)};
  }

  Result<Step> read_check() {
    if (reader_.accept("held")) return Step{CheckStep{CheckStep::What::kHeld}};
    if (reader_.accept("state")) return Step{CheckStep{CheckStep::What::kState}};
    return reader_.expected("held or state");
  }

  // [PROGRAM.]outN. A program that is a word, dots and all, is one token with the port.
  Result<PortRef> read_port(std::string_view side) {
    const Token start = reader_.peek();
    const std::string wanted = "[PROGRAM.]" + std::string(side) + "N";
    PortRef ref;
    GRAPHGATE_TRY(std::string text, reader_.take_name(wanted));
    if (start.kind == TokenKind::kString) {
      ref.program = std::move(text);
      GRAPHGATE_TRY_VOID(reader_.expect("."));
      GRAPHGATE_TRY(const Token port, reader_.expect(TokenKind::kWord, wanted));
      text = std::string(port.text);
    } else if (const std::size_t dot = text.rfind('.'); dot != std::string::npos) {
      ref.program = text.substr(0, dot);
      text.erase(0, dot + 1);
    }
    const bool prefixed = text.starts_with(side) && text.size() > side.size();
    const char* digits = text.data() + std::min(side.size(), text.size());
    const auto [end, code] = std::from_chars(digits, text.data() + text.size(), ref.index);
    if (prefixed && code == std::errc() && end == text.data() + text.size()) return ref;
    return reader_.error_at(start, "expected " + wanted + ", found '" + text + "'");
  }

  TextReader& reader_;
};

}  // namespace

std::string print_step(const Step& step) { return std::visit(StepPrinter{}, step); }

std::string print_scenario(const Scenario& scenario) {
  std::string text;
  for (const Step& step : scenario.steps) text += print_step(step) + "\n";
  return text;
}

Result<Step> read_step(TextReader& reader) { return StepReader(reader).read(); }

}  // namespace graphgate::spec
