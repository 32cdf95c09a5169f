// Samples of lib/ops/aten/least_squares.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples least_squares_samples(DType dtype) {
    const auto call = [&](const std::string& label, const Sizes& a, const Sizes& b, const char* driver = nullptr) {
        Sample sample = call_of(label, {random(dtype, a, 1), random(dtype, b, 2)});
        if (driver) sample.kwargs.emplace_back("driver", driver);
        return sample;
    };
    return {call("tall", {4, 2}, {4, 3}),          call("wide", {2, 4}, {2, 3}),
            call("batch", {2, 4, 2}, {1, 4, 2}),   call("vectors", {2, 4, 2}, {2, 4}),
            call("gels", {4, 2}, {4, 3}, "gels"),  call("gelsd", {4, 2}, {4, 3}, "gelsd"),
            call("gelss", {2, 3}, {2, 3}, "gelss")};
}

}  // namespace

Table least_squares_table() { return {{{"aten.linalg_lstsq.default"}, least_squares_samples}}; }

}  // namespace whittle::samples
