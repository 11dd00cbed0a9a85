#include "tools/executors/kept_inputs.h"

#include "base/result_test.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

using interop::JsonCursor;
using spec::HostTensor;
using spec::InputValue;

HostTensor floats(std::int64_t count) {
  return spec::make_host_tensor(spec::DType::kFloat32, {count});
}

const std::byte* address(const InputValue& input) {
  return std::get<HostTensor>(input).storage->bytes.data();
}

// A call as it comes to the other end: the same elements, in other memory.
class Protocol {
 public:
  std::vector<InputValue> call(const std::vector<InputValue>& inputs) {
    const std::vector<InputValue> noted = inputs;
    const Json text = {{"kept", at_caller.note(noted)}};
    const interop::Json message = interop::Json::parse(text.dump());
    std::vector<InputValue> there;
    std::map<const spec::HostStorage*, std::shared_ptr<spec::HostStorage>> copies;
    for (const InputValue& input : inputs) {
      there.push_back(input);
      auto* tensor = std::get_if<HostTensor>(&there.back());
      if (!tensor) continue;
      auto& copy = copies[tensor->storage.get()];
      if (!copy) copy = std::make_shared<spec::HostStorage>(*tensor->storage);
      tensor->storage = copy;
    }
    must(at_executor.place(JsonCursor(message, "call"), there));
    return there;
  }

  KeptPlaces at_caller;
  KeptInputs at_executor;
};

TEST(KeptInputs, StayWhereTheCallerHasThemAtEverySize) {
  Protocol protocol;
  HostTensor x = floats(2);
  x.storage->bytes.reserve(4096);
  const auto first = protocol.call({x, std::int64_t{3}, floats(2)});
  x.storage->bytes.resize(1024);
  x.sizes = {256};
  x.storage->bytes[7] = std::byte{9};
  const auto second = protocol.call({x, std::int64_t{3}, floats(2)});
  EXPECT_EQ(address(first[0]), address(second[0]));
  EXPECT_EQ(std::get<HostTensor>(second[0]).storage->bytes, x.storage->bytes);
  EXPECT_NE(address(first[2]), address(second[2]));
  // What is there for the caller is not what was there.
  HostTensor other = floats(2);
  other.storage->bytes.reserve(4096);
  EXPECT_NE(address(protocol.call({other, std::int64_t{3}, floats(2)})[0]), address(second[0]));
}

// The caller that gives one tensor twice keeps it, whether it says so or not.
TEST(KeptInputs, StayWhereATensorIsGivenAgain) {
  Protocol protocol;
  const HostTensor x = floats(2);
  const auto first = protocol.call({x, floats(2)});
  const auto second = protocol.call({x, x});
  EXPECT_EQ(address(first[0]), address(second[0]));
  EXPECT_EQ(address(second[0]), address(second[1])) << "what shares a storage goes with it";
}

TEST(KeptInputs, AreRefusedWhereTheyMakeNoSense) {
  const auto error = [](const char* kept) {
    KeptInputs inputs;
    const interop::Json message = interop::Json::parse(std::string("{\"kept\": ") + kept + "}");
    std::vector<InputValue> given = {floats(2), std::int64_t{1}};
    return message_of(inputs.place(JsonCursor(message, "call"), given));
  };
  EXPECT_EQ(error(R"([{"input": 0, "bytes": 8}])"), "");
  EXPECT_EQ(error(R"([{"input": 1, "bytes": 8}])"), "call: kept[0]: that input is no tensor");
  EXPECT_EQ(error(R"([{"input": 2, "bytes": 8}])"), "call: kept[0]: that input is no tensor");
  EXPECT_EQ(error(R"([{"input": 0, "bytes": 7}])"),
            "call: kept[0]: there is less room than the input has bytes");
}

}  // namespace
}  // namespace graphgate::tools
