// A group: what becomes one kernel. Inputs, stages in order, outputs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "expr/directive.h"
#include "expr/expr.h"
#include "tensor/shape.h"

namespace whittle::expr {

/// A tensor the group reads. Loads index it logically; where an element lies is the strides' matter.
struct Input {
    std::string name = {};
    DType dtype = DType::f32;
    Sizes sizes = {};
    Strides strides = {};   ///< in elements, may be 0 or negative
    bool constant = false;  ///< the same in every run, as a weight: what depends on such alone is computed once
};

struct LoopVar {
    std::string name;
    std::int64_t extent = 0;
    bool operator==(const LoopVar&) const = default;
};

/// Rewrites elements of its stage after they were initialized: for every point of the stage variables that occur in
/// `where`, for every point of `domain` in order (last variable fastest), if `condition`, stage[where] = value.
/// `value` and `condition` may load the stage itself; they use no other variables than `where` and `domain`. Distinct
/// points of stage variables must not write or read each other's elements. Like the sides of a select, `where` and all
/// loads are in bounds also where the condition does not hold. An update whose loops are empty does nothing.
struct Update {
    std::vector<LoopVar> domain = {};
    std::vector<Expr> where = {};  ///< one index per dimension of the stage
    Expr value = nullptr;
    Expr condition = nullptr;  ///< bool; null is true
};

/// One array the group computes. An element is `value`, then changed by the updates in order.
struct Stage {
    std::string name = {};
    DType dtype = DType::f32;
    std::vector<LoopVar> vars = {};  ///< outermost first; none for a 0-d stage
    Expr value = nullptr;            ///< over vars; loads inputs and earlier stages
    std::vector<Update> updates = {};
    std::string origin = {};  ///< the graph node's printed line, for comments in generated code

    Sizes sizes() const;
};

/// Of these loops: where a definition's element lies in its own stage.
std::vector<Expr> variables(const std::vector<LoopVar>& loops);

/// The loops of an update, outermost first: the stage variables that `where` uses, then the domain.
std::vector<LoopVar> loops_of(const Stage& stage, const Update& update);

struct Group {
    std::string name = "group";
    std::vector<Input> inputs = {};
    std::vector<Stage> stages = {};
    std::vector<std::string> outputs = {};  ///< names of stages; a stage that is an output is stored whole

    const Stage* stage(std::string_view name) const;
    const Input* input(std::string_view name) const;
};

/// Of its inputs, stages and loops.
std::set<std::string> names_in(const Group& group);

/// A name that generated C++ may use: an identifier, not a keyword, not one of the few names the readers use
/// themselves.
bool is_identifier(std::string_view name);

/// Throws Error naming the stage and the rule it breaks: unique identifiers, known names, ranks, types, earlier stages
/// only.
void verify(const Group& group);

/// Readable form: a stage per paragraph.
std::string print(const Group& group);

}  // namespace whittle::expr
