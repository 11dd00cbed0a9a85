// Words beside memory: extents of shared arrays, against a map of single bytes.
#include "optimized/runtime/host/provenance_memory.h"

#include <gtest/gtest.h>

#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

constexpr Address kFirst = 1 << 20;
constexpr std::int64_t kBytes = 96;

// Byte `index` of the `size` bytes of an element with that word; size 0: unwritten.
struct OneByte {
  Word word = 0;
  std::uint32_t size = 0;
  std::uint32_t index = 0;
};

// What WordMemory has to be, byte by byte.
class ByteMemory {
 public:
  std::vector<Word> load(const Tensor& tensor) {
    std::vector<Word> out;
    for_each_place(tensor, [&](std::int64_t at) { out.push_back(element(at, tensor)); });
    return out;
  }
  void store(const Tensor& tensor, const std::vector<Word>& words) {
    std::size_t next = 0;
    for_each_place(tensor, [&](std::int64_t at) {
      const auto size = static_cast<std::uint32_t>(tensor.item_bytes());
      for (std::uint32_t i = 0; i < size; ++i) bytes[place(at, i)] = {words[next], size, i};
      ++next;
    });
  }
  void forget(std::int64_t begin, std::int64_t end) {
    std::fill(bytes.begin() + begin, bytes.begin() + end, OneByte{});
  }

  std::vector<OneByte> bytes = std::vector<OneByte>(kBytes);

 private:
  static std::size_t place(std::int64_t at, std::uint32_t i) {
    return static_cast<std::size_t>(at) + i;
  }
  // In row-major order, the first byte of each element.
  template <class Visit>
  static void for_each_place(const Tensor& tensor, Visit&& visit) {
    for (std::int64_t i = 0; i < tensor.sizes[0]; ++i) {
      for (std::int64_t j = 0; j < tensor.sizes[1]; ++j) {
        const std::int64_t at = tensor.offset + i * tensor.strides[0] + j * tensor.strides[1];
        visit(at * tensor.item_bytes());
      }
    }
  }
  Word element(std::int64_t at, const Tensor& tensor) {
    const auto size = static_cast<std::uint32_t>(tensor.item_bytes());
    std::vector<Word> parts;
    bool is_whole = true;
    bool is_written = false;
    const Word first = bytes[place(at, 0)].word;
    for (std::uint32_t i = 0; i < size; ++i) {
      const OneByte& byte = bytes[place(at, i)];
      is_whole &= byte.size == size && byte.index == i && byte.word == first;
      is_written |= byte.size != 0;
      parts.push_back(byte.size == 0 ? spec::kUnwrittenWord
                                     : derived_.byte_of(byte.word, byte.size, byte.index));
    }
    if (is_whole) return first;
    return is_written ? derived_.joined(parts) : spec::kUnwrittenWord;
  }

  DerivedWords derived_;
};

class Draws {
 public:
  std::int64_t operator()(std::int64_t bound) {
    seed_ = seed_ * 1664525U + 1013904223U;
    return static_cast<std::int64_t>(seed_ >> 8U) % bound;
  }

 private:
  std::uint32_t seed_ = 11;
};

// Rows of a wider matrix or its transpose, of elements of 1 to 8 bytes, within kBytes bytes.
Tensor draw_tensor(Draws& draw) {
  constexpr spec::DType kTypes[] = {spec::DType::kInt8, spec::DType::kBFloat16,
                                    spec::DType::kFloat32, spec::DType::kInt64};
  Tensor tensor;
  tensor.dtype = kTypes[draw(4)];
  const std::int64_t width = 1 + draw(4);
  tensor.sizes = {1 + draw(3), 1 + draw(width)};
  tensor.strides = {width, 1};
  if (draw(4) == 0) {
    std::swap(tensor.sizes[0], tensor.sizes[1]);
    std::swap(tensor.strides[0], tensor.strides[1]);
  }
  const std::int64_t slots = kBytes / tensor.item_bytes();
  const std::int64_t last =
      (tensor.sizes[0] - 1) * tensor.strides[0] + (tensor.sizes[1] - 1) * tensor.strides[1];
  tensor.offset = draw(slots - std::min(slots - 1, last));
  return tensor;
}

TEST(WordMemory, HoldsForEveryByteWhatWasStoredLast) {
  WordMemory memory;
  ByteMemory expected;
  Draws draw;
  Word next = 0;
  for (int i = 0; i < 20000; ++i) {
    const Tensor tensor = draw_tensor(draw);
    const ByteRange range = byte_range(tensor);
    if (range.end > kBytes) continue;
    if (i % 61 == 0) {
      memory.forget(kFirst + static_cast<Address>(range.begin),
                    static_cast<std::size_t>(range.end - range.begin));
      expected.forget(range.begin, range.end);
    } else if (i % 3 == 0) {
      std::vector<Word> words;
      for (std::int64_t e = 0; e < tensor.count(); ++e) {
        // Some words that were copied from memory that nothing has written.
        words.push_back(draw(20) == 0 ? spec::kUnwrittenWord : spec::make_provenance(++next, 7, 1));
      }
      memory.store(tensor, kFirst, make_words(words));
      expected.store(tensor, words);
    }
    const Tensor read = draw_tensor(draw);
    if (byte_range(read).end > kBytes) continue;
    ASSERT_EQ(memory.load(read, kFirst)->all(), expected.load(read)) << i;
    if (i % 97 == 0) {
      const auto saved = memory.save(kFirst + 8, 40);
      memory.store_elements(kFirst + 4, 4, make_words(std::vector<Word>(16, 5)));
      memory.store_elements(kFirst + 4, 4, make_words(std::vector<Word>(1, 6)));
      memory.restore(saved);
      Tensor around{
          .dtype = spec::DType::kFloat32, .sizes = {1, 16}, .strides = {16, 1}, .offset = 1};
      std::vector<Word> other(16, 5);
      other[0] = 6;
      const auto kept = expected.bytes;
      expected.store(around, other);
      std::copy(kept.begin() + 8, kept.begin() + 48, expected.bytes.begin() + 8);
    }
  }
}

TEST(WordMemory, GivesBackTheArrayThatWasPutThere) {
  WordMemory memory;
  Tensor tensor{.sizes = {2, 3}, .strides = {3, 1}};
  const Words words = make_words({1, 2, 3, 4, 5, 6});
  memory.store(tensor, kFirst, words);
  EXPECT_EQ(memory.load(tensor, kFirst), words);
  Tensor turned = tensor;
  turned.sizes = {3, 2};
  turned.strides = {1, 3};
  const Words gathered = memory.load(turned, kFirst);
  EXPECT_EQ(gathered->all(), (std::vector<Word>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(memory.load(turned, kFirst), gathered) << "kept while nothing is written";
  Tensor one = tensor;
  one.sizes = {1, 1};
  memory.store(one, kFirst, make_words({7}));
  EXPECT_EQ(memory.load(turned, kFirst)->all(), (std::vector<Word>{7, 4, 2, 5, 3, 6}));
  EXPECT_EQ(words->all()[0], 1U) << "what rows hold stays";
}

TEST(WordArray, DigestsEveryWordAtItsPlace) {
  std::vector<Word> words;
  for (Word w = 1; w <= 19; ++w) words.push_back(spec::make_provenance(w, 0, 0));
  const std::uint64_t digest = WordArray(words).digest();
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::vector<Word> changed = words;
    changed[i] = spec::make_provenance(100, 0, 0);
    EXPECT_NE(WordArray(changed).digest(), digest) << i;
    for (std::size_t j = 0; j < i; ++j) {
      changed = words;
      std::swap(changed[i], changed[j]);
      EXPECT_NE(WordArray(changed).digest(), digest) << i << " and " << j;
    }
  }
}

// Integers that are cast to wider ones and back have the words that they had.
TEST(DerivedWords, LeadWidenedIntegersBack) {
  DerivedWords derived;
  const Words narrow = make_words({spec::make_provenance(1, 0, 0), spec::make_provenance(2, 0, 0)});
  const Words wide = derived.converted(narrow, spec::DType::kInt8, spec::DType::kInt32, 3);
  EXPECT_NE(wide->all(), narrow->all());
  const Words turned = make_words({(*wide)[1], (*wide)[0]});
  EXPECT_EQ(derived.converted(turned, spec::DType::kInt32, spec::DType::kInt8, 4)->all(),
            (std::vector<Word>{(*narrow)[1], (*narrow)[0]}));
  const Words floats = derived.converted(narrow, spec::DType::kInt8, spec::DType::kFloat32, 3);
  EXPECT_NE(derived.converted(floats, spec::DType::kFloat32, spec::DType::kInt8, 4)->all(),
            narrow->all());
}

}  // namespace
}  // namespace graphgate::optimized
