// The debug backends: each runs a graph in a way that only differs from its neighbour's by one part of the stack, so
// that the first one that fails names the part. What each proves is its description.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graph/backend.h"

namespace whittle {

/// Finds a backend that another one names. Throws Error for one that is not there.
using FindBackend = std::function<std::unique_ptr<Backend>(const std::string& spec)>;

/// explain(B): prints each graph's ops on stderr, as B is given it, and compiles it by B.
std::unique_ptr<Backend> make_explain_backend(std::unique_ptr<Backend> inner);

/// As eager; an op that throws is told as what it is here: the program ran, so what was captured of it is not it.
std::unique_ptr<Backend> make_eager_noexcept_backend();
/// As eager; after each op: operands that its schema does not declare as written have the same bits, results share
/// memory with operands only where it says so (of ops from outside; our own kernels may hand an operand on), and dtype,
/// sizes and strides of the results are the recorded ones. `find` finds LibTorch, which its part of a repro asks.
std::unique_ptr<Backend> make_eager_debug_backend(FindBackend find);
/// As eager, under the modes that its option modes=NAME;NAME… names (modes.h); here nan.
std::unique_ptr<Backend> make_eager_with_modes_backend();
/// Infers the metas of every call anew from those of the graph's inputs, compares them with the recorded ones, and runs
/// as eager. `find`: as above.
std::unique_ptr<Backend> make_pre_dispatch_eager_backend(FindBackend find);
/// Writes the graph as JSON and tensors and as text, reads both again, compares, and runs what was read as eager.
std::unique_ptr<Backend> make_roundtrip_backend();

/// As eager, and a judge of gradient rules that is not another autograd: gradients are the rules' own, unless they
/// differ from finite differences (program/finite_differences.h), which is a mismatch of gradients.
std::unique_ptr<Backend> make_finite_differences_backend();

/// Interprets functional graphs. Where something requires a gradient, whoever runs it (judge/outcome.h) gives it
/// forward and backward, cut as it says: by the options partition=default|min_cut and decompositions=none|core|backend;
/// here min_cut and none. fw=B and bw=B: forward and backward are compiled by these backends, which get the options
/// that are theirs, and not interpreted.
std::unique_ptr<Backend> make_aot_eager_backend(FindBackend find);
/// partition=default.
std::unique_ptr<Backend> make_aot_eager_default_partitioner_backend(FindBackend find);
/// decompositions=core.
std::unique_ptr<Backend> make_aot_eager_decomp_partition_backend(FindBackend find);
/// The same, where both parts are interpreted under a mode (modes.h). Option mode=NAME; here nan.
std::unique_ptr<Backend> make_aot_eager_decomp_partition_with_mode_backend(FindBackend find);
/// The same without it, where each call of both parts is also inferred anew, and its results held against that and
/// against its schema. Option ops=custom|all: only ops from outside, which is the default, or all.
std::unique_ptr<Backend> make_aot_eager_decomp_partition_crossref_backend(FindBackend find);
/// partition=default, and fw=ts and bw=ts: TorchScript (backends/libtorch) compiles both parts.
std::unique_ptr<Backend> make_aot_ts_backend(FindBackend find);

/// Buggy on purpose: as eager, but it refuses a graph that computes something and of which an input is no leaf of
/// autograd, as far as the graph says: one that requires a gradient and came from an earlier graph of the function.
std::unique_ptr<Backend> make_non_leaf_compile_error_backend();

}  // namespace whittle
