// The source files that a page shows, and places in them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::html {

/// Collects files as places in them are told. A place is [file, line, function]: the file by its position in files().
class Sources {
  public:
    /// `text`: with their lines; otherwise paths and line numbers only.
    explicit Sources(bool text) : text_(text) {}

    /// Innermost first; frames without a line, such as the nodes of model files, are none.
    nlohmann::json places(const std::vector<StackFrame>& stack);
    /// Where the function was when it issued its first operation; null when no stack says it.
    nlohmann::json place_of_function(const Graph& graph, const std::string& function);
    /// [{"path", "lines"}]: a file that cannot be read has the lines that stacks know, others are empty.
    nlohmann::json files() const;

  private:
    struct File {
        std::string path;
        std::map<int, std::string> known = {};  ///< lines by number
    };
    std::size_t position(const StackFrame& frame);

    bool text_;
    std::vector<File> files_;
    std::map<std::string, std::size_t> positions_;
};

}  // namespace whittle::html
