#include "cli/model.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cli/tool.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/failure_file.h"
#include "graph/text.h"
#include "run/load.h"
#include "tensor/npy.h"
#include "tensor/random.h"
#include "tensor/safetensors.h"
#include "trace/index.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

/// A value that was given for an input; by position when it has no name.
struct GivenInput {
    std::string name, from;
    Tensor tensor;
};

/// What the options name, read once.
struct Given {
    std::vector<GivenInput> inputs;
    std::vector<Tensor> expected;
    std::string expected_from;
};

std::pair<std::string, std::string> split_assignment(const std::string& word, const char* option, const char* form) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
        throw Error({option, {}}, "found '" + word + "', expected " + form);
    return {word.substr(0, equals), word.substr(equals + 1)};
}

Given read_given(const InputOptions& options) {
    Given given;
    if (options.data_set) {
        TestDataSet set = load_test_data_set(*options.data_set);
        for (NamedTensor& input : set.inputs)
            given.inputs.push_back({input.name, options.data_set->string(), std::move(input.tensor)});
        for (NamedTensor& output : set.outputs) given.expected.push_back(std::move(output.tensor));
        if (!given.expected.empty()) given.expected_from = options.data_set->string();
        // One tensor without a name: all go by position, as the files are numbered.
        if (std::any_of(given.inputs.begin(), given.inputs.end(), [](const auto& i) { return i.name.empty(); }))
            for (GivenInput& input : given.inputs) input.name.clear();
    }
    for (const std::string& word : options.inputs) {
        const auto [name, file] = split_assignment(word, "--input", "NAME=FILE");
        for (const GivenInput& other : given.inputs)
            if (other.name == name) throw Error({"--input", {}}, "found input '" + name + "' twice, expected it once");
        given.inputs.push_back({name, file, load_tensor(file, name)});
    }
    return given;
}

LoadOptions onnx_options(const ModelOptions& options, const Given& given) {
    LoadOptions load;
    load.keep_unknown = options.keep_unknown;
    load.fold = options.fold;
    for (const GivenInput& input : given.inputs)
        if (!input.name.empty()) load.input_sizes[input.name] = input.tensor.sizes();
    for (const std::string& word : options.inputs.dims) {
        const auto [name, text] = split_assignment(word, "--dim", "NAME=SIZE");
        std::int64_t size = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
        if (status != std::errc() || end != text.data() + text.size() || size < 0)
            throw Error({"--dim", {}}, "found '" + word + "', expected NAME=SIZE with a whole number");
        if (!load.dims.emplace(name, size).second)
            throw Error({"--dim", {}}, "found '" + name + "' twice, expected it once");
    }
    return load;
}

/// The names a user may call the placeholder by: the model's own, or the node's.
bool is_called(const Node& placeholder, const std::string& name) {
    return placeholder.target == name || placeholder.name == name;
}

std::string source_name(const Node& placeholder) {
    return placeholder.target.empty() ? placeholder.name : placeholder.target;
}

/// A minimized graph brings its inputs along.
void use_failure(LoadedFrame& frame) {
    if (!frame.graph.failure) return;
    frame.inputs = frame.graph.failure->inputs;
    frame.inputs_from = "the failure";
}

LoadedFrame load_onnx_frame(const fs::path& path, const ModelOptions& options, const Given& given) {
    LoadOptions load = onnx_options(options, given);
    LoadedModel model = load_onnx_with_breaks(path, load);
    // Inputs without names meet the model's by position, which is known only now; their sizes decide dynamic
    // dimensions.
    const std::vector<NodeId> placeholders = model.graph.placeholders();
    bool again = false;
    for (std::size_t i = 0; i < std::min(placeholders.size(), given.inputs.size()); ++i) {
        const Node& node = model.graph.node({placeholders[i]});
        if (!given.inputs[i].name.empty() || node.meta().sizes == given.inputs[i].tensor.sizes()) continue;
        load.input_sizes[source_name(node)] = given.inputs[i].tensor.sizes();
        again = true;
    }
    if (again) model = load_onnx_with_breaks(path, load);
    if (!model.assumed_dims.empty())
        log_warning("frontend", path.string() + ": took 1 for the dynamic " +
                                    (model.assumed_dims.size() == 1 ? "dimension " : "dimensions ") +
                                    join(model.assumed_dims) + "; --dim NAME=SIZE sets another size");
    LoadedFrame frame{.file = path,
                      .graph = std::move(model.graph),
                      .breaks = std::move(model.breaks),
                      .folded = std::move(model.folded)};
    frame.graph.failure = load_failure(frame.graph, path);
    use_failure(frame);
    return frame;
}

void check_fits(const GivenInput& input, const Node& placeholder) {
    const ValueMeta& want = placeholder.meta();
    if (input.tensor.dtype() != want.dtype || input.tensor.sizes() != want.sizes)
        throw Error({input.from, {}}, "found " + print(ValueMeta::of(input.tensor)) + " for input '" +
                                          source_name(placeholder) + "', expected " + print(want));
}

/// Fills frame.inputs: given values first, then recorded ones, then made ones.
void fill_inputs(LoadedFrame& frame, const ModelOptions& options, const Given& given) {
    const std::vector<NodeId> placeholders = frame.graph.placeholders();
    const std::vector<Tensor> recorded = std::move(frame.inputs);
    frame.inputs.clear();
    std::vector<bool> used(given.inputs.size(), false);
    Random random(static_cast<std::uint64_t>(options.inputs.seed));
    bool made = false;
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
        const Node& node = frame.graph.node({placeholders[i]});
        const ValueMeta& meta = node.meta();
        // Drawn whether used or not: giving one input does not change what the seed makes of the others.
        const bool draw = recorded.empty();
        Tensor drawn = draw ? random_tensor(meta.dtype, meta.sizes, random) : recorded.at(i);
        for (std::size_t k = 0; k < given.inputs.size(); ++k) {
            const GivenInput& input = given.inputs[k];
            if (used[k] || !(input.name.empty() ? k == i : is_called(node, input.name))) continue;
            check_fits(input, node);
            used[k] = true;
            frame.inputs.push_back(input.tensor);
            break;
        }
        if (frame.inputs.size() == i + 1) continue;
        frame.inputs.push_back(std::move(drawn));
        made |= draw;
    }
    for (std::size_t k = 0; k < used.size(); ++k) {
        if (used[k]) continue;
        std::vector<std::string> names;
        for (const NodeId id : placeholders) names.push_back(source_name(frame.graph.node({id})));
        throw Error({given.inputs[k].from, {}},
                    "found input '" + given.inputs[k].name + "', which the model does not have; it has " + join(names),
                    did_you_mean(given.inputs[k].name, names));
    }
    if (!given.inputs.empty()) frame.inputs_from = given.inputs.front().from;
    if (made)
        frame.inputs_from += (frame.inputs_from.empty() ? "seed " : " and seed ") + std::to_string(options.inputs.seed);
}

void set_expected(LoadedFrame& frame, const Given& given) {
    if (given.inputs.empty()) return;
    frame.expected = given.expected;  // recorded outputs do not belong to other inputs
    frame.expected_from = given.expected_from;
    const std::size_t outputs = frame.graph.outputs().size();
    if (!frame.expected.empty() && frame.expected.size() != outputs)
        throw Error({given.expected_from, {}}, "found " + std::to_string(frame.expected.size()) +
                                                   " outputs, expected " + std::to_string(outputs) +
                                                   " as the model has");
}

LoadedFrame frame_of_record(LoadedRecord loaded) {
    LoadedFrame frame{.name = loaded.record.frame, .file = loaded.file, .graph = std::move(loaded.graph)};
    frame.inputs = loaded.record.inputs;
    frame.inputs_from = "the record";
    frame.expected = loaded.record.expected;
    frame.expected_from = loaded.record.expected_from;
    frame.record = std::move(loaded.record);
    return frame;
}

LoadedFrame frame_of_graph(const fs::path& path, UnknownOps unknown) {
    LoadedFrame frame{.file = path, .graph = load_checked_graph(path, unknown)};
    use_failure(frame);
    return frame;
}

/// With inputs: the records, then the graphs that no record belongs to. Else every graph once.
std::vector<LoadedFrame> frames_of_trace(const fs::path& folder, bool need_inputs, UnknownOps unknown) {
    const TraceIndex index = load_index(folder);
    std::vector<LoadedFrame> frames;
    std::set<std::string> recorded;
    if (need_inputs)
        for (const IndexRecord& record : index.records) {
            if (record.graph.empty()) continue;  // of a frame in which capture failed: no graph to run
            frames.push_back(frame_of_record(load_checked_record(folder / record.file, unknown)));
            recorded.insert(record.graph);
        }
    for (const IndexGraph& graph : index.graphs) {
        if (graph.file.empty() || recorded.contains(graph.name)) continue;
        frames.push_back(frame_of_graph(folder / graph.file, unknown));
        frames.back().name = graph.frame;
    }
    if (!frames.empty()) return frames;
    const std::string index_file = (folder / "index.json").string();
    if (index.records.empty() && (need_inputs || index.breaks.empty()))
        throw Error({index_file, {}}, "found no graph and no record, expected at least one");
    if (need_inputs)  // capture failed before there was a graph
        throw Error({index_file, {}}, "found records of functions that failed, expected a graph or a record of one",
                    "explain tells of them, and replay captures them again");
    return frames;
}

}  // namespace

void InputOptions::declare(Tool& tool) {
    tool.section("Inputs of the model");
    tool.option("--input", inputs, "NAME=FILE",
                "Value of an input: a safetensors, .npy or ONNX TensorProto file. May be repeated.");
    tool.option(
        "--inputs", data_set, "DIR",
        "Inputs and expected outputs: a folder of input_N.pb and output_N.pb, as the ONNX backend tests have it.");
    tool.option("--seed", seed, "N", "Make the values of all other inputs from this seed (default 0).");
    tool.option(
        "--dim", dims, "NAME=SIZE",
        "Size of a dynamic dimension of an ONNX model that no given input decides (default 1). One without a name is "
        "called by its place: 'x[2]'. May be repeated.");
}

Tensor load_tensor(const fs::path& path, const std::string& name) {
    const std::string extension = path.extension().string();
    if (extension == ".npy") return load_npy(path);
    if (extension != ".safetensors") return load_tensor_proto(path).tensor;
    const std::map<std::string, Tensor> tensors = load_safetensors(path);
    if (const auto found = tensors.find(name); found != tensors.end()) return found->second;
    if (tensors.size() == 1) return tensors.begin()->second;
    std::vector<std::string> names;
    for (const auto& [key, tensor] : tensors) names.push_back(key);
    throw Error({path.string(), {}}, "found tensors " + (names.empty() ? "none" : join(names)) + ", expected '" + name +
                                         "' or a single one");
}

std::vector<LoadedFrame> load_model(const fs::path& path, const ModelOptions& options) {
    const ModelKind kind = recognize(path);
    const UnknownOps unknown = options.keep_unknown ? UnknownOps::keep : UnknownOps::refuse;
    if (kind != ModelKind::onnx && !options.inputs.dims.empty())
        throw Error({"--dim", {}},
                    "found it with '" + path.string() + "', whose sizes are fixed, expected an ONNX model");
    const Given given = options.need_inputs || options.inputs.given() ? read_given(options.inputs) : Given{};
    std::vector<LoadedFrame> frames;
    switch (kind) {
        case ModelKind::onnx:
            frames.push_back(load_onnx_frame(path, options, given));
            break;
        case ModelKind::graph:
            frames.push_back(frame_of_graph(path, unknown));
            break;
        case ModelKind::record:
            frames.push_back(frame_of_record(load_checked_record(path, unknown)));
            break;
        case ModelKind::trace:
            frames = frames_of_trace(path, options.need_inputs, unknown);
            break;
        case ModelKind::program:
            throw Error({path.string(), {}}, "found a program, expected a model, a graph, a record or a trace folder",
                        "capture it first: trace -o DIR " + path.string() + ", then give DIR");
    }
    for (LoadedFrame& frame : frames) {
        set_expected(frame, given);
        if (options.need_inputs) fill_inputs(frame, options, given);
    }
    return frames;
}

}  // namespace whittle::cli
