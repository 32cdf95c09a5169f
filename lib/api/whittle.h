// Everything a program needs: tensors with ATen's operations, modules, compile() and explain(). Light: the standard
// library only.
//
//   #include <whittle/whittle.h>
//   auto fast = whittle::compile(f, {.backend = "halide"});
//   whittle::Tensor y = fast(whittle::randn({3, 4}));
//
// Link CMake's Whittle::api.
#ifndef WHITTLE_WHITTLE_H
#define WHITTLE_WHITTLE_H

#include <whittle/api/autograd.h>
#include <whittle/api/backends.h>
#include <whittle/api/compile.h>
#include <whittle/api/control.h>
#include <whittle/api/custom.h>
#include <whittle/api/explain.h>
#include <whittle/api/hooks.h>
#include <whittle/api/later.h>
#include <whittle/api/modes.h>
#include <whittle/api/module.h>
#include <whittle/api/recompiles.h>
#include <whittle/api/register_op.h>
#include <whittle/api/tensor.h>

#endif
