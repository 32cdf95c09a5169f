// Kernels as functions of the generated file, and the functions that call them in turn.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/words.h"
#include "compile/plan.h"
#include "expr/canonical.h"
#include "expr/loops.h"
#include "graph/value_ref.h"
#include "text/language.h"

namespace whittle::program {

/// Names of everything in the generated file. Node names are prefixed, so none can be a keyword or a library's name.
class Names {
  public:
    Names(const Graph& graph, const std::vector<std::string>& outputs) : graph_(graph), outputs_(outputs) {}

    std::string text(const ValueRef& key) const {
        const std::string& name = graph_.node({key.node}).name;
        return key.index ? name + "_r" + std::to_string(key.index) : name;
    }
    /// A member of Outputs.
    const std::string& member(std::size_t output) const { return outputs_[output]; }

  private:
    const Graph& graph_;
    const std::vector<std::string>& outputs_;
};

/// The part that the kernels give: loops, the suspect's functions, and the functions that call them in turn.
class KernelFunctions {
  public:
    /// Kernels that differ in names only share a function.
    KernelFunctions(const Plan& plan, const Names& names) : KernelFunctions(plan, names, equal_kernels(plan)) {}
    /// `same_as`: of each kernel, the one whose function it is given.
    KernelFunctions(const Plan& plan, const Names& names, std::vector<std::size_t> same_as)
        : plan_(plan), names_(names), same_as_(std::move(same_as)) {}

    std::string functions(const std::string& suffix,
                          const std::function<std::string(const Kernel&, const std::string&)>& emit) const {
        std::string text;
        for (std::size_t k = 0; k < plan_.kernels.size(); k++)
            if (same_as_[k] == k) text += emit(plan_.kernels[k], function(k, suffix)) + "\n";
        return text;
    }

    /// "static void NAME(Outputs& out)": calls every kernel's function, with memory for what lies between.
    std::string driver(const std::string& name, const std::string& suffix) const {
        std::string text = "static void " + name + "(Outputs& out) {\n";
        for (std::size_t k = 0; k < plan_.kernels.size(); k++) {
            const Kernel& kernel = plan_.kernels[k];
            std::vector<std::string> arguments;
            for (const ValueRef& key : kernel.inputs) arguments.push_back(place(key));
            for (std::size_t i = 0; i < kernel.outputs.size(); i++) {
                const ValueRef& key = kernel.outputs[i];
                if (!output_of(key)) {
                    const expr::Stage& stage = *kernel.group.stage(kernel.group.outputs[i]);
                    const std::string type = language::cpp.type(stage.dtype);
                    text += "    std::unique_ptr<" + type + "[]> mid_" + names_.text(key) + "(new " + type + "[" +
                            std::to_string(element_count(stage.sizes())) + "]);\n";
                }
                arguments.push_back(place(key));
            }
            text += "    " + function(k, suffix) + "(" + join(arguments) + ");\n";
        }
        return text + copies() + "}\n";
    }

  private:
    static std::vector<std::size_t> equal_kernels(const Plan& plan) {
        std::map<std::string, std::size_t> first;
        std::vector<std::size_t> same_as;
        for (std::size_t k = 0; k < plan.kernels.size(); k++)
            same_as.push_back(
                first.emplace(expr::key(plan.kernels[k].group, plan.kernels[k].schedule), k).first->second);
        return same_as;
    }

    /// A kernel's function: "loops", or "loops_2" where there are several kernels.
    std::string function(std::size_t k, const std::string& suffix) const {
        return plan_.kernels.size() == 1 ? suffix : suffix + "_" + std::to_string(same_as_[k]);
    }

    /// The first output of the graph that is this kernel result.
    std::optional<std::size_t> output_of(const ValueRef& key) const {
        const auto found = std::ranges::find(plan_.outputs, key);
        if (found == plan_.outputs.end()) return std::nullopt;
        return static_cast<std::size_t>(found - plan_.outputs.begin());
    }

    std::string place(const ValueRef& key) const {
        if (plan_.graph.node({key.node}).kind != NodeKind::call) return "in_" + names_.text(key);
        if (const auto output = output_of(key)) return "out." + names_.member(*output);
        return "mid_" + names_.text(key) + ".get()";
    }

    /// Outputs that no kernel writes: inputs passed through, and results listed twice.
    std::string copies() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.outputs.size(); i++) {
            const ValueRef& key = plan_.outputs[i];
            const Node& node = plan_.graph.node({key.node});
            if (node.kind == NodeKind::call && output_of(key) == i) continue;
            if (node.results[static_cast<std::size_t>(key.index)].numel() == 0) continue;  // has no member
            text += "    std::memcpy(out." + names_.member(i) + ", " + place(key) + ", sizeof out." + names_.member(i) +
                    ");\n";
        }
        return text;
    }

    const Plan& plan_;
    const Names& names_;
    const std::vector<std::size_t> same_as_;
};

}  // namespace whittle::program
