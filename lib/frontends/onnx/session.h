// What the import of one model shares among its graphs. Internal.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontends/onnx/load.h"
#include "frontends/onnx/order.h"
#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

struct Session {
    std::string file;
    const LoadOptions& options;
    ExternalFiles external;
    std::map<std::string, std::int64_t> opsets = {};  ///< "" is ai.onnx
    std::map<std::string, std::int64_t> dims = {};    ///< sizes of named dimensions, decided so far
    std::vector<Break> breaks = {};
    std::vector<std::string> unknown = {};
    std::map<std::string, std::size_t> folded = {};
    std::vector<std::string> assumed_dims = {};
    std::map<std::string, Tensor> constants = {};  ///< inputs that are constants, by name
    std::set<std::string> wanted = {};             ///< inputs whose value a node needs while it is read
    std::set<std::string> written_out = {};        ///< places of loops that are read one iteration after another
    bool opaque_calls = false;                     ///< there are some: LoadOptions::opaque
    bool body_needs_constant = false;              ///< a node of a nested graph does, for all its iterations
    FreeNames free_names = {};
    std::deque<onnx::GraphProto> bodies = {};  ///< graphs that are read several times, a copy for each
};

/// Constants up to this many elements are computed while loading.
inline constexpr std::int64_t kFoldedElements = 4096;

}  // namespace whittle::onnx_proto
