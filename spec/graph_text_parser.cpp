#include <array>

#include "spec/graph_text.h"
#include "spec/node_text.h"
#include "spec/sym_expr_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

constexpr int kMaxGraphDepth = 50;

// The kinds of lines, in the order in which they stand.
enum class Stage { kAnnotation, kSymbol, kInput, kGraph, kNode, kOutput };

struct GraphKeyword {
  std::string_view word;
  Stage stage;
  bool programs_only;
};
constexpr std::array<GraphKeyword, 9> kGraphKeywords = {{
    {"annotation", Stage::kAnnotation, true},
    {"symbol", Stage::kSymbol, true},
    {"parameter", Stage::kInput, true},
    {"buffer", Stage::kInput, true},
    {"constant", Stage::kInput, true},
    {"input", Stage::kInput, false},
    {"graph", Stage::kGraph, false},
    {"mutation", Stage::kOutput, true},
    {"output", Stage::kOutput, false},
}};

// Reads the lines of one pair of braces: of the program, or (program == nullptr) of a subgraph.
class BodyReader {
 public:
  BodyReader(TextReader& reader, const OpTable& ops, Program* program, int depth)
      : reader_(reader), ops_(ops), program_(program), depth_(depth) {}

  Result<Graph> read() {
    if (depth_ > kMaxGraphDepth) {
      return reader_.expected("graphs nested at most " + std::to_string(kMaxGraphDepth) + " deep");
    }
    GRAPHGATE_TRY_VOID(reader_.expect("{"));
    GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    while (!reader_.accept("}")) {
      GRAPHGATE_TRY_VOID(read_line());
      GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    }
    return std::move(builder_.graph);
  }

 private:
  Result<void> read_line() {
    const Token start = reader_.peek();
    for (const GraphKeyword& keyword : kGraphKeywords) {
      if (!reader_.at(keyword.word)) continue;
      if (keyword.programs_only && program_ == nullptr) {
        return reader_.expected("a line of a subgraph (input, graph, a node, output)");
      }
      GRAPHGATE_TRY_VOID(enter(keyword.stage));
      (void)reader_.take();
      return read_keyword_line(keyword, start);
    }
    const bool node = reader_.at("%") || reader_.at("(") || reader_.at(TokenKind::kString) ||
                      (reader_.at(TokenKind::kWord) && start.text.find('.') != start.text.npos);
    if (!node) return reader_.expected("a node, a line that starts with a keyword, or '}'");
    GRAPHGATE_TRY_VOID(enter(Stage::kNode));
    return read_node(reader_, ops_, builder_);
  }

  Result<void> enter(Stage stage) {
    constexpr std::array<std::string_view, 6> kNames = {"annotations", "symbols", "inputs",
                                                        "subgraphs",   "nodes",   "outputs"};
    if (stage < stage_) {
      return reader_.expected("no more " + std::string(kNames[static_cast<std::size_t>(stage)]) +
                              " after the " +
                              std::string(kNames[static_cast<std::size_t>(stage_)]));
    }
    stage_ = stage;
    return {};
  }

  Result<void> read_keyword_line(const GraphKeyword& keyword, const Token& start) {
    switch (keyword.stage) {
      case Stage::kAnnotation:
        return read_annotation();
      case Stage::kSymbol:
        return read_symbol();
      case Stage::kInput:
        return program_ != nullptr ? read_input(start) : read_graph_input();
      case Stage::kGraph:
        return read_subgraph();
      default:
        break;
    }
    ProgramOutput output;
    if (keyword.word == "mutation") {
      GRAPHGATE_TRY_VOID(read_mutation(output));
    }
    GRAPHGATE_TRY(builder_.graph.outputs.emplace_back(), read_argument(reader_, builder_.names));
    if (program_ != nullptr) program_->outputs.push_back(std::move(output));
    return {};
  }

  Result<void> read_annotation() {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(std::string key, reader_.take_string("a key in quotes"));
    GRAPHGATE_TRY(std::string text, reader_.take_string("a text in quotes"));
    if (program_->annotations.try_emplace(key, std::move(text)).second) return {};
    return reader_.error_at(start, "expected each annotation once, found '" + key + "' again");
  }

  Result<void> read_symbol() {
    const Token name = reader_.peek();
    if (name.kind != TokenKind::kWord || !is_symbol_name(name.text)) {
      return reader_.expected("the name of a symbol");
    }
    (void)reader_.take();
    SymbolInfo info;
    GRAPHGATE_TRY_VOID(reader_.expect("in"));
    GRAPHGATE_TRY_VOID(reader_.expect("["));
    GRAPHGATE_TRY(info.min, reader_.take_integer("the smallest value"));
    GRAPHGATE_TRY_VOID(reader_.expect(","));
    if (!reader_.accept("inf")) {
      GRAPHGATE_TRY(info.max, reader_.take_integer("the largest value or inf"));
    }
    GRAPHGATE_TRY_VOID(reader_.expect("]"));
    if (reader_.accept("hint")) {
      GRAPHGATE_TRY(info.hint, reader_.take_integer("a hint"));
    }
    if (program_->symbols.try_emplace(std::string(name.text), info).second) return {};
    return reader_.error_at(
        name, "expected each symbol once, found '" + std::string(name.text) + "' again");
  }

  Result<void> read_graph_input() {
    GRAPHGATE_TRY(builder_.graph.inputs.emplace_back(),
                  read_value_definition(reader_, builder_, true));
    return {};
  }

  // parameter, buffer, constant or input, from behind the keyword.
  Result<void> read_input(const Token& keyword) {
    ProgramInput input;
    if (keyword.text == "parameter") input.kind = InputKind::kParameter;
    if (keyword.text == "buffer") input.kind = InputKind::kBuffer;
    if (keyword.text == "constant") input.kind = InputKind::kTensorConstant;
    const bool user = input.kind == InputKind::kUserInput;
    if (user && reader_.at(TokenKind::kString)) return read_constant_input(std::move(input));

    GRAPHGATE_TRY(Value value, read_value_name(reader_, builder_));
    input.target = value.name;
    if (!user || reader_.at(TokenKind::kString)) {
      GRAPHGATE_TRY(input.target, reader_.take_string("a target in quotes"));
    }
    input.persistent = !reader_.accept("nonpersistent");
    if (!reader_.accept(":")) return reader_.expected("':' and a type");
    GRAPHGATE_TRY_VOID(read_value_type(reader_, value));
    if (!user && reader_.accept("=")) {
      GRAPHGATE_TRY_VOID(read_data(input.target, value));
    }
    input.value = add_value(builder_, std::move(value));
    builder_.graph.inputs.push_back(input.value);
    program_->inputs.push_back(std::move(input));
    return {};
  }

  Result<void> read_constant_input(ProgramInput input) {
    GRAPHGATE_TRY(input.target, reader_.take_string("a name in quotes"));
    GRAPHGATE_TRY_VOID(reader_.expect("="));
    GRAPHGATE_TRY(input.constant, read_argument(reader_, NameScope{}));
    program_->inputs.push_back(std::move(input));
    return {};
  }

  // The bytes of a parameter, buffer or constant, from behind `=`.
  Result<void> read_data(const std::string& target, const Value& value) {
    const Token start = reader_.peek();
    if (!value.type) return reader_.expected("no elements for a value that is no tensor");
    if (program_->tensors.contains(target)) {
      return reader_.error_at(start, "expected the elements of '" + target + "' once");
    }
    if (!reader_.accept("alias")) {
      GRAPHGATE_TRY(HostTensor tensor, read_tensor_data(reader_, *value.type));
      program_->tensors.emplace(target, std::move(tensor));
      return {};
    }
    const Token place = reader_.peek();
    GRAPHGATE_TRY(const std::string owner, reader_.take_string("a target in quotes"));
    const auto found = program_->tensors.find(owner);
    auto view = concrete_geometry(*value.type);
    if (found == program_->tensors.end() || !view) {
      return reader_.error_at(place,
                              "expected a target with elements above, and a type without "
                              "symbols, found '" +
                                  owner + "'");
    }
    view->storage = found->second.storage;
    if (!geometry_fits(*view, static_cast<std::int64_t>(view->storage->bytes.size()))) {
      return reader_.error_at(place, "the elements of " + print_tensor_type(*value.type) +
                                         " do not fit in the storage of '" + owner + "'");
    }
    program_->tensors.emplace(target, std::move(*view));
    return {};
  }

  Result<void> read_subgraph() {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(std::string name, read_sigil_name(reader_, "@", "a subgraph"));
    const SubgraphId id{static_cast<std::uint32_t>(builder_.graph.subgraphs.size())};
    if (!builder_.names.subgraphs.try_emplace(name, id).second) {
      return reader_.error_at(start, "expected a new subgraph name, found '" + name + "' again");
    }
    GRAPHGATE_TRY(Graph graph, BodyReader(reader_, ops_, nullptr, depth_ + 1).read());
    graph.name = std::move(name);
    builder_.graph.subgraphs.push_back(std::move(graph));
    return {};
  }

  // KIND "target", from behind `mutation`.
  Result<void> read_mutation(ProgramOutput& output) {
    if (reader_.accept("buffer")) {
      output.kind = OutputKind::kBufferMutation;
    } else if (reader_.accept("input")) {
      output.kind = OutputKind::kUserInputMutation;
    } else if (reader_.accept("parameter")) {
      output.kind = OutputKind::kParameterMutation;
    } else {
      return reader_.expected("buffer, input or parameter");
    }
    GRAPHGATE_TRY(output.target, reader_.take_string("a target in quotes"));
    return {};
  }

  TextReader& reader_;
  const OpTable& ops_;
  Program* program_;
  int depth_;
  Stage stage_ = Stage::kAnnotation;
  GraphBuilder builder_;
};

}  // namespace

Result<Program> read_program(TextReader& reader, const OpTable& ops) {
  Program program;
  GRAPHGATE_TRY_VOID(reader.expect("program"));
  GRAPHGATE_TRY(program.name, reader.take_string("a name in quotes"));
  std::string graph_name;
  if (reader.accept("graph")) {
    GRAPHGATE_TRY(graph_name, reader.take_string("a name in quotes"));
  }
  GRAPHGATE_TRY(program.graph, BodyReader(reader, ops, &program, 0).read());
  program.graph.name = std::move(graph_name);
  return program;
}

Result<Program> parse_program(std::string_view text, const OpTable& ops,
                              std::string_view source_name, UnknownOps unknown) {
  TextReader reader(text, source_name);
  reader.skip_line_ends();
  GRAPHGATE_TRY(Program program, read_program(reader, ops));
  reader.skip_line_ends();
  if (!reader.at(TokenKind::kEnd)) return reader.expected("the end of the text");
  if (unknown == UnknownOps::kRefuse) GRAPHGATE_TRY_VOID(reader.check_missing_ops());
  return program;
}

}  // namespace graphgate::spec
