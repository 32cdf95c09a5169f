// What trace does with a frame that nobody can run.
#include "record/trace_folder.h"

#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "base/files.h"
#include "graph/placement.h"
#include "record/launch/trace.h"

using namespace whittle;

TEST_CASE("a graph of data that Whittle cannot read is kept with what is given, and not judged", "[trace]") {
    const TempDir folder("whittle-test");
    Graph graph;
    graph.name = "words";
    graph.dialect = "onnx";
    const NodeRef x = graph.placeholder("x", opaque_meta("string", {2}));
    graph.output({graph.add({.target = "onnx.Identity", .args = {Arg(x)}, .results = {opaque_meta("string", {2})}})});
    const std::vector<Tensor> bytes = {Tensor::of<std::uint8_t>({1, 2, 3})};
    for (const char* name : {"eager", "halide", "aot_eager"}) {
        const auto backend = find_backend(name);
        const std::filesystem::path models[] = {"words.onnx"};
        TraceFolder traces(folder.path() / name, models, name, {});
        const TracedFrame traced =
            traces.add({.name = "words", .asked = {graph, bytes, {bytes, "the data set"}, {.spec = BackendSpec(name)}}},
                       *backend, RecordPolicy::always);
        traces.save();
        CAPTURE(name);
        REQUIRE(traced.judged);
        CHECK(traced.judged->verdict == Verdict::not_judged);
        CHECK(traced.judged->reason == "the input x holds strings");
        CHECK(traced.failure.empty());
        REQUIRE(traced.record);
        const LoadedRecord kept = load_record(folder.path() / name / *traced.record);
        CHECK(same_bits(kept.record.expected.at(0), bytes[0]));
        CHECK(kept.record.expected_from == "the data set");
        CHECK(next_replay({.folder = folder.path(), .frames = {traced}}).empty());
    }
}
