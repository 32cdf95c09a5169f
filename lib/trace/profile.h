// What compiling and running took, as data: spans of time, kernels, memory over time, calls. Part of a trace's index
// (what the program itself did) and of explain's report (what a backend did with its graphs).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/timeline.h"
#include "formats/field_forms.h"
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
        field("name", &TimeSpan::name, "What the time was spent on.");
        field.maybe("graph", &TimeSpan::graph, "The graph on which the time was spent.");
        field.maybe("backend", &TimeSpan::backend,
                    "The backend that was measured; absent for the program's own times.");
        field.maybe("from", &TimeSpan::from, "Where a kernel's code came from; cache is the cache on disk.",
                    OneOf{"compiled cache memory"});
        field("start", &TimeSpan::start, "The start, in seconds since the process began to measure.", Count{});
        field("seconds", &TimeSpan::seconds, "", Count{});
        field.maybe("thread", &TimeSpan::thread, "The number of the thread, in order of appearance.", Count{});
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
        field("op", &OpTime::op, "The op as the program called it.");
        field("calls", &OpTime::calls, "", Count{});
        field("seconds", &OpTime::seconds, "The time of all calls, without the time of the ops inside these calls.",
              Count{});
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
        field.maybe("updates", &KernelStage::updates, "How often the elements are updated.", Count{});
        field.maybe("nodes", &KernelStage::nodes,
                    "The nodes of the captured graph that the stage computes, including nodes that are inlined into "
                    "the stage.");
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
        field("nodes", &KernelProfile::nodes, "The nodes of the captured graph that the kernel computes.");
        field("stages", &KernelProfile::stages,
              "The stages in order; an inlined value is part of the stage that reads it.");
        field("schedule", &KernelProfile::schedule, "The scheduling directives in order.");
        field.maybe("code_of", &KernelProfile::code_of, "An equal kernel whose code this kernel runs.");
        field.maybe("loop_nest", &KernelProfile::loop_nest, "The loop nest as the backend's compiler prints it.");
        field.maybe("output_code", &KernelProfile::output_code, "The program that was passed to the compiler.");
        field.maybe("assembly", &KernelProfile::assembly, "The assembly that the compiler produced.");
        field.maybe("cut", &KernelProfile::cut, "Whether a text was truncated.");
        field("flops", &KernelProfile::flops,
              "The number of floating-point operations, counting each element of each stage once.", Count{});
        field("bytes", &KernelProfile::bytes,
              "The size of the kernel's inputs and outputs in bytes; each input and output counts once.", Count{});
        field.maybe("runs", &KernelProfile::runs, "The number of measured runs.", Count{});
        field.maybe("seconds", &KernelProfile::seconds, "The median time of the runs.", Count{});
        field.maybe("roofline", &KernelProfile::roofline,
                    "The speed of the kernel as a fraction of the machine's limit for this ratio of flops to bytes. "
                    "Above 1: memory is the limit, and the data are in a cache.",
                    Count{});
    }
};

struct HeldValue {
    std::string value = {};
    std::int64_t bytes = 0;

    template <class Field>
    static void fields(Field& field) {
        field("value", &HeldValue::value, "The node that computed the value.");
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
              "measured: the memory held after each step of the run. liveness: computed from the captured graph, each "
              "value from its node to its last reader.",
              OneOf{"measured liveness"});
        field("at", &MemoryProfile::at, "The steps of the run: nodes in order, or kernels if the backend has kernels.");
        field("bytes", &MemoryProfile::bytes, "The bytes held at each step.", Count{});
        field("peak", &MemoryProfile::peak, "The peak of the bytes held.", Count{});
        field("peak_at", &MemoryProfile::peak_at, "");
        field("alive", &MemoryProfile::alive, "The values that are alive at the peak, largest first.");
        field("parameter_bytes", &MemoryProfile::parameter_bytes,
              "The bytes of the parameters, which bytes and peak do not include.", Count{});
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
        field("runs", &GraphProfile::runs, "The number of measured runs, after a warm-up run.", Count{});
        field("seconds", &GraphProfile::seconds, "The median time of the runs.", Count{});
    }
};

/// What the machine can do at most, measured.
struct MachineSpeed {
    static constexpr const char* kName = "machine";
    double flops_per_second = 0, bytes_per_second = 0;
    std::int64_t threads = 0;

    template <class Field>
    static void fields(Field& field) {
        field("flops_per_second", &MachineSpeed::flops_per_second, "f32 multiplications and additions per second.",
              Count{});
        field("bytes_per_second", &MachineSpeed::bytes_per_second,
              "Bytes read and written per second outside the caches.", Count{});
        field("threads", &MachineSpeed::threads, "", Count{});
    }
};

struct Profile {
    static constexpr const char *kName = "profile", *kMeaning = "The times of compiling and running, in seconds.";
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
        field.maybe("backend", &Profile::backend, "The backend that was measured; empty for the program alone.");
        field("spans", &Profile::spans, "Spans in order of their start; enclosing spans first.");
        field("graphs", &Profile::graphs, "");
        field("kernels", &Profile::kernels, "Kernels in the order in which they run, graph by graph.");
        field("memory", &Profile::memory, "");
        field("ops", &Profile::ops, "For a LibTorch program: the times of ops, by frame.");
        field.maybe("machine", &Profile::machine, "The machine on which kernels were measured.");
    }
};

/// What `text` says of it: JSON as a Profile is written. Throws Error for anything else.
Profile profile_of_json(std::string text);

}  // namespace whittle
