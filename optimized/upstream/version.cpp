#include "optimized/upstream/version.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace graphgate::optimized {
namespace {

// Takes tokens from the front of a version.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // Absent or beyond 32 bits: false, and nothing is taken.
  bool take_number(std::uint32_t& number) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool take_release(Scanner& scan, Version& version) {
  do {
    std::uint32_t place = 0;
    if (!scan.take_number(place)) return !version.release.empty() && !scan.rest().empty();
    version.release.push_back(place);
  } while (scan.rest().size() > 1 && scan.rest()[0] == '.' && scan.rest()[1] >= '0' &&
           scan.rest()[1] <= '9' && scan.take("."));
  return true;
}

void take_phase(Scanner& scan, Version& version) {
  constexpr std::array<std::pair<std::string_view, Version::Phase>, 3> kPhases = {
      {{"a", Version::Phase::kAlpha},
       {"b", Version::Phase::kBeta},
       {"rc", Version::Phase::kCandidate}}};
  for (const auto& [word, phase] : kPhases) {
    if (!scan.take(word)) continue;
    version.phase = phase;
    (void)scan.take_number(version.phase_number);
    return;
  }
}

// 2.9.0.dev1 comes before 2.9.0a1; 2.9.0a1.dev1 after 2.9.0a0, and 2.9.0.post1.dev1 after 2.9.0.
void take_suffixes(Scanner& scan, Version& version) {
  take_phase(scan, version);
  std::uint32_t number = 0;
  if (scan.take(".post")) {
    (void)scan.take_number(number);
    version.post = number + 1;
  }
  if (scan.take(".dev")) {
    version.development = 0;
    (void)scan.take_number(version.development);
    if (version.phase == Version::Phase::kFinal && version.post == 0) {
      version.phase = Version::Phase::kDevelopment;
    }
  }
  if (scan.take("+")) {
    version.local = scan.rest();
    while (!scan.at_end()) scan.take(scan.rest().substr(0, 1));
  }
}

bool is_local(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_';
  });
}

std::strong_ordering compare_releases(const Version& a, const Version& b) {
  const std::size_t places = std::max(a.release.size(), b.release.size());
  for (std::size_t i = 0; i < places; ++i) {
    const std::uint32_t left = i < a.release.size() ? a.release[i] : 0;
    const std::uint32_t right = i < b.release.size() ? b.release[i] : 0;
    if (left != right) return left <=> right;
  }
  return std::strong_ordering::equal;
}

}  // namespace

Result<Version> parse_version(std::string_view text) {
  Version version;
  Scanner scan(text);
  (void)scan.take("v");
  const bool has_release = take_release(scan, version);
  if (has_release) take_suffixes(scan, version);
  if (!has_release || !scan.at_end() || !is_local(version.local)) {
    return bad_input("expected a version such as 2.9.0 or 2.11.0.dev20260101+cpu, found '" +
                     std::string(text) + "'");
  }
  return version;
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  if (const auto order = compare_releases(a, b); std::is_neq(order)) return order;
  if (a.phase != b.phase) return a.phase <=> b.phase;
  if (a.phase_number != b.phase_number) return a.phase_number <=> b.phase_number;
  if (a.post != b.post) return a.post <=> b.post;
  if (a.development != b.development) return a.development <=> b.development;
  return a.local <=> b.local;
}

bool is_equal_release(const Version& version, const Version& target) {
  Version next = target;
  next.release.push_back(1);
  return version >= target && version < next;
}

}  // namespace graphgate::optimized
