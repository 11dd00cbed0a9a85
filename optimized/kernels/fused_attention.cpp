// Attention whose output is cast to an 8-bit float: the attention kernel itself writes into the
// step's workspace, and the cast reads it there. So the bits are those of the two nodes.
#include "optimized/converted_rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fused_quant.h"
#include "optimized/launch.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kAlignment = 64;

// The attention op inside: its row, kernel and arguments.
struct Inner {
  const spec::OpRow* row;
  const Kernel* kernel;
  std::vector<Item> arguments;
};

Inner inner_of(const char* op, std::vector<Item> arguments) {
  const spec::OpRow* row = spec::builtin_op_table().find(op);
  GRAPHGATE_CHECK(row);
  const Kernel* kernel = find_kernel(*row);
  GRAPHGATE_CHECK(kernel);
  return {row, kernel, std::move(arguments)};
}

// What both spellings have in common: where the attention's own result lies, and what it needs.
struct Results {
  Tensor output;  // of the attention; without bytes
  std::int64_t output_bytes = 0;
  std::int64_t workspace_bytes = 0;
};

Results results_of(Tensor output, std::int64_t workspace_bytes) {
  output.offset = 0;
  output.storage = kNoStorage;
  const std::int64_t bytes = byte_range(output).end;
  return {std::move(output), (bytes + kAlignment - 1) / kAlignment * kAlignment, workspace_bytes};
}

std::vector<Item> first_arguments(const KernelCall& call, std::size_t count) {
  const auto begin = call.arguments().begin();
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Inner sdpa_of(const KernelCall& call) {
  return inner_of("aten.scaled_dot_product_attention.default", [&] {
    std::vector<Item> items = first_arguments(call, 8);
    return items;
  }());
}

Results sdpa_parts(const Inner& inner) {
  const Inference made = infer_call(*inner.kernel, *inner.row, inner.arguments, false);
  return results_of(made.results().front().tensor, made.workspace_bytes());
}

// The vLLM op writes its output, which has the query's sizes and is row-major.
Tensor vllm_output(const KernelCall& call) {
  Tensor out = call.tensor("query");
  out.strides = row_major_strides(out.sizes);
  return out;
}

Inner vllm_of(const KernelCall& call, const Tensor& output) {
  std::vector<Item> items = first_arguments(call, 3);
  items.push_back({output});
  items.push_back(call.item("layer_name"));
  return inner_of("vllm.unified_attention_with_output.default", std::move(items));
}

Results vllm_parts(const KernelCall& call) {
  const Results parts = results_of(vllm_output(call), 0);
  const Inner inner = vllm_of(call, parts.output);
  Inference made(*inner.row, inner.arguments, false);
  inner.kernel->infer(made);
  return {parts.output, parts.output_bytes, made.workspace_bytes()};
}

void make_quantized(Inference& call, const Results& parts) {
  (void)FixedQuant(call, call.tensor("quant_scale"));
  if (parts.output.dtype == DType::kFloat64) throw OpError("quantization computes in float32");
  call.want_workspace(parts.output_bytes);
  call.want_workspace(parts.workspace_bytes);
  call.make(*call.optional_dtype("dtype"), parts.output.sizes, parts.output.strides);
}

// Runs `attend`, then quantizes what it left.
Launch quantized(const Binding& call, const Tensor& output, Launch attend) {
  const std::vector<std::int64_t> last = {output.rank() - 1};
  return [attend = std::move(attend), from = Rows(output, last), to = Rows(call.result(), last),
          quant = FixedQuant(call, call.tensor("quant_scale"))] {
    attend.run();
    const QuantRun run(quant);
    std::vector<float> row(static_cast<std::size_t>(from.length()));
    for (std::int64_t r = 0; r < from.count(); ++r) {
      from.load<float>(r, row.data());
      run.apply(row.data(), from.length());
      to.store<float>(r, row.data());
    }
  };
}

void infer_sdpa(Inference& call) { make_quantized(call, sdpa_parts(sdpa_of(call))); }

Launch bind_sdpa(const Binding& call) {
  const Inner inner = sdpa_of(call);
  Results parts = sdpa_parts(inner);
  parts.output.bytes = call.workspace();
  return quantized(call, parts.output,
                   bind_call(*inner.kernel, *inner.row, inner.arguments, {parts.output},
                             call.workspace() + parts.output_bytes));
}

void infer_vllm(Inference& call) { make_quantized(call, vllm_parts(call)); }

Launch bind_vllm(const Binding& call) {
  Results parts = vllm_parts(call);
  parts.output.bytes = call.workspace();
  const Inner inner = vllm_of(call, parts.output);
  const Binding binding(*inner.row, inner.arguments, {}, call.workspace() + parts.output_bytes,
                        nullptr);
  return quantized(call, parts.output, inner.kernel->bind(binding));
}

}  // namespace

std::span<const Kernel> fused_attention_kernels() {
  static constexpr Kernel kKernels[] = {
      {"graphgate.sdpa_static_quant", infer_sdpa, bind_sdpa},
      {"graphgate.attention_static_quant", infer_vllm, bind_vllm},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
