#include "tools/executors/messages.h"

#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate::tools {
namespace {

std::string refused(const std::string& line) {
  const TemporaryFolder folder = made_folder();
  return message_of(Message::read(line, folder.path()));
}

TEST(ExecutorMessage, CarriesTensorsThatShareAStorage) {
  const TemporaryFolder folder = made_folder();
  spec::HostTensor whole = spec::make_host_tensor(spec::DType::kFloat32, {2, 2});
  whole.storage->bytes[4] = std::byte{1};
  spec::HostTensor row = whole;
  row.sizes = {2};
  row.strides = {1};
  row.storage_offset = 2;
  StoredBytes bytes;
  nlohmann::ordered_json json;
  json["values"] =
      bytes.values(std::vector<spec::OutputValue>{whole, row, std::int64_t{7}, spec::None{}});
  const std::string line = write_message(json, bytes, folder.path(), "one").value();
  EXPECT_EQ(line.find('\n'), std::string::npos);

  const auto message = must(Message::read(line, folder.path()));
  const auto cursor = message.cursor();
  const auto values = message.tensors().read_values<spec::OutputValue>(cursor, "values").value();
  ASSERT_EQ(values.size(), 4U);
  const auto& a = std::get<spec::HostTensor>(values[0]);
  const auto& b = std::get<spec::HostTensor>(values[1]);
  EXPECT_EQ(a.storage, b.storage);
  EXPECT_EQ(b.storage_offset, 2);
  EXPECT_EQ(a.storage->bytes, whole.storage->bytes);
  EXPECT_EQ(std::get<std::int64_t>(values[2]), 7);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/one"));
}

TEST(ExecutorMessage, RefusesWhatIsNone) {
  EXPECT_EQ(refused("hello"), "expected a JSON object on one line, found 'hello'");
  EXPECT_EQ(refused("[1]"), "expected a JSON object on one line, found '[1]'");
  EXPECT_EQ(refused("\x01\xff" + std::string(100, 'a')),
            "expected a JSON object on one line, found '??" + std::string(58, 'a') + "...'");
  EXPECT_EQ(refused(R"({"folder": "../x"})"),
            "message: expected the name of a folder of the exchange");
  EXPECT_TRUE(contains(refused(R"({"folder": "gone"})"), "gone/tensors.safetensors"));
}

TEST(ExecutorMessage, IsWithinLimits) {
  const auto nested = [](std::size_t levels) {
    return R"({"x":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  EXPECT_EQ(refused(nested(255)), "");
  EXPECT_EQ(refused(nested(256)), "message: nested deeper than 256 levels");
  EXPECT_EQ(refused(std::string(60'000'000, '[')), "message: nested deeper than 256 levels");
  std::string many = R"({"x":[0)";
  for (std::size_t i = 0; i < (std::size_t{4} << 20U); ++i) many += ",0";
  EXPECT_EQ(refused(many + "]}"), "message: more than 4194304 values");
  // Brackets and commas of a text are none.
  EXPECT_EQ(refused(R"({"x":"\"[,)" + std::string(5'000'000, ',') + "\"}"), "");
}

TEST(ExecutorMessage, HasTensorsWithinLimits) {
  const TemporaryFolder folder = made_folder();
  const auto read = [&](const std::string& tensors, std::int64_t most) -> std::string {
    StoredBytes bytes;
    (void)bytes.tensor(spec::make_host_tensor(spec::DType::kFloat32, {4}));
    EXPECT_TRUE(write_message({{"done", true}}, bytes, folder.path(), "one").ok());
    const auto message = Message::read(
        R"({"folder":"one","storages":["content0","content0"],"tensors":)" + tensors + "}",
        folder.path(), most);
    if (!message.ok()) return message.error().message;
    const auto cursor = message.value().cursor();
    return message_of(message.value().tensors().read_values<spec::OutputValue>(cursor, "tensors"));
  };
  const auto tensor = [](const std::string& sizes, const std::string& strides) {
    return R"([{"tensor":{"storage":1,"dtype":"float32","device":"cpu","sizes":)" + sizes +
           R"(,"strides":)" + strides + "}}]";
  };
  EXPECT_EQ(read(tensor("[4]", "[1]"), 32), "");
  EXPECT_TRUE(contains(read("[]", 31), "storages[1] has more than 31 bytes"));
  EXPECT_TRUE(contains(read("[]", 15), "tensors.safetensors has more than 15 bytes"));
  EXPECT_EQ(read(tensor("[2,4]", "[0,1]"), 32), "");
  EXPECT_TRUE(contains(read(tensor("[3,4]", "[0,1]"), 32), "has more than 32 bytes of elements"));
  EXPECT_TRUE(
      contains(read(tensor("[1099511627776]", "[0]"), std::int64_t{1} << 40U), "of elements"));
  std::string ones = "[1";
  for (int i = 0; i < 1024; ++i) ones += ",1";
  EXPECT_TRUE(contains(read(tensor(ones + "]", ones + "]"), 32), "more than 1024 dimensions"));
}

TEST(ExecutorMessage, RefusalsKeepTheirKind) {
  for (const ErrorKind kind : {ErrorKind::kBadInput, ErrorKind::kUnsupported,
                               ErrorKind::kInfrastructure, ErrorKind::kInternal}) {
    const interop::Json json = refusal_json({kind, "why"});
    const auto refusal = refusal_in(interop::JsonCursor(json, "message"));
    ASSERT_TRUE(refusal.ok() && refusal.value());
    EXPECT_EQ(refusal.value()->error.kind, kind);
    EXPECT_EQ(refusal.value()->error.message, "why");
    EXPECT_FALSE(refusal.value()->is_last);
  }
  const interop::Json last = {{"refusal", "bad input"}, {"message", "why"}, {"last", true}};
  EXPECT_TRUE(refusal_in(interop::JsonCursor(last, "message")).value()->is_last);
  const interop::Json none = {{"result", 1}};
  EXPECT_FALSE(refusal_in(interop::JsonCursor(none, "message")).value());
  const interop::Json odd = {{"refusal", "maybe"}, {"message", ""}};
  EXPECT_FALSE(refusal_in(interop::JsonCursor(odd, "message")).ok());
}

}  // namespace
}  // namespace graphgate::tools
