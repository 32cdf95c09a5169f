#include "report/page/parts.h"

#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "formats/json_text.h"

namespace whittle::html {

using nlohmann::json;

namespace {

constexpr std::size_t kMostSourceText = std::size_t(4) << 20;  // generated sources are no reading
constexpr int kMostLines = 200'000;

/// Nothing for a file that is not there, not text, or beyond kMostSourceText.
std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    try {
        const std::string text = read_file(path, kMostSourceText);
        if (text.find('\0') != std::string::npos) return {};
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) lines.push_back(as_utf8(line));
    } catch (const Error&) {
        return {};
    }
    return lines;
}

}  // namespace

std::size_t Sources::position(const StackFrame& frame) {
    const auto [at, added] = positions_.try_emplace(frame.file, files_.size());
    if (added) files_.push_back({frame.file});
    File& file = files_[at->second];
    if (frame.line <= kMostLines) file.known.try_emplace(frame.line, frame.text);
    return at->second;
}

json Sources::places(const std::vector<StackFrame>& stack) {
    json places = json::array();
    for (const StackFrame& frame : stack)
        if (frame.line > 0 && !frame.file.empty())
            places.push_back(json::array({position(frame), frame.line, as_utf8(frame.function)}));
    return places;
}

json Sources::place_of_function(const Graph& graph, const std::string& function) {
    for (const Node& node : graph.nodes)
        for (const StackFrame& frame : node.stack)
            if (frame.line > 0 && (frame.function == function || frame.function.ends_with("::" + function)))
                return json::array({position(frame), frame.line, as_utf8(frame.function)});
    return nullptr;
}

json Sources::files() const {
    json all = json::array();
    for (const File& file : files_) {
        std::vector<std::string> lines;
        if (text_) lines = lines_of(file.path);
        if (lines.empty() && !file.known.empty()) {
            lines.resize(static_cast<std::size_t>(file.known.rbegin()->first));
            if (text_)
                for (const auto& [line, text] : file.known) lines[static_cast<std::size_t>(line) - 1] = as_utf8(text);
        }
        all.push_back({{"path", as_utf8(file.path)}, {"lines", std::move(lines)}});
    }
    return all;
}

}  // namespace whittle::html
