#include <algorithm>
#include <set>

#include "backends/registry.h"
#include "base/log.h"
#include "replay/profile.h"
#include "report/subject.h"

namespace whittle::report {
namespace {

double end_of(const std::vector<TimeSpan>& spans) {
    double end = 0;
    for (const TimeSpan& span : spans) end = std::max(end, span.start + span.seconds);
    return end;
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
    std::ranges::move(from, std::back_inserter(to));
}

/// `more` was measured after `to`, by a clock of its own.
void append(Profile& to, Profile&& more) {
    const double behind = end_of(to.spans);
    for (TimeSpan& span : more.spans) {
        span.start += behind;
        if (!more.backend.empty()) span.backend = more.backend;
    }
    append(to.spans, std::move(more.spans));
    append(to.graphs, std::move(more.graphs));
    append(to.kernels, std::move(more.kernels));
    append(to.memory, std::move(more.memory));
    append(to.ops, std::move(more.ops));
    if (more.machine) to.machine = more.machine;
    if (!more.backend.empty()) to.backend = more.backend;
}

}  // namespace

Profile profile(const std::vector<LoadedFrame>& frames, const Suspect& suspect, bool code) {
    Profile all{.backend = suspect.spec.text()};
    const std::unique_ptr<Backend> backend = find_backend(suspect.spec, suspect.options);
    std::set<std::string> known;
    for (const LoadedFrame& frame : frames) {
        if (known.size() == kMostProfiled) {
            log_warning(LogChannel::run, "times are those of the first " + std::to_string(kMostProfiled) + " graphs");
            break;
        }
        if (!known.insert(frame.graph.name).second) continue;
        append(all, whittle::profile(frame.graph, frame.inputs, *backend, suspect.options,
                                     {.code = code, .limits = suspect.limits}));
    }
    return all;
}

void add_profile(Subject& subject, Profile measured) {
    Profile& all = subject.profile;
    if (subject.index) {
        all.spans = subject.index->spans;
        all.ops = subject.index->op_times;
    }
    append(all, std::move(measured));
    std::set<std::string> known;
    for (const MemoryProfile& memory : all.memory) known.insert(memory.graph);
    for (const Frame& frame : subject.frames)
        if (!frame.graph.nodes.empty() && known.insert(frame.graph.name).second)
            all.memory.push_back(memory_by_liveness(frame.graph));
}

}  // namespace whittle::report
