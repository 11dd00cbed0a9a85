#include "optimized/cache/key.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/sha256.h"
#include "optimized/cache/option_factors.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::HostTensor;

// Everything is on one line: a value cannot forge another factor.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

std::string numbers(const std::vector<std::int64_t>& list) {
  std::string text = "[";
  for (const std::int64_t number : list)
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

// Numbers storages in the order in which tensors mention them.
class StorageNumbers {
 public:
  std::string describe(const HostTensor& tensor) {
    const auto [at, is_new] = numbers_.try_emplace(tensor.storage.get(), numbers_.size());
    return std::to_string(at->second) + " of " + std::to_string(tensor.storage->bytes.size()) +
           " bytes";
  }

 private:
  std::map<const spec::HostStorage*, std::size_t> numbers_;
};

void for_each_op(const spec::Graph& graph, const auto& visit) {
  for (const spec::Node& node : graph.nodes) {
    visit(node, node.op);
    for (const spec::NamedArgument& named : node.arguments) {
      if (const auto* op = named.argument.as<spec::OpName>()) visit(node, op->name);
    }
  }
  for (const spec::Graph& subgraph : graph.subgraphs) for_each_op(subgraph, visit);
}

Result<void> add_ops(const spec::Graph& graph, const spec::OpTable& ops, KeyFactors& factors) {
  spec::MissingOps unknown;
  for_each_op(graph, [&](const spec::Node& node, const std::string& name) {
    if (spec::is_higher_order(name)) return;
    if (const spec::OpRow* row = ops.find(name)) {
      factors.set("ops", name, spec::print_row(*row));
    } else {
      unknown.add(node.name, name);
    }
  });
  if (!unknown.empty()) return unknown.error(spec::kNoSchema);
  return {};
}

// The graph's content: its text without what is a guard and what nobody reads. Types of parameters
// stand in the text, their sharing does not.
void add_graph(const spec::Program& program, const spec::OpTable& ops, KeyFactors& factors) {
  spec::Program bare = program;
  bare.symbols.clear();
  bare.annotations.clear();
  factors.set("graph", "program", program.name);
  factors.set("graph", "text", sha256_hex(spec::print_program(bare, ops)));
  StorageNumbers storages;
  std::string tensors;
  for (const auto& [target, tensor] : program.tensors) {
    tensors += target + " " + std::string(spec::short_name(tensor.dtype)) + " " +
               numbers(tensor.sizes) + " " + numbers(tensor.strides) + " " +
               std::to_string(tensor.storage_offset) + " " + spec::print_device(tensor.device) +
               " " + storages.describe(tensor) + "\n";
  }
  factors.set("graph", "tensors", sha256_hex(tensors));
}

void add_guards(const spec::Program& program, bool allow_zero_and_one, KeyFactors& factors) {
  const auto text = [](const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : std::string("none");
  };
  for (const auto& [name, info] : program.symbols) {
    factors.set(
        "guards", name,
        "[" + std::to_string(info.min) + ", " + text(info.max) + "] hint " + text(info.hint));
  }
  factors.set("guards", "allow_zero_and_one", allow_zero_and_one ? "true" : "false");
}

void add_input(std::size_t index, const spec::InputValue& input, StorageNumbers& storages,
               KeyFactors& factors) {
  const auto set = [&](const char* what, std::string value) {
    factors.set("inputs", std::to_string(index) + what, std::move(value));
  };
  if (const auto* tensor = std::get_if<HostTensor>(&input)) {
    set(".kind", "tensor");
    set(".dtype", std::string(spec::short_name(tensor->dtype)));
    set(".sizes", numbers(tensor->sizes));
    set(".strides", numbers(tensor->strides));
    set(".offset", std::to_string(tensor->storage_offset));
    set(".device", spec::print_device(tensor->device));
    set(".storage", storages.describe(*tensor));
  } else if (const auto* integer = std::get_if<std::int64_t>(&input)) {
    set(".kind", "int");
    set(".value", std::to_string(*integer));
  } else if (const auto* real = std::get_if<double>(&input)) {
    set(".kind", "float");
    set(".bits", std::to_string(std::bit_cast<std::uint64_t>(*real)));
  } else {
    set(".kind", "bool");
    set(".value", std::get<bool>(input) ? "true" : "false");
  }
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

void KeyFactors::set(std::string_view section, std::string name, std::string value) {
  sections_[std::string(section)].insert_or_assign(std::move(name), std::move(value));
}

void KeyFactors::set_of(std::string_view section, std::string name,
                        std::vector<std::string> items) {
  const std::set<std::string> sorted(items.begin(), items.end());
  std::string value;
  for (const std::string& item : sorted) value += escaped(item) + "\n";
  set(section, std::move(name), std::move(value));
}

std::string KeyFactors::text() const {
  std::string text;
  for (const auto& [name, factors] : sections_) {
    text += "[" + escaped(name) + "]\n";
    for (const auto& [factor, value] : factors) {
      text += std::to_string(factor.size()) + " " + escaped(factor) + " = " + escaped(value) + "\n";
    }
  }
  return text;
}

std::string KeyFactors::hash() const { return sha256_hex(text()); }

std::vector<std::string> KeyFactors::differences(const KeyFactors& a, const KeyFactors& b) {
  std::set<std::string> names;
  const auto compare = [&names](const KeyFactors& from, const KeyFactors& with) {
    for (const auto& [section, factors] : from.sections_) {
      const auto other = with.sections_.find(section);
      for (const auto& [name, value] : factors) {
        if (other != with.sections_.end()) {
          const auto found = other->second.find(name);
          if (found != other->second.end() && found->second == value) continue;
        }
        names.insert(std::string(section).append(".").append(name));
      }
    }
  };
  compare(a, b);
  compare(b, a);
  return {names.begin(), names.end()};
}

std::map<std::string, std::string> own_environment() {
  constexpr std::string_view kPrefix = "GRAPHGATE_";
  std::map<std::string, std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.substr(0, kPrefix.size()) != kPrefix) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::map<std::string, std::string> environ_factors() {
  std::map<std::string, std::string> factors = own_environment();
  // Where the cache lies, whether it is used, and what is printed.
  for (const char* name :
       {"GRAPHGATE_CACHE_ROOT", "GRAPHGATE_DISABLE_CACHE", "GRAPHGATE_VERBOSE", "GRAPHGATE_DUMP"}) {
    factors.erase(name);
  }
  return factors;
}

Result<KeyFactors> program_factors(const spec::Program& program, const CompileOptions& options,
                                   bool allow_zero_and_one) {
  KeyFactors factors;
  GRAPHGATE_TRY_VOID(add_ops(program.graph, *options.ops, factors));
  add_graph(program, *options.ops, factors);
  add_guards(program, allow_zero_and_one, factors);
  return factors;
}

Result<KeyFactors> folder_factors(const spec::Program& program, const CompileOptions& options,
                                  bool allow_zero_and_one, const KeyContext& context) {
  GRAPHGATE_TRY(KeyFactors factors, program_factors(program, options, allow_zero_and_one));
  add_option_factors(options, factors);
  add_build_factors(factors);
  for (const auto& [name, value] : context.environment) factors.set("environment", name, value);
  factors.set("deviations", "profile", context.profile);
  drop_factors(factors, options.deviations);
  return factors;
}

KeyFactors entry_factors(const PlanRequest& request, const CompileOptions& options) {
  KeyFactors factors;
  StorageNumbers storages;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    add_input(i, request.inputs[i], storages, factors);
  }
  for (const auto& [name, value] : *request.symbols) {
    factors.set("symbols", name, std::to_string(value));
  }
  const std::optional<SizeRange> range = request.range ? request.range : options.passes.range;
  if (range) {
    factors.set("range", "begin", std::to_string(range->begin));
    factors.set("range", "end", std::to_string(range->end));
  }
  for (const auto& [name, value] : request.dispatch) factors.set("dispatch", name, value);
  drop_factors(factors, options.deviations);
  return factors;
}

void drop_factors(KeyFactors& factors, const spec::DeviationSet& deviations) {
  auto& sections = factors.sections();
  if (deviations.has(Deviation::kCacheKeyIsPositional)) {
    static const std::set<std::string, std::less<>> kKept = {"range",     "symbols", "compiler",
                                                             "toolchain", "host",    "environment"};
    std::erase_if(sections, [](const auto& section) { return !kKept.contains(section.first); });
  }
  if (deviations.has(Deviation::kKeyDropsEnvironment)) sections.erase("environment");
  if (deviations.has(Deviation::kKeyDropsPassOptions)) sections.erase("passes");
  if (deviations.has(Deviation::kKeyDropsRange)) {
    sections.erase("range");
    sections["dispatch"].erase("range");
  }
  if (deviations.has(Deviation::kKeyDropsGuards)) sections.erase("guards");
  if (deviations.has(Deviation::kKeyDropsSplitOps)) sections["partition"].erase("split_ops");
  if (deviations.has(Deviation::kKeyIsShapeOnly)) {
    std::erase_if(sections["inputs"],
                  [](const auto& factor) { return !ends_with(factor.first, ".sizes"); });
  }
  if (deviations.has(Deviation::kKeyByOpName)) {
    for (auto& [name, row] : sections["ops"]) row.clear();
  }
}

}  // namespace graphgate::optimized
