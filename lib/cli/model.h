// MODEL arguments: what a file is, by its content, and its graphs with the inputs to run them on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "judge/frame.h"
#include "trace/record.h"

namespace whittle::cli {

class Tool;

enum class ModelKind {
    onnx,
    pt2,          ///< what torch.export.save() wrote
    graph,        ///< a graph's JSON, minimized or not
    record,       ///< one record
    trace,        ///< a folder that `trace` wrote
    program,      ///< an executable or a script: trace and explain run it under capture, see program.h
    torch_file,   ///< what torch.compile's debug tools wrote, see torch_file.h
    torchscript,  ///< what torch.jit.save() wrote: LibTorch runs it under capture, as a program
};
std::string_view name(ModelKind kind);
/// What a MODEL of trace and explain may be.
inline constexpr char kModelHelp[] =
    "Program or TorchScript module (.pt) to run under capture; ONNX model, or a folder with model.onnx; PyTorch export "
    "(.pt2); graph (JSON); record; folder written by trace; or what torch.compile's debug tools write: "
    "fx_graph_runnable.py, repro.py, or a TORCH_TRACE folder.";
/// Its graphs are what is captured while it runs.
inline bool is_run(ModelKind kind) { return kind == ModelKind::program || kind == ModelKind::torchscript; }

/// By content; ONNX, which has no magic number, by its extension or else by what the first bytes can be. Throws Error
/// for a path that is not there, and for folders without a trace or a model.onnx.
ModelKind recognize(const std::filesystem::path& path);

/// The file that holds the model: in a folder of the ONNX backend tests its model.onnx, else `model` itself.
std::filesystem::path model_file(const std::filesystem::path& model);

/// The folder test_data_set_0 beside an ONNX model, or in its folder, as the ONNX backend tests have it; nothing where
/// there is none, or where it may be for another model: one file of several that is not called model.onnx, or one with
/// a failure of its own, which has values.
std::optional<std::filesystem::path> values_beside(const std::filesystem::path& model);

/// Where the values of a model's inputs come from. Options --input, --seed, --dim.
struct InputOptions {
    std::vector<std::string> inputs = {};   ///< NAME=FILE, NAME=DTYPE[SIZES], or a folder or file of several values
    std::optional<std::int64_t> seed = {};  ///< nothing: 0
    std::vector<std::string> dims = {};     ///< NAME=SIZE of dynamic dimensions

    void declare(Tool& tool);
    bool given() const { return !inputs.empty(); }
    /// The folder or file of several values. Throws Error for two.
    std::optional<std::filesystem::path> data_set() const;
    /// With the values beside the model, unless one of the options says otherwise.
    InputOptions completed(const std::filesystem::path& model) const;
    /// As they are typed.
    std::vector<std::string> words() const;
};

struct ModelOptions {
    InputOptions inputs = {};
    bool keep_unknown = false;  ///< ONNX: calls whose results have no known type are kept instead of an Error
    bool as_stated = false;     ///< results are what a graph's file says, and not what is inferred of them
    bool need_inputs = true;    ///< false: only the graphs are wanted
    bool exact = false;         ///< --accuracy=exact: with data on which no operation rounds (judge/exact.h)
    bool fold = true;           ///< ONNX: compute what is constant while reading (LoadOptions::fold)
};

using whittle::LoadedFrame;

/// The frames of a model, graph, record or trace folder; a program is refused. A graph keeps recorded inputs (of a
/// record or a failure) unless others are given. Calls of ops that Whittle does not know are opaque
/// (ops/core/opaque.h), with the results that the file states. Throws Error for inputs that the model does not have or
/// that do not fit, naming them, also where only the graphs are wanted.
std::vector<LoadedFrame> load_model(const std::filesystem::path& path, const ModelOptions& options);

/// load_model() for commands that judge: where results of an ONNX model have no known type, or there are breaks, the
/// frame is read all the same. A backend may know more of it than Whittle does; the judge says why no other is judged.
/// `knows_more`: only if it says so of the frame.
std::vector<LoadedFrame> load_for(const std::filesystem::path& path, const ModelOptions& options,
                                  const std::function<bool(const LoadedFrame&)>& knows_more = {});

/// One tensor from a safetensors or .npz file (its only one, or the one called `name`), an .npy file or an ONNX
/// TensorProto.
Tensor load_tensor(const std::filesystem::path& path, const std::string& name);

/// It is a folder, and neither a trace nor a model itself.
bool holds_models(const std::filesystem::path& path);
/// The models, graphs, records and traces in the folder and below, by path; not what is in `but`. Throws Error where
/// there is none.
std::vector<std::filesystem::path> models_in(const std::filesystem::path& folder,
                                             const std::filesystem::path& but = {});
/// One of those that is no record.
bool is_plain_model(const std::filesystem::path& path);

}  // namespace whittle::cli
