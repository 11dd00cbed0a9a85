#include "interop/safetensors.h"

#include <cstring>

#include "base/file_io.h"
#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate::interop {
namespace {

using spec::DType;
using spec::HostTensor;

// A file with this header and `data_bytes` zeros.
std::string message_of(const std::string& header, std::size_t data_bytes) {
  std::string file(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  file += header + std::string(data_bytes, '\0');
  return message_of(read_safetensors_bytes(std::as_bytes(std::span(file)), "x.safetensors"));
}

TEST(Safetensors, ComeBackAsTheyWereWritten) {
  NamedTensors tensors;
  for (int dtype = 0; dtype < spec::kDTypeCount; ++dtype) {
    HostTensor tensor = spec::make_host_tensor(static_cast<DType>(dtype), {3, dtype});
    for (std::size_t i = 0; i < tensor.storage->bytes.size(); ++i) {
      tensor.storage->bytes[i] = static_cast<std::byte>(i * 7 + 1);
    }
    tensors.emplace("t" + std::to_string(dtype), std::move(tensor));
  }
  const TestFolder folder;
  const std::string path = folder.file("a.safetensors");
  ASSERT_TRUE(write_safetensors(path, tensors, {{"made", "here"}}).ok());
  const auto read = must(read_safetensors(path));
  EXPECT_EQ(read.metadata.at("made"), "here");
  ASSERT_EQ(read.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const HostTensor& other = read.tensors.at(name);
    EXPECT_EQ(other.dtype, tensor.dtype) << name;
    EXPECT_EQ(other.sizes, tensor.sizes) << name;
    EXPECT_EQ(other.storage->bytes, tensor.storage->bytes) << name;
  }
}

TEST(Safetensors, AreWrittenTheSameWayEachTime) {
  const TestFolder folder;
  const NamedTensors tensors = {{"b", spec::make_host_tensor(DType::kInt8, {3})},
                                {"a", spec::make_host_tensor(DType::kFloat32, {2})}};
  ASSERT_TRUE(write_safetensors(folder.file("1"), tensors).ok());
  ASSERT_TRUE(write_safetensors(folder.file("2"), tensors).ok());
  EXPECT_EQ(must(read_whole(folder.file("1"))), must(read_whole(folder.file("2"))));
}

TEST(Safetensors, StoreAStridedViewContiguously) {
  HostTensor tensor = spec::make_host_tensor(DType::kUInt8, {2, 3});
  for (std::size_t i = 0; i < 6; ++i) tensor.storage->bytes[i] = static_cast<std::byte>(i);
  std::swap(tensor.sizes[0], tensor.sizes[1]);
  std::swap(tensor.strides[0], tensor.strides[1]);
  const TestFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("t"), {{"t", tensor}}).ok());
  const auto read = must(read_safetensors(folder.file("t")));
  EXPECT_EQ(read.tensors.at("t").storage->bytes, spec::packed_bytes(tensor));
}

TEST(Safetensors, RefuseEveryHeaderThatLies) {
  EXPECT_EQ(message_of(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4),
            "x.safetensors: t.data_offsets: ends at byte 8, the file has 4 bytes of data");
  EXPECT_EQ(message_of(R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
            "x.safetensors: t.shape: the sizes do not make the 8 bytes that data_offsets give");
  EXPECT_EQ(message_of(R"({"t":{"dtype":"F32","shape":[1152921504606846976,16],)"
                       R"("data_offsets":[0,8]}})",
                       8),
            "x.safetensors: t.shape: the sizes do not make the 8 bytes that data_offsets give");
  EXPECT_EQ(message_of(R"({"t":{"dtype":"Q9","shape":[],"data_offsets":[0,8]}})", 8),
            "x.safetensors: t.dtype: unknown dtype 'Q9'");
  EXPECT_EQ(message_of(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                       R"("t":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                       8),
            "x.safetensors: the key \"t\" is there twice");
  EXPECT_EQ(message_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                       8),
            "x.safetensors: b: overlaps the tensor before it");
  EXPECT_EQ(message_of(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8),
            "x.safetensors: byte 4 of the data belongs to no tensor");
  EXPECT_EQ(message_of("[]", 0), "x.safetensors: expected an object, found an array");
}

TEST(Safetensors, RefuseAFileShorterThanItsHeader) {
  const std::string file = "\xff\xff\xff\xff\xff\xff\xff\x7f{}";
  const Error read = failure_of(read_safetensors_bytes(std::as_bytes(std::span(file)), "x"));
  EXPECT_EQ(read.message,
            "x: the header claims 9223372036854775807 bytes, the file has 2 after its length");
  EXPECT_EQ(read.kind, ErrorKind::kBadInput);
}

TEST(Safetensors, KeepTheOldFileWhenTheNewOneCannotBeWritten) {
  const TestFolder folder;
  const NamedTensors bad = {{"\xff", spec::make_host_tensor(DType::kInt8, {1})}};
  ASSERT_TRUE(write_safetensors(folder.file("t"), {}).ok());
  const std::string before = must(read_whole(folder.file("t")));
  EXPECT_FALSE(write_safetensors(folder.file("t"), bad).ok());
  EXPECT_EQ(must(read_whole(folder.file("t"))), before);
  EXPECT_EQ(folder.count(), 1U);
}

// The format's own library knows no complex128.
TEST(Safetensors, WriteComplex128AsPairsOfFloat64) {
  const TestFolder folder;
  const std::string path = folder.file("z.safetensors");
  ASSERT_TRUE(write_safetensors(path, {{"z", spec::make_host_tensor(DType::kComplex128, {3})},
                                       {"c", spec::make_host_tensor(DType::kComplex64, {3})}})
                  .ok());
  const std::string text = must(read_whole(path));
  EXPECT_TRUE(contains(text, R"("__metadata__":{"complex128":"[\"z\"]"})"));
  EXPECT_TRUE(contains(text, R"("z":{"data_offsets":[0,48],"dtype":"F64","shape":[3,2]})"));
  EXPECT_TRUE(contains(text, R"("c":{"data_offsets":[48,72],"dtype":"C64","shape":[3]})"));
  const auto read = must(read_safetensors(path));
  EXPECT_TRUE(read.metadata.empty());
  EXPECT_EQ(read.tensors.at("z").sizes, (std::vector<std::int64_t>{3}));
}

TEST(Safetensors, RefusePairsThatAreNone) {
  const std::string f64 = R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})";
  const auto with = [&](const std::string& list) {
    return message_of(R"({"__metadata__":{"complex128":")" + list + R"("},)" + f64, 16);
  };
  EXPECT_EQ(with(R"([\"a\"])"), "");
  EXPECT_EQ(with(R"([\"b\"])"), "x.safetensors: __metadata__: complex128: no tensor is called 'b'");
  EXPECT_EQ(with(R"([\"a\", \"a\"])"),
            "x.safetensors: __metadata__: complex128: expected 'a' as F64, its last dimension of "
            "size 2");
  EXPECT_NE(with("a"), "");
}

}  // namespace
}  // namespace graphgate::interop
