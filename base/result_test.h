// What tests ask of Results: the value, the error, and what stands in a message.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace graphgate {

[[noreturn]] inline void end_test(const char* file, int line, std::string_view what,
                                  const std::string& message) {
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " +
                           std::string(what) + (what.empty() ? "" : ": ") + message);
}

// Returns the value. Ends the test where there is none, with `what` was tried and the error.
template <class T>
T must(Result<T> result, std::string_view what = "", const char* file = __builtin_FILE(),
       int line = __builtin_LINE()) {
  if (!result.ok()) end_test(file, line, what, result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

// Returns the error. Ends the test where there is none, with `what` was tried.
template <class T>
Error failure_of(const Result<T>& result, std::string_view what = "",
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (result.ok()) end_test(file, line, what, "no error");
  return result.error();
}

// Returns the error's message, `none` where there is no error.
template <class T>
std::string message_of(const Result<T>& result, const char* none = "") {
  return result.ok() ? none : result.error().message;
}

// Whether `part` stands in `text`; a failed expectation prints the text.
inline ::testing::AssertionResult contains(std::string_view text, std::string_view part) {
  const bool is_there = text.find(part) != std::string_view::npos;
  return (is_there ? ::testing::AssertionSuccess() : ::testing::AssertionFailure()) << text;
}

}  // namespace graphgate
