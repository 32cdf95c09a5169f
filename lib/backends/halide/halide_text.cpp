#include "backends/halide/halide_text.h"

#include <algorithm>

#include "backends/halide/build_info.h"
#include "backends/halide/kernel_writer.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "expr/loops.h"

namespace whittle::halide {
namespace {

using expr::Directive;
using expr::Group;
using expr::Schedule;
using expr::Stage;
using language::cpp;

class TextWriter final : KernelWriter {
  public:
    TextWriter(const Group& group, const Schedule& schedule, const std::set<std::string>& culprit = {})
        : KernelWriter(group, schedule, "Halide::"), culprit_(culprit) {
        for (const expr::Input& input : group.inputs) names_.unique(input.name);
        for (const Stage& stage : group.stages) names_.unique(stage.name);
        for (const auto& [helper, text] : kHelpers) names_.unique(std::string(helper));
        for (const char* local : {"results", "pipeline", "culprit_on"}) names_.unique(local);
        for (const Directive& d : schedule)
            for (const std::string& loop : d.args) naming_.reserve(loop);
    }

    std::string function(const std::string& name, const std::string& target) {
        std::string out = "static void " + name + "(" + parameters() + ") {\n";
        for (const auto& [tensor, pointer] : pointers_)
            if (!is_used(tensor)) out += "    (void)" + pointer + ";\n";
        if (prepared_.outputs().empty()) return out + "}\n";
        helpers_.insert("view");
        if (vectorizes(schedule_)) helpers_.insert("SoundAccesses");
        for (const expr::Input* input : prepared_.inputs()) out += declare(*input);
        std::string funcs, schedule;
        for (const Stage* stage : prepared_.stages()) funcs += '\n' + define(*stage);
        for (const Stage* output : prepared_.outputs())
            funcs += describe(output->name + ".output_buffer()", output->sizes(), contiguous_strides(output->sizes()));
        for (std::size_t i = 0; i < schedule_.size(); ++i) schedule += directive(i);
        // Loops are declared before the first definition, split ones among them.
        if (!vars_.empty()) out += "    Halide::Var " + declarations(vars_) + ";\n";
        out += funcs;
        if (!schedule.empty()) {
            out += "\n    // Schedule, one directive per line: comment lines out to bisect by hand.\n";
            out += version_guard(schedule_);
            if (!rvars_declared_.empty()) out += "    Halide::RVar " + declarations(rvars_declared_) + ";\n";
            out += schedule;
        }
        return out + "\n" + run(target) + "}\n";
    }

    const std::set<std::string>& helpers() const { return helpers_; }

  private:
    bool is_used(const std::string& tensor) const {
        for (const expr::Input* input : prepared_.inputs())
            if (input->name == tensor) return true;
        for (const Stage* output : prepared_.outputs())
            if (output->name == tensor) return true;
        return false;
    }

    std::string parameters() {
        std::vector<std::string> out;
        const auto add = [&](const std::string& tensor, const std::string& type) {
            const std::string pointer = names_.unique(tensor + "_data");
            pointers_.emplace_back(tensor, pointer);
            out.push_back(type + "* " + pointer);
        };
        for (const expr::Input& in : group_.inputs) add(in.name, "const " + cpp.type(in.dtype));
        for (const std::string& name : group_.outputs) add(name, cpp.type(group_.stage(name)->dtype));
        return join(out);
    }

    static std::string describe(const std::string& buffer, const Sizes& sizes, const Strides& strides) {
        std::string out;
        for (std::size_t d = sizes.size(); d-- > 0;)
            out += "    " + buffer + ".dim(" + std::to_string(sizes.size() - 1 - d) + ").set_bounds(0, " +
                   std::to_string(sizes[d]) + ").set_stride(" +
                   (strides[d] < 0 ? "Halide::Expr()" : std::to_string(strides[d])) + ");\n";
        return out;
    }

    static std::string declare(const expr::Input& input) {
        return "    Halide::ImageParam " + input.name + "(" + type_text(input.dtype) + ", " +
               std::to_string(input.sizes.size()) + ", \"" + input.name + "\");\n" +
               describe(input.name, input.sizes, input.strides);
    }

    static std::string declarations(const std::vector<std::pair<std::string, std::string>>& loops) {
        return join(loops, [](const auto& loop) { return loop.second + "(" + cpp.quoted(loop.first) + ")"; });
    }

    std::string var(const std::string& loop) override {
        for (const auto& [known, name] : vars_)
            if (known == loop) return name;
        vars_.emplace_back(loop, names_.unique(loop));
        return vars_.back().second;
    }

    std::string define(const Stage& stage) {
        std::string out = stage.origin.empty() ? "" : "    // " + stage.origin + "\n";
        out += "    Halide::Func " + stage.name + "(\"" + func_name(stage) + "\");\n";
        for (const Definition& d : prepared_.definitions(stage)) out += KernelWriter::define(d);
        return out;
    }

    std::string domain(const Definition& d) override {
        const std::string domain = names_.unique(d.stage->name + "_domain");
        std::string out =
            "    Halide::RDom " + domain + "({" +
            join(d.reduction, [](const expr::LoopVar& v) { return "{0, " + std::to_string(v.extent) + "}"; }) +
            "}, \"" + domain + "\");\n";
        for (std::size_t i = 0; i < d.reduction.size(); ++i) {
            const std::string name = names_.unique(d.reduction[i].name);
            rvars_[{d.stage->name, d.update, d.reduction[i].name}] = name;
            out += "    Halide::RVar " + name + " = " + domain + "[" + std::to_string(i) + "];\n";
        }
        return out;
    }

    bool is_unscheduled(const Definition& d) const override {
        return d.update >= 0 && std::ranges::none_of(schedule_, [&](const Directive& other) {
                   return other.stage == d.stage->name && other.update == d.update;
               });
    }

    std::string statement(const Definition& d, const std::map<std::string, std::string>& variables) override {
        TextSink sink(naming_, helpers_, variables, functions_of(schedule_, d));
        sink.switched = std::ranges::any_of(schedule_, [&](const Directive& directive) {
            return directive.kind == Directive::Kind::vector_math && directive.stage == d.stage->name &&
                   directive.update == d.update && culprit_.contains(expr::print(directive));
        });
        Translator<Code> translate(sink, group_, d.loops, true, contracts(schedule_));
        auto [element, value] = assigned(sink, translate, d, d.update < 0 ? nullptr : &d.assigned());
        std::string out;
        for (const std::string& line : sink.lines) out += "    " + line + "\n";
        // A bare literal would make a Func of the literal's type.
        value = typed(d.stage->dtype, value);
        if (is_strict_apart(schedule_, d)) value = "Halide::strict_float(" + value + ")";
        return out + "    " + element + " = " + value + ";\n";
    }

    static std::string typed(DType dtype, const std::string& value) {
        const bool literal = !value.empty() && value.find_first_not_of("-+.0123456789efINFTYuNA") == std::string::npos;
        if (!literal) return value;
        return dtype == DType::f32 || dtype == DType::i32 ? "Halide::Expr(" + value + ")" : value;
    }

    std::string split_rvar(const std::string& loop) override {
        return rvars_declared_.emplace_back(loop, names_.unique(loop)).second;
    }

    std::string directive(std::size_t i) {
        const Directive& d = schedule_[i];
        const std::string code = call_of(d);
        if (code.empty()) return "";
        const std::string when = condition(d);
        bool required = false;
        for (const Directive& other : schedule_)
            for (const int r : other.requires_) required = required || static_cast<std::size_t>(r) == i;
        if (!required) return "    " + (when.empty() ? "" : "if (" + when + ") ") + code + ";\n";
        const std::string name = switches_[i] = names_.unique("on" + std::to_string(i));
        return "    const bool " + name + " = " + (when.empty() ? "true" : when) +
               ";  // the lines below need this directive\n    if (" + name + ") " + code + ";\n";
    }

    /// Empty: always.
    std::string condition(const Directive& directive) const {
        if (!directive.enabled) return "false";
        std::vector<std::string> all;
        for (const int r : directive.requires_)
            if (const auto found = switches_.find(static_cast<std::size_t>(r)); found != switches_.end())
                all.push_back(found->second);
        if (culprit_.contains(expr::print(directive))) all.push_back("culprit_on");
        return join(all, " && ");
    }

    void call(const Directive& directive, const Definition& d, const std::vector<std::string>& loops,
              const std::string& tail) override {
        KernelWriter::call(directive, d, loops, tail);
        if (directive.kind != Directive::Kind::compute_root) return;
        for (const expr::LoopVar& v : d.stage->vars)
            call_ += ".bound(" + var(v.name) + ", 0, " + std::to_string(v.extent) + ")";
    }

    static std::string view(DType dtype, const std::string& pointer, const Sizes& sizes, const Strides& strides) {
        std::vector<std::string> shape;
        for (std::size_t d = sizes.size(); d-- > 0;)
            shape.push_back("{0, " + std::to_string(sizes[d]) + ", " + std::to_string(strides[d]) + "}");
        return "view(" + type_text(dtype) + ", " + pointer + ", {" + join(shape) + "})";
    }

    std::string run(const std::string& target) const {
        const auto pointer = [&](const std::string& tensor) {
            for (const auto& [name, pointer] : pointers_)
                if (name == tensor) return pointer;
            throw Error("no pointer for " + tensor);
        };
        std::string out;
        for (const expr::Input* in : prepared_.inputs())
            out += "    " + in->name + ".set(" + view(in->dtype, pointer(in->name), in->sizes, in->strides) + ");\n";
        std::vector<std::string> funcs, results;
        for (const Stage* stage : prepared_.outputs()) {
            funcs.push_back(stage->name);
            results.push_back(
                view(stage->dtype, pointer(stage->name), stage->sizes(), contiguous_strides(stage->sizes())));
        }
        const std::string indent = results.size() > 1 ? "\n        " : "";
        const std::string list = indent + join(results, "," + indent);
        out += "    std::vector<Halide::Buffer<>> results = {" + list + "};\n    Halide::Pipeline pipeline({" +
               join(funcs) + "});\n";
        if (vectorizes(schedule_))
            out += "    pipeline.add_custom_lowering_pass(new SoundAccesses({" + join(funcs) + "}));\n";
        return out + "    pipeline.realize(Halide::Realization(results), " +
               target_code(target_for(schedule_, target)) + ");\n";
    }

    const std::set<std::string> culprit_;
    UniqueNames names_;  ///< Halide tells a Var from an RVar or a Func of the same name, C++ does not
    std::vector<std::pair<std::string, std::string>> pointers_;        ///< tensor, parameter
    std::vector<std::pair<std::string, std::string>> vars_;            ///< loop, C++ name
    std::vector<std::pair<std::string, std::string>> rvars_declared_;  ///< made by splits
    std::map<std::size_t, std::string> switches_;
};

}  // namespace

std::string halide_support_cpp(const std::vector<ScheduledGroup>& groups, const std::set<std::string>& culprit) {
    std::set<std::string> helpers;
    for (const auto& [group, schedule] : groups) {
        TextWriter writer(*group, *schedule, culprit);
        writer.function("f", "host");
        helpers.insert(writer.helpers().begin(), writer.helpers().end());
    }
    std::string out;
    for (const auto& [name, text] : kHelpers)
        if (helpers.contains(std::string(name))) out += (out.empty() ? "" : "\n") + std::string(text);
    return out;
}

std::string to_halide_cpp(const Group& group, const Schedule& schedule, const std::string& function_name,
                          const std::string& target, const std::set<std::string>& culprit) {
    return TextWriter(group, schedule, culprit).function(function_name, target);
}

std::string halide_file_cpp(const Group& group, const Schedule& schedule, const std::string& target) {
    std::set<DType> dtypes;
    for (const expr::Input& input : group.inputs) dtypes.insert(input.dtype);
    for (const std::string& output : group.outputs) dtypes.insert(group.stage(output)->dtype);
    std::string text =
        "// " + group.name +
        " in the form that Halide compiles. To build this file, add a main() that calls the function:\n" +
        "//   g++ -std=c++17 -O1 FILE.cpp " + shell_quote(compile_flags()) + "\n" + "#include <Halide.h>\n\n" +
        std::string(expr::kLoopsIncludes) + "\n";
    for (const DType dtype : dtypes)
        if (const std::string_view half = expr::half_support_cpp(dtype); !half.empty())
            text += std::string(half) + "\n";
    if (const std::string helpers = halide_support_cpp({{&group, &schedule}}); !helpers.empty()) text += helpers + "\n";
    return text + to_halide_cpp(group, schedule, group.name, target);
}

}  // namespace whittle::halide
