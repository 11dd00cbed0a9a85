#include <algorithm>

#include "fuzz/generate/drawn_program.h"

namespace graphgate::fuzz {
namespace {

using spec::InputKind;

class ProgramDrawer {
 public:
  ProgramDrawer(const CaseStyle& style, GeneReader header, const Alphabet& alphabet)
      : style_(style), header_(header), alphabet_(alphabet) {}

  DrawnProgram run(std::string name, std::span<const std::uint32_t> blocks) {
    begin();
    const std::size_t count = (blocks.size() + kNodeGenes - 1) / kNodeGenes;
    const GeneReader all(blocks);
    for (std::size_t b = 0; b < std::max<std::size_t>(count, 1); ++b) {
      draw_node(all.block(b * kNodeGenes, kNodeGenes));
    }
    return finish(std::move(name));
  }

 private:
  void begin() {
    DraftSettings settings;
    settings.on_accelerator = style_.on_accelerator;
    settings.dtypes = style_.dtypes;
    draft_.begin(std::move(settings));
    std::vector<Size>& dims = draft_.settings().dims;
    if (style_.has_symbol) {
      const Bounds range{style_.least_size, style_.most_size};
      const std::int64_t hint = std::clamp<std::int64_t>(4, range.least, range.most);
      dims.push_back(draft_.add_symbol("s0", range, hint));
      symbols_ = {"s0"};
      ranges_ = {range};
    }
    for (const std::int32_t size : style_.constant_dims) dims.push_back(size);
    if (style_.has_symbol && style_.has_second_symbol) {
      const Bounds range{2, 16};
      dims.push_back(draft_.add_symbol("s1", range, 3));
      symbols_.emplace_back("s1");
      ranges_.push_back(range);
    }
    add_first_inputs();
    // Behind the first inputs, which have elements.
    if (style_.has_empty_size) draft_.settings().dims.push_back(0);
  }

  // An input that has every symbol among its sizes, and a few more.
  void add_first_inputs() {
    const std::vector<Size> dims = draft_.settings().dims;
    Shape first;
    if (style_.has_symbol) first.push(dims.front());
    if (style_.has_symbol && style_.has_second_symbol) first.push(dims.back());
    const Size fixed = dims[style_.has_symbol ? 1 : 0];
    if (first.rank == 0) first.push(dims[dims.size() > 1 ? 1 : 0]);
    first.push(fixed);
    draft_.add_input(InputKind::kUserInput, style_.dtypes.front(), first);
    const std::uint32_t gene = header_.next();
    if (gene % 4 != 0) {
      const Shape sizes = draft_.draw_shape(header_, 1, 3);
      const spec::DType dtype = draft_.draw_floating(header_);
      draft_.add_input(header_, dtype, sizes);
    }
    if (style_.has_buffer) {
      const Shape sizes{fixed, dims[style_.has_symbol && dims.size() > 2 ? 2 : dims.size() - 1]};
      Shape constant;
      for (int d = 0; d < sizes.rank; ++d) constant.push(is_constant(sizes[d]) ? sizes[d] : fixed);
      draft_.add_input(InputKind::kBuffer, style_.dtypes.front(), constant);
    }
  }

  void draw_node(GeneReader genes) {
    constexpr int kAttempts = 3;
    draft_.set_out_gene(genes.block(kNodeGenes - 1, 1).next());
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Alphabet::Row& row = alphabet_.draw(genes.next());
      // There are more families than bits: some share one.
      constexpr unsigned kFamilyBits = 64;
      const bool is_drawn =
          row.family == 0 || (style_.families >> row.family % kFamilyBits & 1U) != 0;
      if (is_drawn && row.op->draw(draft_, genes, row.op->variant)) return;
    }
    draft_.set_out_gene(0);
    // Whatever there is can be negated.
    const TensorIndex self = draft_.pick_floating(genes);
    const TensorIndex operands[] = {self};
    const DrawnTensor from = draft_.tensor(self);
    const Layout layout = pointwise_layout(draft_, operands, from.sizes, 0);
    NodeBuilder(draft_, "aten.neg.default")
        .tensor("self", self)
        .fresh(from.dtype, from.sizes, layout);
  }

  // What nobody reads is returned mostly, other values now and then; the last one always.
  std::vector<TensorIndex> choose_outputs() {
    std::vector<TensorIndex> chosen;
    constexpr std::size_t kMostOutputs = 6;
    const auto& tensors = draft_.tensors();
    for (std::size_t i = tensors.size(); i-- > 0 && chosen.size() < kMostOutputs;) {
      const DrawnTensor& tensor = tensors[i];
      const auto index = static_cast<TensorIndex>(i);
      if (tensor.is_retired || draft_.storage_of(index).is_unfilled) continue;
      const bool is_taken = chosen.empty() || header_.chance(tensor.is_read ? 8 : 65);
      if (is_taken) chosen.push_back(index);
    }
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
  }

  DrawnProgram finish(std::string name) {
    DrawnProgram out;
    const std::vector<TensorIndex> outputs = choose_outputs();
    std::vector<spec::ValueId> ids;
    for (const TensorIndex index : outputs) {
      ids.push_back(draft_.tensor(index).id);
      out.outputs.push_back({spec::ValueKind::kTensor, draft_.tensor(index), true,
                             draft_.storage_of(index).is_state});
    }
    for (const Draft::Input& input : draft_.inputs()) {
      if (input.kind != InputKind::kUserInput) {
        out.has_state = true;
        out.has_parameters = out.has_parameters || input.kind == InputKind::kParameter;
        continue;
      }
      Port port{input.value_kind, {}, false};
      if (input.value_kind == spec::ValueKind::kTensor) {
        port.tensor = draft_.tensor(input.tensor);
        port.holds_random_data = is_computed_float(spec::component_dtype(port.tensor.dtype));
        port.is_written = draft_.storage_of(input.tensor).writes > 0;
        port.is_ever_written = draft_.is_ever_written(input.tensor);
      }
      out.inputs.push_back(port);
    }
    note_sharable(out);
    out.keeps_places = draft_.keeps_places();
    out.symbols = symbols_;
    out.custom_ops = draft_.custom_ops();
    out.ranges = ranges_;
    out.program = draft_.finish(std::move(name), ids);
    out.table = draft_.table();
    return out;
  }

  void note_sharable(DrawnProgram& out) const {
    for (std::size_t a = 0; a < out.inputs.size(); ++a) {
      for (std::size_t b = a + 1; b < out.inputs.size(); ++b) {
        const DrawnTensor& x = out.inputs[a].tensor;
        const DrawnTensor& y = out.inputs[b].tensor;
        if (!out.inputs[a].holds_random_data || !out.inputs[b].holds_random_data) continue;
        if (x.dtype != y.dtype || !(x.sizes == y.sizes) || !(x.strides == y.strides)) continue;
        if (draft_.conflict(x.storage, y.storage)) continue;
        out.sharable.emplace_back(a, b);
      }
    }
  }

  const CaseStyle& style_;
  GeneReader header_;
  const Alphabet& alphabet_;
  Draft draft_;
  std::vector<std::string> symbols_;
  std::vector<Bounds> ranges_;
};

}  // namespace

DrawnProgram draw_program(std::string name, const CaseStyle& style, GeneReader header,
                          std::span<const std::uint32_t> blocks, const Alphabet& alphabet) {
  return ProgramDrawer(style, header, alphabet).run(std::move(name), blocks);
}

}  // namespace graphgate::fuzz
