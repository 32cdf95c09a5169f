// The generator behind random ops: one for the process, so that a seed fixes every draw of a run that follows.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/schema.h"

namespace whittle {

/// As torch.manual_seed: the next draws are those of this seed. The first seed of a process is 0.
void seed_random_ops(std::uint64_t seed);

/// As long as it lives, this thread draws from a copy of the generator: what the process draws later does not depend on
/// it, and what other threads draw meanwhile is not disturbed.
class RandomApart {
  public:
    RandomApart();
    ~RandomApart();
    RandomApart(const RandomApart&) = delete;
    RandomApart& operator=(const RandomApart&) = delete;

    struct Generator;

  private:
    std::unique_ptr<Generator> copy_;
    Generator* before_;
};

/// Of a random op: whether the values of its operand matter, and not only what kind of tensor it is.
bool draws_by_values(const Schema& schema);

}  // namespace whittle
