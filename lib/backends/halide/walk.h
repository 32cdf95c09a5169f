// The one walk of a kernel's schedule, over the sink that receives it, and what definitions assign: Halide objects,
// which are compiled, and C++ text, which is printed, cannot differ.
#pragma once

#include <string>
#include <vector>

#include "backends/halide/definitions.h"
#include "backends/halide/translate.h"

namespace whittle::halide {

/// What the walk tells a sink. A `Loop` is Halide's, or its name in a text.
template <class Loop>
class ScheduleSink {
  public:
    virtual ~ScheduleSink() = default;
    /// A loop of a definition, as the directives before have split it.
    virtual Loop loop(const Definition& of, const std::string& name, bool reduction) = 0;
    /// A directive that is a function of Halide's; the tail is empty if it has no factor.
    virtual void call(const expr::Directive& directive, const Definition& definition, const std::vector<Loop>& loops,
                      const std::string& tail) = 0;
};

template <class Loop>
class ScheduleWalk {
  public:
    ScheduleWalk(ScheduleSink<Loop>& sink, const Prepared& prepared)
        : sink_(sink), prepared_(prepared), kinds_(prepared) {}

    /// No call is made of a directive that schedules what was left out, and of one that the definition or the target
    /// follows.
    void operator()(const expr::Directive& directive) {
        const Definition* const definition = prepared_.definition(directive);
        const bool calls = expr::info(directive.kind).scope != expr::DirectiveKind::Scope::expression;
        if (!definition || !calls || is_left_out(directive.at)) return;
        const Definition& of = directive.at.empty() ? *definition : kinds_.owner(directive);
        std::vector<Loop> loops;
        for (const std::string& name : directive.args) {
            loops.push_back(sink_.loop(of, name, kinds_.is_reduction(of, name)));
            if (directive.kind == expr::Directive::Kind::split && loops.size() == 1)
                kinds_.split(of, name, directive.args.at(1), directive.args.at(2));
        }
        sink_.call(directive, *definition, loops,
                   directive.factor > 0 ? tail_of(directive, *definition, prepared_.group()) : "");
    }

  private:
    bool is_left_out(const std::string& at) const {
        if (at.empty()) return false;
        const expr::Stage* const stage = prepared_.group().stage(at);
        if (!stage)
            throw Error("found Func " + at +
                        " as the argument of compute_at or store_at, expected a Func of the same kernel");
        return element_count(stage->sizes()) == 0;
    }

    ScheduleSink<Loop>& sink_;
    const Prepared& prepared_;
    LoopKinds kinds_;
};

/// The indices of the element that a definition assigns, outermost first.
template <class E>
std::vector<E> indices(Translator<E>& translate, Sink<E>& sink, const Definition& d) {
    std::vector<E> where;
    for (std::size_t i = 0; i < d.stage->vars.size(); ++i) {
        const expr::LoopVar& own = d.stage->vars[i];
        where.push_back(d.update < 0 || d.is_pure(i) ? sink.variable(own.name)
                                                     : translate.bounded(d.assigned().where[i], own.extent));
    }
    return where;
}

}  // namespace whittle::halide
