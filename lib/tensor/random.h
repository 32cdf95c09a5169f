// Seeded tensor contents that do not depend on the standard library: a seed means the same data everywhere.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace whittle {

/// splitmix64; https://prng.di.unimi.it/splitmix64.c.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    /// Uniform in [0, 1).
    double uniform();
    /// Uniform in [0, bound); bound > 0.
    std::int64_t below(std::int64_t bound);
    /// Standard normal (Box and Muller 1958).
    double normal();

  private:
    std::uint64_t state_;
};

/// Standard normal for floating dtypes, coin flips for integers (0 and 1 index any table of
/// two rows) and bool.
Tensor random_tensor(DType dtype, Sizes sizes, Random& random);

}  // namespace whittle
