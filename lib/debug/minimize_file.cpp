#include "debug/minimize_file.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/seconds.h"
#include "frontends/onnx/file_parts.h"
#include "judge/file_backend.h"
#include "tensor/random.h"

namespace whittle::debug {
namespace {

using reduce::Observation;
using Ending = reduce::Minimized::Ending;

/// Asks about one file after another.
class FileJudge {
  public:
    FileJudge(const LoadedFrame& frame, const Search& search)
        : frame_(frame), search_(search), judging_(debug::judging(search)) {}

    const reduce::Oracle& oracle() const { return *judging_.oracle; }

    Observation observe(const OnnxFile& file) {
        static const Graph kNone;
        return search_.suspect() ? run(file) : judging_.oracle->observe({kNone, {}, {}, {}, file.model});
    }

    /// The file itself.
    Observation observe_whole() { return observe(frame_.onnx ? *frame_.onnx : OnnxFile{.model = frame_.file}); }

  private:
    Observation run(OnnxFile file) {
        if (file.values.empty() && !give_values(file)) return {.unresolved = true};
        const Suspect& suspect = *search_.suspect();
        const auto backend = file_backend(*judging_.backend, file, suspect.options);
        WHITTLE_CHECK(backend != nullptr, "the backend reads ONNX files");
        return reduce::observation_of(run_suspect(frame_.graph, frame_.inputs, *backend, suspect));
    }

    /// Those of the whole file for what it is given, random ones for the rest. False: an input is no dense tensor.
    bool give_values(OnnxFile& file) const {
        Random random(0);
        for (const OnnxFile::Value& input : file.inputs) {
            const std::vector<OnnxFile::Value>& own = frame_.onnx->inputs;
            const auto given = std::ranges::find(own, input.name, &OnnxFile::Value::name);
            if (given != own.end())
                file.values.push_back(frame_.onnx->values[static_cast<std::size_t>(given - own.begin())]);
            else if (input.meta)
                file.values.push_back(random_tensor(input.meta->dtype, input.meta->sizes, random));
            else
                return false;
        }
        return true;
    }

    const LoadedFrame& frame_;
    const Search& search_;
    Judging judging_;
};

bool alike(const Observation& one, const Observation& other) {
    return one.failed && !one.unresolved && one.signature == other.signature;
}

/// Its failure, without a graph.
Graph failure_of(const std::string& name, const FileJudge& judge, const Observation& seen) {
    Graph graph{.name = name};
    graph.failure = Failure{.signature = seen.signature, .message = seen.message};
    judge.oracle().describe(*graph.failure);
    return graph;
}

}  // namespace

Minimized minimize_file(const LoadedFrame& frame, const Search& search, const Observer& observer) {
    const auto start = std::chrono::steady_clock::now();
    if (search.output.extension() != ".onnx")
        throw Error({search.output.string(), {}}, "a part of an ONNX file is to be written, expected a name in .onnx",
                    "-o FILE.onnx");
    if (search.resume) observer.warn("of parts of a file no journal is kept: beginning anew");
    FileJudge judge(frame, search);
    const FileParts parts(frame.file);
    Minimized done{.judge = judge.oracle().name(), .file = frame.file.string()};
    reduce::Minimized& result = done.result;
    const Observation whole = judge.observe_whole();
    result.message = whole.message;
    if (whole.unresolved) result.ending = Ending::unsupported;
    if (!whole.failed || whole.unresolved) return done;

    const TempDir folder("whittle-query");
    std::size_t asked = 0;
    reduce::Problem problem;
    problem.count = parts.count();
    problem.neighbours = parts.neighbours();
    problem.legal = [&](const reduce::Set& set) { return parts.legal(set); };
    problem.test = [&](const reduce::Set& set) {
        if (set.size() == static_cast<std::size_t>(parts.count())) return reduce::Verdict::fails;
        ++asked;
        const Observation seen = judge.observe(parts.write(set, folder.path() / "part.onnx"));
        if (alike(seen, whole)) return reduce::Verdict::fails;
        return seen.failed || seen.unresolved ? reduce::Verdict::unresolved : reduce::Verdict::passes;
    };
    const auto keep = [&](const reduce::Set& set) {
        parts.write(set, search.output);
        observer.progress({asked, set.size()});
    };
    result.search =
        reduce::search(problem, {.mode = search.mode, .step_limit = search.step_limit, .improved = keep, .stop = [&] {
                                     return search.stopped();
                                 }});
    const OnnxFile small = parts.write(result.search.kept, search.output);
    result.ending = result.search.finished ? Ending::minimized : Ending::interrupted;
    result.signature = whole.signature;
    result.calls_before = result.before.calls = static_cast<std::size_t>(parts.count());
    result.calls_after = result.after.calls = result.search.kept.size();
    const Observation again = judge.observe(small);
    result.confirmed = alike(again, whole);
    result.graph = failure_of(frame.name, judge, again);
    for (const int node : result.search.kept) done.nodes.push_back(parts.text(node));
    done.written.output = search.output;
    result.seconds = seconds_since(start);
    return done;
}

}  // namespace whittle::debug
