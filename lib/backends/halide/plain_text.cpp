#include "backends/halide/plain_text.h"

#include <algorithm>

#include "backends/halide/kernel_writer.h"
#include "base/words.h"
#include "tensor/scalars.h"

namespace whittle::halide {

using expr::Directive;
using expr::Op;
using expr::Stage;
using Scope = expr::DirectiveKind::Scope;

using language::short_cpp;

namespace {

/// As TextSink, for `using namespace Halide`.
class PlainSink final : public TextSink {
  public:
    PlainSink(expr::Naming& naming, std::set<std::string>& helpers, std::map<std::string, std::string> variables,
              const expr::Group& group, Functions functions)
        : TextSink(naming, helpers, std::move(variables), functions, ""), group_(group) {}

    Code cast(DType dtype, bool as_unsigned, const Code& a) override {
        if (is_reduced(dtype) || dtype == DType::boolean) return TextSink::cast(dtype, as_unsigned, a);
        const std::string type =
            as_unsigned ? "uint" + std::to_string(size_of(dtype) * 8) + "_t" : short_cpp.type(dtype);
        return {"cast<" + type + ">(" + a.text + ")"};
    }
    Code load(const std::string& name, const std::vector<Code>& indices) override {
        std::vector<Code> at = indices;
        const bool constants = std::ranges::all_of(
            at, [](const Code& code) { return code.text.find_first_not_of("0123456789") == std::string::npos; });
        // Of a Buffer this would be the number that lies there now.
        if (constants && group_.input(name) && !at.empty()) at.back().text = "Expr(" + at.back().text + ")";
        return TextSink::load(name, at);
    }

  private:
    const expr::Group& group_;
};

class PlainWriter final : KernelWriter {
  public:
    explicit PlainWriter(const PlainKernel& kernel)
        : KernelWriter(kernel.group, kernel.schedule, ""), kernel_(kernel) {}

    std::optional<PlainText> write() {
        if (prepared_.outputs().size() != 1) return std::nullopt;
        std::string inputs, funcs, schedule;
        for (const expr::Input* input : prepared_.inputs()) {
            const Tensor& tensor = kernel_.inputs[static_cast<std::size_t>(input - group_.inputs.data())];
            const std::optional<std::string> data = defined(*input, tensor);
            if (!data) return std::nullopt;
            inputs += *data;
        }
        for (const Stage* stage : prepared_.stages()) funcs += define(*stage);
        for (std::size_t i = 0; i < schedule_.size(); i++) schedule += directive(i);
        if (!split_rvars_.empty()) schedule = "    RVar " + declared(split_rvars_) + ";\n" + schedule;
        schedule = version_guard(schedule_) + schedule;
        PlainText text;
        const Stage& output = *prepared_.outputs()[0];
        text.func = output.name;
        text.type = short_cpp.type(output.dtype);
        text.culprit = culprit_;
        text.definition = title();
        text.statements = inputs + (vars_.empty() ? "" : "    Var " + declared(vars_) + ";\n") + funcs +
                          (schedule.empty() ? "" : "\n" + schedule + "\n");
        text.realize = realized(output, text.statements);
        for (const auto& [name, helper] : kHelpers)
            if (helpers_.contains(std::string(name))) text.helpers += std::string(helper) + "\n";
        return text;
    }

  private:
    static std::string declared(const std::vector<std::string>& names) {
        return join(names, [](const std::string& name) { return name + "(" + short_cpp.quoted(name) + ")"; });
    }

    /// "f(x) = exp(in(0)) with in(0) = 2"; empty: it is long.
    std::string title() const {
        constexpr std::size_t kLongest = 60;
        const std::string text = replaced(definition_, "Expr(0)", "0");  // which only C++ needs
        if (text.size() > kLongest || text.find('\n') != std::string::npos) return "";
        std::string values;
        for (const expr::Input* input : prepared_.inputs()) {
            const Tensor& tensor = kernel_.inputs[static_cast<std::size_t>(input - group_.inputs.data())];
            if (tensor.numel() == 1)
                values += (values.empty() ? " with " : ", ") + input->name + "(" + zeros(input->sizes.size()) +
                          ") = " + short_number_at(tensor.contiguous(), 0);
        }
        return text + values;
    }

    /// "0, 0": a place.
    static std::string zeros(std::size_t rank) { return join(Sizes(rank, 0)); }

    static std::string sizes_of(const Sizes& sizes) { return join(Sizes(sizes.rbegin(), sizes.rend())); }

    static std::optional<std::string> defined(const expr::Input& input, const Tensor& tensor) {
        const std::string type = short_cpp.type(input.dtype), buffer = "    Buffer<" + type + "> " + input.name;
        const std::vector<Scalar> values = scalars_of(tensor);
        if (values.size() == 1) {
            return buffer + "(" + sizes_of(input.sizes) + ");\n    " + input.name + "(" + zeros(input.sizes.size()) +
                   ") = " + short_cpp.value(values[0], input.dtype) + ";\n";
        }
        if (!values.empty() && all_alike(tensor.contiguous()))
            return buffer + "(" + sizes_of(input.sizes) + ");\n    " + input.name + ".fill(" +
                   short_cpp.value(values[0], input.dtype) + ");\n";
        bool counted = !is_reduced(input.dtype) && input.dtype != DType::boolean;
        for (std::size_t i = 0; i < values.size(); i++)
            counted = counted && values[i].to_double() == static_cast<double>(i);
        if (counted && values.size() > 4)
            return buffer + "(" + sizes_of(input.sizes) + ");\n    for (int i = 0; i < " +
                   std::to_string(values.size()) + "; i++) " + input.name + ".data()[i] = i;\n";
        if (tensor.numel() > kMostInPlace) return std::nullopt;
        return "    " + type + " " + input.name + "_data[] = {" + short_cpp.elements(tensor) + "};\n" + buffer + "(" +
               input.name + "_data, " + sizes_of(input.sizes) + ");\n";
    }

    std::string var(const std::string& loop) override {
        if (std::ranges::find(vars_, loop) == vars_.end()) vars_.push_back(loop);
        return loop;
    }

    std::string define(const Stage& stage) {
        std::string text = "    Func " + stage.name + "(\"" + stage.name + "\");\n";
        for (const Definition& d : prepared_.definitions(stage)) text += KernelWriter::define(d);
        return text;
    }

    /// The domain of a definition: `r`, or `r` with r.x, r.y … for its loops.
    std::string domain(const Definition& d) override {
        const std::string name = domains_++ ? "r" + std::to_string(domains_) : "r";
        constexpr std::string_view kParts = "xyzw";
        for (std::size_t i = 0; i < d.reduction.size(); i++) {
            std::string part = name;
            if (d.reduction.size() > 1)
                part += i < kParts.size() ? std::string(".") + kParts[i] : "[" + std::to_string(i) + "]";
            rvars_[{d.stage->name, d.update, d.reduction[i].name}] = part;
        }
        const bool one = d.reduction.size() == 1;
        const std::string ranges = join(d.reduction, [&](const expr::LoopVar& v) {
            const std::string range = "0, " + std::to_string(v.extent);
            return one ? range : "{" + range + "}";
        });
        return "    RDom " + name + "(" + (one ? ranges : "{" + ranges + "}") + ", \"" + name + "\");\n";
    }

    /// Where another definition of the same Func is scheduled.
    bool is_unscheduled(const Definition& d) const override {
        bool own = false, other = false;
        for (const Directive& directive : schedule_)
            if (directive.stage == d.stage->name && expr::info(directive.kind).scope != Scope::func)
                (directive.update == d.update ? own : other) = true;
        return d.update >= 0 && other && !own;
    }

    /// What is added to the element, where an update adds to it and nothing else. Sums of integers in any order.
    expr::Expr added(const expr::Update& update, const std::string& stage) const {
        if (update.condition || (!is_floating(update.value->dtype) && kernel_.careful)) return nullptr;
        return added(update.value, expr::load(stage, update.value->dtype, update.where));
    }
    static expr::Expr added(const expr::Expr& sum, const expr::Expr& itself) {
        if (sum->op != Op::add) return nullptr;
        for (const std::size_t i : {0U, 1U})
            if (expr::same(sum->operands[i], itself)) return sum->operands[1 - i];
        if (is_floating(sum->dtype)) return nullptr;
        for (const std::size_t i : {0U, 1U})
            if (const expr::Expr rest = added(sum->operands[i], itself)) return rest + sum->operands[1 - i];
        return nullptr;
    }

    std::string statement(const Definition& d, const std::map<std::string, std::string>& variables) override {
        PlainSink sink(naming_, helpers_, variables, group_, plain_functions(schedule_, d));
        Translator<Code> translate(sink, group_, d.loops, kernel_.careful);
        std::string assign = " = ";
        std::optional<expr::Update> update;
        if (d.update >= 0) update = d.assigned();
        if (const expr::Expr what = update ? added(*update, d.stage->name) : nullptr)
            update->value = what, assign = " += ";
        const auto [element, value] = assigned(sink, translate, d, update ? &*update : nullptr);
        std::string text;
        for (const std::string& line : sink.lines) text += "    " + line + "\n";
        definition_ += (definition_.empty() ? "" : "; ") + text + element + assign + value;
        return text + "    " + element + assign + value + ";\n";
    }

    std::string split_rvar(const std::string& loop) override {
        if (std::ranges::find(split_rvars_, loop) == split_rvars_.end()) split_rvars_.push_back(loop);
        return loop;
    }

    std::string directive(std::size_t i) {
        const Directive& d = schedule_[i];
        const std::string code = call_of(d);
        if (code.empty()) return "";
        const bool is_culprit = static_cast<int>(i) == kernel_.culprit;
        const bool needs_culprit = std::ranges::find(d.requires_, kernel_.culprit) != d.requires_.end();
        if (is_culprit) culprit_ = code;
        return std::string("    ") + (is_culprit || needs_culprit ? "if (with_directive) " : "") + code + ";" +
               (is_culprit ? "  // <-- this directive" : "") + "\n";
    }

    std::string realized(const Stage& output, std::string& statements) {
        const std::string target = kernel_.target.empty() ? "" : ", Target(\"" + kernel_.target + "\")";
        const std::string sizes = "{" + sizes_of(output.sizes()) + "}";
        // Of no dimensions and no target realize() needs no word.
        const std::string arguments = output.vars.empty() && target.empty() ? "" : sizes + target;
        if (!kernel_.with_workarounds || !vectorizes(schedule_)) return output.name + ".realize(" + arguments + ")";
        helpers_.insert("SoundAccesses");
        statements += "    Pipeline pipeline(" + output.name +
                      ");\n    pipeline.add_custom_lowering_pass(new SoundAccesses({" + output.name + "}));\n";
        return "pipeline.realize(" + arguments + ")";
    }

    const PlainKernel& kernel_;
    std::vector<std::string> vars_;         ///< in the order of their first use
    std::vector<std::string> split_rvars_;  ///< made by splits
    int domains_ = 0;
    std::string culprit_;
    std::string definition_;  ///< of all stages, in a line
};

}  // namespace

std::optional<PlainText> plain_text(const PlainKernel& kernel) { return PlainWriter(kernel).write(); }

}  // namespace whittle::halide
