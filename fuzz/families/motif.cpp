// Motifs: small programs in which what an upstream's pass looks for is there, and must be refused.
//
// The texts of fuzz/motifs/ are compiled in; docs/motifs.md says which function each is for. A
// motif reads tensors of the draft where there are such, and inputs of its own where there are not;
// what it makes is the draft's from then on. It states the type of every value, and writes to none
// of its user inputs: then it is valid whatever stands around it. Parts of newer ones are drawn
// (fuzz/generate/motif_text.h).
#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <set>

#include "base/join_words.h"
#include "fuzz/generate/family.h"
#include "fuzz/generate/motif_text.h"
#include "spec/graph_text.h"
#include "spec/op_table.h"
#include "spec/text_lexer.h"

namespace graphgate::fuzz {

extern const std::string_view kMotifTexts[];
extern const std::string_view kMotifTextsNames[];
extern const std::size_t kMotifTextsCount;

namespace {

constexpr std::uint32_t kMotifWeight = 6;

// Returns the first generator that draws the motifs of a file: the number at the end of its name,
// as in inductor_passes_10.txt, or 9. A file that a generator draws stays as it is.
int first_generator_of(std::string_view file) {
  constexpr int kFirst = 9;
  const std::size_t begin = file.rfind('_') + 1;  // 0 without one
  int generator = kFirst;
  std::from_chars(file.data() + begin, file.data() + file.size(), generator);
  return generator;
}

struct Motif {
  MotifText text;
  std::string_view file;
  int since = 0;
  std::string row_name;
  std::string ops;  // as DrawnOp::makes has them
};

// "aten.add" of aten.add_.Tensor.
std::string_view base_of(std::string_view op) {
  op = op.substr(0, op.rfind('.'));
  return op.ends_with('_') && !op.ends_with("__") ? op.substr(0, op.size() - 1) : op;
}

// A broken text is a programmer's error.
spec::Program program_of(const Motif& motif, std::span<const std::uint32_t> picks) {
  const std::string text = text_with(motif.text, picks);
  spec::TextReader reader(text, motif.file);
  auto program = spec::read_program(reader, spec::builtin_op_table());
  GRAPHGATE_CHECK(program.ok());
  return std::move(program).value();
}

void note_bases(const spec::Graph& graph, std::set<std::string>& bases) {
  for (const spec::Node& node : graph.nodes) bases.emplace(base_of(node.op));
}

// Names it, and tells the ops of all its alternatives.
void describe(Motif& motif) {
  std::vector<std::uint32_t> picks(motif.text.choices.size());
  const spec::Program first = program_of(motif, picks);
  motif.row_name = "motif." + first.name;
  std::set<std::string> bases;
  note_bases(first.graph, bases);
  for (std::size_t c = 0; c < picks.size(); ++c) {
    for (std::uint32_t a = 1; a < motif.text.choices[c].alternatives.size(); ++a) {
      picks[c] = a;
      note_bases(program_of(motif, picks).graph, bases);
    }
    picks[c] = 0;
  }
  motif.ops = join_words({bases.begin(), bases.end()}, " ");
}

std::vector<Motif> read_motifs() {
  std::vector<Motif> all;
  for (std::size_t t = 0; t < kMotifTextsCount; ++t) {
    const std::string_view file = kMotifTextsNames[t];
    for (MotifText& text : read_motif_texts(kMotifTexts[t])) {
      Motif motif{std::move(text), file, first_generator_of(file), {}, {}};
      describe(motif);
      all.push_back(std::move(motif));
    }
  }
  return all;
}

const std::vector<Motif>& motifs() {
  static const std::vector<Motif> all = read_motifs();
  return all;
}

// The motif with these alternatives, read once.
const spec::Program& chosen_program(std::size_t variant, std::vector<std::uint32_t> picks) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, spec::Program> read;
  const std::scoped_lock lock(mutex);
  const auto [found, is_new] = read.try_emplace({variant, std::move(picks)});
  if (is_new) found->second = program_of(motifs()[variant], found->first.second);
  return found->second;
}

Shape shape_of(const std::vector<spec::SymExpr>& sizes) {
  Shape shape;
  for (const spec::SymExpr& size : sizes) shape.push(static_cast<Size>(size.constant()));
  return shape;
}

class MotifDrawer {
 public:
  MotifDrawer(Draft& draft, GeneReader& genes, const spec::Program& program)
      : draft_(draft), genes_(genes), program_(program), graph_(program.graph) {}

  void run() {
    draft_.set_out_gene(0);
    for (const spec::ProgramInput& input : program_.inputs) {
      drawn_[input.value.index] =
          input.kind == spec::InputKind::kUserInput ? pick_input(input.value) : add_state(input);
    }
    for (const spec::Node& node : graph_.nodes) add(node);
  }

 private:
  [[nodiscard]] const spec::TensorType& type_of(spec::ValueId id) const {
    GRAPHGATE_CHECK(graph_.value(id).type.has_value());
    return *graph_.value(id).type;
  }

  // Row-major, as the types of what comes of it say.
  TensorIndex pick_input(spec::ValueId id) {
    const spec::TensorType& type = type_of(id);
    const Shape sizes = shape_of(type.sizes);
    const auto found = draft_.pick(genes_, [&](const DrawnTensor& tensor) {
      return tensor.dtype == type.dtype && tensor.sizes == sizes && tensor.has_layout &&
             !tensor.overlaps && draft_.is_row_major(tensor);
    });
    if (found) return *found;
    return draft_.add_input(spec::InputKind::kUserInput, type.dtype, sizes);
  }

  // States are the motif's own: it may write its buffers.
  TensorIndex add_state(const spec::ProgramInput& input) {
    const spec::TensorType& type = type_of(input.value);
    return draft_.add_input(input.kind, type.dtype, shape_of(type.sizes));
  }

  void add(const spec::Node& node) {
    const spec::OpRow* const row = spec::builtin_op_table().find(node.op);
    GRAPHGATE_CHECK(row != nullptr);
    NodeBuilder builder(draft_, node.op);
    bool reads = false;
    for (const spec::NamedArgument& named : node.arguments) {
      if (named.name == "device" && draft_.settings().on_accelerator) continue;
      reads = give(builder, named) || reads;
    }
    if (is_made_elsewhere(*row, reads)) {
      builder.argument("device", {draft_.main_device()});
    }
    if (row->schema.returns.empty()) {
      for (std::size_t a = 0; a < row->schema.arguments.size(); ++a) {
        const std::string& name = row->schema.arguments[a].name;
        if (row->writes(a) && is_given(node, name)) builder.writes(written_by(node, name));
      }
    }
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      for (const spec::ValueId id : node.results[r].values) {
        drawn_[id.index] = result(builder, node, *row, r, id);
      }
      if (node.results[r].is_list) builder.as_list();
    }
  }

  // Whether an op names the accelerator: it reads nothing that says where its result lies.
  [[nodiscard]] bool is_made_elsewhere(const spec::OpRow& row, bool reads) const {
    return draft_.settings().on_accelerator && !reads &&
           row.schema.find_argument("device").has_value();
  }

  // Whether it is one tensor, or a list of tensors.
  bool give(NodeBuilder& builder, const spec::NamedArgument& named) {
    if (const auto* id = named.argument.as<spec::ValueId>()) {
      builder.tensor(named.name, drawn_.at(id->index));
      return true;
    }
    std::vector<TensorIndex> tensors;
    spec::for_each_value(named.argument,
                         [&](spec::ValueId id) { tensors.push_back(drawn_.at(id.index)); });
    if (tensors.empty()) {
      builder.argument(named.name, named.argument);
    } else {
      builder.tensors(named.name, tensors);
    }
    return !tensors.empty();
  }

  // An optional tensor may be left out, or None.
  [[nodiscard]] static bool is_given(const spec::Node& node, std::string_view argument) {
    return std::ranges::any_of(node.arguments, [&](const spec::NamedArgument& named) {
      return named.name == argument && named.argument.as<spec::ValueId>() != nullptr;
    });
  }

  [[nodiscard]] spec::ValueId value_of(const spec::Node& node, std::string_view argument) const {
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* id = named.argument.as<spec::ValueId>();
      if (named.name == argument && id) return *id;
    }
    GRAPHGATE_CHECK(false);
    return {};
  }

  // What a motif may write: nothing of the draft's that it was given.
  [[nodiscard]] TensorIndex written_by(const spec::Node& node, std::string_view argument) const {
    const TensorIndex target = drawn_.at(value_of(node, argument).index);
    for (const spec::ProgramInput& input : program_.inputs) {
      if (input.kind != spec::InputKind::kUserInput) continue;
      const std::uint16_t given = draft_.tensor(drawn_.at(input.value.index)).storage;
      GRAPHGATE_CHECK(given != draft_.tensor(target).storage);
    }
    return target;
  }

  // Whether elements of a type may share bytes: strides do not step over what smaller ones reach.
  [[nodiscard]] static bool overlaps(const spec::TensorType& type) {
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and size
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
      const std::int64_t size = type.sizes[d].constant();
      if (size != 1) steps.emplace_back(type.strides[d].constant(), size);
    }
    std::ranges::sort(steps);
    std::int64_t reach = 1;
    for (const auto& [stride, size] : steps) {
      if (stride < reach) return true;
      reach += (size - 1) * stride;
    }
    return false;
  }

  TensorIndex result(NodeBuilder& builder, const spec::Node& node, const spec::OpRow& row,
                     std::size_t place, spec::ValueId id) {
    const spec::TensorType& type = type_of(id);
    const Shape sizes = shape_of(type.sizes);
    const Shape strides = shape_of(type.strides);
    const spec::AliasInfo& alias = row.schema.returns[place].type.alias;
    if (!alias.present()) {
      const TensorIndex made = builder.fresh(type.dtype, sizes, Layout{true, strides},
                                             static_cast<Size>(type.storage_offset.constant()));
      if (node.op.starts_with("aten.empty")) draft_.storage_of(made).is_unfilled = true;
      return made;
    }
    for (const spec::SchemaArgument& argument : row.schema.arguments) {
      if (argument.type.alias.before != alias.before) continue;
      const spec::ValueId base = value_of(node, argument.name);
      const spec::TensorType& from = type_of(base);
      const TensorIndex target = drawn_.at(base.index);
      const bool is_same = from.sizes == type.sizes && from.strides == type.strides;
      if (alias.writes && is_same) return builder.written(written_by(node, argument.name));
      // The base may lie elsewhere in its storage than the motif's does.
      const std::int64_t moved = type.storage_offset.constant() - from.storage_offset.constant();
      const Size offset =
          draft_.table().sum(draft_.tensor(target).offset, static_cast<Size>(moved));
      const TensorIndex view = from.dtype == type.dtype
                                   ? builder.view(target, sizes, strides, offset, overlaps(type))
                                   : seen_as(builder, target, base, id);
      if (alias.writes) draft_.retire_older(target);
      return view;
    }
    GRAPHGATE_CHECK(false);
    return {};
  }

  // Places in the storage are counted in elements of the other dtype: the base is one that the
  // motif made, and lies where the motif says.
  TensorIndex seen_as(NodeBuilder& builder, TensorIndex target, spec::ValueId base,
                      spec::ValueId id) const {
    const spec::TensorType& from = type_of(base);
    const spec::TensorType& type = type_of(id);
    const auto offset = static_cast<Size>(from.storage_offset.constant());
    GRAPHGATE_CHECK(draft_.tensor(target).offset == offset);
    return builder.view_as(target, type.dtype, shape_of(type.sizes), shape_of(type.strides),
                           static_cast<Size>(type.storage_offset.constant()));
  }

  Draft& draft_;
  GeneReader& genes_;
  const spec::Program& program_;
  const spec::Graph& graph_;
  std::map<std::uint32_t, TensorIndex> drawn_;  // by the motif's values
};

bool draw_motif(Draft& draft, GeneReader& genes, std::size_t variant) {
  std::vector<std::uint32_t> picks;
  for (const MotifChoice& choice : motifs()[variant].text.choices) {
    picks.push_back(genes.below(choice.alternatives.size()));
  }
  MotifDrawer(draft, genes, chosen_program(variant, std::move(picks))).run();
  return true;
}

}  // namespace

std::span<const DrawnOp> motif_rows() {
  static const std::vector<DrawnOp> rows = [] {
    std::vector<DrawnOp> all;
    all.reserve(motifs().size());
    std::uint32_t variant = 0;
    for (const Motif& motif : motifs()) {
      all.push_back(
          {motif.row_name, kMotifWeight, draw_motif, variant++, motif.since, {}, motif.ops});
    }
    return all;
  }();
  return rows;
}

}  // namespace graphgate::fuzz
