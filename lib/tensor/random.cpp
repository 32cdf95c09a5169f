#include "tensor/random.h"

#include <cmath>

#include "base/error.h"
#include "tensor/compute.h"

namespace whittle {

std::uint64_t Random::next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

std::int64_t Random::below(std::int64_t bound) {
    WHITTLE_CHECK(bound > 0, "an empty range");
    const auto n = static_cast<std::uint64_t>(bound);
    // Values below 2^64 mod n would make small results more likely.
    const std::uint64_t rejected = (0 - n) % n;
    std::uint64_t value = next();
    while (value < rejected) value = next();
    return static_cast<std::int64_t>(value % n);
}

double Random::normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is in (0, 1]
    const double angle = 2 * 3.14159265358979323846 * uniform();
    return radius * std::cos(angle);
}

Tensor random_tensor(DType dtype, Sizes sizes, Random& random) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    if (is_complex(dtype)) {
        std::vector<Complex128> values(count);
        for (Complex128& value : values) {
            const double real = random.normal();
            value = {real, random.normal()};
        }
        return store(values, dtype, std::move(sizes));
    }
    if (is_floating(dtype)) {
        std::vector<double> values(count);
        for (double& value : values) value = random.normal();
        return store(values, dtype, std::move(sizes));
    }
    std::vector<std::int64_t> values(count);
    for (std::int64_t& value : values) value = random.below(2);
    return store(values, dtype, std::move(sizes));
}

}  // namespace whittle
