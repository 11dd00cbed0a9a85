// The calls of a case, what happens between them, and the data that calls pass.
#include <algorithm>
#include <set>

#include "fuzz/generate/drawn_data.h"
#include "fuzz/generate/drawn_program.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

// Sizes around those that are captured: on them, below, above and between.
constexpr std::int64_t kCallSizes[] = {4, 3, 8, 5, 7, 2, 9, 6, 16, 13, 1};
// Numbers of calls that come before memory is awake, beside the number of the call behind it.
constexpr std::size_t kEarly = 100;

// What the latest call of a program was.
struct LatestCall {
  bool was_called = false;
  bool is_fed_back = false;  // the next call takes what this one returned
  std::vector<std::int64_t> sizes;
};

class ScenarioDrawer {
 public:
  ScenarioDrawer(GeneReader genes, const Alphabet& alphabet,
                 const std::vector<DrawnProgram>& programs, spec::CaseFile& the_case)
      : genes_(genes), alphabet_(alphabet), programs_(programs), case_(the_case) {}

  void run() {
    latest_.resize(programs_.size());
    draw_traits();
    const std::uint32_t gene = genes_.next();
    const std::size_t calls = 2 + gene % 4 + (gene / 4 % 8 == 7 ? 3 : 0);
    for (std::size_t c = 0; c < calls; ++c) {
      const std::size_t p =
          programs_.size() == 1 ? 0 : (c + genes_.next() % 3 / 2) % programs_.size();
      if (c > 0) between_calls(p, c);
      if (sleeps_ && c > 0 && genes_.chance(60)) sleep(p, c);
      call(p, c);
      after_call(p);
    }
    if (is_holding_)
      case_.scenario.steps.emplace_back(spec::CheckStep{spec::CheckStep::What::kHeld});
  }

 private:
  [[nodiscard]] bool has(Trait trait) { return genes_.chance(alphabet_.chance(trait)); }

  void draw_traits() {
    holds_ = has(Trait::kHeldOutputs) && !case_.options.contains(spec::option::kWeakOutputs);
    feeds_back_ = has(Trait::kFeedBack);
    swaps_ = has(Trait::kSwappedWeights);
    shares_inputs_ = has(Trait::kSharedInputs);
    data_ = has(Trait::kExactData) ? DataClass::kExact : DataClass::kRandom;
    if (has(Trait::kSpecialData)) data_ = DataClass::kSpecial;
    names_modes_ = has(Trait::kCallModes);
    // No gene is read for what an older generator does not draw.
    moves_inputs_ = alphabet_.chance(Trait::kMovedInputs) > 0 && has(Trait::kMovedInputs);
    sleeps_ = alphabet_.chance(Trait::kSleep) > 0 && has(Trait::kSleep);
    if (sleeps_ && genes_.chance(60)) case_.options.emplace(spec::option::kWakesElsewhere, "");
    if (sleeps_ && genes_.chance(40)) case_.options.emplace(spec::option::kSleepDropsGraphs, "");
    restarts_ = case_.options.contains(spec::option::kCache) ||
                case_.options.contains(spec::option::kAheadOfTime);
    has_flags_ = alphabet_.chance(Trait::kDispatch) > 0 &&
                 (case_.options.contains(spec::option::kMaxRequests) ||
                  case_.options.contains(spec::option::kMaxLoras) ||
                  case_.options.contains(spec::option::kQueryLength) ||
                  case_.options.contains(spec::option::kAttentionSupport));
  }

  void between_calls(std::size_t next, std::size_t c) {
    auto& steps = case_.scenario.steps;
    if (restarts_ && c == 2) {
      if (is_holding_) steps.emplace_back(spec::CheckStep{spec::CheckStep::What::kHeld});
      steps.emplace_back(spec::RestartStep{});
      std::fill(latest_.begin(), latest_.end(), LatestCall{});
      is_holding_ = false;
      held_ = {};
    }
    if (swaps_ && programs_[next].has_parameters && genes_.chance(40)) {
      spec::SwapWeightsStep swap;
      swap.program = programs_[next].program.name;
      swap.seed = genes_.next() % 1000;
      swap.rebind = genes_.chance(25);
      steps.emplace_back(std::move(swap));
    }
  }

  // Memory goes, and comes back at once or in parts. What is lost is given anew behind it. Now and
  // then the program is called before all is there: that is to be refused, and ends the run.
  void sleep(std::size_t next, std::size_t c) {
    auto& steps = case_.scenario.steps;
    spec::SleepStep asleep;
    asleep.asked.level = genes_.chance(50) ? 2 : 1;
    if (genes_.chance(50)) asleep.asked.caches = draw_caches();
    steps.emplace_back(asleep);
    const bool is_called_early = genes_.chance(8);
    if (genes_.chance(40)) {
      steps.emplace_back(spec::WakeStep{spec::SleepPart::kWeights});
      if (is_called_early) call(next, c + kEarly);
      give_parameters_anew(asleep);
      steps.emplace_back(spec::WakeStep{spec::SleepPart::kCaches});
    } else {
      if (is_called_early) call(next, c + kEarly);
      steps.emplace_back(spec::WakeStep{});
      give_parameters_anew(asleep);
    }
    for (const DrawnProgram& program : programs_) {
      for (const std::string& cache : asleep.asked.caches) {
        if (!has_cache(program.program, cache)) continue;
        steps.emplace_back(spec::SwapWeightsStep{
            .program = program.program.name, .seed = genes_.next() % 1000, .target = cache});
      }
    }
  }

  void give_parameters_anew(const spec::SleepStep& asleep) {
    for (const DrawnProgram& program : programs_) {
      if (asleep.asked.level < 2 || !program.has_parameters) continue;
      case_.scenario.steps.emplace_back(spec::SwapWeightsStep{.program = program.program.name,
                                                              .seed = genes_.next() % 1000,
                                                              .rebind = genes_.chance(15)});
    }
  }

  // Buffers whose contents may be any numbers.
  static bool has_cache(const spec::Program& program, std::string_view target) {
    return std::any_of(program.inputs.begin(), program.inputs.end(), [&](const auto& input) {
      const auto& type = program.graph.value(input.value).type;
      return input.kind == spec::InputKind::kBuffer && input.target == target && type &&
             spec::is_floating_point(type->dtype);
    });
  }

  std::vector<std::string> draw_caches() {
    std::set<std::string> known;
    for (const DrawnProgram& program : programs_) {
      for (const spec::ProgramInput& input : program.program.inputs) {
        if (input.kind == spec::InputKind::kBuffer) known.insert(input.target);
      }
    }
    std::vector<std::string> caches;
    for (const std::string& target : known) {
      const bool is_any = std::all_of(programs_.begin(), programs_.end(), [&](const auto& drawn) {
        const auto& inputs = drawn.program.inputs;
        return has_cache(drawn.program, target) ||
               std::none_of(inputs.begin(), inputs.end(), [&](const spec::ProgramInput& input) {
                 return input.kind == spec::InputKind::kBuffer && input.target == target;
               });
      });
      if (is_any && genes_.chance(60)) caches.push_back(target);
    }
    return caches;
  }

  // The same sizes again, or others.
  std::vector<std::int64_t> draw_sizes(std::size_t p) {
    const DrawnProgram& program = programs_[p];
    if (latest_[p].was_called && (latest_[p].is_fed_back || genes_.chance(25)))
      return latest_[p].sizes;
    std::vector<std::int64_t> sizes;
    sizes.reserve(program.ranges.size());
    for (const Bounds& range : program.ranges) {
      sizes.push_back(std::clamp(genes_.of(kCallSizes), range.least, range.most));
    }
    return sizes;
  }

  void call(std::size_t p, std::size_t number) {
    const DrawnProgram& program = programs_[p];
    spec::CallStep step;
    step.program = program.program.name;
    const std::vector<std::int64_t> sizes = draw_sizes(p);
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      step.sizes.emplace_back(program.symbols[s], sizes[s]);
    }
    if (names_modes_ && genes_.chance(50)) {
      step.mode = genes_.chance(50) ? spec::CallMode::kEager : spec::CallMode::kCaptured;
    }
    if (has_flags_) draw_flags(sizes, step);
    if (std::optional<std::string> set = draw_inputs(p, sizes, number))
      step.inputs = std::move(set);
    case_.scenario.steps.emplace_back(std::move(step));
    latest_[p] = {true, false, sizes};
  }

  // What the call says of its batch. A uniform decode batch has whole requests.
  void draw_flags(const std::vector<std::int64_t>& sizes, spec::CallStep& step) {
    const auto asked = case_.options.find(spec::option::kQueryLength);
    const std::int64_t length =
        asked == case_.options.end() ? 1 : std::int64_t{asked->second.front()} - '0';
    const bool is_whole = !sizes.empty() && sizes.front() % length == 0;
    if (genes_.chance(60) && is_whole) {
      step.flags.emplace("uniform_decode", "true");
      step.flags.emplace("num_reqs", std::to_string(sizes.front() / length));
    }
    if (genes_.chance(40)) step.flags.emplace("lora", std::to_string(genes_.below(6)));
    if (genes_.chance(10)) step.flags.emplace("cascade_attention", "true");
  }

  // A set of inputs for this call, where some are not drawn by the harness.
  std::optional<std::string> draw_inputs(std::size_t p, const std::vector<std::int64_t>& sizes,
                                         std::size_t number) {
    const DrawnProgram& program = programs_[p];
    spec::InputSet set;
    std::size_t shared = SIZE_MAX;
    std::size_t with = SIZE_MAX;
    if (shares_inputs_ && !program.sharable.empty() && genes_.chance(60)) {
      const auto& pair = program.sharable[genes_.below(program.sharable.size())];
      // Others are drawn, and left apart: ids mean what they did.
      if (may_share(program.inputs[pair.first], program.inputs[pair.second])) {
        with = pair.first;
        shared = pair.second;
      }
    }
    std::shared_ptr<spec::HostStorage> storage;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const Port& port = program.inputs[i];
      const bool is_shared = i == with || i == shared;
      const std::int64_t offset = is_shared ? 0 : draw_offset(program, port);
      const bool is_given = data_ != DataClass::kRandom && port.holds_random_data;
      if (!is_given && !is_shared && offset == 0) continue;
      spec::HostTensor tensor = draw_tensor(program.table, port.tensor, sizes, data_,
                                            case_.seed + 31 * number + i, offset);
      if (i == with) storage = tensor.storage;
      if (i == shared && storage) tensor.storage = storage;
      set.inputs.push_back({user_input_name(i), std::move(tensor)});
    }
    if (set.inputs.empty()) return std::nullopt;
    set.name = "d" + std::to_string(number);
    set.program = program.program.name;
    case_.inputs.push_back(std::move(set));
    return case_.inputs.back().name;
  }

  // How many elements of its storage lie before an input of the next call: an executor that has
  // noted the alignment of an earlier call's meets another one.
  std::int64_t draw_offset(const DrawnProgram& program, const Port& port) {
    if (!moves_inputs_ || program.keeps_places || port.is_static || !port.holds_random_data) {
      return 0;
    }
    return genes_.chance(40) ? 1 + static_cast<std::int64_t>(genes_.below(3)) : 0;
  }

  // A storage is on one device. Where one input is static, the program relies on the bytes of both,
  // and what is held of either would change with the caller's memory.
  [[nodiscard]] bool may_share(const Port& a, const Port& b) const {
    if (a.tensor.on_host != b.tensor.on_host || (a.is_static && b.is_static)) return false;
    if (!a.is_static && !b.is_static) return true;
    return !a.is_written && !b.is_written && !holds_;
  }

  // Whether the output lies in memory that the caller writes before the next call.
  static bool lies_in_static_input(const DrawnProgram& program, std::size_t output) {
    const std::uint16_t storage = program.outputs[output].tensor.storage;
    return std::any_of(program.inputs.begin(), program.inputs.end(), [&](const Port& input) {
      return input.is_static && input.tensor.storage == storage;
    });
  }

  void after_call(std::size_t p) {
    auto& steps = case_.scenario.steps;
    const DrawnProgram& program = programs_[p];
    const bool may_hold = holds_ && !is_holding_ && !program.outputs.empty();
    const auto output =
        static_cast<std::uint32_t>(may_hold ? genes_.below(program.outputs.size()) : 0);
    if (may_hold && !lies_in_static_input(program, output)) {
      held_ = {program.program.name, output};
      steps.emplace_back(spec::HoldStep{held_});
      is_holding_ = true;
    } else if (is_holding_ && genes_.chance(25)) {
      steps.emplace_back(spec::CheckStep{spec::CheckStep::What::kHeld});
      if (genes_.chance(50)) {
        steps.emplace_back(spec::ReleaseStep{held_});
        is_holding_ = false;
      }
    }
    if (program.has_state && genes_.chance(30)) {
      steps.emplace_back(spec::CheckStep{spec::CheckStep::What::kState});
    }
    if (feeds_back_) feed_back(p);
  }

  // An output of this call becomes an input of the program's next one, which has the same sizes.
  void feed_back(std::size_t p) {
    const DrawnProgram& program = programs_[p];
    const std::uint32_t gene = genes_.next();
    if (program.outputs.empty() || program.inputs.empty()) return;
    for (std::size_t k = 0; k < program.outputs.size() * program.inputs.size(); ++k) {
      const std::size_t at = (gene + k) % (program.outputs.size() * program.inputs.size());
      const std::size_t o = at / program.inputs.size();
      const std::size_t i = at % program.inputs.size();
      if (!may_feed(program.outputs[o], program.inputs[i])) continue;
      case_.scenario.steps.emplace_back(
          spec::FeedBackStep{{program.program.name, static_cast<std::uint32_t>(o)},
                             {program.program.name, static_cast<std::uint32_t>(i)}});
      latest_[p].is_fed_back = true;
      return;
    }
  }

  static bool may_feed(const Port& output, const Port& input) {
    const DrawnTensor& from = output.tensor;
    const DrawnTensor& to = input.tensor;
    if (output.is_state || !input.holds_random_data || from.dtype != to.dtype) return false;
    if (!from.has_layout || from.overlaps || from.on_host != to.on_host) return false;
    return from.sizes == to.sizes && from.strides == to.strides && from.offset == 0;
  }

  GeneReader genes_;
  const Alphabet& alphabet_;
  const std::vector<DrawnProgram>& programs_;
  spec::CaseFile& case_;
  std::vector<LatestCall> latest_;
  DataClass data_ = DataClass::kRandom;
  bool holds_ = false;
  bool feeds_back_ = false;
  bool swaps_ = false;
  bool shares_inputs_ = false;
  bool names_modes_ = false;
  bool moves_inputs_ = false;
  bool sleeps_ = false;
  bool restarts_ = false;
  bool has_flags_ = false;
  bool is_holding_ = false;
  spec::PortRef held_;
};

}  // namespace

void draw_scenario(GeneReader genes, const Alphabet& alphabet,
                   const std::vector<DrawnProgram>& programs, spec::CaseFile& the_case) {
  ScenarioDrawer(genes, alphabet, programs, the_case).run();
}

}  // namespace graphgate::fuzz
