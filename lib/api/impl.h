// What is behind a whittle::Tensor of the API. Internal: never included by users' programs.
#pragma once

#ifndef WHITTLE_API_IMPLEMENTATION
#error "for the library's own files: define WHITTLE_API_IMPLEMENTATION"
#endif

#include <whittle/api/tensor.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "capture/memory.h"
#include "graph/graph.h"
#include "graph/schema.h"
#include "ops/core/memory.h"

namespace whittle::api {

class Session;
struct AutogradMeta;

/// A dimension whose size may vary, within bounds.
struct MarkedDim {
    std::size_t dim = 0;
    std::optional<std::int64_t> least = {}, most = {};
};

/// Either a value, or (inside a compiled function) a node of the graph that is being recorded.
struct TensorImpl {
    std::uint64_t key = 0;  ///< identity, never reused
    ValueMeta meta = {};    ///< always right
    std::optional<whittle::Tensor> value = {};
    std::shared_ptr<Session> session = {};        ///< set while the value is pending
    NodeRef node = {};                            ///< in the session's graph
    capture::Place place = {};                    ///< in the session's memory, while pending
    std::vector<MarkedDim> marked_dims = {};      ///< as mark_dynamic() was told, each once
    std::string qualified_name = {};              ///< of a module's parameter: "layers.0.weight"
    std::shared_ptr<AutogradMeta> autograd = {};  ///< null: nobody asked
};

using ImplPtr = std::shared_ptr<TensorImpl>;

ImplPtr make_impl(whittle::Tensor value);
/// Without a value yet.
ImplPtr make_pending(const ValueMeta& meta);
inline Tensor wrap(whittle::Tensor value) { return Tensor(make_impl(std::move(value))); }

// Both enumerations are made of dtypes.def.
inline whittle::DType to_internal(ScalarType type) { return static_cast<whittle::DType>(type); }
inline ScalarType to_api(whittle::DType type) { return static_cast<ScalarType>(type); }

whittle::Scalar to_internal(const Scalar& scalar);

/// Why a value is demanded.
struct Demand {
    int kind = 0;             ///< capture::BreakKind
    std::string reason = {};  ///< "item()"
    std::string op = {};      ///< "aten.item"
    void* pc = nullptr;       ///< return address of the demanding call
};

/// The value of a defined tensor: a graph break when it is pending. `what` names the operation for the error when the
/// tensor is undefined.
const whittle::Tensor& demand(const Tensor& tensor, const Demand& why);
TensorImpl& defined(const Tensor& tensor, const char* what);

}  // namespace whittle::api
