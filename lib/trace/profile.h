// What compiling and running took, as data: spans of time, kernels, memory over time, calls. Part of a trace's index
// (what the program itself did) and of explain's report (what a backend did with its graphs).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/timeline.h"
#include "graph/field_forms.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace whittle {

/// A step of a compilation, a pass or a kernel.
struct TimeSpan {
    static constexpr const char* kName = "span";
    std::string kind = {}, name = {}, graph = {}, backend = {}, from = {};
    double start = 0, seconds = 0;
    std::int64_t thread = 0;
    bool operator==(const TimeSpan&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("kind", &TimeSpan::kind, "", OneOf{"capture backend pass lowering kernel"});
        field("name", &TimeSpan::name, "The step that was timed.");
        field.maybe("graph", &TimeSpan::graph, "The graph that it was done for.");
        field.maybe("backend", &TimeSpan::backend, "The backend that was measured; empty for the program's own times.");
        field.maybe("from", &TimeSpan::from, "Where a kernel's code came from; cache: the disk cache.",
                    OneOf{"compiled cache memory"});
        field("start", &TimeSpan::start, "In seconds, since the process began to measure.", Count{});
        field("seconds", &TimeSpan::seconds, "", Count{});
        field.maybe("thread", &TimeSpan::thread, "In order of appearance.", Count{});
    }
};
std::vector<TimeSpan> told(const std::vector<Span>& spans);

/// How often an op of a program was called in a frame, and how long that took.
struct OpTime {
    static constexpr const char* kName = "op_time";
    std::string frame = {}, op = {};
    std::int64_t calls = 0;
    double seconds = 0;
    bool operator==(const OpTime&) const = default;

    template <class Field>
    static void fields(Field& field) {
        field("frame", &OpTime::frame, "");
        field("op", &OpTime::op, "As the program called it.");
        field("calls", &OpTime::calls, "", Count{});
        field("seconds", &OpTime::seconds, "Time of all calls, without operations that the op calls.", Count{});
    }
};

/// One array that a kernel computes.
struct KernelStage {
    static constexpr const char* kName = "stage";
    std::string name = {};
    DType dtype = DType::f32;
    Sizes sizes = {};
    std::int64_t updates = 0;
    std::vector<std::string> nodes = {};

    template <class Field>
    static void fields(Field& field) {
        field("name", &KernelStage::name, "");
        field("dtype", &KernelStage::dtype, "");
        field("sizes", &KernelStage::sizes, "", Count{});
        field.maybe("updates", &KernelStage::updates, "How often its elements are rewritten.", Count{});
        field.maybe("nodes", &KernelStage::nodes,
                    "Nodes of the captured graph that it computes, including inlined ones.");
    }
};

/// A kernel of a graph: what ran, with its texts as the backend has them.
struct KernelProfile {
    static constexpr const char* kName = "kernel";
    std::string name = {}, graph = {};
    std::vector<std::string> nodes = {};
    std::vector<KernelStage> stages = {};
    std::vector<std::string> schedule = {};
    std::string code_of = {};
    std::string loop_nest = {}, output_code = {}, assembly = {};
    bool cut = false;
    std::int64_t flops = 0, bytes = 0;
    std::int64_t runs = 0;
    double seconds = 0;
    std::optional<double> roofline = {};

    template <class Field>
    static void fields(Field& field) {
        field("name", &KernelProfile::name, "");
        field("graph", &KernelProfile::graph, "");
        field("nodes", &KernelProfile::nodes, "Nodes of the captured graph that it computes.");
        field("stages", &KernelProfile::stages, "In order; inlined stages are part of the stage that reads them.");
        field("schedule", &KernelProfile::schedule, "Its directives, in order.");
        field.maybe("code_of", &KernelProfile::code_of, "An equal kernel whose code it runs.");
        field.maybe("loop_nest", &KernelProfile::loop_nest, "As the backend's compiler prints it.");
        field.maybe("output_code", &KernelProfile::output_code, "The source code given to the backend's compiler.");
        field.maybe("assembly", &KernelProfile::assembly, "The assembly that the compiler generated.");
        field.maybe("cut", &KernelProfile::cut, "A text was too long and was cut.");
        field("flops", &KernelProfile::flops, "Floating-point operations, each element of each stage counted once.",
              Count{});
        field("bytes", &KernelProfile::bytes, "Bytes of its inputs and outputs, each counted once.", Count{});
        field.maybe("runs", &KernelProfile::runs, "Number of measured runs.", Count{});
        field.maybe("seconds", &KernelProfile::seconds, "Median time of a run.", Count{});
        field.maybe("roofline", &KernelProfile::roofline,
                    "Its speed relative to the limit of this machine at its ratio of flops to bytes; above 1 if memory "
                    "is the limit and its data are in a cache.",
                    Count{});
    }
};

struct HeldValue {
    std::string value = {};
    std::int64_t bytes = 0;

    template <class Field>
    static void fields(Field& field) {
        field("value", &HeldValue::value, "The node that computed it.");
        field("bytes", &HeldValue::bytes, "", Count{});
    }
};

/// Memory of a graph's values while it runs, without parameters.
struct MemoryProfile {
    static constexpr const char* kName = "memory";
    std::string graph = {}, how = {};
    std::vector<std::string> at = {};
    std::vector<std::int64_t> bytes = {};
    std::int64_t peak = 0, parameter_bytes = 0;
    std::string peak_at = {};
    std::vector<HeldValue> alive = {};

    template <class Field>
    static void fields(Field& field) {
        field("graph", &MemoryProfile::graph, "");
        field("how", &MemoryProfile::how,
              "measured: memory in use after each step of a run. liveness: computed from the captured graph, each "
              "value from its node to its last reader.",
              OneOf{"measured liveness"});
        field("at", &MemoryProfile::at, "Nodes or, of a backend with kernels, kernels, in order.");
        field("bytes", &MemoryProfile::bytes, "Bytes in use at that point.", Count{});
        field("peak", &MemoryProfile::peak, "The largest of these numbers.", Count{});
        field("peak_at", &MemoryProfile::peak_at, "");
        field("alive", &MemoryProfile::alive, "Values in memory at the peak, largest first.");
        field("parameter_bytes", &MemoryProfile::parameter_bytes, "Bytes of parameters, not included in the others.",
              Count{});
    }
};

/// A graph that was compiled and run to be measured.
struct GraphProfile {
    static constexpr const char* kName = "graph_profile";
    std::string graph = {}, failure = {};
    double compile_seconds = 0, seconds = 0;
    std::int64_t runs = 0;

    template <class Field>
    static void fields(Field& field) {
        field("graph", &GraphProfile::graph, "");
        field.maybe("failure", &GraphProfile::failure, "Why there are no measurements.");
        field("compile_seconds", &GraphProfile::compile_seconds, "", Count{});
        field("runs", &GraphProfile::runs, "Number of measured runs, after one warm-up run.", Count{});
        field("seconds", &GraphProfile::seconds, "Median time of a run.", Count{});
    }
};

/// What the machine can do at most, measured.
struct MachineSpeed {
    static constexpr const char* kName = "machine";
    double flops_per_second = 0, bytes_per_second = 0;
    std::int64_t threads = 0;

    template <class Field>
    static void fields(Field& field) {
        field("flops_per_second", &MachineSpeed::flops_per_second, "Multiplications and additions of f32.", Count{});
        field("bytes_per_second", &MachineSpeed::bytes_per_second, "Read and written beyond the caches.", Count{});
        field("threads", &MachineSpeed::threads, "", Count{});
    }
};

struct Profile {
    static constexpr const char *kName = "profile", *kMeaning = "What compiling and running took. Times are seconds.";
    std::string backend = {};
    std::vector<TimeSpan> spans = {};
    std::vector<GraphProfile> graphs = {};
    std::vector<KernelProfile> kernels = {};
    std::vector<MemoryProfile> memory = {};
    std::vector<OpTime> ops = {};
    std::optional<MachineSpeed> machine = {};

    bool empty() const {
        return spans.empty() && graphs.empty() && kernels.empty() && memory.empty() && ops.empty() && !machine;
    }

    template <class Field>
    static void fields(Field& field) {
        field.maybe("backend", &Profile::backend, "The backend that was measured; empty: only the program.");
        field("spans", &Profile::spans, "In order of their start; enclosing spans first.");
        field("graphs", &Profile::graphs, "");
        field("kernels", &Profile::kernels, "In the order in which they run, graph by graph.");
        field("memory", &Profile::memory, "");
        field("ops", &Profile::ops, "Operations of a LibTorch program, by frame.");
        field.maybe("machine", &Profile::machine, "Speed of the machine on which kernels were measured.");
    }
};

/// What `text` says of it: JSON as a Profile is written. Throws Error for anything else.
Profile profile_of_json(std::string text);

}  // namespace whittle
