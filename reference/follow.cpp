#include "reference/follow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "reference/complex_calls.h"
#include "reference/movement.h"
#include "spec/follow.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// --- Orders: which index stands where in a line ---

enum class Chooses : std::uint8_t {
  kSorted,   // every place, in order
  kTop,      // the first places, in order or as a set
  kExtreme,  // one place: the first of the largest or smallest
  kRank,     // one place: an order statistic
  kRunning,  // at each place the largest or smallest so far
};

struct IndexChoice {
  std::string_view op;  // base name
  Chooses chooses;
  bool largest = true;  // where no argument says
};

constexpr std::array kIndexChoices = {
    IndexChoice{"aten.sort", Chooses::kSorted},
    IndexChoice{"aten.argsort", Chooses::kSorted},
    IndexChoice{"aten.topk", Chooses::kTop},
    IndexChoice{"aten.argmax", Chooses::kExtreme},
    IndexChoice{"aten.argmin", Chooses::kExtreme, false},
    IndexChoice{"aten.max", Chooses::kExtreme},
    IndexChoice{"aten.min", Chooses::kExtreme, false},
    IndexChoice{"aten.kthvalue", Chooses::kRank, false},
    IndexChoice{"aten.median", Chooses::kRank, false},
    IndexChoice{"aten.nanmedian", Chooses::kRank, false},
    IndexChoice{"aten.cummax", Chooses::kRunning},
    IndexChoice{"aten.cummin", Chooses::kRunning, false},
};

// What one call of such an op asks for.
struct WantedOrder {
  Chooses chooses = Chooses::kSorted;
  bool largest = true;
  bool in_order = true;  // of kTop
  std::size_t rank = 0;  // of kRank, from the smallest on
};

// Between what a number lies, with its sign turned where the smallest is wanted.
struct Ends {
  long double low = 0;
  long double high = 0;
  bool is_exact = false;
};

template <class N>
Ends ends_of(const N& x, bool largest) {
  const auto reach = static_cast<long double>(N::PolicyType::kDecisionRadii * x.radius);
  const bool is_exact = x.radius == 0;
  if (largest) return {x.value - reach, x.value + reach, is_exact};
  return {-x.value - reach, -x.value + reach, is_exact};
}

// An integer, whose order among equal ones CUDA's kernels leave open.
Ends ends_of(const Whole& x, bool largest) {
  const auto value = static_cast<long double>(x.value);
  return {largest ? value : -value, largest ? value : -value, true};
}

// Whether nothing is known of where it stands.
template <class N>
bool is_unknown(const N& x) {
  return std::isinf(x.radius) || std::isnan(x.value);
}
bool is_unknown(const Whole& x) { return x.undecided; }

using Places = std::vector<std::int64_t>;

// Whether numbers between these ends can descend in the order of the chosen places, with no other
// one above the last where `leaves_others`.
bool can_descend(const std::vector<Ends>& line, const Places& chosen, bool leaves_others) {
  std::vector<bool> is_chosen(line.size(), false);
  long double most = std::numeric_limits<long double>::infinity();  // what the next may be
  for (const std::int64_t place : chosen) {
    const auto at = static_cast<std::size_t>(place);
    if (is_chosen[at]) return false;
    is_chosen[at] = true;
    most = std::min(most, line[at].high);
    if (most < line[at].low) return false;
  }
  for (std::size_t i = 0; leaves_others && i < line.size(); ++i) {
    if (!is_chosen[i] && line[i].low > most) return false;
  }
  return true;
}

// Whether they may be the largest ones, in any order.
bool can_be_largest(const std::vector<Ends>& line, const Places& chosen) {
  std::vector<bool> is_chosen(line.size(), false);
  long double least = std::numeric_limits<long double>::infinity();
  for (const std::int64_t place : chosen) {
    const auto at = static_cast<std::size_t>(place);
    if (is_chosen[at]) return false;
    is_chosen[at] = true;
    least = std::min(least, line[at].high);
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_chosen[i] && line[i].low > least) return false;
  }
  return true;
}

// Whether that number may be the largest of the first `count`, and, of equal exact ones, the first.
bool can_be_extreme(const std::vector<Ends>& line, std::size_t at, std::size_t count,
                    bool is_first) {
  for (std::size_t i = 0; i < count; ++i) {
    if (line[i].low > line[at].high) return false;
    const bool is_equal = line[i].is_exact && line[at].is_exact && line[i].low == line[at].low;
    if (is_first && i < at && is_equal) return false;
  }
  return true;
}

// Whether that number may have the rank. The ends are those of numbers with their signs turned.
bool can_have_rank(const std::vector<Ends>& line, std::size_t at, std::size_t rank) {
  std::size_t below = 0;
  std::size_t above = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i].low > line[at].high) ++below;
    if (line[i].high < line[at].low) ++above;
  }
  return below <= rank && rank + above < line.size();
}

bool can_be_running(const std::vector<Ends>& line, const Places& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto at = static_cast<std::size_t>(chosen[i]);
    if (at > i || !can_be_extreme(line, at, i + 1, false)) return false;
  }
  return true;
}

bool can_be(const std::vector<Ends>& line, const Places& chosen, const WantedOrder& wanted) {
  switch (wanted.chooses) {
    case Chooses::kSorted:
      return can_descend(line, chosen, false);
    case Chooses::kTop:
      return wanted.in_order ? can_descend(line, chosen, true) : can_be_largest(line, chosen);
    case Chooses::kExtreme:
      return can_be_extreme(line, static_cast<std::size_t>(chosen[0]), line.size(), true);
    case Chooses::kRank:
      return can_have_rank(line, static_cast<std::size_t>(chosen[0]), wanted.rank);
    case Chooses::kRunning:
      return can_be_running(line, chosen);
  }
  return false;
}

// --- Integers that a monotone op cuts ---

// Ops whose results move one way with each operand, and are whole numbers where `is_integral` (of
// others, where the result's dtype is one of integers).
struct Monotone {
  std::string_view op;
  bool is_integral = true;
};

constexpr std::array kMonotone = {
    Monotone{"aten.floor"},
    Monotone{"aten.ceil"},
    Monotone{"aten.round"},
    Monotone{"aten.trunc"},
    Monotone{"aten.fix"},
    Monotone{"aten.sign"},
    Monotone{"aten.floor_divide"},
    Monotone{"aten.div"},
    Monotone{"aten.divide"},
    Monotone{"aten.to", false},
    Monotone{"aten._to_copy", false},
    Monotone{"aten.type_as", false},
    Monotone{"aten.bucketize", false},
    Monotone{"aten.searchsorted", false},
    Monotone{"prims.convert_element_type", false},
};

// --- Comparisons ---

// Ops that come to true or false: 0 and 1 where they are written into another dtype than bool.
constexpr std::array<std::string_view, 16> kTruths = {"aten.eq",
                                                      "aten.ne",
                                                      "aten.lt",
                                                      "aten.le",
                                                      "aten.gt",
                                                      "aten.ge",
                                                      "aten.not_equal",
                                                      "aten.less",
                                                      "aten.less_equal",
                                                      "aten.greater",
                                                      "aten.greater_equal",
                                                      "aten.logical_not",
                                                      "aten.logical_and",
                                                      "aten.logical_or",
                                                      "aten.logical_xor",
                                                      "aten.isinf"};

// --- Quotients of what may be zero ---

// Ops whose result has no bound where errors reach from the divisor to zero. It gets no nearer to
// zero than at the ends of these errors.
constexpr std::array<std::string_view, 5> kQuotients = {"aten.rsqrt", "aten.reciprocal", "aten.div",
                                                        "aten.divide", "aten.true_divide"};

// The tensor with each number at one end of its error, as a fact.
TensorRef at_end(const Tensor& tensor, double radii) {
  const TensorRef copy = copy_of(tensor);
  for (StoredMark& stored : copy->storage->marks) {
    const Mark mark = stored;
    if (mark.radius == 0 || std::isinf(mark.radius)) continue;
    stored = Mark{mark.value + static_cast<long double>(radii * mark.radius), 0};
  }
  return copy;
}

bool has_errors(const Tensor& tensor) {
  return std::ranges::any_of(tensor.storage->marks,
                             [](const StoredMark& mark) { return mark.radius() != 0; });
}

// --- One node ---

class Follower {
 public:
  Follower(const spec::OpRow& row, const std::vector<Datum>& arguments, std::vector<Datum> results,
           const Datum::List& choices, const Run& run)
      : row_(row),
        base_(row.schema.ns + "." + row.schema.base_name()),
        arguments_(arguments),
        results_(std::move(results)),
        choices_(choices),
        run_(run),
        counts_(results_.size(), 0) {}

  std::vector<Datum> run() {
    const Mode mode = run_.options.mode;
    if (mode == Mode::kWorstCase) follow<Bounded>();
    if (mode == Mode::kSampled) follow<Sampled>();
    std::vector<Datum> out = std::move(results_);
    for (const std::int64_t count : counts_) out.push_back({count});
    return out;
  }

 private:
  template <class N>
  void follow() {
    const auto choice = std::ranges::find(kIndexChoices, base_, &IndexChoice::op);
    if (choice != kIndexChoices.end() && follow_indices<N>(*choice)) return;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (results_[i].as<RoundedFloat>()) follow_number<N>(i);
      const auto* tensor = results_[i].as<TensorRef>();
      if (!tensor || spec::is_complex((*tensor)->dtype)) continue;
      // A trial has a number of its own.
      if (is_trial() && spec::is_floating_point((*tensor)->dtype)) continue;
      if ((*tensor)->dtype == DType::kBool) {
        follow_booleans(i, **tensor);
      } else if (std::ranges::find(kTruths, base_) != kTruths.end()) {
        follow_truths<N>(i, **tensor);
      } else {
        follow_cuts<N>(i, **tensor);
        follow_quotients<N>(i, **tensor);
      }
    }
  }

  [[nodiscard]] bool is_trial() const { return run_.options.trial.has_value(); }

  // What the other executor has of that result, where it has the same form.
  [[nodiscard]] const Tensor* chosen(std::size_t i) const {
    const auto* choice = choices_[i].as<TensorRef>();
    const Tensor& own = **results_[i].as<TensorRef>();
    const bool fits = choice && (*choice)->dtype == own.dtype && (*choice)->sizes == own.sizes;
    return fits ? choice->get() : nullptr;
  }
  // Whether there is a word of the other executor, though it may not fit.
  [[nodiscard]] bool is_told(std::size_t i) const { return !choices_[i].is_none(); }

  // --- indices ---

  // False where the call is of a form without indices.
  template <class N>
  bool follow_indices(const IndexChoice& choice) {
    const std::size_t last = results_.size() - 1;
    const auto* indices = results_[last].as<TensorRef>();
    if (!indices || (*indices)->dtype != DType::kInt64) return false;
    const Call call(run_.options.mode, row_, arguments_);
    const Tensor& self = *call.tensor("self");
    if (spec::is_complex(self.dtype)) return true;
    const bool may_differ = is_trial() && chosen(last);
    if ((*indices)->storage->marks.empty() && !may_differ) return true;
    WantedOrder wanted{choice.chooses, choice.largest};
    if (call.has("largest")) wanted.largest = call.boolean("largest");
    if (choice.chooses == Chooses::kSorted) {
      wanted.largest = call.has("descending") && call.boolean("descending");
    }
    if (choice.chooses == Chooses::kTop) wanted.in_order = call.boolean("sorted");
    const auto dim = call.optional_integer("dim");
    const std::int64_t along = dim ? wrap_dim(*dim, self.rank()) : 0;
    Lines lines;
    lines.length = self.count();
    if (dim && self.rank() > 0) {
      for (std::int64_t d = 0; d < self.rank(); ++d) {
        const std::int64_t size = self.sizes[static_cast<std::size_t>(d)];
        if (d < along) lines.outer *= size;
        if (d == along) lines.length = size;
        if (d > along) lines.inner *= size;
      }
    }
    const std::int64_t line_count = lines.outer * lines.inner;
    lines.places = line_count == 0 ? 0 : (*indices)->count() / line_count;
    if (lines.places == 0) return true;
    if (choice.chooses == Chooses::kRank) {
      wanted.rank =
          static_cast<std::size_t>(call.has("k") ? call.integer("k") - 1 : (lines.length - 1) / 2);
    }
    Tensor* values = last == 0 ? nullptr : results_[0].as<TensorRef>()->get();
    if (spec::is_floating_point(self.dtype)) {
      follow_lines<N>(self, lines, wanted, values, last);
    } else {
      follow_lines<Whole>(self, lines, wanted, values, last);
    }
    return true;
  }

  struct Lines {
    std::int64_t outer = 1;
    std::int64_t length = 1;
    std::int64_t inner = 1;
    std::int64_t places = 1;  // in a line of results

    [[nodiscard]] std::int64_t element(std::int64_t o, std::int64_t i, std::int64_t n) const {
      return (o * length + i) * inner + n;
    }
    [[nodiscard]] std::int64_t place(std::int64_t o, std::int64_t i, std::int64_t n) const {
      return (o * places + i) * inner + n;
    }
  };

  template <class N>
  void follow_lines(const Tensor& self, const Lines& lines, const WantedOrder& wanted,
                    Tensor* values, std::size_t result) {
    Tensor& indices = **results_[result].as<TensorRef>();
    const Array<N> numbers = load<N>(self, self.dtype);
    Array<Whole> own = load<Whole>(indices, DType::kInt64);
    Array<N> beside = values ? load<N>(*values, values->dtype) : Array<N>();
    const Tensor* told = chosen(result);
    const Array<Whole> theirs = told ? load<Whole>(*told, DType::kInt64) : own;
    for (std::int64_t o = 0; o < lines.outer; ++o) {
      for (std::int64_t n = 0; n < lines.inner; ++n) {
        follow_line(numbers, lines, o, n, wanted, own, theirs, values ? &beside : nullptr, result);
      }
    }
    store(indices, own);
    if (values) store(*values, beside);
  }

  template <class N>
  void follow_line(const Array<N>& numbers, const Lines& lines, std::int64_t o, std::int64_t n,
                   const WantedOrder& wanted, Array<Whole>& own, const Array<Whole>& theirs,
                   Array<N>* beside, std::size_t result) {
    std::int64_t open = 0;
    Places mine;
    Places chosen_places;
    bool is_in_line = true;
    for (std::int64_t i = 0; i < lines.places; ++i) {
      const std::int64_t at = lines.place(o, i, n);
      open += own[at].undecided ? 1 : 0;
      mine.push_back(own[at].value);
      chosen_places.push_back(theirs[at].value);
      is_in_line = is_in_line && theirs[at].value >= 0 && theirs[at].value < lines.length;
    }
    if (open == 0 && !is_trial()) return;
    std::vector<Ends> ends;
    for (std::int64_t i = 0; i < lines.length; ++i) {
      const N& x = numbers[lines.element(o, i, n)];
      if (is_unknown(x)) return;
      ends.push_back(ends_of(x, wanted.largest));
    }
    counts_[result] += open;
    const bool is_taken = is_in_line && (is_trial() || can_be(ends, chosen_places, wanted));
    const Places& taken = is_taken ? chosen_places : mine;
    for (std::int64_t i = 0; i < lines.places; ++i) {
      const std::int64_t at = lines.place(o, i, n);
      const std::int64_t place = taken[static_cast<std::size_t>(i)];
      own[at] = Whole(place);
      if (beside) (*beside)[at] = numbers[lines.element(o, place, n)];
    }
  }

  // --- element by element ---

  // Elements of a result that are open since an operand is, element by element where the operand
  // stretches to the result, else as a whole.
  [[nodiscard]] std::vector<bool> open_by_operands(const Tensor& result) const {
    std::vector<bool> out(static_cast<std::size_t>(result.count()), false);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (is_written_alone(i)) continue;
      if (const auto* rounded = arguments_[i].as<RoundedFloat>()) {
        add_open(*rounded->element, result, out);
      }
      for_each_tensor(arguments_[i],
                      [&](const TensorRef& tensor) { add_open(*tensor, result, out); });
    }
    return out;
  }

  static void add_open(const Tensor& operand, const Tensor& result, std::vector<bool>& out) {
    const bool has_open = std::ranges::any_of(
        operand.storage->marks, [](const StoredMark& mark) { return std::isinf(mark.radius()); });
    if (!has_open) return;
    add_where(
        operand, result, [](const Mark& mark) { return std::isinf(mark.radius); }, out);
  }

  // Adds the elements of a result to which elements of that kind go; all where it is not known.
  template <class IsMeant>
  static void add_where(const Tensor& operand, const Tensor& result, IsMeant is_meant,
                        std::vector<bool>& out) {
    if (spec::is_complex(operand.dtype) || !stretches(operand.sizes, result.sizes)) {
      std::fill(out.begin(), out.end(), true);
      return;
    }
    const std::vector<Mark> marks = marks_of(operand);
    Array<Whole> flags(operand.sizes);
    for (std::int64_t i = 0; i < flags.count(); ++i) {
      flags[i] = Whole(is_meant(marks[static_cast<std::size_t>(i)]) ? 1 : 0);
    }
    const Array<Whole> wide = broadcast_to(std::move(flags), result.sizes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] || wide.data[i].value != 0;
  }

  static bool stretches(const Sizes& from, const Sizes& to) {
    if (from.size() > to.size()) return false;
    const std::size_t lead = to.size() - from.size();
    for (std::size_t d = 0; d < from.size(); ++d) {
      if (from[d] != 1 && from[d] != to[d + lead]) return false;
    }
    return true;
  }

  // Whether the argument is a place for results, and no operand.
  [[nodiscard]] bool is_written_alone(std::size_t argument) const {
    return row_.schema.arguments[argument].kwarg_only && row_.writes(argument);
  }

  void follow_booleans(std::size_t i, Tensor& result) {
    const Tensor* told = chosen(i);
    if (result.storage->marks.empty() && !(is_trial() && told)) return;
    Array<Whole> own = load<Whole>(result, DType::kBool);
    const Array<Whole> theirs = told ? load<Whole>(*told, DType::kBool) : own;
    const std::vector<bool> open = open_by_operands(result);
    for (std::int64_t e = 0; e < own.count(); ++e) {
      if (open[static_cast<std::size_t>(e)] || !(own[e].undecided || is_trial())) continue;
      counts_[i] += own[e].undecided ? 1 : 0;
      own[e] = Whole(theirs[e].value);
    }
    store(result, own);
  }

  // Booleans in a floating dtype, as an in-place comparison leaves them; integers are rare.
  template <class N>
  void follow_truths(std::size_t i, Tensor& result) {
    const Tensor* told = chosen(i);
    if (!spec::is_floating_point(result.dtype) || result.storage->marks.empty()) return;
    Array<N> own = load<N>(result, result.dtype);
    const Array<N> theirs = told ? load<N>(*told, result.dtype) : own;
    const std::vector<bool> open = open_by_operands(result);
    for (std::size_t e = 0; e < own.data.size(); ++e) {
      N& x = own.data[e];
      if (open[e] || !std::isinf(x.radius)) continue;
      ++counts_[i];
      const long double value = theirs.data[e].value;
      x = N(value == 0 || value == 1 ? value : x.value, 0, x.arithmetic);
    }
    store(result, own);
  }

  // The entry of kMonotone that says how a result of this dtype is cut, or null.
  [[nodiscard]] const Monotone* cut_of(DType dtype) const {
    const auto* found = std::ranges::find(kMonotone, base_, &Monotone::op);
    if (found == kMonotone.end()) return nullptr;
    const bool is_real = spec::is_floating_point(dtype);
    if (is_real && !found->is_integral) return nullptr;
    const Call call(run_.options.mode, row_, arguments_);
    const bool is_quotient = found->op == "aten.div" || found->op == "aten.divide";
    if (is_quotient && !call.has("rounding_mode")) return nullptr;
    if (call.has("decimals") && call.integer("decimals") != 0) return nullptr;
    return found;
  }

  // Between what a result lies, by what the op makes of the ends of its operands' errors.
  struct Range {
    std::vector<long double> low;
    std::vector<long double> high;
  };

  template <class N>
  [[nodiscard]] std::optional<Range> range_of_result(std::size_t i, const Tensor& result) const {
    const auto count = static_cast<std::size_t>(result.count());
    Range out{std::vector(count, std::numeric_limits<long double>::infinity()),
              std::vector(count, -std::numeric_limits<long double>::infinity())};
    const bool has_corners =
        for_each_corner<N>(i, [&](const Tensor& made) { add_corner<N>(made, out); });
    return has_corners ? std::optional(std::move(out)) : std::nullopt;
  }

  // Calls visit(tensor) for what the op makes as result i of operands at the ends of their errors,
  // each with each. False where none has errors, or too many have.
  template <class N, class Visit>
  [[nodiscard]] bool for_each_corner(std::size_t i, Visit visit) const {
    constexpr std::size_t kMostOperands = 3;
    std::vector<std::size_t> inexact;
    for (std::size_t a = 0; a < arguments_.size(); ++a) {
      const auto* tensor = arguments_[a].as<TensorRef>();
      if (tensor && !is_written_alone(a) && has_errors(**tensor)) inexact.push_back(a);
    }
    if (inexact.empty() || inexact.size() > kMostOperands) return false;
    for (std::size_t corner = 0; corner < (std::size_t{1} << inexact.size()); ++corner) {
      std::vector<Datum> arguments = arguments_;
      for (Datum& argument : arguments) {
        const auto* tensor = argument.as<TensorRef>();
        if (tensor) argument = {copy_of(**tensor)};
      }
      for (std::size_t bit = 0; bit < inexact.size(); ++bit) {
        const double side = ((corner >> bit) & 1U) != 0 ? 1 : -1;
        const Tensor& operand = **arguments_[inexact[bit]].as<TensorRef>();
        arguments[inexact[bit]] = {at_end(operand, side * N::PolicyType::kDecisionRadii)};
      }
      Call call(run_.options.mode, row_, arguments);
      run_call(find_body(row_), call);
      visit(**call.results()[i].as<TensorRef>());
    }
    return true;
  }

  template <class N>
  static void add_corner(const Tensor& made, Range& range) {
    const auto add = [&](std::size_t e, long double value, long double beside) {
      range.low[e] = std::min(range.low[e], value - beside);
      range.high[e] = std::max(range.high[e], value + beside);
    };
    if (spec::is_floating_point(made.dtype)) {
      const Array<N> numbers = load<N>(made, made.dtype);
      for (std::size_t e = 0; e < numbers.data.size(); ++e) {
        const N& x = numbers.data[e];
        add(e, x.value, static_cast<long double>(N::PolicyType::kDecisionRadii * x.radius));
      }
      return;
    }
    const Array<Whole> numbers = load<Whole>(made, made.dtype);
    for (std::size_t e = 0; e < numbers.data.size(); ++e) {
      const Whole& x = numbers.data[e];
      add(e, static_cast<long double>(x.value), x.undecided ? 1 : 0);
    }
  }

  template <class N>
  void follow_cuts(std::size_t i, Tensor& result) {
    const Tensor* told = chosen(i);
    if (result.storage->marks.empty() && !(is_trial() && told)) return;
    if (!cut_of(result.dtype)) return;
    std::optional<Range> range;
    if (!is_trial()) {
      range = range_of_result<N>(i, result);
      if (!range) return;
    }
    const std::vector<bool> open = open_by_operands(result);
    const auto is_within = [&](std::size_t e, long double value) {
      return is_trial() || (range->low[e] <= value && value <= range->high[e]);
    };
    if (spec::is_floating_point(result.dtype)) {
      follow_real_cuts<N>(i, result, told, open, is_within);
      return;
    }
    Array<Whole> own = load<Whole>(result, result.dtype);
    const Array<Whole> theirs = told ? load<Whole>(*told, result.dtype) : own;
    for (std::size_t e = 0; e < own.data.size(); ++e) {
      Whole& x = own.data[e];
      if (open[e] || !(x.undecided || is_trial())) continue;
      counts_[i] += x.undecided ? 1 : 0;
      const std::int64_t value = theirs.data[e].value;
      x = Whole(is_within(e, static_cast<long double>(value)) ? value : x.value);
    }
    store(result, own);
  }

  // Whole numbers in a floating dtype. One that is not explained keeps its radius.
  template <class N, class IsWithin>
  void follow_real_cuts(std::size_t i, Tensor& result, const Tensor* told,
                        const std::vector<bool>& open, IsWithin is_within) {
    Array<N> own = load<N>(result, result.dtype);
    const Array<N> theirs = told ? load<N>(*told, result.dtype) : own;
    for (std::size_t e = 0; e < own.data.size(); ++e) {
      N& x = own.data[e];
      if (open[e] || !(x.radius > 0 && std::isfinite(x.radius))) continue;
      ++counts_[i];
      const long double value = theirs.data[e].value;
      const bool is_taken = !is_told(i) || (value == std::trunc(value) && is_within(e, value));
      if (is_taken) x = N(value, 0, x.arithmetic);
    }
    store(result, own);
  }

  // Whether it is a quotient in a floating dtype, as it comes.
  [[nodiscard]] bool is_quotient(DType dtype) const {
    if (!spec::is_floating_point(dtype)) return false;
    if (std::ranges::find(kQuotients, base_) == kQuotients.end()) return false;
    return !Call(run_.options.mode, row_, arguments_).has("rounding_mode");
  }

  // Elements that are open since errors of the divisor reach zero, and of no other reason.
  template <class N>
  void follow_quotients(std::size_t i, Tensor& result) {
    const Tensor* told = chosen(i);
    if (result.storage->marks.empty() || !is_quotient(result.dtype)) return;
    Array<N> own = load<N>(result, result.dtype);
    const auto is_infinite = [](const N& x) { return std::isinf(x.radius); };
    if (std::ranges::none_of(own.data, is_infinite)) return;
    // How far from zero it lies at least.
    std::vector<long double> least(own.data.size(), std::numeric_limits<long double>::infinity());
    const bool has_corners = for_each_corner<N>(i, [&](const Tensor& made) {
      const Array<N> numbers = load<N>(made, made.dtype);
      for (std::size_t e = 0; e < numbers.data.size(); ++e) {
        const N& x = numbers.data[e];
        if (std::isnan(x.value) || std::isinf(x.radius)) continue;
        const auto beside = static_cast<long double>(N::PolicyType::kDecisionRadii * x.radius);
        least[e] = std::min(least[e], std::fabs(x.value) - beside);
      }
    });
    if (!has_corners) return;
    const bool is_root = base_ == "aten.rsqrt";
    const bool has_numerator = !is_root && base_ != "aten.reciprocal";
    const auto* numerator = arguments_[0].as<TensorRef>();
    std::vector<bool> may_be_zero(own.data.size(), false);
    if (has_numerator && numerator) {
      const auto is_near_zero = [](const Mark& mark) {
        return std::fabs(mark.value) <=
               static_cast<long double>(N::PolicyType::kDecisionRadii * mark.radius);
      };
      add_where(**numerator, result, is_near_zero, may_be_zero);
    }
    const Array<N> theirs = told ? load<N>(*told, result.dtype) : own;
    const std::vector<bool> open = open_by_operands(result);
    for (std::size_t e = 0; e < own.data.size(); ++e) {
      N& x = own.data[e];
      if (open[e] || !is_infinite(x)) continue;
      const long double value = theirs.data[e].value;
      if (std::isnan(value)) continue;
      ++counts_[i];
      const bool is_far_enough = may_be_zero[e] || std::fabs(value) >= least[e];
      const bool is_explained = is_far_enough && (!is_root || value > 0);
      if (!is_told(i) || is_explained) x = N(value, 0, x.arithmetic);
    }
    store(result, own);
  }

  // --- a number that item() read ---

  template <class N>
  void follow_number(std::size_t i) {
    const Tensor& element = *results_[i].as<RoundedFloat>()->element;
    const Mark mark = marks_of(element)[0];
    if (!std::isfinite(mark.radius) || std::isnan(mark.value)) return;
    ++counts_[i];
    const auto reach = static_cast<long double>(N::PolicyType::kDecisionRadii * mark.radius);
    const auto* told = choices_[i].as<double>();
    if (!told && is_told(i)) return;
    const long double value = told ? static_cast<long double>(*told) : mark.value;
    const bool is_within = std::fabs(value - mark.value) <= reach;
    if (is_within) results_[i] = {static_cast<double>(value)};
  }

  const spec::OpRow& row_;
  const std::string base_;
  const std::vector<Datum>& arguments_;
  std::vector<Datum> results_;
  const Datum::List& choices_;
  const Run& run_;
  std::vector<std::int64_t> counts_;
};

const spec::Argument& named_argument(const spec::Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.arguments, name, &spec::NamedArgument::name);
  if (found == node.arguments.end()) {
    throw OpError("follow expects '" + std::string(name) + "'");
  }
  return found->argument;
}

// Whether a result is of a kind that Follower looks at, and open in some element.
bool may_hold_choice(std::string_view base, const Datum& result) {
  if (result.as<RoundedFloat>()) return true;
  const auto* held = result.as<TensorRef>();
  if (!held || (*held)->storage->marks.empty()) return false;
  const Tensor& tensor = **held;
  if (spec::is_complex(tensor.dtype)) return false;
  const bool cuts = std::ranges::find(kMonotone, base, &Monotone::op) != kMonotone.end();
  const bool orders =
      std::ranges::find(kIndexChoices, base, &IndexChoice::op) != kIndexChoices.end();
  const bool tells = std::ranges::find(kTruths, base) != kTruths.end();
  const bool divides = std::ranges::find(kQuotients, base) != kQuotients.end();
  if (tensor.dtype != DType::kBool && !cuts && !orders && !tells && !divides) return false;
  return has_errors(tensor);
}

thread_local OpenChoices* open_choices = nullptr;

}  // namespace

OpenChoices::OpenChoices(const spec::Graph& graph)
    : graph_(graph), outer_(std::exchange(open_choices, this)) {}

OpenChoices::~OpenChoices() { open_choices = outer_; }

void OpenChoices::look_at(const spec::OpRow& row, const std::vector<Datum>& arguments,
                          const std::vector<Datum>& results, const Run& run) {
  if (open_choices == nullptr || run.graph != &open_choices->graph_) return;
  const std::string base = row.schema.ns + "." + row.schema.base_name();
  const auto may = [&](const Datum& result) { return may_hold_choice(base, result); };
  if (std::ranges::none_of(results, may)) return;
  bool is_open = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) is_open = is_open || row.writes(i);
  if (!is_open) {
    std::vector<Datum> copies = results;
    for (Datum& copy : copies) {
      if (const auto* tensor = copy.as<TensorRef>()) copy = {copy_of(**tensor)};
    }
    try {
      const Datum::List nobody(results.size(), Datum{});
      const std::vector<Datum> told = Follower(row, arguments, copies, nobody, run).run();
      is_open = std::any_of(told.begin() + std::ssize(results), told.end(),
                            [](const Datum& count) { return *count.as<std::int64_t>() > 0; });
    } catch (const OpError&) {
      is_open = true;
    } catch (const Undecidable&) {
      is_open = true;
    }
  }
  if (is_open) open_choices->nodes_.push_back(run.node);
}

std::vector<Datum> run_follow(const spec::Node& node, const Environment& environment,
                              const Run& run) {
  const auto* op = named_argument(node, spec::kFollowedOp).as<spec::OpName>();
  const spec::OpRow* row = op ? run.options.ops->find(op->name) : nullptr;
  if (!row || !find_body(*row)) throw OpError("follow expects an op that the reference runs");
  const Datum results =
      evaluate_argument(named_argument(node, spec::kFollowedResults), environment);
  const Datum choices =
      evaluate_argument(named_argument(node, spec::kFollowedChoices), environment);
  const auto* made = results.as<Datum::List>();
  const auto* chosen = choices.as<Datum::List>();
  if (!made || !chosen || made->empty() || made->size() != chosen->size()) {
    throw OpError("follow expects as many choices as results");
  }
  const std::vector<Datum> arguments =
      bind_arguments(row->schema, find_given(row->schema, node.arguments), environment);
  return Follower(*row, arguments, *made, *chosen, run).run();
}

}  // namespace graphgate::reference
