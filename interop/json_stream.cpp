#include "interop/json_stream.h"

#include <optional>
#include <set>
#include <utility>

#include "base/one_line.h"

namespace graphgate::interop {

// Of a key in a message, which is one line.
constexpr std::size_t kKeyBytes = 200;

std::string print_path(const JsonPath& path) {
  std::string text;
  for (const JsonStep& step : path) {
    if (step.is_element) {
      text += "[" + std::to_string(step.index) + "]";
    } else {
      text += (text.empty() ? "" : ".") + one_line(step.key, kKeyBytes);
    }
  }
  return text;
}

namespace {

// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..." without the
// prefix, on one line.
std::string shorten(std::string_view what) {
  for (const std::string_view prefix : {"] ", "parse error at "}) {
    const auto at = what.find(prefix);
    if (at != std::string_view::npos) what.remove_prefix(at + prefix.size());
  }
  std::string line;
  for (const char c : what) line += (c >= ' ' && c != '\x7f') ? c : ' ';
  constexpr std::size_t kMaxLine = 240;  // the last token read may be any length
  if (line.size() > kMaxLine) line = line.substr(0, kMaxLine) + "...";
  return line;
}

// A container that is open. `target` is where it is built, or null outside what the visitor wants.
struct Frame {
  bool is_array = false;
  Json* target = nullptr;
  std::size_t next_index = 0;
  std::set<std::string, std::less<>> keys;  // seen so far, in objects that are not built
};

// The event handler. path_ leads to the value that comes next while nothing is being built, and to
// the value being built otherwise.
class Handler : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(JsonVisitor& visitor) : visitor_(visitor) {}

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
  bool number_float(number_float_t value, const string_t&) override { return scalar(value); }
  bool string(string_t& value) override { return scalar(std::move(value)); }
  bool binary(binary_t&) override { return fail("binary data"); }
  bool start_object(std::size_t) override { return open(Json::object(), false); }
  bool start_array(std::size_t) override { return open(Json::array(), true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Frame& frame = frames_.back();
    const bool is_new =
        frame.target != nullptr ? !frame.target->contains(name) : frame.keys.insert(name).second;
    if (!is_new) return fail("the key \"" + one_line(name, kKeyBytes) + "\" is there twice");
    if (frame.target == nullptr) {
      path_.back().key = std::move(name);
    } else {
      key_ = std::move(name);
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    error_ = bad_input(shorten(error.what()));
    return false;
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  bool fail(const std::string& message) {
    const std::string place = print_path(path_);
    error_ = bad_input(message);
    if (!place.empty()) error_ = error_->at(place);
    return false;
  }

  // Whether a value that starts now is part of something being built.
  [[nodiscard]] bool building() const { return !frames_.empty() && frames_.back().target; }

  // Moves path_ to an element that starts now, in an array that is not built.
  void step_to_element() {
    if (frames_.empty() || !frames_.back().is_array || building()) return;
    path_.back().index = frames_.back().next_index++;
  }

  // Puts a value into the container being built; the place where it now lives.
  Json* attach(Json&& value) {
    Frame& frame = frames_.back();
    if (frame.is_array) {
      frame.target->push_back(std::move(value));
      return &frame.target->back();
    }
    return &(*frame.target)[key_].operator=(std::move(value));
  }

  bool deliver(Json&& value) {
    auto taken = visitor_.take(path_, std::move(value));
    if (!taken.ok()) error_ = taken.error();
    return taken.ok();
  }

  bool scalar(Json value) {
    if (building()) {
      attach(std::move(value));
      return true;
    }
    step_to_element();
    if (visitor_.wants(path_)) return deliver(std::move(value));
    const auto skipped = visitor_.skip_scalar(path_, value);
    if (!skipped.ok()) error_ = skipped.error();
    return skipped.ok();
  }

  bool open(Json&& empty, bool is_array) {
    if (frames_.size() >= kMaxJsonDepth) {
      return fail("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    }
    Json* target = nullptr;
    if (building()) {
      target = attach(std::move(empty));
    } else {
      step_to_element();
      if (visitor_.wants(path_)) {
        built_ = std::move(empty);
        target = &built_;
      } else {
        visitor_.enter(path_);
        path_.push_back(JsonStep{is_array, 0, {}});
      }
    }
    frames_.push_back(Frame{is_array, target, 0, {}});
    return true;
  }

  bool close() {
    const Json* target = frames_.back().target;
    frames_.pop_back();
    if (target == nullptr) {
      path_.pop_back();
      return true;
    }
    return building() || deliver(std::move(built_));
  }

  JsonVisitor& visitor_;
  std::vector<Frame> frames_;
  JsonPath path_;
  Json built_;
  std::string key_;
  std::optional<Error> error_;
};

// Takes the whole document.
class WholeDocument : public JsonVisitor {
 public:
  bool wants(const JsonPath&) override { return true; }
  Result<void> take(const JsonPath&, Json&& value) override {
    document = std::move(value);
    return {};
  }
  Json document;
};

template <class Input>
Result<void> run(Input&& input, std::string_view file, JsonVisitor& visitor) {
  Handler handler(visitor);
  const bool good = Json::sax_parse(std::forward<Input>(input), &handler);
  if (handler.error()) {
    const bool says_file = handler.error()->message.starts_with(file);
    return says_file ? *handler.error() : handler.error()->at(file);
  }
  if (!good) return bad_input("is not JSON").at(file);
  return {};
}

}  // namespace

Result<void> parse_json_stream(std::istream& input, std::string_view file, JsonVisitor& visitor) {
  return run(input, file, visitor);
}

Result<Json> parse_json(std::string_view text, std::string_view file) {
  WholeDocument whole;
  GRAPHGATE_TRY_VOID(run(text, file, whole));
  return std::move(whole.document);
}

}  // namespace graphgate::interop
