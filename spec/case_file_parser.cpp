#include <array>
#include <charconv>

#include "spec/argument_text.h"
#include "spec/case_file.h"
#include "spec/graph_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

constexpr std::array<std::string_view, 9> kBlocks = {
    "name", "seed", "option", "op", "program", "weights", "inputs", "scenario", "expect"};

class CaseReader {
 public:
  CaseReader(std::string_view text, std::string_view source_name)
      : reader_(text, source_name), text_(text), source_name_(source_name) {}

  Result<CaseFile> read(UnknownOps unknown) {
    GRAPHGATE_TRY_VOID(read_version());
    read_header();
    while (!reader_.at(TokenKind::kEnd)) {
      GRAPHGATE_TRY_VOID(read_block());
      GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    }
    if (case_.programs.empty()) return reader_.expected("a program");
    if (unknown == UnknownOps::kRefuse) GRAPHGATE_TRY_VOID(reader_.check_missing_ops());
    return std::move(case_);
  }

 private:
  Result<void> read_version() {
    reader_.skip_line_ends();
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::string word, reader_.take_dashed_word("graphgate-case"));
    if (word != "graphgate-case") {
      return reader_.error_at(start, "expected graphgate-case, found '" + word + "'");
    }
    const Token place = reader_.peek();
    GRAPHGATE_TRY(const std::int64_t version, reader_.take_integer("the version of the format"));
    if (version == kCaseVersion) return reader_.expect_line_end();
    return reader_.error_at(place, "expected version " + std::to_string(kCaseVersion) +
                                       " of the case format, found version " +
                                       std::to_string(version));
  }

  // Comments between the version and the first block, which the reader has passed over.
  void read_header() {
    const std::string_view before = text_.substr(0, reader_.peek().offset);
    std::size_t end = before.find('\n', before.find("graphgate-case"));
    while (end < before.size()) {
      const std::size_t line = end + 1;
      end = before.find('\n', line);
      std::string_view text = before.substr(line, end - line);
      if (!text.starts_with('#')) continue;
      text.remove_prefix(text.starts_with("# ") ? 2 : 1);
      case_.header.emplace_back(text);
    }
  }

  Result<void> read_block() {
    const Token start = reader_.peek();
    std::size_t block = 0;
    while (block < kBlocks.size() && !reader_.at(kBlocks[block])) ++block;
    if (block == kBlocks.size()) {
      return reader_.expected(
          "name, seed, option, op, program, weights, inputs, scenario or "
          "expect");
    }
    if (block < next_) {
      return reader_.error_at(start, "expected the blocks of a case in order, found '" +
                                         std::string(start.text) + "' too late or again");
    }
    const bool once = block < 2 || block == 7;  // name, seed and scenario
    next_ = once ? block + 1 : block;
    if (block == 4) return read_program_block();
    (void)reader_.take();
    return read_rest(block);
  }

  // Everything behind the keyword.
  Result<void> read_rest(std::size_t block) {
    switch (block) {
      case 0:
        return assign(case_.name, reader_.take_string("a name in quotes"));
      case 1:
        return assign(case_.seed, reader_.take_seed());
      case 2:
        return read_option();
      case 3:
        return read_op();
      case 5:
        return read_weights();
      case 6:
        return read_inputs();
      case 7:
        return read_scenario();
      default:
        return read_expectation();
    }
  }

  template <class T>
  static Result<void> assign(T& target, Result<T> result) {
    if (!result.ok()) return result.error();
    target = std::move(result).value();
    return {};
  }

  Result<void> read_option() {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::string key, reader_.take_string("a key in quotes"));
    GRAPHGATE_TRY(std::string value, reader_.take_string("a value in quotes"));
    if (case_.options.try_emplace(key, std::move(value)).second) return {};
    return reader_.error_at(start, "expected each option once, found '" + key + "' again");
  }

  Result<void> read_op() {
    const Token start = reader_.peek();
    const std::string row(reader_.take_rest_of_line());
    if (row.empty()) return reader_.error_at(start, "expected a schema, found the end of the line");
    prepare_ops();
    // Blanks in front give the table's error the line and column of this file.
    const std::string padded =
        std::string(start.line - 1, '\n') + std::string(start.column - 1, ' ') + row;
    auto result = ops_.add_text(padded, source_name_);
    if (!result.ok()) return result;
    case_.ops.push_back(row);
    return {};
  }

  // A copy of the builtin table is made only for cases with ops of their own.
  void prepare_ops() {
    if (!has_ops_) ops_ = builtin_op_table();
    has_ops_ = true;
  }

  Result<void> read_program_block() {
    GRAPHGATE_TRY(case_.programs.emplace_back(),
                  read_program(reader_, has_ops_ ? ops_ : builtin_op_table()));
    return {};
  }

  // seed N, or from "FILE" [key "KEY"]; nothing (not an error) if neither starts here.
  Result<std::optional<std::variant<SeededData, FileData>>> read_source(bool with_key) {
    using Source = std::optional<std::variant<SeededData, FileData>>;
    if (reader_.accept("seed")) {
      GRAPHGATE_TRY(const std::uint64_t seed, reader_.take_seed());
      return Source(SeededData{seed});
    }
    if (!reader_.accept("from")) return Source();
    FileData data;
    GRAPHGATE_TRY(data.file, reader_.take_string("a file name in quotes"));
    if (with_key) {
      GRAPHGATE_TRY_VOID(reader_.expect("key"));
      GRAPHGATE_TRY(data.key, reader_.take_string("a key in quotes"));
    }
    return Source(std::move(data));
  }

  Result<void> read_weights() {
    CaseWeights weights;
    GRAPHGATE_TRY(weights.program, reader_.take_string("the name of a program in quotes"));
    GRAPHGATE_TRY(auto source, read_source(/*with_key=*/false));
    if (!source) return reader_.expected("seed or from");
    weights.source = std::move(*source);
    case_.weights.push_back(std::move(weights));
    return {};
  }

  // `set`: the inputs above, whose storages this one may share; null where there are none.
  Result<CaseData> read_data(const InputSet* set) {
    GRAPHGATE_TRY(auto source, read_source(/*with_key=*/true));
    if (source) {
      return std::visit([](auto& data) { return CaseData(std::move(data)); }, *source);
    }
    if (reader_.accept(":")) {
      GRAPHGATE_TRY(const TensorType type, read_tensor_type(reader_));
      GRAPHGATE_TRY_VOID(reader_.expect("="));
      if (set != nullptr && reader_.accept("alias")) return read_alias(*set, type);
      GRAPHGATE_TRY(HostTensor tensor, read_tensor_data(reader_, type));
      return CaseData(std::move(tensor));
    }
    if (!reader_.accept("=")) return reader_.expected("seed, from, ':' or '='");
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const Argument argument, read_argument(reader_, NameScope{}));
    if (const auto* value = argument.as<bool>()) return CaseData(*value);
    if (const auto* value = argument.as<std::int64_t>()) return CaseData(*value);
    if (const auto* value = argument.as<double>()) return CaseData(*value);
    return reader_.error_at(start, "expected a number, True or False");
  }

  // The name of an input above, from behind `alias`.
  Result<CaseData> read_alias(const InputSet& set, const TensorType& type) {
    const Token place = reader_.peek();
    GRAPHGATE_TRY(const std::string owner, reader_.take_string("an input in quotes"));
    auto view = concrete_geometry(type);
    for (const CaseInput& input : set.inputs) {
      const auto* tensor = std::get_if<HostTensor>(&input.data);
      if (input.name != owner || tensor == nullptr || !view) continue;
      view->storage = tensor->storage;
      if (geometry_fits(*view, static_cast<std::int64_t>(view->storage->bytes.size()))) {
        return CaseData(std::move(*view));
      }
      return reader_.error_at(place, "the elements of " + print_tensor_type(type) +
                                         " do not fit in the storage of '" + owner + "'");
    }
    return reader_.error_at(
        place,
        "expected an input with elements above, and a type without symbols, found '" + owner + "'");
  }

  Result<void> read_inputs() {
    InputSet set;
    GRAPHGATE_TRY(set.name, reader_.take_string("a name in quotes"));
    GRAPHGATE_TRY_VOID(reader_.expect("of"));
    GRAPHGATE_TRY(set.program, reader_.take_string("the name of a program in quotes"));
    GRAPHGATE_TRY_VOID(reader_.expect("{"));
    GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    while (!reader_.accept("}")) {
      CaseInput input;
      GRAPHGATE_TRY(input.name, reader_.take_name("the name of an input or '}'"));
      GRAPHGATE_TRY(input.data, read_data(&set));
      set.inputs.push_back(std::move(input));
      GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    }
    case_.inputs.push_back(std::move(set));
    return {};
  }

  Result<void> read_scenario() {
    GRAPHGATE_TRY_VOID(reader_.expect("{"));
    reader_.skip_line_ends();
    while (!reader_.accept("}")) {
      GRAPHGATE_TRY(case_.scenario.steps.emplace_back(), read_step(reader_));
      if (!reader_.accept(";") && !reader_.at("}")) {
        GRAPHGATE_TRY_VOID(reader_.expect_line_end());
      }
      reader_.skip_line_ends();
    }
    return {};
  }

  Result<void> read_expectation() {
    if (reader_.accept("call")) return read_expected_output();
    const auto outcome = parse_outcome(reader_.peek().text);
    if (!outcome || !reader_.at(TokenKind::kWord)) {
      return reader_.expected("call, or an outcome (PASS, FAIL, SUSPECT, ...)");
    }
    if (has_outcome_) return reader_.expected("one outcome alone");
    has_outcome_ = true;
    (void)reader_.take();
    case_.expectation.outcome = *outcome;
    if (!reader_.at(TokenKind::kString)) return {};
    return assign(case_.expectation.detail, reader_.take_string("a text in quotes"));
  }

  // N outM DATA, or N refused ["TEXT"], from behind `expect call`.
  Result<void> read_expected_output() {
    ExpectedOutput expected;
    const Token place_of_call = reader_.peek();
    GRAPHGATE_TRY(expected.call, read_index(""));
    if (reader_.accept("refused")) return read_refusal(place_of_call, expected.call);
    GRAPHGATE_TRY(expected.output, read_index("out"));
    const Token place = reader_.peek();
    GRAPHGATE_TRY(expected.data, read_data(nullptr));
    if (std::holds_alternative<SeededData>(expected.data)) {
      return reader_.error_at(place, "expected elements, a number or a file, found a seed");
    }
    case_.expectation.outputs.push_back(std::move(expected));
    return {};
  }

  Result<void> read_refusal(const Token& place, std::uint32_t call) {
    if (case_.expectation.refusal) {
      return reader_.error_at(place, "expected one refusal alone, found another");
    }
    ExpectedRefusal refusal{call, ""};
    if (reader_.at(TokenKind::kString)) {
      GRAPHGATE_TRY(refusal.text, reader_.take_string("a text in quotes"));
    }
    case_.expectation.refusal = std::move(refusal);
    return {};
  }

  // A number of 32 bits behind a prefix, in one token.
  Result<std::uint32_t> read_index(std::string_view prefix) {
    const std::string_view text = reader_.peek().text;
    std::uint32_t index = 0;
    if (text.starts_with(prefix)) {
      const auto [end, code] =
          std::from_chars(text.data() + prefix.size(), text.data() + text.size(), index);
      if (code == std::errc() && end == text.data() + text.size()) {
        (void)reader_.take();
        return index;
      }
    }
    return reader_.expected(std::string(prefix) + "N, a number of 32 bits");
  }

  TextReader reader_;
  std::string_view text_;
  std::string source_name_;
  CaseFile case_;
  OpTable ops_;
  bool has_ops_ = false;
  bool has_outcome_ = false;
  std::size_t next_ = 0;  // into kBlocks: earlier blocks may not follow any more
};

}  // namespace

Result<CaseFile> parse_case(std::string_view text, std::string_view source_name,
                            UnknownOps unknown) {
  return CaseReader(text, source_name).read(unknown);
}

}  // namespace graphgate::spec
