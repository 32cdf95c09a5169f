#include "cli/model.h"

#include <algorithm>
#include <set>

#include "base/command_words.h"
#include "base/error.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/number_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "capture/hash_index.h"
#include "capture/log.h"
#include "cli/inputs.h"
#include "cli/tool.h"
#include "cli/torch_file.h"
#include "cli/usage.h"
#include "formats/failure_file.h"
#include "frontends/onnx/load.h"
#include "frontends/pt2/load.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "judge/frames.h"
#include "ops/core/layout.h"
#include "tensor/safetensors.h"
#include "trace/index.h"
#include "trace/load.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

/// Sizes by the names of dynamic dimensions.
std::map<std::string, std::int64_t> dims_of(const InputOptions& options) {
    std::map<std::string, std::int64_t> dims;
    for (const std::string& word : options.dims) {
        const auto [name, text] = split_assignment(word, "--dim", "NAME=SIZE");
        const auto size = number_of<std::int64_t>(text);
        if (!size || *size < 0) throw invalid_value(word, "--dim", "expected NAME=SIZE with a whole number");
        if (!dims.emplace(name, *size).second) throw Error("--dim: the dimension '" + name + "' is given twice");
    }
    return dims;
}

LoadOptions onnx_options(const ModelOptions& options, const Given& given) {
    LoadOptions load{.dims = dims_of(options.inputs)};
    load.keep_unknown = options.keep_unknown;
    load.opaque = true;
    load.fold = options.fold;
    for (const GivenInput& input : given.inputs)
        load.values.push_back(
            {input.name, input.tensor, input.opaque ? std::optional(input.opaque->sizes) : std::nullopt});
    load.lengths = given.lengths;
    return load;
}

/// A minimized graph brings its inputs along.
void use_failure(LoadedFrame& frame) {
    if (!frame.graph.failure) return;
    frame.inputs = frame.graph.failure->inputs;
    frame.inputs_from = "the failure";
}

/// An input of the model may be no tensor: a map is said of the model, not of the data given for it, and what sequences
/// are cannot be read without the model. Models can be large: only looked into where the data are no tensors.
Given read_given_for(const fs::path& model, const InputOptions& options) {
    try {
        return read_given(options);
    } catch (const Error&) {
        check_onnx_inputs(model);
        return read_given(options, declared_values(model));
    }
}

/// Dynamic dimensions whose size nobody said.
void warn_of_assumed(const fs::path& path, const std::vector<std::string>& dims, const std::string& took,
                     const std::string& sets) {
    if (dims.empty()) return;
    const bool several = dims.size() > 1;
    log_warning(LogChannel::frontend, path.string() + ": " + took + (several ? "dimensions " : "dimension ") +
                                          join(dims) + "; to set " + (several ? "the first size" : "this size") +
                                          ": --dim '" + dims.front().substr(0, dims.front().find('=')) + sets + "'");
}

/// `model`: which of several in the archive, and then the frame's name.
LoadedFrame load_pt2_frame(const fs::path& path, const std::string& model, const ModelOptions& options,
                           const Given& given, Checks checks) {
    pt2::LoadOptions load{.dims = dims_of(options.inputs), .model = model};
    for (const GivenInput& input : given.inputs)
        if (input.name.empty())
            load.sizes.push_back(input.tensor.sizes());
        else
            load.input_sizes[input.name] = input.tensor.sizes();
    ModelOptions with_inputs = options;
    with_inputs.need_inputs = true;
    load.values = [&](const Graph& graph) {
        LoadedFrame frame{.graph = graph};
        fill_inputs(frame, with_inputs, given);
        return frame.inputs;
    };
    pt2::LoadedProgram program = pt2::load_pt2(path, load);
    if (!program.data_sizes.empty())
        log_warning(
            LogChannel::frontend,
            path.string() +
                ": these sizes depend on the values of the inputs, so the graph has the sizes for the given inputs: " +
                join(program.data_sizes));
    warn_of_assumed(path, program.assumed_dims, "Whittle uses the size in the export for the dynamic ", "=SIZE");
    LoadedFrame frame{.file = path, .updates = std::move(program.updates)};
    frame.graph = checked_graph(std::move(program.graph), path, checks, &frame.updates);
    if (!model.empty()) frame.name = model;
    return frame;
}

struct OnnxFrame {
    LoadedFrame frame;
    DeclaredValues declared;                  ///< of the file
    std::map<std::string, Tensor> constants;  ///< values of inputs that are constants of the graph
};

/// `given` loses those inputs.
OnnxFrame load_onnx_frame(const fs::path& path, const ModelOptions& options, Given& given) {
    LoadedModel model = load_onnx_with_breaks(path, onnx_options(options, given));
    // From here on by name: the model knows which input is the first.
    for (std::size_t i = 0; i < std::min(model.inputs.size(), given.inputs.size()); ++i)
        if (given.inputs[i].name.empty()) given.inputs[i].name = model.inputs[i];
    warn_of_assumed(path, model.assumed_dims, "Whittle uses size 1 for the dynamic ", "=SIZE");
    std::map<std::string, Tensor> constants;
    for (const GivenInput& input : given.inputs)
        if (std::ranges::find(model.constants, input.name) != model.constants.end())
            constants.emplace(input.name, input.tensor);
    for (const std::string& name : model.constants) {
        log_info(LogChannel::frontend,
                 path.string() + ": input '" + name +
                     "' becomes a constant of the graph, because sizes depend on the value of the input");
        std::erase_if(given.inputs, [&](const GivenInput& input) { return input.name == name; });
    }
    LoadedFrame frame{.file = path,
                      .graph = std::move(model.graph),
                      .breaks = std::move(model.breaks),
                      .unknown = std::move(model.unknown),
                      .folded = std::move(model.folded),
                      .rewritten = std::move(model.rewritten)};
    frame.graph.failure = load_failure(frame.graph, path);
    use_failure(frame);
    return {std::move(frame), std::move(model.declared), std::move(constants)};
}

/// The file with the values that it is to be run on, where these are dense tensors of numbers.
void set_onnx_file(LoadedFrame& frame, const OnnxFrame& read) {
    const auto& [unused, declared, constants] = read;
    OnnxFile file{.model = frame.file};
    std::map<std::string, std::size_t> positions;  // of placeholders, by the model's names
    const std::vector<NodeId> placeholders = frame.graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i)
        positions[source_name(frame.graph.node({placeholders[i]}))] = i;
    for (const DeclaredValue& input : declared.inputs) {
        const auto constant = constants.find(input.name);
        const auto position = positions.find(input.name);
        if (input.sequence || input.optional || (constant == constants.end() && position == positions.end())) return;
        const bool known = constant != constants.end();
        const ValueMeta meta =
            known ? ValueMeta::of(constant->second) : frame.graph.node({placeholders[position->second]}).meta();
        if (meta.placement) return;
        file.inputs.push_back({input.name, meta});
        file.values.push_back(known ? constant->second : frame.inputs.at(position->second));
    }
    const std::vector<NodeId> outputs = frame.graph.outputs();
    for (std::size_t i = 0; i < declared.outputs.size(); ++i) {
        file.outputs.push_back({declared.outputs[i].name});
        if (outputs.size() != declared.outputs.size()) continue;  // one is a sequence
        const ValueMeta& meta = frame.graph.node({outputs[i]}).meta();
        if (!meta.placement) file.outputs.back().meta = meta;
    }
    frame.onnx = std::move(file);
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

LoadedFrame frame_of_graph(const fs::path& path, Checks checks) {
    LoadedFrame frame{.file = path, .graph = load_checked_graph(path, checks)};
    use_failure(frame);
    return frame;
}

LoadedFrame frame_of_torch_graph(const fs::path& path, const TorchGraph& torch, bool need_inputs, Checks checks) {
    LoadedFrame frame{.file = path, .graph = load_checked_graph(torch.graph, checks)};
    frame.name = frame.graph.name;
    if (!need_inputs) return frame;
    const std::map<std::string, Tensor> values = load_safetensors(torch.inputs);
    for (const NodeId id : frame.graph.placeholders()) {
        const Node& node = frame.graph.node({id});
        frame.inputs.push_back(laid_out_as(values.at(node.name), node.meta()));
    }
    frame.inputs_from = "the file";
    return frame;
}

/// With inputs: the records, then the graphs that no record belongs to. Else every graph once.
std::vector<LoadedFrame> frames_of_trace(const fs::path& folder, bool need_inputs, Checks checks) {
    const TraceIndex index = load_index(folder);
    std::vector<LoadedFrame> frames;
    std::set<std::string> recorded;
    if (need_inputs)
        for (const IndexRecord& record : index.records) {
            if (record.graph.empty()) continue;  // of a frame in which capture failed: no graph to run
            frames.push_back(frame_of_record(load_checked_record(folder / record.file, checks)));
            recorded.insert(record.graph);
        }
    for (const IndexGraph& graph : index.graphs) {
        if (graph.file.empty() || recorded.contains(graph.name)) continue;
        frames.push_back(frame_of_graph(folder / graph.file, checks));
        frames.back().name = graph.frame;
    }
    if (!frames.empty()) return frames;
    const std::string index_file = (folder / "index.json").string();
    if (holds_hashes(folder))
        throw Error({folder.string(), {}}, "found hashes, which trace --hashes wrote, expected graphs or records",
                    "to compare the hashes of two runs: " +
                        shell_quote(program_words("explain", {"diff", "BEFORE", "AFTER", "--values"})));
    if (index.records.empty() && (need_inputs || index.breaks.empty()))
        throw Error({index_file, {}}, "the trace holds neither a graph nor a record");
    if (need_inputs)  // capture failed before there was a graph
        throw Error({index_file, {}}, "the trace holds no graph, only records of functions whose capture failed",
                    "to list the records, run explain; to repeat the failed capture, run replay");
    return frames;
}

}  // namespace

void InputOptions::declare(Tool& tool) {
    tool.section("Model inputs");
    tool.option(
        "--input", inputs, "[NAME=]FILE",
        "Value of an input. NAME=FILE: read the input NAME from FILE (.safetensors, .npz, .npy or TensorProto). "
        "NAME=NUMBER: use this number. NAME=DTYPE[SIZES], for example 'x=f32[1, 3]': use random numbers. FILE without "
        "NAME: read all inputs from a file, or from a folder of files input_N.pb or in_N.npy; the folder may also have "
        "the expected outputs, output_N.pb or out_N.npy. May be repeated. Default: random numbers. If an ONNX model "
        "has a folder test_data_set_0 beside it, the default is this folder, unless --seed or --dim is given.");
    tool.option("--seed", seed, "N", "Random seed for the inputs that are not given. Default: 0.");
    tool.option(
        "--dim", dims, "NAME=SIZE",
        "Size of the dynamic dimension NAME. If the dimension has no name, NAME is, for example, 'x[2]': dimension 2 "
        "of the input x, counted from 0. May be repeated. Default: for a PyTorch export, the size in the example "
        "inputs; for an ONNX model, 1.");
}

namespace {

void log_frame(const LoadedFrame& frame) {
    log_info(LogChannel::frontend, frame.file.string() + ": " + summary(frame.graph) +
                                       (frame.inputs_from.empty() ? "" : ", inputs from " + frame.inputs_from) +
                                       (frame.expected_from.empty() ? "" : ", outputs from " + frame.expected_from));
    for (const auto& [op, count] : frame.folded)
        log_debug(LogChannel::frontend, "computed while reading: " + op + ", " + std::to_string(count) + " times");
    capture::log_calls(frame.graph);
    capture::log_graph(frame.graph, frame.name);
    for (const Break& found : frame.breaks)
        capture::log_break({.kind = capture::BreakKind::frontend, .reason = found.reason, .op = found.op}, frame.name,
                           LogLevel::info);
}

/// With the values that the options name, and no others.
std::vector<LoadedFrame> load_frames(const fs::path& path, const ModelOptions& options) {
    const ModelKind kind = recognize(path);
    log_info(LogChannel::cli, path.string() + ": recognized as " + std::string(name(kind)));
    const LogStep step(LogStep::Kind::capture, "read " + path.string());
    const Checks checks{.results = !options.as_stated};
    if (kind != ModelKind::onnx && kind != ModelKind::pt2 && !options.inputs.dims.empty())
        throw Error("--dim requires an ONNX model or a PyTorch export: the sizes of '" + path.string() + "' are fixed");
    const fs::path file = model_file(path);
    Given given;
    if (options.inputs.given())
        given = kind == ModelKind::onnx ? read_given_for(file, options.inputs) : read_given(options.inputs);
    std::vector<LoadedFrame> frames;
    std::optional<OnnxFrame> onnx;
    switch (kind) {
        case ModelKind::onnx:
            onnx = load_onnx_frame(file, options, given);
            frames.push_back(std::move(onnx->frame));
            break;
        case ModelKind::pt2:
            if (const std::vector<std::string> models = pt2::pt2_models(path); models.size() < 2)
                frames.push_back(load_pt2_frame(path, "", options, given, checks));
            else
                for (const std::string& model : models)
                    frames.push_back(load_pt2_frame(path, model, options, given, checks));
            break;
        case ModelKind::graph:
            frames.push_back(frame_of_graph(path, checks));
            break;
        case ModelKind::record:
            frames.push_back(frame_of_record(load_checked_record(path, checks)));
            break;
        case ModelKind::trace:
            frames = frames_of_trace(path, options.need_inputs, checks);
            break;
        case ModelKind::torch_file:
            for (const TorchGraph& graph : read_torch_file(path))
                frames.push_back(frame_of_torch_graph(path, graph, options.need_inputs, checks));
            break;
        case ModelKind::program:
        case ModelKind::torchscript:
            throw Error({path.string(), {}}, "found a " + std::string(name(kind)) + ", expected a model or a trace",
                        shell_quote(program_words("trace", {"-o", "DIR", path.string()})) +
                            " captures a trace; pass this trace (DIR) in place of the program");
    }
    log_info(LogChannel::frontend,
             "read " + path.string() + ": " + std::string(name(kind)) + ", " + plural(frames.size(), "graph"));
    for (LoadedFrame& frame : frames) {
        fill_inputs(frame, options, given);
        set_expected(frame, options, given);
        if (onnx && options.need_inputs) set_onnx_file(frame, *onnx);
        if (options.exact && options.need_inputs)
            make_exact(frame, static_cast<std::uint64_t>(options.inputs.seed.value_or(0)));
        log_frame(frame);
    }
    return frames;
}

bool loads(const fs::path& path, const ModelOptions& options) {
    try {
        load_frames(path, options);
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

std::vector<LoadedFrame> load_model(const fs::path& path, const ModelOptions& options) {
    ModelOptions completed = options;
    completed.inputs = options.inputs.completed(path);
    try {
        return load_frames(path, completed);
    } catch (const Error& error) {
        const bool own = completed.inputs.inputs.size() == options.inputs.inputs.size();
        if (own || !error.hint().empty() || !loads(path, options)) throw;
        throw Error(error.where(), error.message(),
                    "pass other values with --input, or random values with --seed: the values came from " +
                        completed.inputs.data_set()->string());
    }
}

namespace {

/// An ONNX model of which Whittle does not know what it computes: values of unknown types, and breaks. Nothing for any
/// other.
std::optional<std::vector<LoadedFrame>> load_unknown(const fs::path& path, ModelOptions options) {
    if (recognize(path) != ModelKind::onnx) return std::nullopt;
    options.keep_unknown = true;
    try {
        return load_model(path, options);
    } catch (const Error&) {  // whoever reads it without them says what is wrong
    }
    return std::nullopt;
}

}  // namespace

std::vector<LoadedFrame> load_for(const fs::path& path, const ModelOptions& options,
                                  const std::function<bool(const LoadedFrame&)>& knows_more) {
    try {
        return load_model(path, options);
    } catch (const Error&) {  // a part that Whittle does not understand; a backend may
        std::optional<std::vector<LoadedFrame>> unknown = load_unknown(path, options);
        if (!unknown || (knows_more && !knows_more(unknown->front()))) throw;
        return *std::move(unknown);
    }
}

}  // namespace whittle::cli
