// Functions on the API's tensors in place of a compiled graph: those of a backend that is a function of the program,
// and those that a debugger steps through.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/compile.h"
#include "api/impl.h"
#include "api/session.h"
#include "graph/backend.h"

namespace whittle::api {

TensorList wrapped(std::span<const whittle::Tensor> values);
/// Throws Error, with `what` they are, for an undefined one.
std::vector<whittle::Tensor> values_of(const TensorList& tensors, const std::string& what);

/// Runs `f`, of which nothing is recorded; what it throws is nested in the BackendError that says so.
template <class F>
auto guarded(const std::string& backend, const std::string& stage, const std::string& graph, F&& f) {
    const NotRecording not_recording;
    const auto failed = [&](const std::string& words) {
        return BackendError("backend " + backend + " failed at " + stage + " of graph " + graph + ": " + words);
    };
    try {
        return f();
    } catch (const std::exception& error) {
        std::throw_with_nested(failed(error.what()));
    } catch (...) {
        std::throw_with_nested(failed("an exception that is not a std::exception"));
    }
}

/// Given copies of the inputs in their order; what it returns must have the metas of the graph's outputs. What it
/// throws is the failure of `backend`, a BackendError.
std::unique_ptr<Executable> function_executable(const std::string& backend, const Graph& graph,
                                                std::function<TensorList(const TensorList&)> callable);

}  // namespace whittle::api
