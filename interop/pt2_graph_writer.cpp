#include "interop/pt2_graph_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "interop/pt2_arguments.h"
#include "interop/pt2_generator.h"
#include "interop/pt2_reader.h"
#include "interop/pt2_types.h"
#include "interop/sympy_expr.h"

namespace graphgate::interop {

using spec::Graph;
using spec::Node;
using spec::Value;
using spec::ValueId;
using spec::ValueKind;

namespace {

constexpr std::array<std::string_view, 35> kPythonKeywords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_identifier_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The name itself where Python takes it, else the nearest one that it takes.
std::string to_identifier(const std::string& name) {
  std::string out;
  for (const char c : name) out += is_identifier_character(c) ? c : '_';
  const bool starts_badly = out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0;
  const bool is_keyword =
      std::find(kPythonKeywords.begin(), kPythonKeywords.end(), out) != kPythonKeywords.end();
  return starts_badly || is_keyword ? "v_" + out : out;
}

// The only result of a node that has one and returns it bare, so that node and value are one thing
// to PyTorch.
std::optional<ValueId> only_result(const Node& node, bool is_bare) {
  const bool is_single = node.results.size() == 1 && !node.results[0].is_list;
  const bool is_tuple = node.op.starts_with("higher_order.") && !is_bare;
  if (!is_single || is_tuple) return std::nullopt;
  return node.results[0].values[0];
}

}  // namespace

WrittenNames::WrittenNames(const Graph& graph, const std::string& path, WriteContext& context) {
  names_.resize(graph.values.size());
  // First those that keep their names, so that no made-up name takes one of theirs.
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::string& name = graph.values[i].name;
    if (graph.values[i].kind == ValueKind::kNone || to_identifier(name) != name) continue;
    names_[i] = name;
    taken_.insert(name);
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.kind == ValueKind::kNone || !names_[i].empty()) continue;
    names_[i] = unique(to_identifier(value.name));
    context.renamed_values[subgraph_path(path, names_[i])] = value.name;
  }
}

std::string WrittenNames::unique(std::string name) {
  const std::string stem = name;
  for (int i = 1; !taken_.insert(name).second; ++i) name = stem + "_" + std::to_string(i);
  return name;
}

std::string WrittenNames::for_node(const Node& node, bool is_bare) {
  const auto result = only_result(node, is_bare);
  if (result && !of(*result).empty()) return of(*result);
  return unique(to_identifier(node.name));
}

namespace {

// Writes one graph; members are the parts that its functions share.
class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const WrittenNames& names, const std::string& path, int depth,
              WriteContext& context, std::string& out)
      : graph_(graph),
        names_(names),
        node_names_(names),
        path_(path),
        depth_(depth),
        context_(context),
        out_(out) {}

  Result<void> write() {
    out_ += "{\"inputs\": [";
    write_inputs();
    out_ += "], \"outputs\": [";
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (i > 0) out_ += ", ";
      GRAPHGATE_TRY_VOID(argument(graph_.outputs[i], "output " + std::to_string(i)));
    }
    out_ += "], \"nodes\": [";
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (i > 0) out_ += ", ";
      GRAPHGATE_TRY_VOID(write_node(graph_.nodes[i]));
    }
    out_ += "], \"tensor_values\": ";
    GRAPHGATE_TRY_VOID(write_values(ValueKind::kTensor));
    out_ += ", \"sym_int_values\": ";
    GRAPHGATE_TRY_VOID(write_values(ValueKind::kSymInt));
    out_ += ", \"sym_bool_values\": ";
    GRAPHGATE_TRY_VOID(write_values(ValueKind::kSymBool));
    out_ += ", \"is_single_tensor_return\": ";
    out_ += context_.bare_graphs.contains(path_) ? "true" : "false";
    out_ += ", \"custom_obj_values\": {}, \"sym_float_values\": ";
    GRAPHGATE_TRY_VOID(write_values(ValueKind::kSymFloat));
    out_ += '}';
    return {};
  }

 private:
  Result<void> argument(const spec::Argument& value, const std::string& place) {
    auto written = write_argument(graph_, names_, value, path_, depth_, context_, out_);
    return written.ok() ? written : written.error().at(place);
  }

  void write_inputs() {
    bool first = true;
    const auto add = [&](const spec::Argument& value) {
      if (!std::exchange(first, false)) out_ += ", ";
      // Inputs are single values and constants, which can always be written.
      GRAPHGATE_CHECK(argument(value, "input").ok());
    };
    if (depth_ > 0) {
      for (const ValueId id : graph_.inputs) add(spec::Argument{id});
      return;
    }
    for (const spec::ProgramInput& input : context_.program.inputs) {
      add(input.constant ? *input.constant : spec::Argument{input.value});
    }
  }

  Result<void> write_node(const Node& given) {
    const std::string place = "node '" + given.name + "'";
    const std::optional<Node> seeded = run_with_rng_state(given, context_.ops);
    const bool is_bare = seeded ? given.results.size() == 1
                                : context_.bare_nodes.contains(subgraph_path(path_, given.name));
    const Node& node = seeded ? *seeded : given;
    const bool is_higher_order = node.op.starts_with("higher_order.");
    const std::string name = node_names_.for_node(node, is_bare);
    out_ += "{\"target\": " + json_text(target_of_op(node.op)) + ", \"inputs\": [";
    const spec::OpRow* row = context_.ops.find(node.op);
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      out_ += (i == 0 ? "{\"name\": " : ", {\"name\": ") + json_text(node.arguments[i].name) +
              ", \"arg\": ";
      GRAPHGATE_TRY_VOID(argument(node.arguments[i].argument,
                                  place + ": argument '" + node.arguments[i].name + "'"));
      out_ += ", \"kind\": " + argument_kind(row, i, node.arguments[i].name) + "}";
    }
    out_ += "], \"outputs\": [";
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      if (i > 0) out_ += ", ";
      GRAPHGATE_TRY_VOID(write_result(node.results[i], place));
    }
    out_ += "], \"metadata\": {" + own_metadata(node, name) +
            "}, \"is_hop_single_tensor_return\": " +
            (!is_higher_order ? "null" : (is_bare ? "true" : "false")) +
            ", \"name\": " + json_text(name) + "}";
    return {};
  }

  // How PyTorch passes the argument: by position (1) as long as none was left out, else by name
  // (2). For an op that the table lacks, PyTorch decides.
  static std::string argument_kind(const spec::OpRow* row, std::size_t position,
                                   const std::string& name) {
    if (row == nullptr) return "null";
    const auto index = row->schema.find_argument(name);
    const bool by_position =
        index && *index == position && !row->schema.arguments[position].kwarg_only;
    return by_position ? "1" : "2";
  }

  Result<void> write_result(const spec::NodeResult& result, const std::string& place) {
    if (!result.is_list) return argument(spec::Argument{result.values.at(0)}, place);
    spec::Argument::List list;
    for (const ValueId id : result.values) {
      if (graph_.value(id).kind != ValueKind::kTensor) {
        return unsupported("PyTorch's schema has only tensors in a list result").at(place);
      }
      list.push_back(spec::Argument{id});
    }
    return argument(spec::Argument{std::move(list)}, place);
  }

  // The node's own name and those of its Nones, where they differ from what the reader would give.
  std::string own_metadata(const Node& node, const std::string& written_name) const {
    Json own = Json::object();
    if (written_name != node.name) own["name"] = node.name;
    Json nones = Json::array();
    bool differs = false;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      for (const ValueId id : node.results[i].values) {
        if (graph_.value(id).kind != ValueKind::kNone) continue;
        nones.push_back(graph_.value(id).name);
        differs |= graph_.value(id).name != default_none_name(node.name, i);
      }
    }
    if (differs) own["nones"] = std::move(nones);
    if (own.empty()) return "";
    return json_text(kOwnMetadataKey) + ": " + json_text(own.dump());
  }

  Result<void> write_values(const ValueKind kind) {
    out_ += '{';
    bool first = true;
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& value = graph_.values[i];
      if (value.kind != kind) continue;
      auto text = kind == ValueKind::kTensor ? tensor_text(value) : symbolic_text(value);
      if (!text.ok()) return text.error().at("value '" + value.name + "'");
      if (!std::exchange(first, false)) out_ += ", ";
      out_ += json_text(names_.of(ValueId{static_cast<std::uint32_t>(i)})) + ": " + text.value();
    }
    out_ += '}';
    return {};
  }

  Result<std::string> tensor_text(const Value& value) {
    if (!value.type) return unsupported("has no type, and PyTorch's schema needs one");
    const bool wants_grad = depth_ == 0 && context_.grad_values.contains(value.name);
    return tensor_meta(*value.type, wants_grad, context_);
  }

  // A SymInt, SymBool or SymFloat.
  Result<std::string> symbolic_text(const Value& value) {
    const auto opaque = context_.opaque_values.find(subgraph_path(path_, value.name));
    if (opaque != context_.opaque_values.end()) return opaque->dump();
    if (!value.expr || value.kind == ValueKind::kSymFloat) {
      return unsupported("has no expression that PyTorch could read");
    }
    const bool is_bool = value.kind == ValueKind::kSymBool;
    if (value.expr->is_constant() && !value.hint) {
      const std::int64_t constant = value.expr->constant();
      return is_bool ? std::string(constant != 0 ? "{\"as_bool\": true}" : "{\"as_bool\": false}")
                     : "{\"as_int\": " + std::to_string(constant) + "}";
    }
    std::string hint = "null";
    if (value.hint) {
      hint = is_bool
                 ? std::string(*value.hint != 0 ? "{\"as_bool\": true}" : "{\"as_bool\": false}")
                 : "{\"as_int\": " + std::to_string(*value.hint) + "}";
    }
    return "{\"as_expr\": {\"expr_str\": " +
           json_text(print_sympy(*value.expr, context_.program.symbols)) + ", \"hint\": " + hint +
           "}}";
  }

  const Graph& graph_;
  const WrittenNames& names_;
  WrittenNames node_names_;  // grows by the nodes' names
  const std::string& path_;
  int depth_;
  WriteContext& context_;
  std::string& out_;
};

}  // namespace

Result<void> write_graph(const Graph& graph, const WrittenNames& names, const std::string& path,
                         int depth, WriteContext& context, std::string& out) {
  if (depth > kMaxGraphDepth) {
    return unsupported("graphs nested deeper than " + std::to_string(kMaxGraphDepth) + " levels");
  }
  return GraphWriter(graph, names, path, depth, context, out).write();
}

}  // namespace graphgate::interop
