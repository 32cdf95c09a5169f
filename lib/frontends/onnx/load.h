// ONNX model file -> Graph in the "onnx" dialect. Entry point: load_onnx().
//
// What becomes what:
//   graph input            placeholder, its target the model's own name for it; one that is an initializer too is not
//   an
//                          input but a constant
//   initializer, Constant  get_attr with its qualified name; external data is mapped, not copied
//   node                   call `onnx.Conv`; of other domains `com.microsoft.Gelu`; inputs positional in the order of
//                          the standard (missing ones none, variadic ones a list), attributes as kwargs under their
//                          names, tensor attributes as get_attr
//   value name, node name  node name (see identifier()), module_path
// A call whose operands are all small constants is computed and becomes a get_attr; so do Shape and Size of anything.
// An Identity of a constant is that constant. (Without LoadOptions::fold all of these stay calls.) Nodes that are not
// sorted are sorted.
//
// Three things have no attribute in ONNX and are kwargs here:
//   num_outputs   how many results a node of an op with optional or variadic outputs has (Split, MaxPool, LSTM …), when
//                 not 1
//   captured      the values that nested graphs (If, Loop, Scan) read from the graphs around them, lifted to inputs:
//                 they are the last placeholders of every nested graph of the node, in this order. Constants are not
//                 lifted: the nested graph has them as get_attr of its own, which shares the data
//   then_branch, else_branch, body …   name the nested graphs in Graph::subgraphs
// An If whose condition is known becomes the nodes of its branch, a call of a model-local function those of its body.
//
// Sequences and optionals: graphs hold tensors only. An input x that is a sequence becomes placeholders x.0, x.1 …, as
// many as are given; ops that list, pick and join are resolved while the file is read, which takes positions and
// conditions that are constants, or inputs whose values are given. A result that is a sequence becomes as many results
// of the graph, an optional what it holds. A Loop that carries a sequence is written out, one iteration after another;
// so is one with a body that only has sizes when the iteration is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/onnx/tensor_proto.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "ops/onnx/opset.h"

namespace whittle {

/// The value that an input will have; without a name that of the input in its place.
struct InputValue {
    std::string name;
    Tensor value;
    std::optional<Sizes> opaque = {};  ///< of a tensor of an OpaqueType, whose value is bytes: its sizes

    const Sizes& sizes() const { return opaque ? *opaque : value.sizes(); }
};

struct LoadOptions {
    /// Sizes of the tensors that will be given, by the model's input names. They decide dynamic dimensions and must
    /// agree with static ones.
    std::map<std::string, Sizes> input_sizes = {};
    /// Values that will be given. Their sizes do the same, and where the sizes of a node's results depend on the value
    /// of an input, this one is a constant for that node. It is an input of the graph if other nodes read it, too.
    std::vector<InputValue> values = {};
    /// How many elements an input has that is a sequence, nothing for an optional that holds nothing. Where values or
    /// sizes are given for x.0, x.1 …, they say it.
    std::map<std::string, std::optional<std::size_t>> lengths = {};
    /// Sizes of dynamic dimensions by their names in the model (dim_param), or by their places, "x[2]".
    std::map<std::string, std::int64_t> dims = {};
    /// Size of dynamic dimensions that nothing else decides.
    std::int64_t default_dim = 1;
    /// Compute what depends on constants and static sizes alone; false: it stays as the calls that the file has.
    bool fold = true;
    /// Keep nodes that Whittle cannot describe and report them as breaks; by default the first is an Error. Ops that
    /// read strings, or other elements of an OpaqueType, are such nodes.
    bool keep_unknown = false;
    /// Of what Whittle cannot describe, keep calls of ops that it does not know, for who may know them. The file has to
    /// declare what they give.
    bool opaque = false;
};

struct LoadedModel {
    Graph graph;
    std::vector<Break> breaks = {};  ///< in order of the graph
    /// Names of calls whose metas are not known (graph/placement.h): breaks, and what depends on them. Metas that the
    /// file itself states (value_info) are believed instead.
    std::vector<std::string> unknown = {};
    /// Nodes of the file that were computed while reading it and are no calls any more, by op.
    std::map<std::string, std::size_t> folded = {};
    /// What differs from the file, one sentence each: "onnx.Hardmax was computed while reading (constant)", "onnx.Loop
    /// was read one iteration after another".
    std::vector<std::string> rewritten = {};
    DeclaredValues declared = {};             ///< of the file
    std::vector<std::string> inputs = {};     ///< the model's own names, all of them; elements of sequences "x.0"
    std::vector<std::string> constants = {};  ///< of these, inputs whose given values became constants of the graph
    /// Dynamic dimensions that nothing decided and that were given LoadOptions::default_dim: "batch", "x[2]".
    std::vector<std::string> assumed_dims = {};
};

/// Reads the model; its graph verifies at Stage::captured, without breaks at Stage::registered. Throws Error naming
/// file, node or initializer, what was found and what was expected, for anything else than a well-formed model of opset
/// 7 to 24, or of an older one whose nodes mean the same at 7, which it becomes; and unless options.keep_unknown, for
/// nodes with ops (unless options.opaque) or attributes that Whittle does not know. A graph with opaque calls verifies
/// at Stage::captured.
LoadedModel load_onnx_with_breaks(const std::filesystem::path& path, const LoadOptions& options = {});

/// Throws Error naming the first input that is a map or a sparse tensor.
void check_onnx_inputs(const std::filesystem::path& path);

/// As load_onnx_with_breaks, for callers that cannot use breaks: options.keep_unknown must be off.
Graph load_onnx(const std::filesystem::path& path, const LoadOptions& options = {});

/// A model in memory. `file` names it in messages; external data is looked for in `folder` and refused when that is
/// empty.
LoadedModel load_onnx_bytes(std::span<const std::byte> bytes, const std::string& file,
                            const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace whittle
