#include "reference/call.h"

namespace graphgate::reference {

Call::Call(Mode mode, const spec::OpRow& row, const std::vector<Datum>& arguments)
    : mode_(mode), row_(row), arguments_(arguments) {
  GRAPHGATE_CHECK(arguments_.size() == row_.schema.arguments.size());
  results_.reserve(row_.schema.returns.size());
}

const Datum* Call::find(std::string_view name) const {
  const auto index = row_.schema.find_argument(name);
  return index ? &arguments_[*index] : nullptr;
}

bool Call::has(std::string_view name) const {
  const Datum* found = find(name);
  return found && !found->is_none();
}

const Datum& Call::datum(std::string_view name) const {
  const Datum* found = find(name);
  if (!found) throw OpError("no argument '" + std::string(name) + "'");
  return *found;
}

namespace {

template <class T>
const T& expect(const Datum& datum, std::string_view name, const char* what) {
  const T* value = datum.as<T>();
  if (!value) throw OpError("argument '" + std::string(name) + "': expected " + what);
  return *value;
}

std::int64_t as_integer(const Datum& datum, std::string_view name) {
  if (const auto* b = datum.as<bool>()) return *b ? 1 : 0;
  return expect<std::int64_t>(datum, name, "an integer");
}

double as_real(const Datum& datum, std::string_view name) {
  if (const double* x = decided_float(datum)) return *x;
  return static_cast<double>(as_integer(datum, name));
}

}  // namespace

const TensorRef& Call::tensor(std::string_view name) const {
  return expect<TensorRef>(datum(name), name, "a tensor");
}

TensorRef Call::optional_tensor(std::string_view name) const {
  return has(name) ? tensor(name) : nullptr;
}

std::vector<TensorRef> Call::tensors(std::string_view name) const {
  std::vector<TensorRef> out;
  for (const Datum& element : expect<Datum::List>(datum(name), name, "a list of tensors")) {
    out.push_back(element.is_none() ? nullptr : expect<TensorRef>(element, name, "a tensor"));
  }
  return out;
}

std::int64_t Call::integer(std::string_view name) const { return as_integer(datum(name), name); }

std::optional<std::int64_t> Call::optional_integer(std::string_view name) const {
  return has(name) ? std::optional(integer(name)) : std::nullopt;
}

double Call::real(std::string_view name) const { return as_real(datum(name), name); }

std::optional<double> Call::optional_real(std::string_view name) const {
  return has(name) ? std::optional(real(name)) : std::nullopt;
}

bool Call::boolean(std::string_view name) const { return integer(name) != 0; }

Sizes Call::integers(std::string_view name) const {
  const auto* list = datum(name).as<Datum::List>();
  if (!list) return {integer(name)};
  Sizes out;
  for (const Datum& element : *list) out.push_back(as_integer(element, name));
  return out;
}

std::optional<Sizes> Call::optional_integers(std::string_view name) const {
  return has(name) ? std::optional(integers(name)) : std::nullopt;
}

std::string_view Call::text(std::string_view name) const {
  return expect<std::string>(datum(name), name, "a string");
}

std::optional<spec::DType> Call::optional_dtype(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return expect<spec::DType>(datum(name), name, "a dtype");
}

std::optional<spec::MemoryFormat> Call::optional_format(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return expect<spec::MemoryFormat>(datum(name), name, "a memory format");
}

spec::Device Call::device_or(const spec::Device& otherwise) const {
  if (!has("device")) return otherwise;
  return expect<spec::Device>(datum("device"), "device", "a device");
}

bool Call::next_is_written() const { return next_target() != nullptr; }

TensorRef Call::next_target() const {
  const std::size_t index = results_.size();
  if (index >= row_.effects.returns.size()) return nullptr;
  for (const std::size_t argument : row_.effects.returns[index].aliases) {
    const auto* tensor = arguments_[argument].as<TensorRef>();
    if (tensor && row_.effects.mutates(argument)) return *tensor;
  }
  return nullptr;
}

namespace {

// At least so many bytes: the old ones, then zeros.
void grow(Tensor& tensor, std::int64_t size_bytes) {
  Storage& storage = *tensor.storage;
  if (size_bytes <= storage.size_bytes()) return;
  static_cast<void>(storage.writable_bytes());
  storage.host->bytes.resize(static_cast<std::size_t>(size_bytes));
  if (storage.marks.empty()) return;
  const std::int64_t item = spec::item_size_bytes(spec::component_dtype(tensor.dtype));
  storage.marks.resize(static_cast<std::size_t>(size_bytes / item));
}

}  // namespace

void Call::resize_out(const TensorRef& target, const Sizes& sizes, const Sizes& strides) {
  for (const Datum& argument : arguments_) {
    for_each_tensor(argument, [&](const TensorRef& operand) {
      if (operand == target || operand->storage != target->storage) return;
      throw Undecidable("an out= tensor is resized in a storage that an operand lies in, too");
    });
  }
  const TensorRef wanted = new_tensor(
      target->dtype, sizes, strides.empty() ? spec::contiguous_strides(sizes) : strides, {});
  target->sizes = wanted->sizes;
  target->strides = wanted->strides;
  if (wanted->count() == 0) return;
  grow(*target,
       wanted->storage->size_bytes() + target->offset * spec::item_size_bytes(target->dtype));
}

TensorRef Call::place_result(const Sizes& sizes, spec::DType dtype, const Sizes& strides) {
  TensorRef target = next_target();
  if (!target) {
    return new_tensor(dtype, sizes, strides.empty() ? spec::contiguous_strides(sizes) : strides,
                      result_device());
  }
  if (target->sizes == sizes) return target;
  if (!row_.effects.is_out) throw OpError("a result does not have the sizes of its target");
  // Some kernels give what they resize the strides that a new result would have, others do not.
  if (!strides.empty() && strides != spec::contiguous_strides(sizes)) {
    throw Undecidable("an out= tensor is resized, and its strides depend on the kernel");
  }
  resize_out(target, sizes);
  return target;
}

bool Call::reads_before_writing(const Tensor& operand, const Sizes& sizes) const {
  const TensorRef target = next_target();
  if (!target || target->storage != operand.storage) return true;
  return target->sizes == sizes && operand.sizes == sizes && target->strides == operand.strides &&
         target->offset == operand.offset && target->dtype == operand.dtype &&
         is_non_overlapping_and_dense(*target);
}

void Call::emit_view(const TensorRef& base, Sizes sizes, Sizes strides, std::int64_t offset) {
  if (next_target() != base) {
    emit_datum({view_of(*base, std::move(sizes), std::move(strides), offset)});
    return;
  }
  base->sizes = std::move(sizes);
  base->strides = std::move(strides);
  base->offset = offset;
  emit_datum({base});
}

spec::Device Call::result_device() const {
  const Tensor* first = nullptr;
  const auto consider = [&first](const Datum& datum) {
    const auto* ref = datum.as<TensorRef>();
    if (!ref) return;
    const bool better = !first || (first->device.type == "cpu" && first->rank() == 0);
    if (better) first = ref->get();
  };
  for (const Datum& argument : arguments_) {
    consider(argument);
    if (const auto* list = argument.as<Datum::List>()) {
      for (const Datum& element : *list) consider(element);
    }
  }
  return first ? first->device : spec::Device{};
}

template <>
Whole number<Whole>(const Datum& datum, spec::DType dtype) {
  if (const auto* rounded = datum.as<RoundedFloat>())
    return load<Whole>(*rounded->element, dtype)[0];
  const auto* x = datum.as<double>();
  if (x && dtype == spec::DType::kBool) return *x != 0;
  const Whole whole = x ? to_whole(*x) : Whole(as_integer(datum, "number"));
  return wrap_to(whole.value, dtype);
}

template <>
double number<double>(const Datum& datum, spec::DType dtype) {
  if (const auto* i = datum.as<std::int64_t>()) {
    return round_to_dtype(static_cast<long double>(*i), compute_dtype(dtype));
  }
  return round_to_dtype(as_real(datum, "number"), compute_dtype(dtype));
}

namespace {

// What is computed of numbers alone rounds, too.
template <class P>
Tracked<P> tracked_number(const Datum& datum, spec::DType dtype) {
  if (const auto* rounded = datum.as<RoundedFloat>()) {
    return load<Tracked<P>>(*rounded->element, compute_dtype(dtype))[0];
  }
  using Arithmetic = typename Tracked<P>::Arithmetic;
  const bool is_wide = compute_dtype(dtype) == spec::DType::kFloat64;
  return {number<double>(datum, dtype), 0, is_wide ? Arithmetic::kFloat64 : Arithmetic::kFloat32};
}

}  // namespace

template <>
Bounded number<Bounded>(const Datum& datum, spec::DType dtype) {
  return tracked_number<WorstCase>(datum, dtype);
}

template <>
Sampled number<Sampled>(const Datum& datum, spec::DType dtype) {
  return tracked_number<RootSumSquare>(datum, dtype);
}

NumberRange range_of(const Datum& number) {
  if (const auto* rounded = number.as<RoundedFloat>()) {
    const Mark mark = marks_of(*rounded->element)[0];
    if (!std::isfinite(mark.radius)) throw Undecidable("the oracle knows nothing of a number");
    return {mark.value - mark.radius, mark.value + mark.radius};
  }
  const auto* real = number.as<double>();
  const auto value = real ? static_cast<long double>(*real)
                          : static_cast<long double>(as_integer(number, "number"));
  return {value, value};
}

}  // namespace graphgate::reference
