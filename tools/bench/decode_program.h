// A decoder's step as a program: one token of each sequence goes in, logits come out, and keys and
// values are written into caches in place.
//
// The layers are those of Llama: RMSNorm, rotary embedding, attention whose heads share keys and
// values in groups, SwiGLU, embedding and head tied; bfloat16 throughout, spelled in ATen ops as an
// export has them. `bench decode` compiles it like any other program.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "spec/program.h"

namespace graphgate::tools {

struct DecodeShape {
  std::int64_t layers = 16;
  std::int64_t width = 2048;
  std::int64_t heads = 32;
  std::int64_t kv_heads = 8;
  std::int64_t head_size = 64;
  std::int64_t hidden = 8192;  // of the feed-forward layers
  std::int64_t vocabulary = 128256;
  std::int64_t context = 1024;  // slots of a cache; the new token takes the last one
  std::int64_t batch = 1;

  // For tests, and where times of kernels are not what is looked at: two layers, a batch of one.
  [[nodiscard]] static DecodeShape small();
  // Bytes that a step has to read: every weight once (the embedding as the head), and the caches.
  [[nodiscard]] std::int64_t weight_bytes() const;
  [[nodiscard]] std::int64_t cache_bytes() const;
};

// Parameters and caches are drawn from a seed, uniform and of a size that keeps activations near 1.
// The inputs are buffers, too ("tokens", i64[batch], and "position", i64[1]), so that a call copies
// nothing.
[[nodiscard]] Result<spec::Program> make_decode_program(const DecodeShape& shape);

}  // namespace graphgate::tools
