// A profile in the format of Chrome's trace viewer, which Perfetto reads, too.
#include <nlohmann/json.hpp>

#include "report/show.h"

namespace whittle::report {
namespace {

using nlohmann::json;

enum Process { kCompiling = 1, kRunning = 2 };

json event(const char* phase, Process process, const std::string& name) {
    return {{"ph", phase}, {"pid", static_cast<int>(process)}, {"tid", 0}, {"name", name}};
}

json process_name(Process process, const std::string& name) {
    json named = event("M", process, "process_name");
    named["args"] = {{"name", name}};
    return named;
}

/// Microseconds.
json complete(Process process, const std::string& name, const char* kind, double start, double seconds) {
    json one = event("X", process, name);
    one.update({{"cat", kind}, {"ts", 1e6 * start}, {"dur", 1e6 * seconds}});
    return one;
}

const MemoryProfile* memory_of(const Profile& profile, const std::string& graph) {
    for (const MemoryProfile& memory : profile.memory)
        if (memory.graph == graph && memory.how == "measured") return &memory;
    return nullptr;
}

/// One run of each graph, kernel by kernel, one behind the other, with the memory that it holds.
void add_runs(const Profile& profile, json& events) {
    double now = 0;
    for (const GraphProfile& graph : profile.graphs) {
        const double begin = now;
        const MemoryProfile* memory = memory_of(profile, graph.graph);
        std::size_t step = 0;
        for (const KernelProfile& kernel : profile.kernels) {
            if (kernel.graph != graph.graph || !kernel.runs) continue;
            json one = complete(kRunning, kernel.name, "kernel", now, kernel.seconds);
            one["args"] = {
                {"graph", kernel.graph}, {"flops", kernel.flops}, {"bytes", kernel.bytes}, {"nodes", kernel.nodes}};
            if (kernel.roofline) one["args"]["roofline"] = *kernel.roofline;
            events.push_back(std::move(one));
            if (memory && step < memory->bytes.size() && memory->at[step] == kernel.name) {
                json held = event("C", kRunning, "memory of " + graph.graph);
                held.update({{"ts", 1e6 * now}, {"args", {{"bytes", memory->bytes[step++]}}}});
                events.push_back(std::move(held));
            }
            now += kernel.seconds;
        }
        if (now == begin) now += graph.seconds;
        if (now > begin) events.push_back(complete(kRunning, graph.graph, "graph", begin, now - begin));
    }
}

}  // namespace

std::string chrome_trace(const Profile& profile) {
    json events = json::array();
    events.push_back(process_name(kCompiling, "capture and compilation"));
    for (const TimeSpan& span : profile.spans) {
        json one = complete(kCompiling, span.name, span.kind.c_str(), span.start, span.seconds);
        one["tid"] = span.thread;
        if (!span.graph.empty()) one["args"]["graph"] = span.graph;
        if (!span.from.empty()) one["args"]["code"] = span.from;
        events.push_back(std::move(one));
    }
    if (!profile.graphs.empty())
        events.push_back(process_name(kRunning, "one run on " + profile.backend + ", medians"));
    add_runs(profile, events);
    const json all = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
    return all.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace whittle::report
