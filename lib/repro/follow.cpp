#include "repro/follow.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/subprocess.h"
#include "diagnose/compiled.h"
#include "reduce/report.h"
#include "repro/repro.h"

namespace whittle::repro {

MinimizedRepro repro_of(const Graph& graph, const std::filesystem::path& file, const std::filesystem::path& output,
                        const std::map<std::string, std::string>& environment) {
    if (graph.nodes.empty())
        return {.none = "the result is a part of the ONNX file, and Whittle cannot read this part as a graph"};
    if (graph.failure->slower)
        return {
            .none =
                "the failure is the running time: to write a program that measures the running time, run repro FILE"};
    if (!diagnose::has_repro(graph))
        return {.none = "backend " + graph.failure->backend + " cannot emit a standalone program"};
    MinimizedRepro repro;
    repro.options.output = output;
    std::vector<std::string> words = diagnose::repro_words(file);
    words.insert(words.end(), {"-o", repro.options.output.string()});
    repro.options.command = shell_quote(words);
    repro.options.graph = file;
    repro.options.environment = environment;
    try {
        repro.report = write_repro(graph, repro.options);
    } catch (const Error& error) {  // the graph cannot be written down; it is minimized all the same
        repro.none = error.message();
    }
    return repro;
}

Followed follow(const std::vector<LoadedFrame>& frames, const reduce::Request& request,
                const std::map<std::string, std::string>& environment, const Observer& observer) {
    Followed followed{.minimized = reduce::minimize(frames, request, observer)};
    followed.verified = followed.minimized.good();
    for (const reduce::Minimized& done : followed.minimized.results) {
        if (!done.failed()) continue;
        const MinimizedRepro& repro = followed.repros.emplace_back(
            repro_of(done.smallest.graph, done.output, std::filesystem::path(done.output).replace_extension(".cpp"),
                     environment));
        followed.verified = followed.verified && repro.report && repro.report->verified;
        observer.written(repro, *done.smallest.graph.failure);
    }
    return followed;
}

nlohmann::json to_json(const Followed& followed) {
    nlohmann::json repros = nlohmann::json::array();
    for (const MinimizedRepro& repro : followed.repros)
        if (repro.report) repros.push_back(to_json(*repro.report, repro.options));
    return {{"minify", reduce::to_json(followed.minimized)}, {"repros", repros}, {"verified", followed.verified}};
}

}  // namespace whittle::repro
