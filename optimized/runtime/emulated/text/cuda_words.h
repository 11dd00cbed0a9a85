// What CUDA C++ has beyond C++, for device text that is compiled for the processor.
//
// It is included before a generated program (emulated_device.h). The hooks are the emulator's: they
// hold who runs, and stop a thread until its warp or block has come as far.
#pragma once

extern "C" {
struct graphgate_dim {
  unsigned x, y, z;
};
// block.h has the same.
struct graphgate_hooks {
  graphgate_dim thread, block;
  unsigned rank;  // of the block in its cluster
  void (*wait_for_warp)();
  void (*wait_for_block)();
  void (*wait_for_launches)();
  void (*wait_for_cluster)();
  unsigned char* (*exchange)();  // 64 bytes for each lane, the warp's; another one each time
  void (*begin_copy)(void* to, const void* from);  // 16 bytes, of zeros when `from` is null
  void (*end_copies)();
  void (*wait_for_copies)(unsigned behind);
};
static graphgate_hooks* graphgate_current;
void graphgate_set_hooks(graphgate_hooks* hooks) { graphgate_current = hooks; }

double fabs(double);
float fabsf(float);
double copysign(double, double);
float copysignf(float, float);
double fmod(double, double);
float fmodf(float, float);
double trunc(double);
float truncf(float);
double floor(double);
float floorf(float);
double ceil(double);
float ceilf(float);
double exp2(double);
double rint(double);
float rintf(float);
float fmaf(float, float, float);
float fmaxf(float, float);
}

#define __global__
#define __shared__ static
#define __launch_bounds__(...)
#define threadIdx (graphgate_current->thread)
#define blockIdx (graphgate_current->block)

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }

inline void __syncthreads() { graphgate_current->wait_for_block(); }
inline void __syncwarp(unsigned = 0xffffffffu) { graphgate_current->wait_for_warp(); }

// Every lane puts its value down, and takes that of `from`.
template <class T>
T graphgate_exchange(T value, unsigned from) {
  unsigned char* const slots = graphgate_current->exchange();
  __builtin_memcpy(slots + threadIdx.x % 32 * 64, &value, sizeof value);
  graphgate_current->wait_for_warp();
  T taken;
  __builtin_memcpy(&taken, slots + from * 64, sizeof taken);
  return taken;
}
template <class T>
T __shfl_sync(unsigned, T value, int lane, int width = 32) {
  const unsigned own = threadIdx.x % 32;
  return graphgate_exchange(value, own / width * width + static_cast<unsigned>(lane) % width);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by, int width = 32) {
  const unsigned own = threadIdx.x % 32;
  const bool is_there = own % width + by < static_cast<unsigned>(width);
  return graphgate_exchange(value, is_there ? own + by : own);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int with, int width = 32) {
  const unsigned own = threadIdx.x % 32;
  const unsigned other = own ^ static_cast<unsigned>(with);
  return graphgate_exchange(value, other / width <= own / width ? other : own);
}
inline unsigned __ballot_sync(unsigned, int predicate) {
  unsigned char* const slots = graphgate_current->exchange();
  slots[threadIdx.x % 32 * 64] = predicate != 0;
  graphgate_current->wait_for_warp();
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) lanes |= unsigned{slots[lane * 64]} << lane;
  return lanes;
}
inline int __any_sync(unsigned warp, int predicate) { return __ballot_sync(warp, predicate) != 0; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }

// Threads of the emulator run one at a time.
template <class T>
T atomicCAS(T* at, T expected, T value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}
template <class T>
T atomicAdd(T* at, T value) {
  const T old = *at;
  *at = old + value;
  return old;
}
