#include "spec/node_text.h"

#include <algorithm>

#include "spec/graph_text.h"
#include "spec/sym_expr_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

std::optional<ValueKind> find_kind(std::string_view word) {
  if (word == "tensors") return ValueKind::kTensorList;
  if (word == "symint") return ValueKind::kSymInt;
  if (word == "symfloat") return ValueKind::kSymFloat;
  if (word == "symbool") return ValueKind::kSymBool;
  if (word == "none") return ValueKind::kNone;
  return std::nullopt;
}

class NodeReader {
 public:
  NodeReader(TextReader& reader, const OpTable& ops, GraphBuilder& builder,
             const ReadResult& read_result, std::string_view schemaless)
      : reader_(reader),
        ops_(ops),
        builder_(builder),
        read_result_(read_result),
        schemaless_(schemaless) {}

  // The results become visible only after the arguments are read: a node cannot read itself.
  Result<Node> read(std::size_t index) {
    GRAPHGATE_TRY_VOID(read_results());
    GRAPHGATE_TRY_VOID(read_op());
    GRAPHGATE_TRY_VOID(read_arguments());
    GRAPHGATE_TRY_VOID(read_node_name(index));
    return std::move(node_);
  }

  // Of the node's name, or of what it is named after.
  [[nodiscard]] const Token& name_place() const { return name_place_; }

 private:
  Result<void> read_results() {
    if (!reader_.at("%") && !reader_.at("(")) return {};
    do {
      NodeResult result;
      result.is_list = reader_.accept("(");
      if (result.is_list) {
        GRAPHGATE_TRY_VOID(read_list_result(result));
      } else {
        GRAPHGATE_TRY_VOID(read_result(result));
      }
      node_.results.push_back(std::move(result));
    } while (reader_.accept(","));
    if (!reader_.accept("=")) return reader_.expected("':', ',' or '='");
    return {};
  }

  Result<void> read_list_result(NodeResult& result) {
    if (reader_.accept(")")) return {};
    do {
      GRAPHGATE_TRY_VOID(read_result(result));
    } while (reader_.accept(","));
    if (!reader_.accept(")")) return reader_.expected("':', ',' or ')'");
    return {};
  }

  Result<void> read_result(NodeResult& result) {
    const Token start = reader_.peek();
    const std::size_t first_new = builder_.graph.values.size();
    GRAPHGATE_TRY(const ValueId id, read_result_(reader_, builder_));
    if (id.index >= first_new) own_.push_back(id);
    if (name_place_.kind == TokenKind::kEnd) name_place_ = start;
    result.values.push_back(id);
    return {};
  }

  Result<void> read_op() {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(node_.op, reader_.take_name("an op"));
    if (is_higher_order(node_.op) || node_.op == schemaless_) return {};
    row_ = ops_.find(node_.op);
    if (row_ == nullptr) reader_.note_missing_op(start, node_.op);
    return {};
  }

  Result<void> read_arguments() {
    GRAPHGATE_TRY_VOID(reader_.expect("("));
    if (reader_.accept(")")) return {};
    do {
      GRAPHGATE_TRY_VOID(read_one_argument());
    } while (reader_.accept(","));
    if (!reader_.accept(")")) return reader_.expected("',' or ')'");
    return {};
  }

  Result<void> read_one_argument() {
    const Token start = reader_.peek();
    NamedArgument named;
    if (start.kind == TokenKind::kWord || start.kind == TokenKind::kString) {
      (void)reader_.take();
      GRAPHGATE_TRY_VOID(read_from_word(start, named));
    } else {
      GRAPHGATE_TRY(named.argument, read_argument(reader_, builder_.names));
    }
    GRAPHGATE_TRY_VOID(check_own_values(start, named.argument));
    GRAPHGATE_TRY_VOID(resolve_name(start, named));
    node_.arguments.push_back(std::move(named));
    return {};
  }

  // A word is the argument, or its name if `=` follows.
  Result<void> read_from_word(const Token& word, NamedArgument& named) {
    if (!reader_.accept("=")) {
      GRAPHGATE_TRY(named.argument, read_argument_after(reader_, word, builder_.names));
      return {};
    }
    named.name = std::string(word.text);
    if (word.kind == TokenKind::kString) {
      auto name = unescape_string(word.text);
      if (!name.ok()) return reader_.error_at(word, name.error().message);
      named.name = std::move(name).value();
    }
    GRAPHGATE_TRY(named.argument, read_argument(reader_, builder_.names));
    return {};
  }

  Result<void> check_own_values(const Token& start, const Argument& argument) {
    std::optional<ValueId> found;
    for_each_value(argument, [&](ValueId id) {
      if (std::find(own_.begin(), own_.end(), id) != own_.end()) found = id;
    });
    if (!found) return {};
    return reader_.error_at(start, "expected a value that is defined above, found " +
                                       print_sigil_name('%', builder_.graph.value(*found).name) +
                                       ", a result of this node");
  }

  // Gives a positional argument its schema name; checks a given one.
  Result<void> resolve_name(const Token& start, NamedArgument& named) {
    if (row_ == nullptr) return {};
    const std::vector<SchemaArgument>& known = row_->schema.arguments;
    if (!named.name.empty()) {
      named_seen_ = true;
      if (!row_->schema.find_argument(named.name)) {
        return reader_.error_at(start, "expected an argument of " + print_schema(row_->schema) +
                                           ", found '" + named.name + "'");
      }
    } else {
      const std::size_t index = node_.arguments.size();
      if (named_seen_) {
        return reader_.error_at(start,
                                "expected NAME= before an argument that follows a named one");
      }
      if (index >= known.size() || known[index].kwarg_only) {
        return reader_.error_at(start, "expected at most " + std::to_string(index) +
                                           " positional arguments of " + node_.op + ", found more");
      }
      named.name = known[index].name;
    }
    for (const NamedArgument& other : node_.arguments) {
      if (other.name != named.name) continue;
      return reader_.error_at(start,
                              "expected each argument once, found '" + named.name + "' again");
    }
    return {};
  }

  Result<void> read_node_name(std::size_t index) {
    if (name_place_.kind == TokenKind::kEnd) name_place_ = reader_.peek();
    if (!reader_.accept("as")) {
      node_.name = default_node_name(builder_.graph, node_, index);
      return {};
    }
    name_place_ = reader_.peek();
    GRAPHGATE_TRY(node_.name, reader_.take_name("a node name"));
    return {};
  }

  TextReader& reader_;
  const OpTable& ops_;
  GraphBuilder& builder_;
  const ReadResult& read_result_;
  std::string_view schemaless_;
  Node node_;
  const OpRow* row_ = nullptr;
  std::vector<ValueId> own_;  // values that this node defines
  Token name_place_;
  bool named_seen_ = false;
};

}  // namespace

Result<Value> read_value_name(TextReader& reader, const GraphBuilder& builder) {
  const Token start = reader.peek();
  Value value;
  GRAPHGATE_TRY(value.name, read_sigil_name(reader, "%", "a value"));
  if (!builder.names.values.contains(value.name)) return value;
  return reader.error_at(
      start, "expected a new value name, found " + print_sigil_name('%', value.name) + " again");
}

Result<void> read_value_type(TextReader& reader, Value& value) {
  const auto kind = reader.at(TokenKind::kWord) ? find_kind(reader.peek().text) : std::nullopt;
  if (!kind) {
    GRAPHGATE_TRY(value.type, read_tensor_type(reader));
    return {};
  }
  (void)reader.take();
  value.kind = *kind;
  if (!is_symbolic(*kind)) return {};
  if (reader.accept("(")) {
    GRAPHGATE_TRY(value.expr, read_sym_expr(reader));
    GRAPHGATE_TRY_VOID(reader.expect(")"));
  }
  if (reader.accept("hint")) {
    GRAPHGATE_TRY(value.hint, reader.take_integer("a hint"));
  }
  return {};
}

ValueId add_value(GraphBuilder& builder, Value value) {
  const ValueId id{static_cast<std::uint32_t>(builder.graph.values.size())};
  builder.names.values.emplace(value.name, id);
  builder.graph.values.push_back(std::move(value));
  return id;
}

Result<ValueId> read_value_definition(TextReader& reader, GraphBuilder& builder, bool needs_type) {
  GRAPHGATE_TRY(Value value, read_value_name(reader, builder));
  if (needs_type && !reader.at(":")) return reader.expected("':' and a type");
  if (reader.accept(":")) {
    GRAPHGATE_TRY_VOID(read_value_type(reader, value));
  }
  return add_value(builder, std::move(value));
}

Result<void> read_node(TextReader& reader, const OpTable& ops, GraphBuilder& builder) {
  const ReadResult read_result = [](TextReader& from, GraphBuilder& to) {
    return read_value_definition(from, to, false);
  };
  NodeReader node_reader(reader, ops, builder, read_result, {});
  GRAPHGATE_TRY(Node node, node_reader.read(builder.graph.nodes.size()));
  if (!builder.node_names.insert(node.name).second) {
    return reader.error_at(node_reader.name_place(),
                           "expected a new node name, found '" + node.name + "' again");
  }
  builder.graph.nodes.push_back(std::move(node));
  return {};
}

Result<Node> read_bare_node(TextReader& reader, const OpTable& ops, GraphBuilder& builder,
                            const ReadResult& read_result, std::size_t index,
                            std::string_view schemaless) {
  return NodeReader(reader, ops, builder, read_result, schemaless).read(index);
}

}  // namespace graphgate::spec
