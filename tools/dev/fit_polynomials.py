#!/usr/bin/env python3
"""Prints optimized/arithmetic/tables.h: polynomials, tables and constants of the elementary functions.

usage: fit_polynomials.py > optimized/arithmetic/tables.h   (needs mpmath; then run clang-format)

A polynomial is the Chebyshev interpolant of the function on its interval, computed with 100 digits
and rounded to double coefficient by coefficient; its greatest relative error is printed beside it.
"""
import struct

from mpmath import mp, mpf

mp.dps = 400


def hex_double(value):
    return float(value).hex().replace("0x0.0p+0", "0x0p+0")


def print_array(kind, name, comment, rows):
    print(f"// {comment}")
    print(f"inline constexpr std::array<{kind}, {len(rows)}> {name} = {{{{")
    print(",\n".join(rows))
    print("}};\n")


def fit(name, function, low, high, degree, weight, what):
    """weight(x) turns an error of the polynomial into an error relative to the whole function.

    What the first coefficient loses in rounding is printed apart, as NAMELow.
    """
    mp.dps = 100
    low, high = mpf(low), mpf(high)
    nodes = [mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    xs = [(high + low) / 2 + (high - low) / 2 * node for node in nodes]
    matrix = mp.matrix(degree + 1, degree + 1)
    for i, x in enumerate(xs):
        for j in range(degree + 1):
            matrix[i, j] = x**j
    solution = mp.lu_solve(matrix, mp.matrix([function(x) for x in xs]))
    rounded = [float(solution[i]) for i in range(degree + 1)]
    first_low = float(solution[0] - mpf(rounded[0]))
    worst = mpf(0)
    for i in range(401):
        x = low + (high - low) * i / 400
        value = mp.polyval([mpf(c) for c in reversed(rounded)], x) + first_low
        worst = max(worst, abs((value - function(x)) * weight(x)))
    bound = mp.nstr(mp.log(worst, 2), 4)
    print_array("double", name, f"{what}; error 2^{bound} with these coefficients.",
                [hex_double(c) for c in rounded])
    print(f"inline constexpr double {name}Low = {hex_double(first_low)};")


def print_polynomials():
    half_ln2 = mp.log(2) / 2 * mpf("1.001")
    fit("kExpTail", lambda r: (mp.exp(r) - 1 - r - r * r / 2) / r**3 if abs(r) > 1e-9 else mpf(1) / 6,
        -half_ln2, half_ln2, 9, lambda r: r**3 / mp.exp(r),
        "exp(r) = 1 + r + r^2/2 + r^3 * tail(r), |r| <= ln2/2")
    edge = mpf(2)**-7 * mpf("1.05")
    fit("kLogTail",
        lambda r: (mp.log1p(r) - r + r * r / 2) / r**3 if abs(r) > 1e-20 else mpf(1) / 3,
        -edge, edge, 6, lambda r: r * r,
        "log(1+r) = r - r^2/2 + r^3 * tail(r), |r| <= 2^-7 * 1.05")
    quarter = (mp.pi / 4 * mpf("1.001"))**2
    fit("kSinTail",
        lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z if z > 1e-30 else mpf(-1) / 6,
        0, quarter, 6, lambda z: z, "sin(r) = r + r^3 * tail(r^2), |r| <= pi/4")
    fit("kCosTail",
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > 1e-20 else mpf(1) / 24,
        0, quarter, 6, lambda z: z * z, "cos(r) = 1 - r^2/2 + r^4 * tail(r^2), |r| <= pi/4")
    fit("kAtanTail",
        lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z if z > 1e-30 else mpf(-1) / 3,
        0, (mpf(1) / 63)**2, 4, lambda z: z, "atan(t) = t + t^3 * tail(t^2), |t| <= 1/63")
    fit("kErfTail",
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z > 1e-30 else 2 / mp.sqrt(mp.pi) - 1,
        0, 1, 14, lambda z: mpf(1), "erf(x) = x + x * tail(x^2), |x| <= 1")
    # erfcx(x) = exp(x^2) erfc(x); the map and the factor make it nearly constant.
    def scaled(t):
        if t >= 1:
            return 2 / mp.sqrt(mp.pi)
        x = 4 * (1 + t) / (1 - t)
        if x > 100:
            z = 1 / (2 * x * x)
            total, term = mpf(1), mpf(1)
            for k in range(1, 30):
                term *= -(2 * k - 1) * z
                total += term
            return (1 + 2 * x) / (x * mp.sqrt(mp.pi)) * total
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)
    fit("kErfcScaled", scaled, (mpf("0.5") - 4) / (mpf("0.5") + 4), mpf(30 - 4) / (30 + 4), 21,
        lambda t: 1 / scaled(t),
        "(1+2x) exp(x^2) erfc(x) in t = (x-4)/(x+4), 0.5 <= x <= 30")
    gamma_slope = lambda base: lambda t: (mp.loggamma(base + t) / t if abs(t) > 1e-15
                                          else mp.digamma(base))
    fit("kLogGammaAtOne", gamma_slope(mpf(1)), -0.25, 0.25, 20,
        lambda t: 1 / gamma_slope(mpf(1))(t), "lgamma(1+t) = t * p(t), |t| <= 1/4")
    fit("kLogGammaAtTwo", gamma_slope(mpf(2)), -0.25, 0.25, 17,
        lambda t: 1 / gamma_slope(mpf(2))(t), "lgamma(2+t) = t * p(t), |t| <= 1/4")


def pair_text(value):
    high = float(value)
    return f"{{{hex_double(high)}, {hex_double(value - high)}}}"


def on_grid(value, bits):
    return mp.nint(value * mpf(2)**bits) / mpf(2)**bits


def double_of_bits(bits):
    return mpf(struct.unpack("<d", struct.pack("<Q", bits))[0])


def print_log_table():
    mp.dps = 100
    start = 0x3FE6900000000000
    rows = []
    for i in range(128):
        low, high = (double_of_bits(start + ((i + k) << 45)) for k in (0, 1))
        inverse = on_grid(2 / (low + high), 8)
        if low <= 1 < high:
            inverse = mpf(1)
        worst = max(abs(low * inverse - 1), abs(high * inverse - 1))
        assert worst <= mpf(2)**-7 * mpf("1.05"), (i, mp.nstr(worst * 128))
        log_high = on_grid(-mp.log(inverse), 42)
        rows.append(f"{{{hex_double(inverse)}, {hex_double(log_high)}, "
                    f"{hex_double(-mp.log(inverse) - log_high)}}}")
    print(f"inline constexpr std::uint64_t kLogTableStart = {hex(start)};")
    print_array("LogRow", "kLogTable",
                "Row i serves the i-th 128th part of [start, 2*start), in steps of the bit pattern.",
                rows)


def print_constants():
    mp.dps = 400
    print(f"inline constexpr double kLn2High = {hex_double(on_grid(mp.log(2), 42))};  // 42 bits")
    print(f"inline constexpr double kLn2Low = {hex_double(mp.log(2) - on_grid(mp.log(2), 42))};")
    for name, value in (("kLn2", mp.log(2)), ("kInverseLn2", 1 / mp.log(2)),
                        ("kInverseLn10", 1 / mp.log(10)), ("kPi", mp.pi), ("kHalfPi", mp.pi / 2),
                        ("kHalfLogTwoPi", mp.log(2 * mp.pi) / 2),
                        ("kTwoOverSqrtPi", 2 / mp.sqrt(mp.pi)), ("kEulerGamma", mp.euler)):
        print(f"inline constexpr Pair {name} = {pair_text(value)};")
    print("// Ai(0) and -Ai'(0).")
    print(f"inline constexpr Pair kAiryAtZero = {pair_text(mp.airyai(0))};")
    print(f"inline constexpr Pair kAirySlope = {pair_text(-mp.airyai(0, derivative=1))};")
    rest = mp.pi / 2
    parts = []
    for bits in (32, 65, 98):
        part = mp.floor(rest * mpf(2)**bits) / mpf(2)**bits
        parts.append(part)
        rest -= part
    parts.append(rest)
    print_array("double", "kHalfPiParts", "pi/2 in parts of 33 bits, the last one of 53.",
                [hex_double(p) for p in parts])
    words = []
    value = mp.floor(2 / mp.pi * mpf(2)**(64 * 20))
    for i in range(20):
        words.append(f"0x{int(value) >> (64 * (19 - i)) & (2**64 - 1):016x}")
    print_array("std::uint64_t", "kTwoOverPiBits", "The first 1280 bits of 2/pi after the point.",
                words)
    mp.dps = 100
    print_array("Pair", "kAtanTable", "atan(j/32), j = 0..32.",
                [pair_text(mp.atan(mpf(j) / 32)) for j in range(33)])
    print_array("double", "kStirling", "B(2k) / (2k (2k-1)), k = 1..10: the tail of lgamma.",
                [hex_double(mp.bernoulli(2 * k) / (2 * k * (2 * k - 1))) for k in range(1, 11)])
    print_array("double", "kBernoulli", "B(2k) / (2k)!, k = 1..14: the tail of the zeta function.",
                [hex_double(mp.bernoulli(2 * k) / mp.factorial(2 * k)) for k in range(1, 15)])
    print_array("double", "kDigammaTail", "B(2k) / 2k, k = 1..10: the tail of digamma.",
                [hex_double(mp.bernoulli(2 * k) / (2 * k)) for k in range(1, 11)])


def main():
    print("""// Coefficients, tables and constants of the elementary functions; only those files read them.
//
// Written by tools/dev/fit_polynomials.py: do not edit. Polynomials are Chebyshev interpolants,
// lowest power first, rounded to double; the error stated is relative to the whole function.
#pragma once

#include <array>
#include <cstdint>

#include "optimized/arithmetic/double_double.h"

namespace graphgate::optimized::tables {

// inverse is 1/m to 9 bits for every m of the row; high (a multiple of 2^-42) + low = -log(inverse).
struct LogRow {
  double inverse = 1;
  double high = 0;
  double low = 0;
};
""")
    print_constants()
    print_polynomials()
    print_log_table()
    print("}  // namespace graphgate::optimized::tables")


if __name__ == "__main__":
    main()
