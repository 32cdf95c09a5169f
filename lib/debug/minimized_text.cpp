#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "base/words.h"
#include "debug/check.h"
#include "debug/minimize.h"
#include "debug/write_repro.h"
#include "graph/backend_options.h"
#include "graph/failure_file.h"
#include "graph/text.h"

namespace whittle::debug {
namespace {

using Ending = reduce::Minimized::Ending;

/// A graph that is long in spite of all is for its file; of it the begin and the end, in lines that fit a screen.
std::string graph_text(const Graph& graph, const std::string& file) {
    constexpr std::size_t kMost = 40, kBegin = 24, kEnd = 8, kColumns = 120;
    const std::string text = print(graph);
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
    if (lines.size() <= kMost) return text;
    std::string shown;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == kBegin) {
            shown += "  … " + plural(lines.size() - kBegin - kEnd, "more line") + " in " + file + "\n";
            i = lines.size() - kEnd;
        }
        shown += shortened(lines[i], kColumns) + "\n";
    }
    return shown;
}

/// What is done with the result: the repro, or, where there is none, what judged it, run on it once more.
std::string next_command(const Search& search, const Graph& result) {
    if (const auto* judge = std::get_if<reduce::CommandOracleOptions>(&search.judge))
        return shell_quote(reduce::command_line(*judge, search.output));
    if (!result.nodes.empty() && has_repro(result)) return shell_quote(repro_words(search.output));
    std::vector<std::string> words =
        program_words("explain", {search.output.string(), "--backend", result.failure->backend});
    for (const auto& more : {option_words(result.failure->options), op_library_words()})
        words.insert(words.end(), more.begin(), more.end());
    return shell_quote(words);
}

}  // namespace

std::string to_text(const Minimized& minimized, const Search& search) {
    const reduce::Minimized& result = minimized.result;
    const std::string output = minimized.written.output.string();
    switch (result.ending) {
        case Ending::minimized:
            if (!minimized.nodes.empty())
                return reduce::report(result, minimized.written) + "\nparts of " + minimized.file + ":\n  " +
                       join(minimized.nodes, "\n  ") + "\n\nwritten:    " + output +
                       "\nnext:       " + next_command(search, result.graph) + "\n";
            return reduce::report(result, minimized.written) + "\n" + graph_text(result.graph, output) +
                   "\nwritten:    " + output +
                   (search.output.extension() == ".onnx" ? ", " + failure_path(output).string() : "") +
                   "\nnext:       " + next_command(search, result.graph) + "\n";
        case Ending::interrupted:
            return reduce::report(result, minimized.written) + "written:    " + output +
                   ", unfinished: " + plural(result.after.calls, "op") + "\nnext:       " + search.go_on + "\n";
        case Ending::flaky:
            return "flaky: it fails alike in " + std::to_string(result.flaky.failures) + " of " +
                   plural(result.flaky.runs, "run") + ", too rarely to be minimized\n";
        case Ending::unsupported:
        case Ending::not_failing:
            break;
    }
    const std::optional<Judgement>& said = minimized.written.judgement;
    if (said && said->fails() && !search.stored)
        return text_of(*said) + "\nnot minimized: " +
               (minimized.no_candidates.empty()
                    ? "the graph that Whittle reads from " + minimized.file + " does not fail"
                    : minimized.no_candidates) +
               (minimized.rewritten.empty() ? "" : "; while reading: " + join(minimized.rewritten, "; ")) + "\n";
    if (said && !said->fails() && !minimized.searched) return text_of(*said) + "\n";
    if (result.ending == Ending::unsupported)
        return "not judged: " + (search.suspect() ? minimized.judge : "the command") +
               " gives no answer about this model: " + result.message + "\n";
    if (result.hidden)
        return "fails: " + result.signature.text() + "\nnot minimized: the graph that Whittle reads from " +
               minimized.file + " does not fail\n";
    std::string text = not_failing_text(search, minimized.judge, result.message);
    if (search.stored && !result.signature.kind.empty())
        text += ", but otherwise: " + result.signature.text() + "; --backend " + minimized.judge + " follows that";
    return text + "\n";
}

nlohmann::json to_json(const Minimized& minimized) { return reduce::to_json(minimized.result, minimized.written); }

}  // namespace whittle::debug
