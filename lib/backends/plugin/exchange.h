// Tensors and graphs across the interface of whittle_backend.h, both ways: for the host, and for backends in C++ that
// use this library.
#pragma once

#include <string>
#include <vector>

#include "backends/plugin/whittle_backend.h"
#include "graph/backend.h"

namespace whittle {

/// The tensor as the interface has it; valid as long as `tensor` and the texts.
whittle_tensor offer(const Tensor& tensor, const char* name = nullptr, const char* hash = nullptr);

/// A copy of a tensor from the other side. Throws Error for what cannot be one.
Tensor receive(const whittle_tensor& tensor);

/// A graph as the interface has it, with everything that it points to.
class OfferedGraph {
  public:
    OfferedGraph(const Graph& graph, const BackendOptions& options);
    OfferedGraph(const OfferedGraph&) = delete;  // its parts point into each other
    OfferedGraph& operator=(const OfferedGraph&) = delete;

    const whittle_graph* view() const { return &view_; }

  private:
    struct Attribute {
        std::string name, hash;
        Tensor tensor;
    };
    void collect(const Graph& graph, const std::string& prefix, const std::map<std::string, Tensor>& sidecar);

    std::string json_;
    std::vector<Attribute> attributes_;
    std::vector<whittle_tensor> tensors_;
    BackendOptions options_;
    std::vector<whittle_option> option_pointers_;
    whittle_graph view_{};
};

/// The graph from the other side, its attributes copied. Throws Error as graph_from_json does.
Graph receive(const whittle_graph& graph);

}  // namespace whittle
