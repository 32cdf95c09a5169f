// What the short programs of all backends share (Emitter::short_program()): names that say nothing of the user's model,
// and the line that says what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/emitter.h"
#include "graph/schema.h"
#include "tensor/scalars.h"

namespace whittle {

/// Which names the values that the graph returns get: y (y0, y1 … of several), or, as other values, the op's.
enum class OutputNames { op, y };

/// The graph without its failure, stacks and module paths: inputs are called x (x0, x1 … of several), parameters w0,
/// w1 …, calls as their op, the graph "graph", a nested one "body"; that has no parameters. With `schemas`, several
/// inputs of a graph of one call are called as the op calls them, where that says something (tells()).
Graph with_short_names(const Graph& graph, OutputNames outputs = OutputNames::op,
                       const SchemaSource* schemas = nullptr);

/// What a request's program computes, under short names: its graph, or of a joint one the graph that is differentiated,
/// with the names of the inputs and parameters whose gradients are computed.
struct ShortGraph {
    Graph graph;
    std::vector<std::string> gradients = {};
};
ShortGraph short_graph(const ShortRequest& request, OutputNames outputs);

/// What a title says of the gradient that is wrong: ", in the gradient of x,"; " in training" of another failure; empty
/// where no gradients are computed.
std::string gradient_words(const ShortRequest& request, const ShortGraph& graph);
/// Position in ShortGraph::gradients of the one that is wrong; nothing where an output is, or none.
std::optional<std::size_t> wrong_gradient(const ShortRequest& request);

/// The graph without arguments that are what their ops take by themselves: trailing ones, and those by name.
Graph without_defaults(Graph graph, const SchemaSource& schemas);

/// A parameter's name says more than "A", "self" and the like, which every op has.
bool tells(const std::string& parameter);

/// Elements that a reader takes in; a short program holds no more of a tensor.
inline constexpr std::int64_t kMostInPlace = 16;
/// Why a reader would not take in all of the inputs, results and parameters, as a clause; empty: they are few. Which
/// data types can be written; which tensors are too large.
std::string not_written_shortly(const ShortRequest& request, const std::function<bool(DType)>& can_write,
                                const std::function<bool(const Tensor&)>& is_large);

/// "onnx.Pad, onnx.MaxPool": each once, in order.
std::string ops_of(const Graph& graph);
/// "MaxPool" of "onnx.MaxPool", "neg" of "aten.neg.default".
std::string op_word(const std::string& target);

/// The first element that is not as expected.
struct WrongElement {
    std::size_t output = 0;
    std::int64_t element = 0;
    std::string got, expected;  ///< as short_number_at() writes them
};
/// Nothing where all that was computed is as expected.
std::optional<WrongElement> first_wrong(const ShortRequest& request);

/// "1x3x2".
std::string sizes_of(const Tensor& tensor);
/// Where the failure is one of sizes: the first output that has others than expected.
std::optional<std::size_t> wrong_sizes(const ShortRequest& request);
/// The same of dtypes.
std::optional<std::size_t> wrong_dtype(const ShortRequest& request);
/// "int64", as a title has it.
std::string dtype_word(DType dtype);

/// "SIGSEGV at run of WHO"; "WHO gives 1, expected -1". `message`: an exception's words, where the failure's are not
/// what a title has.
std::string what_is_wrong(const ShortRequest& request, const std::string& who, const std::string& message = {});

/// Why no short program shows such a failure, as a clause; empty: one may. Of its size it says nothing. `dtypes`: the
/// program may compare these.
std::string not_shown_shortly(const Failure& failure, bool dtypes = false);

/// Statements of C++ by which a crash or a hang, where the failure is one, ends the program with status 1.
std::string ends_by_failure(const Signature& signature, std::int64_t alarm);

/// A condition of C++: `got` is not `right`, which is one of `expected`. No tolerance: not at all.
std::string differs_in_cpp(std::span<const double> expected, double tolerance, const std::string& got,
                           const std::string& right);

/// "#include <cmath>\n…": what the code of a short program needs of the standard headers, without the last line break.
std::string standard_includes(const std::string& code);

/// "g++ -std=c++17 -O1 FILE -o PROGRAM FLAGS". A "-std=…" among the flags takes the place of C++17: the headers of a
/// newer compiler may need it.
std::vector<std::string> build_words(const std::filesystem::path& file, const std::vector<std::string>& flags);

/// "g++ … && ./repro": what builds a short program in C++ and runs it.
std::string build_line(const std::filesystem::path& file, const std::vector<std::string>& flags,
                       const std::vector<std::string>& arguments = {});

/// How C++ prints an element: printf's conversion and its argument, where `value` is an expression of that dtype.
struct PrintedElement {
    std::string format, argument;
};
PrintedElement printed_element(DType dtype, const std::string& value);

/// How far a value may be from what is expected of the output, as an absolute difference in two digits, rounded up; 0
/// for integers.
double absolute_tolerance(const Failure& failure, const Tensor& expected);

}  // namespace whittle
