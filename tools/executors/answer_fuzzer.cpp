// Any bytes as an answer of an executor, or as what one is asked: a line up to the first end of
// one, and behind it the tensors of the folder "a", where the line names that. What is told of it
// can be shown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"
#include "interop/plan_json.h"
#include "spec/graph_text.h"
#include "tools/executors/kept_inputs.h"
#include "tools/executors/limits.h"
#include "tools/executors/messages.h"
#include "tools/executors/own_plans.h"
#include "tools/store/promises.h"
#include "tools/store/stored_result.h"

namespace {

using namespace graphgate;
using namespace graphgate::tools;

const std::string& root() {
  static const TemporaryFolder kFolder =
      TemporaryFolder::make("exchange", {"/dev/shm", "/tmp"}).value();
  static const std::string kPath = kFolder.path();
  return kPath;
}

void write_tensors(std::string_view bytes) {
  std::filesystem::create_directories(root() + "/a");
  std::ofstream(root() + "/a/tensors.safetensors", std::ios::binary) << bytes;
}

// What `graphgate serve` reads of "open", "load" and "call".
void read_request(const interop::JsonCursor& body, const StoredTensors& tensors) {
  const auto ops = read_ops(body, "ops");
  (void)read_configuration(body, "options");
  (void)read_texts(body, "flags");
  const auto text = interop::read_string(body, "graph");
  if (text.ok() && ops.ok()) (void)spec::parse_program(text.value(), *ops.value(), "graph");
  (void)tensors.read_tensors(body, "tensors", [](const std::string&, const spec::HostTensor&) {});
  (void)tensors.tensor_of(body);
  auto inputs = tensors.read_values<spec::InputValue>(body, "inputs");
  KeptInputs kept;
  if (inputs.ok()) (void)kept.place(body, inputs.value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\n'), size);
  const std::string line(all.substr(0, end));
  if (line.find("\"folder\"") != std::string::npos) {
    write_tensors(all.substr(std::min(end + 1, size)));
  }
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 24U;
  const auto message = Message::read(line, root(), kMostBytes, [] { return true; });
  if (!message.ok()) return 0;
  const interop::JsonCursor cursor = message.value().cursor();
  const auto members = cursor.members();
  if (members.ok()) {
    for (const auto& [what, body] : members.value()) read_request(body, message.value().tensors());
  }
  (void)refusal_in(cursor);
  (void)read_promises(cursor);
  (void)read_limits(cursor);
  (void)read_index(cursor, "executor");
  (void)read_strings(cursor, "options");
  const auto object = cursor.find_member("result");
  if (object.ok() && object.value()) {
    (void)read_result(*object.value(), message.value().tensors());
  }
  std::vector<spec::Finding> findings;
  verify_own_plans(cursor, findings);
  const auto plan = cursor.find_member("plan");
  if (plan.ok() && plan.value()) {
    (void)interop::read_plan_json(plan.value()->json().dump(), "plan");
  }
  return 0;
}
