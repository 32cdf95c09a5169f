// The parts of what a compiler made of a graph, a file of nodes, each judged alone: the nodes of the file against those
// of the graph that they replace, on the operands that the reference computes.
#pragma once

#include "judge/kernels.h"

namespace whittle {

/// Of a backend that offers WritesOptimized (graph/onnx_file.h). `whole` is the verdict on the graph as it is.
KernelJudgements judge_optimized(const FailingCase& asked, const Judgement& whole, Backend& backend);

}  // namespace whittle
