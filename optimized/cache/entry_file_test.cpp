#include "optimized/cache/entry_file.h"

#include "base/result_test.h"
#include "base/sha256.h"

namespace graphgate::optimized {
namespace {

const EntryFile kEntry{sha256_hex("folder"), sha256_hex("artifact"), "[inputs]\n1 a = b\n"};

TEST(Sha256, IsTheStandardsOwn) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(EntryFile, ReadsWhatItPrints) {
  const auto entry = must(parse_entry(print_entry(kEntry)));
  EXPECT_EQ(entry, kEntry);
}

TEST(EntryFile, RefusesEveryCutAndEveryAlteredByte) {
  const std::string text = print_entry(kEntry);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(parse_entry(std::string_view(text).substr(0, i)).ok()) << i;
    std::string altered = text;
    altered[i] = altered[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(parse_entry(altered).ok()) << i;
  }
  EXPECT_FALSE(parse_entry(text + "\n").ok());
}

TEST(EntryFile, RefusesForeignTextWithARightChecksum) {
  const std::string text = "graphgate plan entry 1\nfolder none\n";
  EXPECT_FALSE(parse_entry(text + "checksum " + sha256_hex(text) + "\n").ok());
}

}  // namespace
}  // namespace graphgate::optimized
