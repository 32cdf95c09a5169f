// What the two writers of a kernel as C++ text do alike: definitions, and the calls of the schedule.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/halide/text_sink.h"
#include "backends/halide/walk.h"

namespace whittle::halide {

class KernelWriter : protected ScheduleSink<std::string> {
  protected:
    /// `scope`: "Halide::", or empty for a program that uses the namespace and leaves out what Halide takes by itself.
    KernelWriter(const expr::Group& group, const expr::Schedule& schedule, std::string_view scope)
        : group_(group),
          schedule_(schedule),
          scope_(scope),
          prepared_(group),
          naming_(group),
          walk_(*this, prepared_) {}

    /// The C++ name of a loop that is a Var.
    virtual std::string var(const std::string& loop) = 0;
    /// The C++ name of a loop that is an RVar and made by a split.
    virtual std::string split_rvar(const std::string& loop) = 0;
    /// Declares the domain of an update and gives its loops names in rvars_.
    virtual std::string domain(const Definition& d) = 0;
    virtual std::string statement(const Definition& d, const std::map<std::string, std::string>& variables) = 0;
    /// Whether a definition that no directive schedules has to say so, because Halide warns.
    virtual bool is_unscheduled(const Definition& d) const = 0;

    std::string define(const Definition& d) {
        std::map<std::string, std::string> variables;
        for (const expr::LoopVar& v : d.loops)
            if (!d.is_reduction(v.name)) variables[v.name] = var(v.name);
        std::string out = d.reduction.empty() ? "" : domain(d);
        for (const expr::LoopVar& v : d.reduction) variables[v.name] = rvars_.at({d.stage->name, d.update, v.name});
        out += statement(d, variables);
        return is_unscheduled(d) ? out + "    " + d.stage->name + update_of(d) + ".unscheduled();\n" : out;
    }

    /// The element that a definition assigns, and the value that it gets: by `update`, or, without one, at first.
    /// Subexpressions that get a name are lines of the sink.
    std::pair<std::string, std::string> assigned(TextSink& sink, Translator<Code>& translate, const Definition& d,
                                                 const expr::Update* update) {
        std::vector<expr::Expr> roots = {d.stage->value};
        if (update) {
            roots = update->where;
            roots.insert(roots.end(), {update->value, update->condition});
        }
        naming_.begin(roots);
        const Code element = sink.load(d.stage->name, indices(translate, sink, d));
        return {element.text,
                (update ? translate.updated(*update, d.reduction, element) : translate(d.stage->value)).text};
    }

    std::string update_of(const Definition& d) const {
        if (d.update < 0) return "";
        const bool first = d.halide_update == 0 && scope_.empty();
        return ".update(" + (first ? "" : std::to_string(d.halide_update)) + ")";
    }

    /// The call that a directive is; empty if it is none.
    std::string call_of(const expr::Directive& directive) {
        call_.clear();
        walk_(directive);
        return call_;
    }

    std::string loop(const Definition& of, const std::string& name, bool reduction) override {
        if (!reduction) return var(name);
        const auto [place, is_new] = rvars_.try_emplace({of.stage->name, of.update, name});
        if (is_new) place->second = split_rvar(name);
        return place->second;
    }

    void call(const expr::Directive& directive, const Definition& d, const std::vector<std::string>& loops,
              const std::string& tail) override {
        const bool is_default = tail.empty() || (scope_.empty() && tail == expr::kAutoTail);
        const bool of_definition = expr::info(directive.kind).scope == expr::DirectiveKind::Scope::definition;
        call_ = call_text(directive, directive.stage + (of_definition ? update_of(d) : ""), loops,
                          is_default ? "" : std::string(scope_) + "TailStrategy::" + tail);
    }

    const expr::Group& group_;
    const expr::Schedule& schedule_;
    const std::string_view scope_;
    const Prepared prepared_;
    expr::Naming naming_;
    std::set<std::string> helpers_;
    std::map<std::tuple<std::string, int, std::string>, std::string> rvars_;  ///< by stage, update and loop
    std::string call_;                                                        ///< of the directive at hand

  private:
    ScheduleWalk<std::string> walk_;
};

}  // namespace whittle::halide
