// Result<T>: what the world can cause, as a value. CHECK: what only a programmer can cause.
//
// Every public function that reads input returns Result<T>; no exception crosses a folder. An Error
// is one line for a person (which file, where, what was expected) and a kind that decides the exit
// code of the command line.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace graphgate {

enum class ErrorKind {
  kBadInput,        // the input is wrong; exit code 4
  kUnsupported,     // the input is right, this build or executor cannot do it; outcome UNSUPPORTED
  kInfrastructure,  // disk full, no permission, no device; exit code 3
  kInternal,        // a defect of graphgate; exit code 5
};

// `message` is one line without a trailing newline or full stop.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;

  // The same error, with where it happened in front: "model.json: graph.nodes[3]: <message>".
  [[nodiscard]] Error at(std::string_view place) const {
    return Error{kind, std::string(place) + ": " + message};
  }
};

inline Error bad_input(std::string message) {
  return Error{ErrorKind::kBadInput, std::move(message)};
}
inline Error unsupported(std::string message) {
  return Error{ErrorKind::kUnsupported, std::move(message)};
}
inline Error infrastructure(std::string message) {
  return Error{ErrorKind::kInfrastructure, std::move(message)};
}

// A value of type T, or an Error. Test with ok(); value() on an error is a programmer's mistake.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  [[nodiscard]] T& value() & { return *std::get_if<0>(&checked()); }
  [[nodiscard]] const T& value() const& { return *std::get_if<0>(&checked()); }
  [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&checked())); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error>& checked() {
    if (!ok()) fail();
    return state_;
  }
  const std::variant<T, Error>& checked() const {
    if (!ok()) fail();
    return state_;
  }
  [[noreturn]] void fail() const {
    std::fprintf(stderr, "graphgate: value() of a failed Result: %s\n", error().message.c_str());
    std::abort();
  }

  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace graphgate

// CHECK(condition): an invariant of this code base; prints and aborts, in every build type.
#define GRAPHGATE_CHECK(condition)                                                       \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

#define GRAPHGATE_CONCAT_(a, b) a##b
#define GRAPHGATE_CONCAT(a, b) GRAPHGATE_CONCAT_(a, b)

// GRAPHGATE_TRY(auto x, f()): x is f()'s value, or the enclosing function returns f()'s Error.
#define GRAPHGATE_TRY(declaration, ...)                     \
  auto GRAPHGATE_CONCAT(result_, __LINE__) = (__VA_ARGS__); \
  if (!GRAPHGATE_CONCAT(result_, __LINE__).ok())            \
    return GRAPHGATE_CONCAT(result_, __LINE__).error();     \
  declaration = std::move(GRAPHGATE_CONCAT(result_, __LINE__)).value()

// GRAPHGATE_TRY_VOID(f()): the same for Result<void>.
#define GRAPHGATE_TRY_VOID(...)                      \
  do {                                               \
    auto try_result = (__VA_ARGS__);                 \
    if (!try_result.ok()) return try_result.error(); \
  } while (false)
