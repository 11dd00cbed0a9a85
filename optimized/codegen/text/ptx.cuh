// What C++ has no words for: instructions of the GPU, by PTX (PTX ISA 9.0).
//
// runtime/emulated has a text of its own in its place, which says the same in C++.
#pragma once

namespace graphgate::optimized::device {

// Returns when all launches that this one may overlap with have ended, and what they wrote is there
// (griddepcontrol.wait).
inline void wait_for_launches_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// The next launch may begin once all blocks have said so (griddepcontrol.launch_dependents).
inline void let_next_launch_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

// The block's shared memory that its launch asks for, at a multiple of 1024.
inline uint4* dynamic_shared() {
  extern __shared__ __align__(1024) uint4 graphgate_dynamic_shared[];
  return graphgate_dynamic_shared;
}

// Returns when all threads of the cluster's blocks have come here or ended; what each has written
// to shared memory is there for the others (barrier.cluster).
inline void wait_for_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}
// 16 bytes that block `rank` of the cluster has where this one has `own`, in dynamic_shared().
inline float4 load_of_block(const float* own, int rank) {
  std::uint32_t at = 0;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(own))), "r"(rank));
  float4 out;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(out.x), "=f"(out.y), "=f"(out.z), "=f"(out.w)
               : "r"(at)
               : "memory");
  return out;
}

// Copies 16 bytes to shared memory in the background (cp.async), or zeros; both addresses are
// multiples of 16. They are there for this thread once it has waited, and for its block after a
// __syncthreads() besides.
inline void begin_copy16(uint4* shared, const char* from, bool is_there = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(from), "r"(is_there ? 16 : 0)
               : "memory");
}
// The copies that this thread has begun since the last call are a group, be there any or not.
inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Returns when all groups but the last `behind` ones are there.
template <int behind>
void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(behind) : "memory");
}

// e^x by the unit's 2^x, which is within 2 units in the last place (ex2.approx.f32): for x in
// [-88, 0] it is right to 2^-17, as x log2(e) is rounded.
inline float exp_nearly(float x) {
  float out;
  asm("ex2.approx.f32 %0, %1;" : "=f"(out) : "f"(x * 1.4426950408889634f));
  return out;
}

// d += a b, of tiles [16, 16] and [16, 8], by a warp (mma.m16n8k16). In lane 4 g + q, `a` has rows
// g (a0, a2) and g + 8 (a1, a3). It has them at k 2 q, 2 q + 1 (a0, a1) and 2 q + 8, 2 q + 9 (a2,
// a3). `b` has column g at the same k. `d` has columns 2 q and 2 q + 1 of row g, then of row g + 8.
template <class Format>
void multiply_tiles(float (&d)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                    std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  if constexpr (std::is_same_v<Format, BF16>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
}

// Four tiles of 8 x 8 16-bit numbers from shared memory, by a warp (ldmatrix.x4). Lane 8 t + r
// gives the address of row r of tile t, 16 bytes at a multiple of 16. In lane 4 g + q, out[t] has
// columns 2 q and 2 q + 1 of row g of tile t. No bank is met twice where the eight rows of each
// tile begin at different multiples of 16, modulo 128.
inline void load_tiles(std::uint32_t (&out)[4], const uint4* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
}
// The same tiles, turned: in lane 4 g + q, out[t] has rows 2 q and 2 q + 1 of column g of tile t.
inline void load_turned_tiles(std::uint32_t (&out)[4], const uint4* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
}
// A tile that the warp has, turned (movmatrix): lane 4 g + q has columns 2 q and 2 q + 1 of row g,
// and gets those of row g of what is turned.
inline std::uint32_t turned_tile(std::uint32_t tile) {
  std::uint32_t out;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(tile));
  return out;
}
// Two numbers rounded to a 16-bit format, `low` in the lower half (cvt.rn).
template <class Format>
std::uint32_t packed2(float low, float high) {
  std::uint32_t out;
  if constexpr (std::is_same_v<Format, BF16>) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  }
  return out;
}

}  // namespace graphgate::optimized::device
