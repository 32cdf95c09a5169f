// A pipeline as it was captured in a program that uses Halide: its definitions before any directive, its inputs, where
// each Func is computed, and its directives. A C++ program can be written from it (repro/schedule).
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::halide_program {

/// An expression. Its operands are other nodes of the same table, in front of it.
struct Node {
    std::string op = {};    ///< "integer", "add", "call"; see capture/nodes.cpp
    std::string type = {};  ///< "int32", "uint1", "float32"
    std::vector<int> of = {};
    std::string name = {};   ///< of a variable, an input, or what is called
    std::string kind = {};   ///< of a call: "func", "image", or that of Halide, "PureExtern"
    std::string value = {};  ///< of a literal; of "bound" "min.0"
    int index = 0;           ///< of a call: which value of the Func
    bool operator==(const Node&) const = default;
};
using Nodes = std::vector<Node>;

struct Range {
    std::string name = {};  ///< "r$x"
    int min = -1, extent = -1;
};
struct Equation {
    std::vector<int> arguments = {}, values = {};
    std::vector<Range> domain = {};
    int predicate = -1;  ///< -1: none
};
struct LoopLevel {
    std::string place = "inlined";  ///< or "root", "loop"
    std::string func = {}, loop = {};
    bool reduction = false;  ///< the loop is of an RVar
    bool operator==(const LoopLevel&) const = default;
};
struct CapturedFunc {
    std::string name = {}, external = {};
    std::vector<Equation> definitions = {};
    LoopLevel compute = {}, store = {};
};

struct Image {
    std::string name = {}, type = {};
    bool parameter = false;                                    ///< an ImageParam, else a buffer of the program's own
    std::vector<std::array<std::int64_t, 3>> dimensions = {};  ///< minimum, extent, stride, from the innermost
    std::string file = {};                                     ///< .npy, the innermost dimension last; empty: none
};
struct Parameter {
    std::string name = {}, type = {};
    int value = -1;
};

struct Argument {
    std::string kind = {};  ///< "variable", "reduction variable", "expression", "func", "stage", "list", "text"
    std::string name = {};
    Nodes nodes = {};
    int node = -1;
    std::vector<Argument> entries = {};
};
/// A directive, as it is called.
struct CapturedCall {
    int directive = 0;  ///< its number
    std::string owner = {}, name = {};
    std::vector<Argument> arguments = {};
    int specialization = 0;     ///< number of the specialize() whose stage it is for; 0: none
    std::string returned = {};  ///< the Func that it makes
    bool culprit = false;
};

/// "f" of "f.update(0)" and of "f.dim(1)".
std::string func_of(const std::string& owner);
/// Of a directive's name: it says where a Func is computed or stored, so that directives of other Funcs may be valid by
/// it. compute_root, where everything is computed without a schedule, is none.
bool places_func(std::string_view name);

struct CapturedPipeline {
    std::string entry = {}, target = {};
    std::string usual_target = {};  ///< what Halide takes where the program does not say: see `target`
    std::vector<std::string> outputs = {};
    std::vector<std::vector<std::array<std::int64_t, 2>>> shapes = {};  ///< minimum and extent of what is realized
    std::vector<CapturedFunc> funcs = {};
    std::vector<Image> images = {};
    std::vector<Parameter> parameters = {};
    Nodes nodes = {};
    std::vector<CapturedCall> schedule = {};  ///< compute_at() and the like are in force as `funcs` says

    const CapturedFunc* func(const std::string& name) const;
    CapturedFunc* func(const std::string& name);
};

/// A run of a pipeline, with the values that its inputs had.
struct CapturedRun {
    int number = 0;                          ///< in its process, from 1
    int first_directive = 0, directive = 0;  ///< the program's first one in this process, and the last before the run
    CapturedPipeline pipeline = {};
    std::vector<std::string> results = {};  ///< .npy, in Fortran's order; none: the run did not end
    std::string serialized = {};            ///< Halide's own file of the pipeline; empty: none was written
};

struct Program;
/// The run's pipeline with the directives that were in force.
CapturedPipeline scheduled(const Program& program, const CapturedRun& run);

/// The pipeline that has the Funcs of the culprits, with the directives that are in force: of a run that left out those
/// of the keys `left_out`. Nothing where none was captured that has them.
std::optional<CapturedPipeline> captured_with(const Program& program, const std::set<std::string>& left_out,
                                              const std::set<std::string>& culprits);

void from_json(const nlohmann::json& json, CapturedPipeline& pipeline);
void to_json(nlohmann::json& json, const CapturedPipeline& pipeline);
void from_json(const nlohmann::json& json, CapturedCall& call);
void to_json(nlohmann::json& json, const CapturedCall& call);

}  // namespace whittle::halide_program
