// The report as text for people, as JSON for scripts, and graphs as pictures for Graphviz's dot.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/report.h"

namespace whittle::report {

struct TextOptions {
    bool ops = false;         ///< the table of ops
    bool guards = false;      ///< under which each captured graph may be used again
    bool times = false;       ///< of compiling each captured graph
    bool recompiles = false;  ///< every recompile with its guard and what would stop it, else only how many
    bool verbose = false;     ///< every place of every break, every input and shape; else the first few
    bool color = false;
    std::size_t columns = 0;  ///< of the screen: rows of tables are cut there, unless verbose; 0: no limit
};

std::string to_text(const Report& report, const TextOptions& options);

/// What compiling and running took, as tables; all of their rows if verbose.
std::string to_text(const Profile& profile, const TextOptions& options);
nlohmann::json to_json(const Profile& profile);
nlohmann::ordered_json profile_schema();
/// The same as a trace for Perfetto and Chrome (Trace Event Format): compilations, one run of each graph, its memory.
std::string chrome_trace(const Profile& profile);

/// The first break, for --fullgraph: reason and id, the user's stack, a hint. Empty when there is none.
std::string first_break_text(const Report& report);

/// Why the frames are not one graph each, as --fullgraph asks: the first break, or that there is no frame. With
/// `exported`, as --fullgraph=export asks, else all sizes and inputs that are in the way: one graph stands for the
/// whole function, and its caller can give every input of it (https://pytorch.org/docs/stable/export.html). Empty when
/// there is nothing.
std::vector<std::string> why_not_whole(const Report& report, const std::vector<Frame>& frames, bool exported);

nlohmann::json to_json(const Report& report);

/// One cluster per frame of the report. Constants are shown inside their readers; breaks are drawn in red.
std::string to_dot(const std::vector<Frame>& frames, const Report& report);

/// What a kind of break means and how to avoid it, as Markdown: the page of one, or of the whole catalogue.
std::string break_page(const capture::BreakInfo& info);
std::string break_catalogue_page();

/// "1.2 MB".
std::string bytes_text(std::int64_t bytes);
/// "1.20 s", "3.40 ms", "5.6 us".
std::string seconds_text(double seconds);

}  // namespace whittle::report
