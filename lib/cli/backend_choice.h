// --backend and --backend-option, as every program has them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/spec.h"
#include "graph/backend.h"

namespace whittle {
struct LoadedFrame;
}

namespace whittle::cli {

class Tool;

struct BackendChoice {
    std::string name = {};                ///< as the user typed it; empty: the program's default
    std::vector<std::string> pairs = {};  ///< KEY=VALUE
    std::vector<std::filesystem::path> op_libraries = {};

    /// `fallback` is what the help page states as the default.
    void declare(Tool& tool, std::string_view fallback);
    /// --op-library alone.
    void declare_libraries(Tool& tool);
    /// Loads the libraries of ops; before anything is read that may call them. Of the backend that was named: throws
    /// Error where it is not there, or an option cannot have its value; starts this program again as the release of its
    /// compiler that the options choose, where that takes another process (release.h).
    void check() const;
    /// Without --backend: the one that a record was made with or that a minimized graph fails with, with its options
    /// below those given. The reference, and a failure that a command judged, name none.
    void default_to(const LoadedFrame& frame);
    /// Whether the backend, or where none was named what the frame was recorded or judged with, may know ops that
    /// Whittle does not.
    bool knows_more(const LoadedFrame& frame, std::string_view fallback) const;
    /// The one that was named, else `fallback`.
    BackendSpec spec(std::string_view fallback) const { return name.empty() ? BackendSpec(fallback) : name; }
    /// As they are typed: --backend B --backend-option KEY=VALUE … --op-library FILE.
    std::vector<std::string> words() const;
    /// The options as a map. Throws Error as add_option() does.
    BackendOptions options() const;
};

}  // namespace whittle::cli
