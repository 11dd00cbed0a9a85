#include "spec/program.h"

namespace graphgate::spec {

std::vector<std::size_t> Program::inputs_of(InputKind kind) const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == kind) indices.push_back(i);
  }
  return indices;
}

std::optional<std::size_t> Program::find_input(InputKind kind, std::string_view target) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == kind && inputs[i].target == target) return i;
  }
  return std::nullopt;
}

namespace {

using Tensors = std::map<std::string, HostTensor, std::less<>>;

bool same_elements(const HostTensor& a, const HostTensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides &&
         a.storage_offset == b.storage_offset && a.device == b.device &&
         packed_bytes(a) == packed_bytes(b);
}

// For each tensor, the first name that shares its storage: equal exactly when the sharing is.
std::vector<std::string> sharing(const Tensors& tensors) {
  std::map<const HostStorage*, std::string> first;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    names.push_back(first.try_emplace(tensor.storage.get(), name).first->second);
  }
  return names;
}

bool same_tensors(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size() || sharing(a) != sharing(b)) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || !same_elements(i->second, j->second)) return false;
  }
  return true;
}

}  // namespace

bool same_program(const Program& a, const Program& b) {
  return a.name == b.name && a.graph == b.graph && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.symbols == b.symbols && a.annotations == b.annotations &&
         same_tensors(a.tensors, b.tensors);
}

}  // namespace graphgate::spec
