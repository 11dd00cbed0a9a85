#include "optimized/runtime/session.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <system_error>

#include "optimized/analysis/symbols.h"
#include "optimized/draws.h"
#include "optimized/passes/pass_manager.h"
#include "optimized/runtime/plan_facts.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::HostTensor;
using spec::InputValue;

// The same bytes under the dtype that the program states.
std::vector<InputValue> relabeled(std::span<const InputValue> inputs,
                                  const spec::Program& program) {
  std::vector<InputValue> out(inputs.begin(), inputs.end());
  const auto given = given_inputs(program);
  for (std::size_t i = 0; i < out.size() && i < given.size(); ++i) {
    auto* tensor = std::get_if<HostTensor>(&out[i]);
    const auto& type = program.graph.value(program.inputs[given[i]].value).type;
    if (!tensor || !type || tensor->dtype == type->dtype) continue;
    const auto bytes = static_cast<std::int64_t>(tensor->storage->bytes.size());
    const std::int64_t widened =
        bytes * spec::item_size_bytes(type->dtype) / spec::item_size_bytes(tensor->dtype);
    tensor->dtype = type->dtype;
    tensor->storage = std::make_shared<spec::HostStorage>(*tensor->storage);
    tensor->storage->bytes.resize(static_cast<std::size_t>(std::max(bytes, widened + 8)));
  }
  return out;
}

// Whether what is compiled serves one size alone: upstream tunes its kernels then.
bool is_for_one_size(const Dispatch& dispatch) {
  return dispatch.range && dispatch.range->end == dispatch.range->begin + 1;
}

// Whether some step is a kernel that upstream generates, and does not take from a library.
bool generates_kernels(const spec::Plan& plan, const spec::OpTable& ops) {
  return std::ranges::any_of(plan.steps, [&](const spec::PlanStep& step) {
    const spec::OpRow* const row = ops.find(step.node.op);
    return !step.body.empty() || (row && (row->has_tag("pointwise") || row->has_tag("reduction")));
  });
}

}  // namespace

Session::Session(const spec::Program& program, spec::Graph prepared, const Options& options,
                 std::shared_ptr<RunPool> shared_pool, Watcher watcher)
    : program_(program),
      options_(options),
      prepared_(std::move(prepared)),
      shared_pool_(std::move(shared_pool)),
      instrument_(std::move(watcher.instrument)),
      is_as_unwatched_(watcher.is_as_unwatched),
      state_(program, shared_pool_ ? shared_pool_ : std::make_shared<RunPool>()),
      trusts_places_(options.compile.deviations.has(Deviation::kOwnOutputIsStatic)) {}

Result<std::unique_ptr<Session>> Session::make(const spec::Program& program, spec::Graph prepared,
                                               const Options& options,
                                               std::shared_ptr<RunPool> shared_pool,
                                               Watcher watcher) {
  std::unique_ptr<Session> session(new Session(program, std::move(prepared), options,
                                               std::move(shared_pool), std::move(watcher)));
  const RuntimeOptions& runtime = options.runtime;
  session->symbol_ = leading_symbol(program);
  if (!runtime.padded_symbol.empty()) {
    session->symbol_ = runtime.padded_symbol;
    if (!program.symbols.contains(runtime.padded_symbol)) {
      return bad_input("the padded symbol '" + runtime.padded_symbol + "' does not exist");
    }
  }
  if (session->symbol_ && !runtime.capture_sizes.empty()) {
    session->proof_ =
        prove_padding(program, *session->symbol_, *options.compile.ops, options.compile.deviations);
  } else {
    session->proof_.refusal = session->symbol_ ? "no capture sizes" : "no symbol";
  }
  GRAPHGATE_TRY_VOID(session->resolve_static_inputs());
  if (options.plan_store) {
    GRAPHGATE_TRY(session->cache_, options.plan_store->open(program, session->options_.compile,
                                                            options.allow_zero_and_one));
  }
  return session;
}

Result<void> Session::resolve_static_inputs() {
  const auto given = given_inputs(program_);
  for (const std::string& wanted : options_.runtime.static_inputs) {
    std::size_t index = given.size();
    const auto parsed = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
    const bool is_index = parsed.ec == std::errc() && parsed.ptr == wanted.data() + wanted.size();
    for (std::size_t i = 0; !is_index && i < given.size(); ++i) {
      if (program_.inputs[given[i]].target == wanted) index = i;
    }
    if (index >= given.size()) return bad_input("the static input '" + wanted + "' does not exist");
    const spec::ProgramInput& input = program_.inputs[given[index]];
    const spec::Value& value = program_.graph.value(input.value);
    if (value.kind != spec::ValueKind::kTensor) {
      return bad_input("the static input '" + wanted + "' is a number");
    }
    static_inputs_.insert(index);
    const bool has_rows = proof_.padding && symbol_ && value.type &&
                          std::ranges::any_of(value.type->sizes, [&](const auto& size) {
                            return mentions(size, *symbol_);
                          });
    if (has_rows) {
      proof_ = {{}, "input '" + input.target + "' is static, and would have to grow"};
    }
  }
  return {};
}

Result<spec::CallResult> Session::call(std::span<const InputValue> inputs) {
  return call_with(inputs, {});
}

Result<spec::CallResult> Session::call_with(std::span<const InputValue> inputs,
                                            const spec::CallOptions& options) {
  const DrawScope draws(calls_begun_++);
  try {
    return try_call(inputs, options);
  } catch (const OpError& error) {
    return bad_input(program_.name + ": " + error.what());
  } catch (const Unsupported& error) {
    return unsupported(program_.name + ": " + error.what());
  } catch (const DeviceError& error) {
    return infrastructure(program_.name + ": " + error.what());
  } catch (const std::bad_alloc&) {
    return infrastructure(program_.name + ": out of memory");
  } catch (const std::length_error&) {
    return infrastructure(program_.name + ": a result is larger than memory can be");
  } catch (const std::system_error& error) {
    return infrastructure(program_.name + ": the machine refused: " + error.what());
  }
}

// A size that cannot be compiled padded (a table that is too short, an assertion about the size) is
// compiled as it is. A plan that is broken is no reason to make another.
Result<spec::CallResult> Session::try_call(std::span<const InputValue> inputs,
                                           const spec::CallOptions& options) {
  GRAPHGATE_TRY_VOID(check_awake());
  GRAPHGATE_TRY(Request request, request_of(inputs, options, true));
  auto compiled = find_or_compile(request);
  const auto is_refused = [&] {
    const ErrorKind kind = compiled.error().kind;
    return kind == ErrorKind::kBadInput || kind == ErrorKind::kUnsupported;
  };
  if (!compiled.ok() && request.padding && is_refused()) {
    GRAPHGATE_TRY(request, request_of(inputs, options, false));
    compiled = find_or_compile(request);
  }
  if (!compiled.ok()) return compiled.error();
  return run(*compiled.value(), request);
}

// The value of the padded symbol, where the program has one.
std::optional<std::int64_t> Session::size_of(const Request& request) const {
  const auto found = symbol_ ? request.symbols.find(*symbol_) : request.symbols.end();
  if (found != request.symbols.end()) return found->second;
  if (!options_.compile.deviations.has(Deviation::kAssumesASymbolIndex)) return {};
  for (const InputValue& input : request.inputs) {
    const auto* tensor = std::get_if<HostTensor>(&input);
    if (tensor) return Tensor{.sizes = tensor->sizes, .strides = {}, .device = {}}.size(0);
  }
  return {};
}

Result<Session::Request> Session::request_of(std::span<const InputValue> inputs,
                                             const spec::CallOptions& options, bool may_pad) {
  const spec::DeviationSet& deviations = options_.compile.deviations;
  Request request;
  request.inputs = inputs;
  if (deviations.has(Deviation::kSkipsDtypeCheck)) {
    request.relabeled = relabeled(inputs, program_);
    request.inputs = request.relabeled;
  }
  GRAPHGATE_TRY(request.symbols,
                bind_symbols(program_, request.inputs, options_.allow_zero_and_one));
  const BatchFacts batch{size_of(request), may_pad && proof_.padding.has_value(), options};
  request.dispatch = dispatch(options_.runtime, batch, deviations);
  request.plan_symbols = request.symbols;
  request.shapes = shapes_of(request.inputs, deviations);
  if (request.dispatch.is_padded || request.dispatch.is_range_end) {
    const auto padded = add_padding(request);
    if (!padded.ok()) return request_of(inputs, options, false);
  }
  request.key = plan_key(request.shapes, program_, request.plan_symbols, deviations);
  request.key.insert(request.dispatch.key.begin(), request.dispatch.key.end());
  if (request.padding) request.key["padded"] = request.padding->symbol;
  return request;
}

Result<void> Session::add_padding(Request& request) {
  request.padding = request.dispatch.is_padded ? *proof_.padding : padded_dims(program_, *symbol_);
  // The end of a range is taken for the call's own size: nothing is cut.
  if (!request.dispatch.is_padded) {
    for (auto& dim : request.padding->output_dims) dim.reset();
  }
  request.plan_symbols[*symbol_] = *request.dispatch.size;
  GRAPHGATE_TRY(request.shapes,
                padded_shapes(request.shapes, program_, *request.padding, *request.dispatch.size));
  return {};
}

Result<const spec::Graph*> Session::prepared_for(const std::optional<SizeRange>& range) {
  if (!range) return &prepared_;
  const std::pair<std::int64_t, std::int64_t> key{range->begin, range->end};
  const auto found = prepared_by_range_.find(key);
  if (found != prepared_by_range_.end()) return &found->second;
  CompileOptions options = options_.compile;
  options.passes.range = range;
  GRAPHGATE_TRY(spec::Graph graph, prepare(program_, options));
  return &prepared_by_range_.emplace(key, std::move(graph)).first->second;
}

// The most recently used stands first.
Result<Session::Compiled*> Session::find_or_compile(const Request& request) {
  const auto found =
      std::ranges::find_if(compiled_, [&](const Compiled& c) { return c.key == request.key; });
  if (found != compiled_.end()) {
    compiled_.splice(compiled_.begin(), compiled_, found);
    return &compiled_.front();
  }
  GRAPHGATE_TRY(spec::Plan plan, make_plan(request));
  if (options_.alter_plan) {
    options_.alter_plan(plan);
    const auto formed = spec::check_plan(plan);
    if (!formed.ok()) return Error{ErrorKind::kInternal, "the plan: " + formed.error().message};
  }
  const HostOptions host{options_.interleaving_seed,
                         options_.runtime.poison,
                         options_.runtime.pad_fill,
                         options_.compile.deviations,
                         instrument_,
                         options_.device};
  auto program = std::make_shared<HostProgram>(std::move(plan), *options_.compile.ops,
                                               state_.memory(), host, shared_pool_);
  GRAPHGATE_TRY_VOID(state_.load(*program));
  compiled_.push_front({request.key, std::move(program), false});
  if (compiled_.size() > options_.plans_kept) compiled_.pop_back();
  return &compiled_.front();
}

// What only the call can tell has no true size to be cut to.
Result<void> Session::check_cuts(const Request& request) {
  GRAPHGATE_TRY(const auto exact, exact_shapes_of(request));
  const auto& dims = request.padding->output_dims;
  for (std::size_t o = 0; o < dims.size(); ++o) {
    if (!dims[o] || exact->outputs[o]) continue;
    return unsupported("output " + std::to_string(o) +
                       " has rows, and sizes that only the call can tell");
  }
  return {};
}

Result<spec::Plan> Session::make_plan(const Request& request) {
  if (request.padding) GRAPHGATE_TRY_VOID(check_cuts(request));
  GRAPHGATE_TRY(const spec::Graph* const prepared, prepared_for(request.dispatch.range));
  const auto blank = blank_inputs(request.shapes);
  const PlanRequest wanted{blank, &request.plan_symbols, request.dispatch.range,
                           request.dispatch.key};
  GRAPHGATE_TRY(spec::Plan plan, find_or_make_plan(cache_.get(), wanted, [&] {
                  return compile(program_, *prepared, blank, request.plan_symbols,
                                 options_for(options_.compile, request.dispatch));
                }));
  if (options_.compile.deviations.has(Deviation::kAutotunesWithoutStream) &&
      is_for_one_size(request.dispatch) && generates_kernels(plan, *options_.compile.ops)) {
    return Error{ErrorKind::kInternal,
                 "the kernels of size " + std::to_string(request.dispatch.range->begin) +
                     " are tuned: NameError: name 'get_raw_stream' is not defined"};
  }
  plan.key = request.key;
  plan.padding = request.padding;
  const spec::OpTable& ops = *options_.compile.ops;
  if (!static_inputs_.empty()) GRAPHGATE_TRY_VOID(make_static(plan, static_inputs_, ops));
  const bool is_weak =
      options_.runtime.weak_outputs ||
      (shared_pool_ && options_.compile.deviations.has(Deviation::kWeakOutputInSharedPool));
  if (is_weak) plan.output_lifetimes = weak_lifetimes(plan, ops);
  return plan;
}

}  // namespace graphgate::optimized
