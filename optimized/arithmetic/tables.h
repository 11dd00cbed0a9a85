// Coefficients, tables and constants of the elementary functions; only those files read them.
//
// Written by tools/dev/fit_polynomials.py: do not edit. Polynomials are Chebyshev interpolants,
// lowest power first, rounded to double; the error stated is relative to the whole function.
#pragma once

#include <array>
#include <cstdint>

#include "optimized/arithmetic/double_double.h"

namespace graphgate::optimized::tables {

// inverse is 1/m to 9 bits for every m of the row; high (a multiple of 2^-42) + low =
// -log(inverse).
struct LogRow {
  double inverse = 1;
  double high = 0;
  double low = 0;
};

inline constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // 42 bits
inline constexpr double kLn2Low = 0x1.ef35793c76730p-45;
inline constexpr Pair kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr Pair kInverseLn2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr Pair kInverseLn10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
inline constexpr Pair kPi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
inline constexpr Pair kHalfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
inline constexpr Pair kHalfLogTwoPi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
inline constexpr Pair kTwoOverSqrtPi = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
inline constexpr Pair kEulerGamma = {0x1.2788cfc6fb619p-1, -0x1.6cb90701fbfabp-58};
// Ai(0) and -Ai'(0).
inline constexpr Pair kAiryAtZero = {0x1.6b8c7962715b8p-2, 0x1.7a96d7bb04e65p-56};
inline constexpr Pair kAirySlope = {0x1.0907f42b70f8bp-2, -0x1.d1459035afde2p-56};
// pi/2 in parts of 33 bits, the last one of 53.
inline constexpr std::array<double, 4> kHalfPiParts = {
    {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e000000p-69, 0x1.b839a252049c1p-104}};

// The first 1280 bits of 2/pi after the point.
inline constexpr std::array<std::uint64_t, 20> kTwoOverPiBits = {
    {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
     0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
     0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
     0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
     0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d}};

// atan(j/32), j = 0..32.
inline constexpr std::array<Pair, 33> kAtanTable = {
    {{0x0p+0, 0x0p+0},
     {0x1.ffd55bba97625p-6, -0x1.5ec431444912cp-60},
     {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
     {0x1.7ee182602f10fp-4, -0x1.cfb654c0c3d98p-58},
     {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
     {0x1.3d6eee8c6626cp-3, 0x1.61a3b0ce9281bp-57},
     {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
     {0x1.b90d7529260a2p-3, 0x1.17b10d2e0e5abp-61},
     {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
     {0x1.18bf5a30bf178p-2, 0x1.30ca4748b1bf9p-57},
     {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
     {0x1.530ad9951cd4ap-2, -0x1.2566480884082p-57},
     {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
     {0x1.8b24d394a1b25p-2, 0x1.b6d0ba3748fa8p-56},
     {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
     {0x1.c0db4c94ec9f0p-2, -0x1.cc1ce70934c34p-56},
     {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
     {0x1.f40dd0b541418p-2, -0x1.a3992dc382a23p-57},
     {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
     {0x1.1255d9bfbd2a9p-1, -0x1.2bdaee1c0ee35p-58},
     {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
     {0x1.2958e59308e31p-1, -0x1.09e73b0c6c087p-56},
     {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
     {0x1.3f13fb89e96f4p-1, 0x1.ecf8b492644f0p-56},
     {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
     {0x1.538f57b89061fp-1, -0x1.1bb74abda520cp-55},
     {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
     {0x1.66d663923e087p-1, -0x1.6ea6febe8bbbap-56},
     {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
     {0x1.78f6bbd5d315ep-1, 0x1.406a089803740p-55},
     {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
     {0x1.89ff5ff57f1f8p-1, -0x1.55b9a5e177a1bp-55},
     {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}}};

// B(2k) / (2k (2k-1)), k = 1..10: the tail of lgamma.
inline constexpr std::array<double, 10> kStirling = {
    {0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11, -0x1.3813813813814p-11,
     0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10, 0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6,
     0x1.6fe96381e0680p-3, -0x1.6476701181f3ap+0}};

// B(2k) / (2k)!, k = 1..14: the tail of the zeta function.
inline constexpr std::array<double, 14> kBernoulli = {
    {0x1.5555555555555p-4, -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
     0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42,
     0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58, -0x1.497d9033a2b5cp-63,
     0x1.0b132d7c6ad06p-68, -0x1.b0f72d59f1c16p-74}};
// B(2k) / 2k, k = 1..10: the tail of digamma.
inline constexpr std::array<double, 10> kDigammaTail = {
    {0x1.5555555555555p-4, -0x1.1111111111111p-7, 0x1.0410410410410p-8, -0x1.1111111111111p-8,
     0x1.f07c1f07c1f08p-8, -0x1.5995995995996p-6, 0x1.5555555555555p-4, -0x1.c5e5e5e5e5e5ep-2,
     0x1.86e7f9b9fe6e8p+1, -0x1.a74ca514ca515p+4}};

// exp(r) = 1 + r + r^2/2 + r^3 * tail(r), |r| <= ln2/2; error 2^-60.97 with these coefficients.
inline constexpr std::array<double, 10> kExpTail = {
    {0x1.5555555555556p-3, 0x1.5555555555555p-5, 0x1.11111111109a6p-7, 0x1.6c16c16c167dap-10,
     0x1.a01a01a7cebcdp-13, 0x1.a01a01a48116fp-16, 0x1.71de0d85293b8p-19, 0x1.27e4e1dcf773bp-22,
     0x1.af390ba7e6f47p-26, 0x1.1f6717774d5e0p-29}};

inline constexpr double kExpTailLow = -0x1.8609af4436020p-57;
// log(1+r) = r - r^2/2 + r^3 * tail(r), |r| <= 2^-7 * 1.05; error 2^-71.67 with these coefficients.
inline constexpr std::array<double, 7> kLogTail = {
    {0x1.5555555555555p-2, -0x1.000000000003cp-2, 0x1.9999999999a07p-3, -0x1.55555547b7ea9p-3,
     0x1.2492491831b86p-3, -0x1.00062ca7a0ab3p-3, 0x1.c727abb2dd240p-4}};

inline constexpr double kLogTailLow = 0x1.5555555555555p-56;
// sin(r) = r + r^3 * tail(r^2), |r| <= pi/4; error 2^-66.13 with these coefficients.
inline constexpr std::array<double, 7> kSinTail = {
    {-0x1.5555555555555p-3, 0x1.1111111111110p-7, -0x1.a01a01a019926p-13, 0x1.71de3a545e700p-19,
     -0x1.ae64540f0ba18p-26, 0x1.61217c1864fa1p-33, -0x1.ab161757f0c63p-41}};

inline constexpr double kSinTailLow = -0x1.54e6559063ea6p-57;
// cos(r) = 1 - r^2/2 + r^4 * tail(r^2), |r| <= pi/4; error 2^-65.93 with these coefficients.
inline constexpr std::array<double, 7> kCosTail = {
    {0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d02p-16, -0x1.27e4fb7711e1dp-22,
     0x1.1eed8de9ef73ep-29, -0x1.9394b76d1f265p-37, 0x1.ab76cf6e9b365p-45}};

inline constexpr double kCosTailLow = 0x1.553ca6b89ac66p-59;
// atan(t) = t + t^3 * tail(t^2), |t| <= 1/63; error 2^-80.0 with these coefficients.
inline constexpr std::array<double, 5> kAtanTail = {{-0x1.5555555555555p-2, 0x1.9999999999999p-3,
                                                     -0x1.2492492489d5ep-3, 0x1.c71c6ee968f73p-4,
                                                     -0x1.742a4d8954d8ap-4}};

inline constexpr double kAtanTailLow = -0x1.55549d068761dp-56;
// erf(x) = x + x * tail(x^2), |x| <= 1; error 2^-56.84 with these coefficients.
inline constexpr std::array<double, 15> kErfTail = {
    {0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042be2p-4, -0x1.b82ce31288b47p-6,
     0x1.565bcd0e6a2eep-8, -0x1.c02db40035f1ep-11, 0x1.f9a326f7ac5b1p-14, -0x1.f4d25bf9af03ap-17,
     0x1.b9e6c38e5cf3dp-20, -0x1.5f73c3bf14b91p-23, 0x1.fcbb312b48443p-27, -0x1.517ce02f1265fp-30,
     0x1.9a0fcb5e22c5bp-34, -0x1.b40e7abf9f000p-38, 0x1.3c01fd3a74542p-42}};

inline constexpr double kErfTailLow = -0x1.ca38fed983545p-57;
// (1+2x) exp(x^2) erfc(x) in t = (x-4)/(x+4), 0.5 <= x <= 30; error 2^-57.54 with these
// coefficients.
inline constexpr std::array<double, 22> kErfcScaled = {
    {0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd484p-7,   0x1.16ecefcfa5408p-4,
     -0x1.9ddb23c3e75a6p-4,  0x1.7fee004e11b24p-4,   -0x1.0fb06dfe761d0p-4,  0x1.3079edf686de5p-5,
     -0x1.0962387b98a0fp-6,  0x1.49c6728b8b87ap-8,   -0x1.8d4aa33d60f9ep-11, -0x1.a1df2f6dfc2a3p-13,
     0x1.3be0f463a19cdp-13,  -0x1.995734e7d1a44p-16, -0x1.78a8a00b49108p-17, 0x1.7f09a6d2fa8d8p-18,
     0x1.429b49e372ae1p-22,  -0x1.b8da76eab3faap-21, 0x1.1c8f61dd1946bp-24,  0x1.c0d85685c8873p-24,
     -0x1.9a5622309eea4p-27, -0x1.599471166ff39p-27}};

inline constexpr double kErfcScaledLow = -0x1.8a632bd2c6b58p-55;
// lgamma(1+t) = t * p(t), |t| <= 1/4; error 2^-56.53 with these coefficients.
inline constexpr std::array<double, 21> kLogGammaAtOne = {
    {-0x1.2788cfc6fb619p-1, 0x1.a51a6625307d3p-1, -0x1.9a4d55beab2d7p-2, 0x1.151322ac7d860p-2,
     -0x1.a8b9c17aa6177p-3, 0x1.5b40cb10082e9p-3, -0x1.2703a1dce664ap-3, 0x1.010b36b1ff40ep-3,
     -0x1.c806707214321p-4, 0x1.9a01e1d90ff4cp-4, -0x1.748c3176b9876p-4, 0x1.556b2d4a6e952p-4,
     -0x1.3b1dea850aa73p-4, 0x1.248bd2887d35dp-4, -0x1.11089fba1aa52p-4, 0x1.00e2572d3fb3bp-4,
     -0x1.e39252ab062ccp-5, 0x1.b15a97fa43bffp-5, -0x1.9a53e6fe3da71p-5, 0x1.15eca180c2ed4p-4,
     -0x1.090a16066289dp-4}};

inline constexpr double kLogGammaAtOneLow = 0x1.6cb90701fbfabp-58;
// lgamma(2+t) = t * p(t), |t| <= 1/4; error 2^-56.47 with these coefficients.
inline constexpr std::array<double, 18> kLogGammaAtTwo = {
    {0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a557607p-4, 0x1.51322ac7d8483p-6,
     -0x1.e404fc218f601p-8, 0x1.7add6eadb6c3ep-9, -0x1.38ac5c2bf672fp-10, 0x1.0b36af8637200p-11,
     -0x1.d3fd4c7d0f114p-13, 0x1.a127b0f769e58p-14, -0x1.78de5759866a3p-15, 0x1.580dcaa18a23ap-16,
     -0x1.3cbe7c8d8ac8bp-17, 0x1.259971ad320f0p-18, -0x1.113b640b292f9p-19, 0x1.ffe67ba558210p-21,
     -0x1.00ee7692c5b19p-21, 0x1.e555cea16d1e0p-23}};

inline constexpr double kLogGammaAtTwoLow = 0x1.6cb8cd86f1ffep-58;
inline constexpr std::uint64_t kLogTableStart = 0x3fe6900000000000;
// Row i serves the i-th 128th part of [start, 2*start), in steps of the bit pattern.
inline constexpr std::array<LogRow, 128> kLogTable = {
    {{0x1.6a00000000000p+0, -0x1.62c82f2b9c000p-2, -0x1.e54bdbd7c8a98p-44},
     {0x1.6800000000000p+0, -0x1.5d1bdbf581000p-2, 0x1.8d6bdc9c7c238p-44},
     {0x1.6600000000000p+0, -0x1.5767717456000p-2, 0x1.64ead9524d7cap-44},
     {0x1.6400000000000p+0, -0x1.51aad872e0000p-2, 0x1.f4bd8db0a7cc1p-44},
     {0x1.6200000000000p+0, -0x1.4be5f95778000p-2, 0x1.d7c92cd9ad824p-44},
     {0x1.6000000000000p+0, -0x1.4618bc21c6000p-2, 0x1.3d82f484c84ccp-46},
     {0x1.5e00000000000p+0, -0x1.404308686a000p-2, -0x1.f8ef43049f7d3p-44},
     {0x1.5d00000000000p+0, -0x1.3d54fa5c1f000p-2, -0x1.c3e1cd9a395e3p-44},
     {0x1.5b00000000000p+0, -0x1.3772662bfe000p-2, 0x1.e9436ac53b023p-44},
     {0x1.5900000000000p+0, -0x1.31871c9544000p-2, -0x1.84fab94cecfd9p-46},
     {0x1.5700000000000p+0, -0x1.2b9303ab8a000p-2, 0x1.6db12d6bfb0a5p-45},
     {0x1.5500000000000p+0, -0x1.2596010df7000p-2, -0x1.8e7bc224ea3e3p-44},
     {0x1.5400000000000p+0, -0x1.22941fbcf8000p-2, 0x1.a6976f5eb0963p-44},
     {0x1.5200000000000p+0, -0x1.1c898c169a000p-2, 0x1.81410e5c62affp-44},
     {0x1.5000000000000p+0, -0x1.1675cababa000p-2, -0x1.8380e731f55c4p-44},
     {0x1.4e00000000000p+0, -0x1.1058bf9ae5000p-2, 0x1.4ab9d817d52cdp-44},
     {0x1.4d00000000000p+0, -0x1.0d46b579ab000p-2, -0x1.d2c81f640e1e6p-44},
     {0x1.4b00000000000p+0, -0x1.071b85fcd6000p-2, 0x1.bcb8ba3e01a11p-44},
     {0x1.4900000000000p+0, -0x1.00e6c45ad5000p-2, -0x1.cc68d52e01203p-50},
     {0x1.4800000000000p+0, -0x1.fb9186d5e4000p-3, 0x1.d572aab993c87p-47},
     {0x1.4600000000000p+0, -0x1.ef0adcbdc6000p-3, 0x1.b26b79c86af24p-45},
     {0x1.4400000000000p+0, -0x1.e27076e2b0000p-3, 0x1.a342c2af0003cp-44},
     {0x1.4300000000000p+0, -0x1.dc1bca0abe000p-3, -0x1.8fac1a628ccc6p-44},
     {0x1.4100000000000p+0, -0x1.cf6354e09c000p-3, -0x1.771239a07d55bp-45},
     {0x1.4000000000000p+0, -0x1.c8ff7c79aa000p-3, 0x1.7794f689f8434p-45},
     {0x1.3e00000000000p+0, -0x1.bc286742d8000p-3, -0x1.9ac53f39d121cp-44},
     {0x1.3d00000000000p+0, -0x1.b5b519e8fc000p-3, 0x1.4b722ec011f31p-44},
     {0x1.3b00000000000p+0, -0x1.a8becfc882000p-3, -0x1.e3185cf21b9cfp-44},
     {0x1.3a00000000000p+0, -0x1.a23bc1fe2c000p-3, 0x1.539cd91dc9f0bp-44},
     {0x1.3800000000000p+0, -0x1.9525a9cf46000p-3, 0x1.297137d9f158fp-44},
     {0x1.3700000000000p+0, -0x1.8e928de886000p-3, -0x1.a8154b13d72d5p-44},
     {0x1.3500000000000p+0, -0x1.815c0a1436000p-3, 0x1.02a52f9201ce8p-44},
     {0x1.3400000000000p+0, -0x1.7ab890210e000p-3, 0x1.bdb9072534a58p-45},
     {0x1.3200000000000p+0, -0x1.6d60fe719e000p-3, 0x1.bc6e557134767p-44},
     {0x1.3100000000000p+0, -0x1.66acd4272a000p-3, -0x1.aa1bdbfc6c785p-44},
     {0x1.2f00000000000p+0, -0x1.59338d9982000p-3, -0x1.0ba68b7555d4ap-48},
     {0x1.2e00000000000p+0, -0x1.526e5e3a1c000p-3, 0x1.790ba37fc5238p-44},
     {0x1.2d00000000000p+0, -0x1.4ba36f39a6000p-3, 0x1.4354bb3f219e5p-44},
     {0x1.2b00000000000p+0, -0x1.3dfc2b0ecc000p-3, -0x1.8a72a62b8c13fp-45},
     {0x1.2a00000000000p+0, -0x1.371fc201e8000p-3, -0x1.ee8779b2d8abcp-44},
     {0x1.2900000000000p+0, -0x1.303d718e48000p-3, 0x1.680b5ce3ecb05p-50},
     {0x1.2700000000000p+0, -0x1.2266f190a6000p-3, 0x1.4d20ab840e7f6p-45},
     {0x1.2600000000000p+0, -0x1.1b72ad52f6000p-3, -0x1.e80a41811a396p-45},
     {0x1.2500000000000p+0, -0x1.1478584674000p-3, -0x1.563451027c750p-46},
     {0x1.2300000000000p+0, -0x1.0671512ca6000p-3, 0x1.a47579cdc0a3dp-45},
     {0x1.2200000000000p+0, -0x1.fec9131dc0000p-4, 0x1.54555d1ae6607p-44},
     {0x1.2100000000000p+0, -0x1.f0a30c0118000p-4, 0x1.d599e83368e91p-44},
     {0x1.1f00000000000p+0, -0x1.d4313d66cc000p-4, 0x1.9454379135713p-45},
     {0x1.1e00000000000p+0, -0x1.c5e548f5bc000p-4, -0x1.d0c57585fbe06p-46},
     {0x1.1d00000000000p+0, -0x1.b78c82bb10000p-4, 0x1.25ef7bc3987e7p-44},
     {0x1.1c00000000000p+0, -0x1.a926d3a4ac000p-4, -0x1.563650bd22a9cp-44},
     {0x1.1a00000000000p+0, -0x1.8c345d6318000p-4, -0x1.b20f5acb42a66p-44},
     {0x1.1900000000000p+0, -0x1.7da766d7b0000p-4, -0x1.2cc844480c89bp-44},
     {0x1.1800000000000p+0, -0x1.6f0d28ae58000p-4, 0x1.4b4641b664613p-44},
     {0x1.1700000000000p+0, -0x1.60658a9374000p-4, -0x1.0c3b1dee9c4f8p-44},
     {0x1.1600000000000p+0, -0x1.51b073f060000p-4, -0x1.83f69278e686ap-44},
     {0x1.1500000000000p+0, -0x1.42edcbea64000p-4, -0x1.bc0eeea7c9acdp-46},
     {0x1.1300000000000p+0, -0x1.253f62f0a0000p-4, -0x1.416f8fb69a701p-44},
     {0x1.1200000000000p+0, -0x1.16536eea38000p-4, 0x1.47c5e768fa309p-46},
     {0x1.1100000000000p+0, -0x1.0759835990000p-4, 0x1.b8ecfe4b59987p-44},
     {0x1.1000000000000p+0, -0x1.f0a30c0118000p-5, 0x1.d599e83368e91p-45},
     {0x1.0f00000000000p+0, -0x1.d276b8adb0000p-5, -0x1.6a423c78a64b0p-46},
     {0x1.0e00000000000p+0, -0x1.b42dd71198000p-5, 0x1.c827ae5d6704cp-46},
     {0x1.0d00000000000p+0, -0x1.95c830ec90000p-5, 0x1.c148297c5feb8p-45},
     {0x1.0b00000000000p+0, -0x1.58a5bafc90000p-5, 0x1.b2b739570ad39p-45},
     {0x1.0a00000000000p+0, -0x1.39e87b9fe8000p-5, -0x1.eafd480ad9015p-44},
     {0x1.0900000000000p+0, -0x1.1b0d989240000p-5, 0x1.3401e9ae889bbp-44},
     {0x1.0800000000000p+0, -0x1.f829b0e780000p-6, -0x1.980267c7e09e4p-45},
     {0x1.0700000000000p+0, -0x1.b9fc027b00000p-6, 0x1.b9a010ae6922ap-44},
     {0x1.0600000000000p+0, -0x1.7b91b07d60000p-6, 0x1.3b955b602ace4p-44},
     {0x1.0500000000000p+0, -0x1.3cea443470000p-6, 0x1.6a2c432d6a40bp-44},
     {0x1.0400000000000p+0, -0x1.fc0a8b0fc0000p-7, -0x1.f1e7cf6d3a69cp-50},
     {0x1.0300000000000p+0, -0x1.7dc475f820000p-7, 0x1.eb1245b5da1f5p-44},
     {0x1.0200000000000p+0, -0x1.fe02a6b100000p-8, -0x1.9e23f0dda40e4p-46},
     {0x1.0100000000000p+0, -0x1.ff00aa2b00000p-9, -0x1.0bc04a086b56ap-45},
     {0x1.0000000000000p+0, 0x0p+0, 0x0p+0},
     {0x1.fc00000000000p-1, 0x1.0101575880000p-7, 0x1.bce251998b506p-44},
     {0x1.f800000000000p-1, 0x1.0205658930000p-6, 0x1.611d27c8e8417p-44},
     {0x1.f400000000000p-1, 0x1.8492528c90000p-6, -0x1.aa0ba325a0c34p-45},
     {0x1.f000000000000p-1, 0x1.0415d89e78000p-5, -0x1.dddc7f461c516p-44},
     {0x1.ec00000000000p-1, 0x1.466aed42e0000p-5, -0x1.c167375bdfd28p-45},
     {0x1.ea00000000000p-1, 0x1.67c94f2d48000p-5, 0x1.dac20827cca0cp-44},
     {0x1.e600000000000p-1, 0x1.aaef2d0fb0000p-5, 0x1.0fc1a353bb42ep-45},
     {0x1.e200000000000p-1, 0x1.eea31c0068000p-5, 0x1.c3dd83606d891p-44},
     {0x1.de00000000000p-1, 0x1.1973bd1464000p-4, 0x1.566d154f930b3p-44},
     {0x1.da00000000000p-1, 0x1.3bdf5a7d20000p-4, -0x1.19bd0ad125895p-44},
     {0x1.d800000000000p-1, 0x1.4d3115d208000p-4, -0x1.53a2582f4e1efp-48},
     {0x1.d400000000000p-1, 0x1.700d30aeac000p-4, 0x1.c1e8da99ded32p-49},
     {0x1.d000000000000p-1, 0x1.9335e5d594000p-4, 0x1.3115c3abd47dap-45},
     {0x1.ce00000000000p-1, 0x1.a4e7640b1c000p-4, -0x1.e42b6b94407c8p-47},
     {0x1.ca00000000000p-1, 0x1.c885801bc4000p-4, 0x1.646d1c65aacd3p-45},
     {0x1.c800000000000p-1, 0x1.da72763844000p-4, 0x1.a89401fa71733p-46},
     {0x1.c400000000000p-1, 0x1.fe89139dbc000p-4, 0x1.56594d82f7a82p-44},
     {0x1.c000000000000p-1, 0x1.1178e8227e000p-3, 0x1.1ef78ce2d07f2p-45},
     {0x1.be00000000000p-1, 0x1.1aa2b7e240000p-3, -0x1.1ac38dde3b366p-44},
     {0x1.ba00000000000p-1, 0x1.2d1610c868000p-3, 0x1.39d6ccb81b4a1p-47},
     {0x1.b800000000000p-1, 0x1.365fcb015a000p-3, -0x1.fd3a0afb9691bp-44},
     {0x1.b400000000000p-1, 0x1.4913d8333c000p-3, -0x1.53e43558124c4p-44},
     {0x1.b200000000000p-1, 0x1.527e5e4a1c000p-3, -0x1.4e60b8d4b411dp-44},
     {0x1.b000000000000p-1, 0x1.5bf406b544000p-3, -0x1.27023eb68981cp-46},
     {0x1.ac00000000000p-1, 0x1.6f0128b756000p-3, 0x1.577390d31ef0fp-44},
     {0x1.aa00000000000p-1, 0x1.7898d85444000p-3, 0x1.8e67be3dbaf3fp-44},
     {0x1.a600000000000p-1, 0x1.8beafeb390000p-3, -0x1.73d54aae92cd1p-47},
     {0x1.a400000000000p-1, 0x1.95a5adcf70000p-3, 0x1.7f22858a0ff6fp-47},
     {0x1.a200000000000p-1, 0x1.9f6c40708a000p-3, -0x1.337d94bcd3f43p-44},
     {0x1.9e00000000000p-1, 0x1.b31d8575bc000p-3, 0x1.c794e562a63cbp-44},
     {0x1.9c00000000000p-1, 0x1.bd087383be000p-3, -0x1.d4bc4595412b6p-45},
     {0x1.9a00000000000p-1, 0x1.c6ffbc6f00000p-3, 0x1.ee138d3a69d43p-44},
     {0x1.9800000000000p-1, 0x1.d1037f2656000p-3, -0x1.84a7e75b6f6e4p-47},
     {0x1.9400000000000p-1, 0x1.e530effe72000p-3, -0x1.fdbdbb13f7c18p-44},
     {0x1.9200000000000p-1, 0x1.ef5ade4dd0000p-3, -0x1.a211565bb8e11p-51},
     {0x1.9000000000000p-1, 0x1.f991c6cb3c000p-3, -0x1.90d04cd7cc834p-44},
     {0x1.8e00000000000p-1, 0x1.01eae5626c000p-2, 0x1.a43dcfade85aep-44},
     {0x1.8a00000000000p-1, 0x1.0c42d67616000p-2, 0x1.7188b163ceae9p-45},
     {0x1.8800000000000p-1, 0x1.1178e8227e000p-2, 0x1.1ef78ce2d07f2p-44},
     {0x1.8600000000000p-1, 0x1.16b5ccbad0000p-2, -0x1.23299042d74bfp-44},
     {0x1.8400000000000p-1, 0x1.1bf99635a7000p-2, -0x1.1ac89575c2125p-44},
     {0x1.8200000000000p-1, 0x1.214456d0ec000p-2, -0x1.caf0428b728a3p-44},
     {0x1.8000000000000p-1, 0x1.269621134e000p-2, -0x1.1b61f10522625p-44},
     {0x1.7e00000000000p-1, 0x1.2bef07cdc9000p-2, 0x1.a9cfa4a5004f4p-45},
     {0x1.7a00000000000p-1, 0x1.36b6776be1000p-2, 0x1.16ecdb0f177c8p-46},
     {0x1.7800000000000p-1, 0x1.3c25277333000p-2, 0x1.83b54b606bd5cp-46},
     {0x1.7600000000000p-1, 0x1.419b423d5f000p-2, -0x1.ce379226de3ecp-44},
     {0x1.7400000000000p-1, 0x1.4718dc271c000p-2, 0x1.06c18fb4c14c5p-44},
     {0x1.7200000000000p-1, 0x1.4c9e09e173000p-2, -0x1.e20891b0ad8a4p-45},
     {0x1.7000000000000p-1, 0x1.522ae0738a000p-2, 0x1.ebe708164c759p-45},
     {0x1.6e00000000000p-1, 0x1.57bf753c8d000p-2, 0x1.fadedee5d40efp-46},
     {0x1.6c00000000000p-1, 0x1.5d5bddf596000p-2, -0x1.a0b2a08a465dcp-47}}};

}  // namespace graphgate::optimized::tables
