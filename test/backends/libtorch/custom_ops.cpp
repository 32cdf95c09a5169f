// An op that a program registers with LibTorch: the registry does not know it.
#pragma push_macro("CHECK")  // LibTorch has one of its own
#include <torch/library.h>
#pragma pop_macro("CHECK")

namespace {

at::Tensor scale(const at::Tensor& x, double by) { return x.mul(by); }

}  // namespace

TORCH_LIBRARY(whittle_test, library) { library.def("scale(Tensor x, float by=2.) -> Tensor", scale); }
