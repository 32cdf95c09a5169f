// .pt2, what torch.export.save() writes -> Graph in the "aten" dialect. Entry point: load_pt2().
//
// What becomes what:
//   user input             placeholder, its target the input's own name; one that is a constant is that constant
//   parameter, buffer,     get_attr with its qualified name
//   lifted constant
//   node                   call `aten.conv2d.default`, arguments that the file leaves out at the schema's defaults
//   stack_trace,           the user's stack, innermost first, and the module's path
//   nn_module_stack
//   cond, while_loop, map, calls of the same higher_order ops; what merely sets the grad mode, or runs its graph on
//   scan                   the operands (checkpoint, strict_mode), is written out; others are opaque calls
//   unknown op             an opaque call with the results that the file states
//   input that is a number the number of the example, or of --dim; strings and None are where they are used
//   user output            an output, if it is a tensor: sizes and numbers are told by the graph's own sizes
//   buffer or input that   further outputs, behind the others: their new values
//   is written
//   .item()                what it reads with the values given, a number; an assertion that the value is that
// Sizes are static here. A dynamic dimension is what the values given for the inputs have (an input of 2*s0 rows
// decides s0), or what LoadOptions::dims says, or else what the file gives as an example; computations on sizes alone
// are done while reading. Sizes that are data ("u0") are those that LoadOptions::values make. Whether parameters
// require gradients is not kept: an exported program is run for its outputs. Formats: schema majors 7 and 8
// (PyTorch 2.5 and later), whose weights are raw since 2.9 and pickled before.
// https://github.com/pytorch/pytorch/blob/main/torch/_export/serde/schema.py
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::pt2 {

struct LoadOptions {
    std::map<std::string, Sizes> input_sizes = {};  ///< of values that will be given, by the input's name
    std::vector<Sizes> sizes = {};                  ///< the same by position, for inputs without a name
    std::map<std::string, std::int64_t> dims = {};  ///< by symbol: "s77"
    std::string model = {};                         ///< which of several in the archive; empty: there is one
    /// Of the placeholders of a graph, for a program with sizes that depend on data; it may be called several times.
    std::function<std::vector<Tensor>(const Graph&)> values = {};
};

struct LoadedProgram {
    Graph graph;
    std::size_t user_outputs = 0;           ///< outputs that the program returns; the others are …
    std::vector<std::string> updates = {};  ///< … new values of these buffers, parameters and inputs
    /// Dynamic dimensions that nothing decided, with the size that the file has as its example: "s77=5".
    std::vector<std::string> assumed_dims = {};
    /// Sizes and numbers that depend on data, with what the values made them: "u0=3".
    std::vector<std::string> data_sizes = {};
};

/// The models that an archive holds, by name and in the order of their names; one nameless one of a flat archive.
/// Throws Error for an archive without any.
std::vector<std::string> pt2_models(const std::filesystem::path& path);

/// Throws Error naming file and entry or node, what was found and what was expected. Ops that are not registered are
/// kept, with the results that the file states.
LoadedProgram load_pt2(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace whittle::pt2
