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

/// Inputs whose given values are used while the model is read.
struct KnownInputs {
    std::map<std::string, Tensor> values = {};  ///< by name
    std::set<std::string> constants = {};       ///< of these, those that are constants for all that reads them
    std::set<std::string> readers = {};         ///< calls for which the others are constants

    /// Makes all of them constants for all that reads them. False: they are.
    bool make_constants() {
        const std::size_t before = constants.size();
        for (const auto& [name, value] : values) constants.insert(name);
        return constants.size() > before;
    }
};

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
    KnownInputs known = {};
    std::set<std::string> wanted = {};  ///< inputs whose value has to be known to all that reads them
    std::map<std::string, std::set<std::string>> wanted_by = {};  ///< calls that need an input's value, by input
    std::set<std::string> written_out = {};  ///< places of loops that are read one iteration after another
    bool opaque_calls = false;               ///< there are some: LoadOptions::opaque
    bool body_needs_constant = false;        ///< a node of a nested graph does, for all its iterations
    FreeNames free_names = {};
    std::deque<onnx::GraphProto> bodies = {};  ///< graphs that are read several times, a copy for each
};

/// Constants up to this many elements are computed while loading.
inline constexpr std::int64_t kFoldedElements = 4096;

}  // namespace whittle::onnx_proto
