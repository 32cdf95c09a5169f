// The built-in backends: what is known of each of them without making it, from the table backends.def; and what makes
// them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "graph/backend.h"

namespace whittle {

inline constexpr std::string_view kOwnTracker = "Whittle's issue tracker";

/// What `explain diagnose` concludes where a backend is the first that fails: it adds one component to those before it.
struct Component {
    std::string_view culprit = {};                ///< empty: the backend is not tried
    CompileStage stage = CompileStage::captured;  ///< it says nothing of a suspect that consumes an earlier one
    std::string_view culprit_of_gradients = {};   ///< where only gradients are wrong; empty: the same
    std::string_view options = {};                ///< KEY=VALUE, where the defaults ask less
    bool stands_in = false;  ///< it is only asked about gradients of which the one before it says nothing
};

/// Finds a backend that another one names. Throws Error for one that is not there.
using FindBackend = std::function<std::unique_ptr<Backend>(const std::string& spec)>;

struct BuiltInBackend {
    std::string_view name = {};
    std::unique_ptr<Backend> (*make)(const BuiltInBackend& row, const FindBackend& find) = nullptr;
    std::string_view description = {}, needs = {}, options = {}, tracker = {};
    Component in_diagnosis = {};
};
std::span<const BuiltInBackend> built_in_backends();
/// Null: none has this name.
const BuiltInBackend* find_built_in(std::string_view name);

/// Of a row's text: "partition=default fw=ts".
BackendOptions options_in(std::string_view text);

// Each is defined beside its class, in this folder's neighbors.
#define WHITTLE_BACKEND(name, maker, ...) \
    std::unique_ptr<Backend> make_##maker(const BuiltInBackend& row, const FindBackend& find);
#include "backends/built_in/backends.def"

}  // namespace whittle
