// What is left to do where capture itself fails (features.md A15): what was recorded is computed as if it never had
// been, and the rest of the frame runs as it is.
#pragma once

#include <map>
#include <vector>

#include "api/impl.h"
#include "api/thrown.h"
#include "base/error.h"

namespace whittle::api {

/// Capture could not do its own work. Not an std::exception: no handler of the program's is meant.
struct CaptureFailed {
    Thrown thrown;
};

/// Runs a part of capture's own work: what it throws is a CaptureFailed, but for the program's mistakes (Error), which
/// it is told as it would be without capture.
template <class F>
auto capture_step(bool whole_stacks, const F& work) {
    try {
        const CaptureStep step(whole_stacks);
        return work();
    } catch (const Error&) {
        throw;
    } catch (const std::exception&) {
        throw CaptureFailed{thrown_here()};
    }
}

/// Computes the graph call by call: writes go where they went, and gradients are tracked where they were. `given`: the
/// tensors of its placeholders and get_attrs. Returns the `wanted` values. Throws Error for nested graphs through which
/// gradients flow: only a compiled graph has those.
TensorList run_uncompiled(const Graph& graph, const std::map<NodeId, ImplPtr>& given,
                          const std::vector<NodeRef>& wanted);

/// The tensor has what the other one is.
void take_value(TensorImpl& pending, const Tensor& computed);

}  // namespace whittle::api
