// An op that a program registers with LibTorch: the registry does not know it.
#include <torch/library.h>

namespace {

at::Tensor scale(const at::Tensor& x, double by) { return x.mul(by); }

}  // namespace

TORCH_LIBRARY(whittle_test, library) { library.def("scale(Tensor x, float by=2.) -> Tensor", scale); }
