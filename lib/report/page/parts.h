// The parts of page_data() (page.h): the source files that a page shows and places in them, findings, what minify and
// repro wrote, and what the page itself is made of.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "report/page/page.h"

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

/// Adds `findings` [{"level", "title", "detail", "place", "command", "go"}], worst first: a verified repro before all,
/// then what fails, graphs that fail for one cause together, with `graphs` and where it is known the first wrong `op`
/// and `node`. `go` is the view of the page. No command asks for what `minify` of the data has. And `headline` {"text",
/// "place", "where", "more"} of the worst failure, with the number of the others; null where nothing failed.
void add_findings(const PageFacts& facts, nlohmann::json& data, Sources& sources);

/// The command that made the page, with `option` in place of the page and of what followed the failures up: inputs,
/// tolerances and the program's arguments are as they were.
std::string asking(const PageFacts& facts, const std::string& option);

/// "failed", "nan", "break", "recompiled", as far as they hold of a function of the page, worst first; else "ok".
nlohmann::json status_of(const PageFacts& facts, const nlohmann::json& frame);

/// A list of results as `minify --json` prints one, each with `graph_text`, its operations as `nodes` [{"id", "op",
/// "mod", "at"}], whom to `report_to`, the command `without` the culprit directive and, where one was written, `repro`:
/// as `repro --json` prints it, with `text`. `results` is what minify prints of a model with one graph or several;
/// `repros` may be null.
nlohmann::json minified_json(const nlohmann::json& results, const nlohmann::json* repros, Sources& sources);

// The files of share/report, compiled in so that a program that was moved still has them.
std::string asset_page();    ///< page.html, with marks where the rest goes
std::string asset_style();   ///< page.css
std::string asset_script();  ///< all modules, bundled

}  // namespace whittle::html
