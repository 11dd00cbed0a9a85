#include "optimized/kernel.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

[[noreturn]] void wrong_kind(std::string_view name, const char* expected) {
  throw OpError("argument '" + std::string(name) + "' is not " + expected);
}

std::optional<std::int64_t> to_integer(const Item& item) {
  if (const auto* i = item.as<std::int64_t>()) return *i;
  if (const auto* b = item.as<bool>()) return *b ? 1 : 0;
  return {};
}

std::optional<double> to_real(const Item& item) {
  if (const auto* x = item.as<double>()) return *x;
  if (const auto i = to_integer(item)) return static_cast<double>(*i);
  return {};
}

template <class Visit>
void for_each_tensor(const Item& item, Visit&& visit) {
  if (const auto* tensor = item.as<Tensor>()) visit(*tensor);
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) for_each_tensor(element, visit);
  }
}

}  // namespace

KernelCall::KernelCall(const spec::OpRow& row, std::vector<Item> arguments)
    : row_(&row), arguments_(std::move(arguments)) {}

const Item* KernelCall::find(std::string_view name) const {
  const auto& declared = row_->schema.arguments;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].name == name) return &arguments_[i];
  }
  return nullptr;
}

bool KernelCall::has(std::string_view name) const {
  const Item* item = find(name);
  return item && !item->as<spec::None>();
}

const Item& KernelCall::item(std::string_view name) const {
  const Item* found = find(name);
  if (!found) throw OpError("the op has no argument '" + std::string(name) + "'");
  return *found;
}

const Tensor& KernelCall::tensor(std::string_view name) const {
  const auto* tensor = item(name).as<Tensor>();
  if (!tensor) wrong_kind(name, "a tensor");
  return *tensor;
}

const Tensor* KernelCall::optional_tensor(std::string_view name) const {
  return has(name) ? &tensor(name) : nullptr;
}

bool KernelCall::is_tensor(std::string_view name) const {
  const Item* found = find(name);
  return found && found->as<Tensor>();
}

std::vector<const Tensor*> KernelCall::tensors(std::string_view name) const {
  const auto* list = item(name).as<Item::List>();
  if (!list) wrong_kind(name, "a list of tensors");
  std::vector<const Tensor*> out;
  for (const Item& element : *list) {
    if (!element.as<Tensor>() && !element.as<spec::None>()) wrong_kind(name, "a list of tensors");
    out.push_back(element.as<Tensor>());
  }
  return out;
}

std::int64_t KernelCall::integer(std::string_view name) const {
  const auto value = to_integer(item(name));
  if (!value) wrong_kind(name, "an integer");
  return *value;
}

std::optional<std::int64_t> KernelCall::optional_integer(std::string_view name) const {
  if (!has(name)) return {};
  return integer(name);
}

double KernelCall::real(std::string_view name) const {
  const auto value = to_real(item(name));
  if (!value) wrong_kind(name, "a number");
  return *value;
}

std::optional<double> KernelCall::optional_real(std::string_view name) const {
  if (!has(name)) return {};
  return real(name);
}

bool KernelCall::boolean(std::string_view name) const { return integer(name) != 0; }

bool KernelCall::boolean_or(std::string_view name, bool otherwise) const {
  return has(name) ? boolean(name) : otherwise;
}

Sizes KernelCall::integers(std::string_view name) const {
  const Item& found = item(name);
  if (const auto lone = to_integer(found)) return {*lone};
  const auto* list = found.as<Item::List>();
  if (!list) wrong_kind(name, "a list of integers");
  Sizes out;
  for (const Item& element : *list) {
    const auto value = to_integer(element);
    if (!value) wrong_kind(name, "a list of integers");
    out.push_back(*value);
  }
  return out;
}

std::optional<Sizes> KernelCall::optional_integers(std::string_view name) const {
  if (!has(name)) return {};
  return integers(name);
}

std::string_view KernelCall::text(std::string_view name) const {
  const auto* value = item(name).as<std::string>();
  if (!value) wrong_kind(name, "a string");
  return *value;
}

std::optional<spec::DType> KernelCall::optional_dtype(std::string_view name) const {
  if (!has(name)) return {};
  const auto* value = item(name).as<spec::DType>();
  if (!value) wrong_kind(name, "a dtype");
  return *value;
}

std::optional<spec::MemoryFormat> KernelCall::optional_format(std::string_view name) const {
  if (!has(name)) return {};
  const auto* value = item(name).as<spec::MemoryFormat>();
  if (!value) wrong_kind(name, "a memory format");
  return *value;
}

spec::Device KernelCall::device_or(const spec::Device& otherwise) const {
  if (!has("device")) return otherwise;
  const auto* value = item("device").as<spec::Device>();
  if (!value) wrong_kind("device", "a device");
  return *value;
}

std::vector<const Tensor*> KernelCall::all_tensors() const {
  std::vector<const Tensor*> out;
  for (const Item& argument : arguments_) {
    for_each_tensor(argument, [&](const Tensor& tensor) { out.push_back(&tensor); });
  }
  return out;
}

spec::Device KernelCall::result_device() const {
  const Tensor* first = nullptr;
  const Tensor* elsewhere = nullptr;
  for (const Item& argument : arguments_) {
    for_each_tensor(argument, [&](const Tensor& tensor) {
      if (first == nullptr) first = &tensor;
      if (elsewhere == nullptr && tensor.rank() > 0 && tensor.device.type != "cpu") {
        elsewhere = &tensor;
      }
    });
  }
  if (elsewhere != nullptr) return elsewhere->device;
  return first != nullptr ? first->device : spec::Device{};
}

const Tensor* KernelCall::written_result(std::size_t index) const {
  if (index >= row_->effects.returns.size()) return nullptr;
  for (const std::size_t argument : row_->effects.returns[index].aliases) {
    if (row_->effects.mutates(argument)) return arguments_[argument].as<Tensor>();
  }
  return nullptr;
}

Inference::Inference(const spec::OpRow& row, std::vector<Item> arguments, bool has_data)
    : KernelCall(row, std::move(arguments)) {
  has_data_ = has_data;
}

Made& Inference::add(Made::Kind kind) {
  Made& made = (open_list_ ? *open_list_ : results_).emplace_back();
  made.kind = kind;
  return made;
}

void Inference::make(spec::DType dtype, Sizes sizes, Sizes strides,
                     std::optional<spec::Device> device) {
  if (const Tensor* target = open_list_ ? nullptr : written_result(results_.size())) {
    if (target->sizes != sizes) {
      throw Unsupported("the written tensor has sizes " + print_sizes(target->sizes) +
                        ", the result " + print_sizes(sizes) + ": it is not resized");
    }
    add(Made::Kind::kArgument).tensor = *target;
    return;
  }
  (void)checked_count(sizes);
  Tensor& tensor = add(Made::Kind::kNew).tensor;
  tensor.dtype = dtype;
  tensor.strides = strides.empty() ? row_major_strides(sizes) : std::move(strides);
  tensor.sizes = std::move(sizes);
  tensor.device = device ? std::move(*device) : result_device();
}

void Inference::make_view(const Tensor& base, Sizes sizes, Sizes strides, std::int64_t offset) {
  const bool in_place = !open_list_ && written_result(results_.size()) != nullptr;
  add(in_place ? Made::Kind::kReshaped : Made::Kind::kView).tensor = {
      base.dtype,  std::move(sizes), std::move(strides), offset,
      base.device, base.storage,     base.bytes};
}

void Inference::make_same(const Tensor& argument) { add(Made::Kind::kArgument).tensor = argument; }

void Inference::make_number(Item number) { add(Made::Kind::kNumber).number = std::move(number); }

void Inference::make_none() { add(Made::Kind::kNone); }

void Inference::begin_list() { open_list_.emplace(); }

void Inference::end_list() {
  std::vector<Made> list = std::move(*open_list_);
  open_list_.reset();
  add(Made::Kind::kList).list = std::move(list);
}

void Inference::want_workspace(std::int64_t bytes) { workspace_bytes_ += (bytes + 63) / 64 * 64; }

Binding::Binding(const spec::OpRow& row, std::vector<Item> arguments, std::vector<Tensor> results,
                 std::byte* workspace, const DeviceListener* listener)
    : KernelCall(row, std::move(arguments)),
      results_(std::move(results)),
      workspace_(workspace),
      listener_(listener) {
  has_data_ = true;
}

const Tensor& Binding::result(std::size_t index) const { return results_.at(index); }

}  // namespace graphgate::optimized
