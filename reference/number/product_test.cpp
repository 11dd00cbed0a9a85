#include "reference/number/product.h"

#include <gtest/gtest.h>

namespace graphgate::reference {
namespace {

Sampled of(long double value) { return {value, 0x1p-10, Sampled::Arithmetic::kFloat32}; }

// One number that fills a tensor has one error, which every factor repeats.
TEST(Product, ErrorsOfARepeatedFactorAddUp) {
  Product<Sampled> repeated(spec::DType::kFloat32);
  Product<Sampled> several(spec::DType::kFloat32);
  for (int i = 0; i < 8; ++i) repeated.include(of(2));
  for (const long double x : {32.0L, 4.0L, 2.0L, 1.0L}) several.include(of(x));
  EXPECT_EQ(repeated.result().value, several.result().value);
  EXPECT_GE(repeated.result().radius, 8 * 128 * 0x1p-10);
  // Of 1: 256 errors, of 2: 128, of 4: 64, of 32: 8.
  EXPECT_LT(several.result().radius, 1.01 * 256 * std::hypot(1, 0.5, 0.26) * 0x1p-10);
}

TEST(Product, ARunOfEqualFactorsIsMultipliedIntoTheOthers) {
  Product<Bounded> product(spec::DType::kFloat32);
  for (const double x : {3.0, 2.0, 2.0, 5.0}) {
    product.include({x, 0, Bounded::Arithmetic::kFloat32});
  }
  EXPECT_EQ(product.result().value, 60);
  EXPECT_EQ(product.result().radius, 0);
}

}  // namespace
}  // namespace graphgate::reference
