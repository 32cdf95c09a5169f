// A scheduling directive as the program gives it: recorded, then passed on to Halide, left out, or repaired where it
// needs another that was left out.
#pragma once

#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>

#include "frontends/halide/capture/text.h"

namespace whittle::halide_capture {

using Halide::VarOrRVar;

/// The stages of a Func whose loops can be read.
std::vector<Halide::Stage> stages_of(const Halide::Func& func);
/// A loop of this name; names of loops end with those of the variables that they are made for.
bool has_loop(const Halide::Stage& stage, const std::string& name);
/// The stage that a directive of this object changes.
std::optional<Halide::Stage> stage_of(const Halide::Func& func);
inline std::optional<Halide::Stage> stage_of(const Halide::Stage& stage) { return stage; }
template <class Other>
std::optional<Halide::Stage> stage_of(const Other&) {
    return std::nullopt;
}

/// The variables among the arguments of a directive, in order.
struct Variables {
    std::vector<VarOrRVar> all = {};
    std::size_t first_list = 0;  ///< the number in the first list, of tile({x, y}, …)

    void add(const VarOrRVar& variable) { all.push_back(variable); }
    void add(const Halide::Var& variable) { all.emplace_back(variable); }
    void add(const Halide::RVar& variable) { all.emplace_back(variable); }
    void add(const std::vector<VarOrRVar>& list) {
        if (!first_list) first_list = list.size();
        all.insert(all.end(), list.begin(), list.end());
    }
    template <class Other>
    void add(const Other&) {}
};

/// What a directive does with its variables.
struct Loops {
    std::vector<VarOrRVar> used = {};
    std::vector<std::pair<VarOrRVar, VarOrRVar>> made = {};  ///< each with the one that it is made from
};
Loops loops_of(std::string_view name, const Variables& variables);

/// Where a Func is computed or stored.
struct Level {
    std::optional<Halide::Func> target = {};
    std::optional<VarOrRVar> variable = {};
};

class Directive {
  public:
    /// `address`: where the call returns to. `more`: members of the JSON object. Written to the file.
    Directive(std::string_view name, std::string owner, std::vector<std::string> arguments, Loops loops, Level level,
              void* address, const std::string& more);

    /// Asked to be left out.
    bool left_out() const { return left_out_; }
    /// A variable that it uses was never made: it is left out, too.
    bool broken() const { return broken_; }
    int number() const { return number_; }
    const Loops& loops() const { return loops_; }
    const std::string& owner() const { return owner_; }

    /// Looks for the variables that it uses.
    void check_variables(const std::optional<Halide::Stage>& stage);
    /// Those that there are.
    std::vector<VarOrRVar> known(const std::optional<Halide::Stage>& stage);
    /// It is not passed on to Halide.
    void drop();
    /// Halide refused it.
    void refused(const std::exception& error) const;

  private:
    void misses(const VarOrRVar& variable);

    int number_, needs_ = 0;
    bool left_out_ = false, broken_ = false;
    std::string name_, owner_, why_ = {};
    Loops loops_;
};

/// Halide changes a loop first and checks it then: what it refuses would stay in force.
class UndoScope {
  public:
    explicit UndoScope(const std::optional<Halide::Stage>& stage);
    void undo();

  private:
    Halide::Internal::StageSchedule* schedule_ = nullptr;
    std::vector<Halide::Internal::Dim> dims_;
    std::vector<Halide::Internal::Split> splits_;
};

/// A Func that nothing uses, in place of one that a directive would have made: further directives do no harm to it.
Halide::Func stand_in();

/// Calls Halide where something may be left out: what it refuses then depends on that.
template <class Call, class Otherwise>
auto guarded(const Directive& directive, const std::optional<Halide::Stage>& stage, const Call& call,
             const Otherwise& otherwise) -> decltype(call()) {
    const InsideScope inside;
    UndoScope before(stage);
    try {
        return call();
    } catch (const std::exception& error) {  // Python's module throws a type of its own
        directive.refused(error);
        if (!state().leaves_out()) throw;
        before.undo();
        return otherwise();
    }
}

}  // namespace whittle::halide_capture
