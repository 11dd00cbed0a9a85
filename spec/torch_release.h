// A release of PyTorch, as far as what ops compute goes by it. It is a word like a dtype's name:
// what differs between two releases each party says for itself, beside the op.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphgate::spec {

// 2.15 of "2.15.0+cu132". 0.0: nobody says which; print_torch_release has "open" for it.
struct TorchRelease {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;

  [[nodiscard]] constexpr bool is_open() const { return major == 0 && minor == 0; }
  friend constexpr auto operator<=>(const TorchRelease&, const TorchRelease&) = default;
};

// The one whose ops are known, and that is meant where no other is asked for.
inline constexpr TorchRelease kNewestTorchRelease{2, 15};
inline constexpr std::string_view kOpenTorchRelease = "open";

// Reads "2.15", or a version that begins so: "2.11.0+cu130", "2.14.0a0+git1". Nothing for other
// texts.
[[nodiscard]] inline std::optional<TorchRelease> parse_torch_release(std::string_view text) {
  constexpr std::uint16_t kMost = 999;
  const auto number = [&](std::uint16_t& out) {
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
      if (out > kMost / 10) return false;
      out = static_cast<std::uint16_t>(out * 10 + (text[digits] - '0'));
    }
    text.remove_prefix(digits);
    return digits > 0;
  };
  TorchRelease release;
  if (!number(release.major) || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  if (!number(release.minor) || release.is_open()) return std::nullopt;
  constexpr std::string_view kBehind = ".+ab";
  if (!text.empty() && kBehind.find(text.front()) == std::string_view::npos) return std::nullopt;
  return release;
}

// "2.15", or "open".
[[nodiscard]] inline std::string print_torch_release(TorchRelease release) {
  if (release.is_open()) return std::string(kOpenTorchRelease);
  return std::to_string(release.major) + "." + std::to_string(release.minor);
}

}  // namespace graphgate::spec
