#include "trace/folder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "graph/example.h"
#include "trace/names.h"

using namespace whittle;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

Graph identity(const std::string& name, std::int64_t size = 20) {
    Graph graph;
    graph.name = name;
    graph.output({graph.placeholder("x", ValueMeta::contiguous(DType::f32, {size}))});
    return graph;
}

Record record_of(const Graph& graph) {
    Record record;
    for (const NodeId id : graph.placeholders())
        record.inputs.emplace_back(graph.node({id}).meta().dtype, graph.node({id}).meta().sizes);
    record.expected = record.inputs;
    return record;
}

std::vector<std::string> files_in(const fs::path& folder) {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        files.push_back(entry.path().lexically_relative(folder).string());
    std::sort(files.begin(), files.end());
    return files;
}

/// A trace of the model with one graph and two runs of it.
void write_trace(const fs::path& folder, const fs::path& model) {
    TraceIndex head;
    name_models(head, folder, {&model, 1});
    TraceWriter writer(folder, head);
    const Graph graph = identity("net");
    const std::size_t entry = writer.add_graph(graph, "main");
    writer.add_record(entry, graph, record_of(graph));
    writer.add_record(entry, graph, record_of(graph));
    const Graph wider = identity("net", 30);  // the same at other sizes: of the record alone
    writer.add_record(entry, wider, record_of(wider));
    write_file(folder / "code/main/full_code.cpp", "// code");
    writer.add_file("code/main/full_code.cpp");
    writer.save();
}

std::string refused(const fs::path& folder, const std::vector<fs::path>& models, bool force = false) {
    return thrown<Error>([&] { require_replaceable(folder, models, force, [](const auto&) { return true; }); });
}

}  // namespace

TEST_CASE("a trace is removed file by file, and nothing else", "[trace]") {
    const TempDir folder;
    write_trace(folder.path(), "net.onnx");
    CHECK(files_in(folder.path()) ==
          std::vector<std::string>{"code", "code/main", "code/main/full_code.cpp", "graphs", "graphs/net.json",
                                   "graphs/net_1.json", "index.json", "log.jsonl", "records", "records/net.json",
                                   "records/net.safetensors", "records/net_run1.json", "records/net_run1.safetensors",
                                   "records/net_run2.json", "records/net_run2.safetensors"});
    for (const char* own : {"code/mine.cpp", "records/notes.json", "graphs/plot.png", "readme"})
        write_file(folder.path() / own, "{}");
    remove_trace(folder.path());
    CHECK(files_in(folder.path()) == std::vector<std::string>{"code", "code/mine.cpp", "graphs", "graphs/plot.png",
                                                              "readme", "records", "records/notes.json"});
    remove_trace(folder.path());  // nothing there is nothing to remove
}

TEST_CASE("the index is there before the files that it lists, and as they come", "[trace]") {
    const TempDir folder;
    TraceWriter writer(folder.path() / "t", {});
    CHECK_FALSE(fs::exists(folder.path() / "t"));  // nothing was captured yet: what is there stays
    const std::size_t entry = writer.add_graph(identity("net"), "main");
    CHECK(load_index(folder.path() / "t").graphs.size() == 1);
    writer.add_record(entry, identity("net"), record_of(identity("net")));
    CHECK(load_index(folder.path() / "t").records.size() == 1);
    CHECK(writer.add_graph(identity("net"), "main") == entry);  // an equal one is there already
    CHECK(TraceWriter::continued(folder.path() / "t").index() == writer.index());
}

TEST_CASE("only a trace of the same models is replaced", "[trace]") {
    const TempDir folder;
    const fs::path t = folder.path() / "t", a = folder.path() / "a.onnx", b = folder.path() / "b.onnx";
    CHECK(refused(t, {a}).empty());
    write_trace(t, a);
    CHECK(refused(t, {a}).empty());
    CHECK(refused(t, {folder.path() / "t/../a.onnx"}).empty());
    CHECK(refused(t, {b, a}).empty());
    CHECK_THAT(refused(t, {b}), Contains("the folder holds the trace of " + a.string() + ", not of " + b.string()) &&
                                    Contains("--force"));
    CHECK(refused(t, {b}, true).empty());
    // Where the trace went with its model, it is still the model's.
    fs::create_directory(folder.path() / "moved");
    fs::rename(t, folder.path() / "moved/t");
    CHECK(refused(folder.path() / "moved/t", {folder.path() / "moved/a.onnx"}).empty());
}

TEST_CASE("a folder that is not ours is refused, whatever its index.json is", "[trace]") {
    const TempDir folder;
    const auto says = [&](const std::string& index) {
        std::ofstream(folder.path() / "index.json") << index;
        return refused(folder.path(), {"a.onnx"}, true);
    };
    CHECK_THAT(says(R"({"pages": ["code/"]})"), Contains("found a folder that trace did not write"));
    CHECK_THAT(says(R"({"format": "webpack"})"), Contains("found a folder that trace did not write"));
    CHECK_THAT(says("{"), Contains("index.json: byte"));
    CHECK_THAT(says(""), Contains("the file is empty"));
    CHECK_THAT(says("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
               Contains("found a Git LFS pointer") && Contains("git lfs pull"));
    CHECK_THAT(says(R"({"format": "whittle.trace", "version": "2.0"})"), Contains("expected version 1.x"));
}

TEST_CASE("models are named after their files or folders", "[trace]") {
    CHECK(model_name("nets/resnet.onnx") == "resnet");
    CHECK(model_name("nets/resnet/model.onnx") == "resnet");
    CHECK(model_name("model.onnx") == "model");
    CHECK(model_name("./model.onnx") == "model");
    CHECK(model_name("../model.onnx") == "model");
    CHECK(model_name("small.min.json") == "small.min");
    TraceIndex index;
    const std::vector<fs::path> models = {"a/net.onnx", "b/net.onnx"};
    name_models(index, "out", models);
    CHECK(index.model == "a/net.onnx, b/net.onnx");
    CHECK(index.models == std::vector<IndexModel>{{"net", "../a/net.onnx"}, {"net_1", "../b/net.onnx"}});
}

TEST_CASE("a trace that takes another one's place leaves its own files, and that folder's other ones") {
    const TempDir folder;
    const fs::path place = folder.path() / "traces", made = folder.path() / "made";
    for (const auto& [where, size] : {std::pair(place, 20), std::pair(made, 30)}) {
        TraceWriter writer(where, TraceIndex{.model = "./app"});
        for (const char* name : {"both", where == place ? "before" : "now"}) {
            const Graph graph = identity(name, size);
            writer.add_record(writer.add_graph(graph, name), graph, record_of(graph));
        }
        writer.save();
    }
    write_file(place / "notes.txt", "mine");
    take_trace(made, place);
    const TraceIndex index = load_index(place);
    REQUIRE(index.graphs.size() == 2);
    for (const IndexGraph& graph : index.graphs) {
        const Graph there = load_graph(place / graph.file);
        CHECK(there.node({there.placeholders().at(0)}).meta().sizes == Sizes{30});
    }
    const std::vector<std::string> files = files_in(place);
    for (const char* file : {"graphs/before.json", "records/before.json", "index.json.part"})
        CHECK(std::ranges::count(files, file) == 0);
    for (const char* file : {"graphs/both.json", "graphs/now.json", "records/now.json", "notes.txt", "index.json"})
        CHECK(std::ranges::count(files, file) == 1);
}
