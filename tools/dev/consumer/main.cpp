// Writes a program as text, runs it on the reference, and checks the answer.
#include <cstdio>
#include <cstring>

#include "reference/reference.h"
#include "spec/graph_text.h"

int main() {
  using namespace graphgate;
  const auto program = spec::parse_program(R"(program "double" {
  input %x : f32[2]
  %y : f32[2] = aten.add.Tensor(%x, %x)
  output %y
})",
                                           spec::builtin_op_table(), "inline");
  if (!program.ok()) return std::puts(program.error().message.c_str()), 1;
  auto loaded = reference::make_executor({})->load(program.value());
  if (!loaded.ok()) return std::puts(loaded.error().message.c_str()), 1;
  spec::HostTensor x = spec::make_host_tensor(spec::DType::kFloat32, {2});
  const float given[] = {1.5F, -2.0F};
  std::memcpy(x.storage->bytes.data(), given, sizeof(given));
  const spec::InputValue inputs[] = {x};
  const auto result = loaded.value()->call(inputs);
  if (!result.ok()) return std::puts(result.error().message.c_str()), 1;
  const auto& y = std::get<spec::HostTensor>(result.value().outputs[0]);
  float answer[2] = {};
  std::memcpy(answer, y.storage->bytes.data(), sizeof(answer));
  std::printf("%g %g\n", static_cast<double>(answer[0]), static_cast<double>(answer[1]));
  return answer[0] == 3.0F && answer[1] == -4.0F ? 0 : 1;
}
