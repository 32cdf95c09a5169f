#include "formats/sidecar.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "base/files.h"
#include "formats/json.h"
#include "tensor/safetensors.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

Tensor filled(float value) {
    Tensor tensor(DType::f32, {20});
    for (int i = 0; i < 20; ++i) tensor.mutable_data<float>()[i] = value;
    return tensor;
}

Graph with_weight(float value) {
    Graph graph;
    graph.output({graph.get_attr("w", filled(value))});
    return graph;
}

float weight_of(const fs::path& path) { return load_graph(path).attributes.at("w").values<float>()[0]; }

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

TEST_CASE("a writer that is killed between tensors and JSON leaves the graph that was there") {
    const TempDir folder;
    const fs::path path = folder.path() / "g.json";
    save_graph(with_weight(1), path);
    const Tensor other = filled(2);
    CHECK_THROWS(save_with_tensors(path, {{content_hash(other), other}},
                                   [](const std::string&) -> std::string { throw std::runtime_error("killed"); }));
    CHECK(weight_of(path) == 1);
    save_graph(with_weight(2), path);
    CHECK(weight_of(path) == 2);
    save_graph(with_weight(3), path);
    CHECK(weight_of(path) == 3);
    CHECK(names_in(folder.path()) == std::vector<std::string>{"g.json", "g.safetensors"});  // nothing piles up
}

TEST_CASE("tensors that were written are linked, as long as no others are needed") {
    const TempDir folder;
    fs::create_directory(folder.path() / "shared");
    SharedTensors shared(folder.path() / "shared");
    const auto written = [&] {
        std::uintmax_t bytes = 0;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder.path() / "shared"))
            bytes += entry.file_size();
        return bytes;
    };
    Graph both = with_weight(1);
    both.nodes.pop_back();
    both.output({{0}, both.get_attr("v", filled(2))});
    // Each graph in a folder of its own, as queries are.
    const auto save = [&](const std::string& name, const Graph& graph) {
        fs::create_directory(folder.path() / name);
        save_graph(graph, folder.path() / name / "graph.json", shared);
        return folder.path() / name / "graph.json";
    };
    const fs::path first = save("first", both);
    const std::uintmax_t once = written();
    CHECK(once > 2 * 20 * sizeof(float));
    const fs::path part = save("part", with_weight(2)), other_part = save("other part", with_weight(1));
    CHECK(written() == once);
    CHECK(fs::hard_link_count(sidecar_named_in(part)) == 4);
    CHECK(load_graph(first).attributes.size() == 2);
    CHECK(load_graph(part).attributes.at("w").values<float>()[0] == 2);
    CHECK(weight_of(other_part) == 1);
    const fs::path changed = save("changed", with_weight(3));
    CHECK(written() > once);
    CHECK(weight_of(changed) == 3);
}

TEST_CASE("equal tensors stay in their file, a user's file and a copy's tensors are left alone") {
    const TempDir folder;
    const fs::path path = folder.path() / "g.json", copy = folder.path() / "copy.json";
    save_safetensors(folder.path() / "g.safetensors", {{"layer.weight", filled(7)}});
    save_graph(with_weight(1), path);
    CHECK(sidecar_named_in(path) == folder.path() / "g.2.safetensors");
    fs::copy_file(path, copy);
    save_graph(with_weight(2), path);
    CHECK(weight_of(path) == 2);
    CHECK(weight_of(copy) == 1);
    const fs::path named = sidecar_named_in(path);
    save_graph(with_weight(2), path);
    CHECK(sidecar_named_in(path) == named);
    CHECK(load_safetensors(folder.path() / "g.safetensors").contains("layer.weight"));
}
