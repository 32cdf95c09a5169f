// Recording the function of a higher-order operation as a nested graph.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/session.h"

namespace whittle::api {

/// What a function recorded, and the tensors from around it that it reads.
struct RecordedBody {
    Graph graph = {};                     ///< all nodes, without an output
    std::vector<NodeRef> arguments = {};  ///< its placeholders of what the function is called with
    std::vector<NodeRef> results = {};
    std::vector<ImplPtr> captured = {};  ///< read from around it …
    std::vector<NodeRef> lifted = {};    ///< … and their placeholders
};

/// Calls the function on tensors without values. Throws NestedBreak where it cannot be recorded, and what it throws.
RecordedBody record_body(const std::string& name, const std::function<TensorList(const TensorList&)>& function,
                         const std::vector<ValueMeta>& arguments, bool with_stacks);

/// The bodies of one operation as graphs of the same placeholders: the arguments, then what any of them captures.
struct Bodies {
    std::vector<ImplPtr> captured = {};
    std::vector<std::shared_ptr<const Graph>> graphs = {};
};
Bodies finish_bodies(const std::vector<RecordedBody>& bodies, const std::string& argument);

}  // namespace whittle::api
