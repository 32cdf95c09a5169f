#include "repro/schedule/pipeline_code.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "frontends/halide/capture/neutral.h"
#include "repro/schedule/expressions.h"

namespace whittle::repro {

using halide_program::Argument;
using halide_program::CapturedCall;
using halide_program::CapturedFunc;
using halide_program::CapturedPipeline;
using halide_program::Equation;
using halide_program::LoopLevel;
using halide_program::Node;
using halide_program::Nodes;
using halide_program::Range;

namespace {

std::string declaration(const std::string& type, const std::vector<std::string>& names) {
    if (names.empty()) return {};
    return "    " + type + " " + join(names, [](const std::string& name) { return name + "(\"" + name + "\")"; }) +
           ";\n";
}

/// "f.update(0)": the Func, and which definition.
std::pair<std::string, std::size_t> stage_of(const std::string& owner) {
    const std::size_t update = owner.find(".update(");
    if (update == std::string::npos) return {owner, 0};
    return {owner.substr(0, update), std::stoul(owner.substr(update + 8)) + 1};
}

bool is_place(const std::string& directive) {
    return directive == "compute_root" || halide_program::places_func(directive);
}

/// States the layout of an input or an output.
bool is_of_buffer(const std::string& directive) { return directive.rfind("set_", 0) == 0; }

class Writer {
  public:
    Writer(const CapturedPipeline& pipeline, InputValues values, const std::filesystem::path& folder,
           const std::string& stem)
        : pipeline_(pipeline), expressions_(pipeline, names_), values_(values), folder_(folder), stem_(stem) {}

    PipelineCode write() {
        for (const CapturedCall& call : pipeline_.schedule)
            if (!call.returned.empty()) made_.emplace(call.returned, call.culprit);
        for (const std::string& output : pipeline_.outputs) add_func(output);
        for (const CapturedCall& call : pipeline_.schedule) add_arguments(call.arguments);
        std::vector<std::string> funcs;
        for (const CapturedFunc* func : order_) funcs.push_back(names_.of("func", func->name));
        for (const auto& made : made_) funcs.push_back(names_.of("func", made.first));
        std::string definitions;
        for (const CapturedFunc* func : order_) definitions += definitions_of(*func);
        write_schedule();
        std::string variables = declaration("Var", expressions_.variables());
        variables += declaration("RVar", expressions_.reduction_variables());
        code_.algorithm = variables + declaration("Func", funcs) + definitions;
        code_.inputs = inputs_code(pipeline_, used_inputs_, names_, values_, {folder_, stem_}, code_.files);
        code_.has_images = std::ranges::any_of(
            pipeline_.images, [&](const halide_program::Image& image) { return used_inputs_.contains(image.name); });
        write_outputs();
        return std::move(code_);
    }

  private:
    // ---- what is needed ---------------------------------------------------------------------------------------------

    void add_func(const std::string& name) {
        const CapturedFunc* const func = pipeline_.func(name);
        if (made_.contains(name) || !added_.insert(name).second) return;
        if (!func || !func->external.empty())
            throw Error("an external function computes " + name + (func ? ": " + func->external : ""));
        for (const Equation& equation : func->definitions) {
            for (const int node : equation.arguments) add_nodes(pipeline_.nodes, node);
            for (const int node : equation.values) add_nodes(pipeline_.nodes, node);
            for (const Range& range : equation.domain)
                add_nodes(pipeline_.nodes, range.min), add_nodes(pipeline_.nodes, range.extent);
            add_nodes(pipeline_.nodes, equation.predicate);
        }
        order_.push_back(func);
    }

    void add_nodes(const Nodes& nodes, int number) {
        if (number < 0 || (&nodes == &pipeline_.nodes && !seen_.insert(number).second)) return;
        const Node& node = nodes.at(static_cast<std::size_t>(number));
        for (const int operand : node.of) add_nodes(nodes, operand);
        if (node.op == "call" && node.kind == "func") add_func(node.name);
        if (node.op == "parameter" || node.op == "bound" || node.kind == "image") used_inputs_.insert(node.name);
    }

    void add_arguments(const std::vector<Argument>& arguments) {
        for (const Argument& argument : arguments) {
            add_arguments(argument.entries);
            if (argument.kind == "expression") add_nodes(argument.nodes, argument.node);
        }
    }

    // ---- definitions ------------------------------------------------------------------------------------------------

    /// Declares the domain where no definition before has the same one; its variables' texts.
    DomainTexts domain_of(const Equation& equation, std::string& text) {
        DomainTexts texts;
        if (equation.domain.empty()) return texts;
        const std::string base = equation.domain[0].name.substr(0, equation.domain[0].name.find('$'));
        std::string bounds, names;
        for (const Range& range : equation.domain) {
            names += range.name + " ";
            for (const int node : {range.min, range.extent})
                bounds += (bounds.empty() ? "" : ", ") + expressions_.code(pipeline_.nodes, node, {}).text;
        }
        const std::string key = names + bounds + " " + std::to_string(equation.predicate);
        std::string& given = domains_[key];
        const bool is_new = given.empty();
        if (is_new) {
            given = names_.of("domain", base + (domains_.size() > 1 ? std::to_string(domains_.size()) : ""));
            text += "    RDom " + given + "(" + bounds + ", \"" + given + "\");\n";
        }
        for (std::size_t i = 0; i < equation.domain.size(); ++i) {
            constexpr std::string_view kNames = "xyzw";
            texts[equation.domain[i].name] =
                given + (i < kNames.size() ? "." + std::string(1, kNames[i]) : "[" + std::to_string(i) + "]");
        }
        if (is_new && equation.predicate >= 0)
            text += "    " + given + ".where(" + expressions_.code(pipeline_.nodes, equation.predicate, texts).text +
                    ");\n";
        return texts;
    }

    std::string definitions_of(const CapturedFunc& func) {
        std::string text;
        for (const Equation& equation : func.definitions) {
            const DomainTexts domain = domain_of(equation, text);
            domain_texts_[func.name].push_back(domain);
            const std::string left = names_.of("func", func.name) + "(" + list_of(equation.arguments, domain) + ")";
            text += "    " + left + right_of(func, equation, domain) + ";\n";
        }
        return text;
    }

    std::string list_of(const std::vector<int>& nodes, const DomainTexts& domain) {
        return join(nodes, [&](int node) { return expressions_.code(pipeline_.nodes, node, domain).text; });
    }

    std::string right_of(const CapturedFunc& func, const Equation& equation, const DomainTexts& domain) {
        if (equation.values.size() > 1)
            return " = Tuple(" +
                   join(equation.values,
                        [&](int node) { return expressions_.typed(pipeline_.nodes, node, domain).text; }) +
                   ")";
        const int value = equation.values.at(0);
        const Node& node = pipeline_.nodes.at(static_cast<std::size_t>(value));
        const auto is_itself = [&](const Node& one) {
            return one.op == "call" && one.kind == "func" && one.name == func.name && one.of == equation.arguments;
        };
        const bool is_sum = node.op == "add" && is_itself(pipeline_.nodes.at(static_cast<std::size_t>(node.of[0])));
        return (is_sum ? " += " : " = ") + expressions_.code(pipeline_.nodes, is_sum ? node.of[1] : value, domain).text;
    }

    // ---- the schedule -----------------------------------------------------------------------------------------------

    DomainTexts domain_at(const std::string& func, std::size_t stage) const {
        const auto found = domain_texts_.find(func);
        return found == domain_texts_.end() || stage >= found->second.size() ? DomainTexts() : found->second[stage];
    }

    bool is_there(const std::string& func) const { return added_.contains(func) || made_.contains(func); }

    /// Of an input that is used, or an output.
    bool is_buffer(const std::string& owner) const {
        const std::string name = halide_program::func_of(owner);
        return used_inputs_.contains(name) || std::ranges::find(pipeline_.outputs, name) != pipeline_.outputs.end();
    }

    /// Of a Func that the culprit makes, there is nothing without the culprit.
    bool depends_on_culprit(const std::string& func) const {
        const auto found = made_.find(func);
        return found != made_.end() && found->second;
    }

    std::string argument_text(const Argument& argument, const DomainTexts& domain) {
        if (argument.kind == "variable") return expressions_.loop(argument.name, false, domain);
        if (argument.kind == "reduction variable") return expressions_.loop(argument.name, true, domain);
        if (argument.kind == "expression") return expressions_.code(argument.nodes, argument.node, domain).text;
        if (argument.kind == "func") return names_.of("func", argument.name);
        if (argument.kind == "stage") return owner_text(argument.name);
        if (argument.kind == "list")
            return "{" + join(argument.entries, [&](const Argument& one) { return argument_text(one, domain); }) + "}";
        return argument.name;
    }

    std::string arguments_text(const CapturedCall& call) {
        const auto [func, stage] = stage_of(call.owner);
        const DomainTexts domain = domain_at(func, stage);
        std::vector<std::string> words;
        for (const Argument& argument : call.arguments) words.push_back(argument_text(argument, domain));
        while (!words.empty() && (words.back() == "TailStrategy::Auto" || words.back() == "DeviceAPI::Default_GPU"))
            words.pop_back();  // defaults
        std::string text = join(words);
        const bool variables = call.name == "reorder" || call.name == "reorder_storage";
        if (variables && words.size() == 1 && text.starts_with('{')) text = text.substr(1, text.size() - 2);
        return text;
    }

    std::string owner_text(const std::string& owner) {
        const auto [func, stage] = stage_of(owner);
        const std::string name = names_.of("func", func);
        return stage == 0 ? name : name + ".update(" + (stage == 1 ? "" : std::to_string(stage - 1)) + ")";
    }

    /// "in.dim(0)" of an ImageParam, "out.output_buffer().dim(0)" of an output.
    std::string buffer_text(const std::string& owner) {
        const std::string name = halide_program::func_of(owner);
        return (used_inputs_.contains(name) ? names_.of("input", name) : names_.of("func", name) + ".output_buffer()") +
               owner.substr(name.size());
    }

    std::string call_text(const CapturedCall& call) {
        std::string owner = is_of_buffer(call.name) ? buffer_text(call.owner) : owner_text(call.owner);
        for (const CapturedCall& other : pipeline_.schedule)  // the same condition gives the same stage again
            if (call.specialization && other.directive == call.specialization)
                owner += ".specialize(" + arguments_text(other) + ")";
        return owner + "." + call.name + "(" + arguments_text(call) + ")";
    }

    std::string level_arguments(const LoopLevel& level) {
        DomainTexts domain;
        if (const auto found = domain_texts_.find(level.func); found != domain_texts_.end())
            for (const DomainTexts& one : found->second) domain.insert(one.begin(), one.end());
        return names_.of("func", level.func) + ", " + expressions_.loop(level.loop, level.reduction, domain);
    }

    bool is_culprit(const std::string& func, std::string_view kind) const {
        return std::ranges::any_of(pipeline_.schedule, [&](const CapturedCall& call) {
            return call.culprit && call.owner == func && call.name.starts_with(kind);
        });
    }

    /// Where the Func is computed and stored, beside `compute_root` where it is neither inlined nor an output.
    void place(const CapturedFunc& func) {
        const bool output = std::ranges::find(pipeline_.outputs, func.name) != pipeline_.outputs.end();
        if (output || func.compute.place == "inlined" || !is_there(func.name)) return;
        const std::string name = names_.of("func", func.name);
        const bool depends = depends_on_culprit(func.name);
        if (made_.contains(func.name))
            add(name + ".compute_root()", depends, false);
        else
            always_ += "    " + name + ".compute_root();\n";
        if (func.compute.place == "loop")
            add(name + ".compute_at(" + level_arguments(func.compute) + ")", depends,
                is_culprit(func.name, "compute_"));
        if (func.store == func.compute || func.store.place == "inlined") return;
        const bool root = func.store.place == "root";
        add(name + (root ? ".store_root()" : ".store_at(" + level_arguments(func.store) + ")"), depends,
            is_culprit(func.name, "store_"));
    }

    /// A statement of the schedule. `culprit`: it is named; `depends`: it needs one.
    void add(const std::string& call, bool depends, bool culprit, const std::string& assigned = {}) {
        if (culprit) code_.culprits.push_back(call);
        const std::string statement = (assigned.empty() ? "" : assigned + " = ") + call + ";\n";
        scheduled_ += std::string("        ") + (culprit || depends ? "if (with_culprit) " : "") + statement;
    }

    void write_schedule() {
        for (const CapturedCall& call : pipeline_.schedule) {
            const std::string func = stage_of(call.owner).first;
            // The buffers of the program need not have the layout that the others of these promise.
            if (is_of_buffer(call.name)) {
                if (call.culprit && is_buffer(call.owner)) add(call_text(call), false, true);
                continue;
            }
            if (!is_there(func) || (is_place(call.name) && !call.name.starts_with("hoist"))) continue;
            const bool depends = depends_on_culprit(func);
            const bool sizes = halide_capture::is_neutral(call.name) && !made_.contains(func) && !call.culprit;
            const std::string text = call_text(call);
            if (sizes)
                always_ += "    " + text + ";\n";
            else
                add(text, depends, call.culprit, call.returned.empty() ? "" : names_.of("func", call.returned));
        }
        for (const CapturedFunc& func : pipeline_.funcs) place(func);
        code_.schedule = always_ + (scheduled_.empty() ? "" : "    if (scheduled) {\n" + scheduled_ + "    }\n");
    }

    // ---- outputs ----------------------------------------------------------------------------------------------------

    using Shape = std::vector<std::array<std::int64_t, 2>>;
    static bool is_moved(const Shape& shape) {
        return std::ranges::any_of(shape, [](const auto& dimension) { return dimension[0] != 0; });
    }

    static std::string buffer_code(const std::string& name, const std::string& type, const Shape& shape) {
        std::string text =
            "    Buffer<" + cpp_type(type) + "> " + name + "(std::vector<int>" + sizes_text(shape) + ");\n";
        if (is_moved(shape))
            text += "    " + name + ".set_min(" +
                    join(shape, [](const auto& dimension) { return std::to_string(dimension[0]); }) + ");\n";
        return text;
    }

    static std::string sizes_text(const Shape& shape) {
        return "{" + join(shape, [](const auto& one) { return std::to_string(one[1]); }) + "}";
    }

    void write_outputs() {
        for (const std::string& output : pipeline_.outputs) {
            const CapturedFunc& func = *pipeline_.func(output);
            const std::vector<int>& values = func.definitions.at(0).values;
            for (std::size_t i = 0; i < values.size(); ++i) {
                code_.outputs.push_back(names_.of("func", output) +
                                        (values.size() > 1 ? "[" + std::to_string(i) + "]" : ""));
                code_.types.push_back(pipeline_.nodes.at(static_cast<std::size_t>(values[i])).type);
                code_.dimensions.push_back(func.definitions[0].arguments.size());
            }
        }
        const bool one = code_.outputs.size() == 1;
        code_.result = one ? "Buffer<" + cpp_type(code_.types[0]) + ">" : "Realization";
        const std::string target = pipeline_.target.empty() ? "" : ", Target(\"" + pipeline_.target + "\")";
        const bool known = !pipeline_.shapes.empty();
        const std::string who = pipeline_.outputs.size() == 1
                                    ? names_.of("func", pipeline_.outputs[0])
                                    : "Pipeline({" + join(pipeline_.outputs, [&](const std::string& name) {
                                          return names_.of("func", name);
                                      }) + "})";
        if (!known) throw Error("the program compiled the pipeline, but did not run the pipeline");
        const auto& shapes = pipeline_.shapes;
        const bool moved = std::ranges::any_of(shapes, [](const Shape& shape) { return is_moved(shape); });
        const bool alike = std::ranges::all_of(shapes, [&](const Shape& shape) { return shape == shapes[0]; });
        if (!moved && alike) {
            code_.realize = "    return " + who + ".realize(" + sizes_text(shapes[0]) + target + ");\n";
            return;
        }
        std::vector<std::string> buffers;
        for (std::size_t i = 0; i < code_.types.size(); ++i) {
            buffers.push_back(names_.of("result", one ? "result" : "result" + std::to_string(i)));
            code_.realize += buffer_code(buffers[i], code_.types[i], shapes.size() == 1 ? shapes[0] : shapes.at(i));
        }
        const std::string result = one ? buffers[0] : names_.of("result", "results");
        if (!one) {  // releases agree on this form alone
            const std::string list = names_.of("result", "buffers");
            code_.realize += "    std::vector<Buffer<>> " + list + "{" + join(buffers) + "};\n    Realization " +
                             result + "(" + list + ");\n";
        }
        code_.realize += "    " + who + ".realize(" + result + target + ");\n    return " + result + ";\n";
    }

    const CapturedPipeline& pipeline_;
    ProgramNames names_;
    Expressions expressions_;
    const InputValues values_;
    const std::filesystem::path& folder_;
    const std::string& stem_;
    PipelineCode code_;
    std::map<std::string, bool> made_;  ///< Funcs that directives make; true: a culprit does
    std::set<std::string> added_, used_inputs_;
    std::set<int> seen_;
    std::vector<const CapturedFunc*> order_;  ///< each behind those that it needs
    std::map<std::string, std::string> domains_;
    std::map<std::string, std::vector<DomainTexts>> domain_texts_;
    std::string always_, scheduled_;
};

}  // namespace

std::string_view words(InputValues values) {
    return values == InputValues::made_up ? "small numbers that the program makes up"
           : values == InputValues::ones  ? "ones"
                                          : "the recorded inputs";
}

PipelineCode code_of(const CapturedPipeline& pipeline, InputValues values, const std::filesystem::path& folder,
                     const std::string& stem) {
    return Writer(pipeline, values, folder, stem).write();
}

}  // namespace whittle::repro
