#include "optimized/codegen/order_text.h"

#include <array>

#include "optimized/codegen/row_spelling.h"
#include "optimized/codegen/spelling.h"
#include "optimized/codegen/touched.h"
#include "optimized/kernels/elements/stable_order.h"

namespace graphgate::optimized {
namespace {

// Entries of all rows, one row after the other; null until there is scratch.
using Entries = std::byte*;

class OrderTexts {
 public:
  OrderTexts(const DeviceListener& listener, const OrderWork& work)
      : listener_(listener),
        work_(work),
        compute_(compute_name(work.self.dtype)),
        is_narrow_(compute_ == "float"),
        entry_("element::Entry<" + compute_ +
               (is_narrow_ ? ", std::int32_t>" : ", std::int64_t>")) {
    const RowParts rows = rows_of(work.self, work.dims);
    count_ = rows.outer.count();
    length_ = rows.inner.count();
  }

  [[nodiscard]] std::int64_t length() const { return length_; }
  [[nodiscard]] bool is_empty() const { return count_ == 0 || length_ == 0; }

  [[nodiscard]] Entries reserve() const { return listener_.reserve(bytes()); }

  [[nodiscard]] TextWork select(Entries scratch, const std::string& function,
                                std::int64_t first) const {
    TextWork out = begin(count_ * 32);
    out.what = "select";
    out.statements = row_of_warp_text(count_);
    add_self(out);
    out.statements += "  " + entry_ + "* const entries = " + entries_text(out, scratch, true) +
                      ";\n  for (std::int64_t i = threadIdx.x % 32; i < " + number(length_) +
                      "; i += 32) entries[i] = from[i];\n  __syncwarp();\n  " + function +
                      "(entries, " + number(length_) + ", device::OrderByWarp());\n";
    const std::int64_t taken = rows_of(work_.values, work_.result_dims).inner.count();
    const std::string put = put_text(out);
    out.statements += joined({"  for (std::int64_t i = threadIdx.x % 32; i < ", number(taken),
                              "; i += 32) {\n    const ", entry_, " own = entries[", number(first),
                              " + i];\n", put, "  }\n"});
    return out;
  }

  // The first pass: runs of neighbours in order.
  [[nodiscard]] TextWork runs(Entries to, const std::string& before) const {
    TextWork out = begin_entries();
    out.what = "runs sorted";
    add_self(out);
    add_target(out, to,
               joined({"element::place_in_run(from, ", number(length_), ", x1, ", before, ")"}));
    return out;
  }

  // A later one: each run of `run` entries and the next one become one.
  [[nodiscard]] TextWork merge(Entries from, Entries to, const std::string& before,
                               std::int64_t run) const {
    TextWork out = begin_entries();
    out.what = "runs merged";
    out.statements +=
        joined({"  const ", entry_, "* const from = ", entries_text(out, from, false), ";\n"});
    add_target(out, to,
               joined({"element::place_in_merged(from, ", number(length_), ", x1, ", number(run),
                       ", ", before, ")"}));
    return out;
  }

  // One entry of each row, all of which are in order.
  [[nodiscard]] TextWork pick(Entries from, const std::string& function) const {
    TextWork out = begin(count_);
    out.what = "pick";
    out.statements = joined(
        {"  const std::int64_t row = thread;\n  if (row >= ", number(count_), ") return;\n"});
    const std::string entries = entries_text(out, from, false);
    const std::string put = put_text(out);
    out.statements += joined({"  const ", entry_, "* const from = ", entries, ";\n  const ", entry_,
                              " own = from[", function, "(from, ", number(length_),
                              ")];\n  constexpr std::int64_t i = 0;\n", put});
    return out;
  }

 private:
  [[nodiscard]] static std::string number(std::int64_t n) {
    return "std::int64_t{" + std::to_string(n) + "}";
  }
  [[nodiscard]] std::int64_t bytes() const { return count_ * length_ * (is_narrow_ ? 8 : 16); }

  [[nodiscard]] static TextWork begin(std::int64_t threads) {
    return TextWork{.threads = threads, .shares_launches = true};
  }

  // A thread for each entry, x1 of row x0.
  [[nodiscard]] TextWork begin_entries() const {
    TextWork out = begin(count_ * length_);
    out.statements = joined({"  if (thread >= ", std::to_string(out.threads), ") return;\n",
                             coordinates_text({count_, length_}, "thread", "x"),
                             "  const std::int64_t row = x0;\n"});
    return out;
  }

  // `from`, whose element i is entry i of the row.
  void add_self(TextWork& out) const {
    add_rows(out, work_.self, work_.dims, "self");
    out.statements +=
        joined({"  const auto entry_at = [&](std::int64_t i) -> ", entry_, " {\n    return {",
                load_text(work_.self.dtype, work_.self.dtype, work_.self.dtype, "at_self(i)"),
                ", static_cast<decltype(", entry_, "::place)>(i)};\n  };\n  const device::Terms<",
                entry_, ", decltype(entry_at)> from{entry_at};\n"});
  }

  // The row's entries, as an expression.
  [[nodiscard]] std::string entries_text(TextWork& out, Entries entries, bool is_written) const {
    const std::string pointer = "p" + std::to_string(out.pointers.size());
    out.pointers.push_back(entries);
    out.accesses.push_back({tensor_of_bytes(entries, bytes()), is_written});
    return joined({"reinterpret_cast<", entry_, "*>(", pointer, ") + row * ", number(length_)});
  }

  // Statements that make `own` the i-th entry of the results.
  [[nodiscard]] std::string put_text(TextWork& out) const {
    add_rows(out, work_.values, work_.result_dims, "values", true);
    std::string text = joined(
        {"    device::put<", format_name(work_.values.dtype), ">(at_values(i), own.value);\n"});
    if (!work_.places) return text;
    add_rows(out, *work_.places, work_.result_dims, "places", true);
    return text + joined({"    device::store<", format_name(work_.places->dtype),
                          ">(at_places(i), static_cast<std::int64_t>(own.place));\n"});
  }

  // Puts the thread's entry of `from` at its place: of the results where `to` is null.
  void add_target(TextWork& out, Entries to, const std::string& place) const {
    std::string put = "    to[i] = own;\n";
    if (to == nullptr) {
      put = put_text(out);
    } else {
      const std::string entries = entries_text(out, to, true);
      out.statements += joined({"  ", entry_, "* const to = ", entries, ";\n"});
    }
    out.statements += joined(
        {"  const ", entry_, " own = from[x1];\n  const std::int64_t i = ", place, ";\n", put});
  }

  const DeviceListener& listener_;
  const OrderWork& work_;
  std::string compute_;
  bool is_narrow_;  // entries of 8 bytes, else of 16
  std::string entry_;
  std::int64_t count_ = 0;   // of rows
  std::int64_t length_ = 0;  // of each
};

// Passes that put every row in the stable order, into `last` or, where that is null, the results.
std::optional<DeviceWorks> passes(const OrderTexts& texts, const std::string& before,
                                  Entries last) {
  std::size_t left = 0;  // passes
  for (std::int64_t run = element::kRun; run < texts.length(); run *= 2) ++left;
  // Where entries go, by whether an even or an odd number of passes is left.
  std::array<Entries, 2> turns = {last, nullptr};
  for (const std::size_t turn : {std::size_t{0}, std::size_t{1}}) {
    const bool is_used = turn == 1 ? left >= 1 : left >= 2;
    if (!is_used || turns.at(turn) != nullptr) continue;
    turns.at(turn) = texts.reserve();
    if (turns.at(turn) == nullptr) return {};
  }
  DeviceWorks out = {texts.runs(left == 0 ? last : turns.at(left % 2), before)};
  for (std::int64_t run = element::kRun; left-- > 0; run *= 2) {
    const Entries to = left == 0 ? last : turns.at(left % 2);
    out.emplace_back(texts.merge(turns.at((left + 1) % 2), to, before, run));
  }
  return out;
}

}  // namespace

std::optional<DeviceWorks> select_works(const DeviceListener& listener, const OrderWork& work,
                                        const std::string& function, std::int64_t first) {
  const OrderTexts texts(listener, work);
  if (texts.is_empty()) return DeviceWorks{};
  if (texts.length() > kLongestRow) return {};
  const Entries scratch = texts.reserve();
  if (scratch == nullptr) return {};
  return DeviceWorks{texts.select(scratch, function, first)};
}

std::optional<DeviceWorks> stable_order_works(const DeviceListener& listener, const OrderWork& work,
                                              const std::string& before) {
  const OrderTexts texts(listener, work);
  if (texts.is_empty()) return DeviceWorks{};
  if (texts.length() > kLongestRow) return {};
  return passes(texts, before, nullptr);
}

std::optional<DeviceWorks> median_works(const DeviceListener& listener, const OrderWork& work,
                                        const std::string& function) {
  const OrderTexts texts(listener, work);
  if (texts.is_empty()) return DeviceWorks{};
  if (texts.length() > kLongestRow) return {};
  const Entries sorted = texts.reserve();
  if (sorted == nullptr) return {};
  auto out = passes(texts, "element::Ascending{}", sorted);
  if (out) out->emplace_back(texts.pick(sorted, function));
  return out;
}

}  // namespace graphgate::optimized
