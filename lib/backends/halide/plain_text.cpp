#include "backends/halide/plain_text.h"

#include <algorithm>
#include <cmath>

#include "backends/halide/definitions.h"
#include "backends/halide/text_sink.h"
#include "expr/loops.h"
#include "tensor/alike.h"
#include "tensor/scalars.h"

namespace whittle::halide {

using expr::Directive;
using expr::Op;
using expr::Stage;
using Scope = expr::DirectiveKind::Scope;

std::string plain_type(DType dtype) {
    if (dtype == DType::f16) return "float16_t";
    if (dtype == DType::bf16) return "bfloat16_t";
    return dtype == DType::i32 ? "int" : expr::cpp_type(dtype);
}

std::string plain_literal(DType dtype, const Scalar& number) {
    if (!is_floating(dtype) && dtype != DType::boolean) return expr::integer_literal(dtype, number).text;
    const double value = number.to_double();
    if (is_reduced(dtype)) return plain_type(dtype) + "(" + expr::float_literal(DType::f32, value).text + ")";
    if (dtype == DType::boolean) return value != 0 ? "true" : "false";
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
    const bool negative_zero = value == 0 && std::signbit(value);
    const bool small_integer = value == std::trunc(value) && std::fabs(value) < 1e6 && !negative_zero;
    if (small_integer) return std::to_string(static_cast<long>(value));
    return expr::float_literal(dtype, value).text;
}

namespace {

/// As TextSink, for `using namespace Halide`.
class PlainSink final : public TextSink {
  public:
    PlainSink(expr::Naming& naming, std::set<std::string>& helpers, std::map<std::string, std::string> variables,
              const expr::Group& group, Functions functions)
        : TextSink(naming, helpers, std::move(variables), functions), group_(group) {}

    Code literal(DType dtype, const Scalar& value) override { return plain(TextSink::literal(dtype, value)); }
    Code from_bits(DType dtype, std::uint64_t bits) override { return plain(TextSink::from_bits(dtype, bits)); }
    Code cast(DType dtype, bool as_unsigned, const Code& a) override {
        if (is_reduced(dtype) || dtype == DType::boolean) return plain(TextSink::cast(dtype, as_unsigned, a));
        const std::string type = as_unsigned ? "uint" + std::to_string(size_of(dtype) * 8) + "_t" : plain_type(dtype);
        return {"cast<" + type + ">(" + a.text + ")"};
    }
    Code signed_bits(DType dtype, const Code& a) override { return plain(TextSink::signed_bits(dtype, a)); }
    Code unsigned_bits(DType dtype, const Code& a) override { return plain(TextSink::unsigned_bits(dtype, a)); }
    Code call(const std::string& function, const std::vector<Code>& arguments) override {
        return plain(TextSink::call(function, arguments));
    }
    Code to_half(DType dtype, const Code& a) override { return plain(TextSink::to_half(dtype, a)); }
    Code load(const std::string& name, const std::vector<Code>& indices) override {
        std::vector<Code> at = indices;
        const bool constants = std::ranges::all_of(
            at, [](const Code& code) { return code.text.find_first_not_of("0123456789") == std::string::npos; });
        // Of a Buffer this would be the number that lies there now.
        if (constants && group_.input(name) && !at.empty()) at.back().text = "Expr(" + at.back().text + ")";
        return TextSink::load(name, at);
    }
    Code share(const expr::Expr& node, Code translated) override {
        const std::size_t before = lines.size();
        Code code = TextSink::share(node, std::move(translated));
        if (lines.size() > before) lines.back() = plain({lines.back()}).text;
        return code;
    }

  private:
    static Code plain(Code code) {
        for (std::size_t at; (at = code.text.find("Halide::")) != std::string::npos;) code.text.erase(at, 8);
        return code;
    }

    const expr::Group& group_;
};

class PlainWriter {
  public:
    explicit PlainWriter(const PlainKernel& kernel)
        : kernel_(kernel), prepared_(kernel.group), kinds_(prepared_), naming_(kernel.group) {}

    std::optional<PlainText> write() {
        if (prepared_.outputs().size() != 1) return std::nullopt;
        std::string inputs, funcs, schedule;
        for (const expr::Input* input : prepared_.inputs()) {
            const Tensor& tensor = kernel_.inputs[static_cast<std::size_t>(input - kernel_.group.inputs.data())];
            const std::optional<std::string> data = defined(*input, tensor);
            if (!data) return std::nullopt;
            inputs += *data;
        }
        for (const Stage* stage : prepared_.stages()) funcs += define(*stage);
        for (std::size_t i = 0; i < kernel_.schedule.size(); i++) schedule += directive(i);
        if (!rvars_.empty()) schedule = "    RVar " + declared(rvars_) + ";\n" + schedule;
        schedule = version_guard(kernel_.schedule) + schedule;
        PlainText text;
        const Stage& output = *prepared_.outputs()[0];
        text.func = output.name;
        text.type = plain_type(output.dtype);
        text.guilty = guilty_;
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
        std::vector<std::string> parts;
        for (const std::string& name : names) parts.push_back(name + "(\"" + name + "\")");
        return join(parts);
    }

    /// "f(x) = exp(in(0)) with in(0) = 2"; empty: it is long.
    std::string title() const {
        constexpr std::size_t kLongest = 60;
        std::string text = definition_;
        constexpr std::string_view kZero = "Expr(0)";  // which only C++ needs
        for (std::size_t at; (at = text.find(kZero)) != std::string::npos;) text.replace(at, kZero.size(), "0");
        if (text.size() > kLongest || text.find('\n') != std::string::npos) return "";
        std::string values;
        for (const expr::Input* input : prepared_.inputs()) {
            const Tensor& tensor = kernel_.inputs[static_cast<std::size_t>(input - kernel_.group.inputs.data())];
            if (tensor.numel() == 1)
                values += (values.empty() ? " with " : ", ") + input->name + "(" + zeros(input->sizes.size()) +
                          ") = " + short_number_at(tensor.contiguous(), 0);
        }
        return text + values;
    }

    /// "0, 0": a place.
    static std::string zeros(std::size_t rank) {
        std::string at;
        for (std::size_t d = 0; d < rank; d++) at += d ? ", 0" : "0";
        return at;
    }

    static std::string sizes_of(const Sizes& sizes) {
        std::vector<std::string> parts;
        for (std::size_t d = sizes.size(); d-- > 0;) parts.push_back(std::to_string(sizes[d]));
        return join(parts);
    }

    static std::optional<std::string> defined(const expr::Input& input, const Tensor& tensor) {
        const std::string type = plain_type(input.dtype), buffer = "    Buffer<" + type + "> " + input.name;
        const std::vector<Scalar> values = scalars_of(tensor);
        if (values.size() == 1) {
            return buffer + "(" + sizes_of(input.sizes) + ");\n    " + input.name + "(" + zeros(input.sizes.size()) +
                   ") = " + plain_literal(input.dtype, values[0]) + ";\n";
        }
        if (!values.empty() && all_alike(tensor.contiguous()))
            return buffer + "(" + sizes_of(input.sizes) + ");\n    " + input.name + ".fill(" +
                   plain_literal(input.dtype, values[0]) + ");\n";
        bool counted = !is_reduced(input.dtype) && input.dtype != DType::boolean;
        for (std::size_t i = 0; i < values.size(); i++)
            counted = counted && values[i].to_double() == static_cast<double>(i);
        if (counted && values.size() > 4)
            return buffer + "(" + sizes_of(input.sizes) + ");\n    for (int i = 0; i < " +
                   std::to_string(values.size()) + "; i++) " + input.name + ".data()[i] = i;\n";
        if (tensor.numel() > kMostInPlace) return std::nullopt;
        std::vector<std::string> literals;
        for (const Scalar& value : values) literals.push_back(plain_literal(input.dtype, value));
        return "    " + type + " " + input.name + "_data[] = {" + join(literals) + "};\n" + buffer + "(" + input.name +
               "_data, " + sizes_of(input.sizes) + ");\n";
    }

    std::string var(const std::string& loop) {
        if (std::ranges::find(vars_, loop) == vars_.end()) vars_.push_back(loop);
        return loop;
    }

    std::string define(const Stage& stage) {
        std::string text = "    Func " + stage.name + "(\"" + stage.name + "\");\n";
        for (const Definition& d : prepared_.definitions(stage)) text += define(d);
        return text;
    }

    /// The domain of a definition: `r`, or `r` with r.x, r.y … for its loops.
    std::string domain(const Definition& d, std::map<std::string, std::string>& variables) {
        std::vector<std::string> ranges;
        for (const expr::LoopVar& v : d.reduction) {
            ranges.push_back("0");
            ranges.push_back(std::to_string(v.extent));
        }
        const std::string name = domains_++ ? "r" + std::to_string(domains_) : "r";
        constexpr std::string_view kParts = "xyzw";
        for (std::size_t i = 0; i < d.reduction.size(); i++) {
            std::string part = name;
            if (d.reduction.size() > 1)
                part += i < kParts.size() ? std::string(".") + kParts[i] : "[" + std::to_string(i) + "]";
            variables[d.reduction[i].name] = known_[{d.stage->name, d.update, d.reduction[i].name}] = part;
        }
        if (d.reduction.size() == 1) return "    RDom " + name + "(" + join(ranges) + ", \"" + name + "\");\n";
        std::vector<std::string> pairs;
        for (std::size_t i = 0; i < ranges.size(); i += 2)
            pairs.push_back("{" + ranges[i] + ", " + ranges[i + 1] + "}");
        return "    RDom " + name + "({" + join(pairs) + "}, \"" + name + "\");\n";
    }

    std::string define(const Definition& d) {
        std::string text;
        std::map<std::string, std::string> variables;
        for (const expr::LoopVar& v : d.loops)
            if (!d.is_reduction(v.name)) variables[v.name] = var(v.name);
        if (!d.reduction.empty()) text += domain(d, variables);
        text += statement(d, variables);
        if (needs_a_word(d)) text += "    " + d.stage->name + update_of(d) + ".unscheduled();\n";
        return text;
    }

    /// Halide warns of a definition that is not scheduled where another one of the same Func is.
    bool needs_a_word(const Definition& d) const {
        bool own = false, other = false;
        for (const Directive& directive : kernel_.schedule)
            if (directive.stage == d.stage->name && expr::info(directive.kind).scope != Scope::func)
                (directive.update == d.update ? own : other) = true;
        return d.update >= 0 && other && !own;
    }

    static std::string update_of(const Definition& d) {
        if (d.update < 0) return "";
        return d.halide_update == 0 ? ".update()" : ".update(" + std::to_string(d.halide_update) + ")";
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

    std::string statement(const Definition& d, const std::map<std::string, std::string>& variables) {
        PlainSink sink(naming_, helpers_, variables, kernel_.group, plain_functions(kernel_.schedule, d));
        Translator<Code> translate(sink, kernel_.group, d.loops, kernel_.careful);
        std::string element, value, assign = " = ";
        if (d.update < 0) {
            naming_.begin({d.stage->value});
            std::vector<Code> vars;
            for (const expr::LoopVar& v : d.stage->vars) vars.push_back({variables.at(v.name)});
            element = sink.load(d.stage->name, vars).text;
            value = translate(d.stage->value).text;
        } else {
            const expr::Update& update = d.stage->updates[static_cast<std::size_t>(d.update)];
            expr::Update rest = update;
            if (const expr::Expr what = added(update, d.stage->name)) rest.value = what, assign = " += ";
            std::vector<expr::Expr> roots = rest.where;
            roots.push_back(rest.value);
            roots.push_back(rest.condition);
            naming_.begin(roots);
            std::vector<Code> where;
            for (std::size_t i = 0; i < update.where.size(); ++i) {
                const expr::LoopVar& own = d.stage->vars[i];
                where.push_back(d.is_pure(i) ? Code{variables.at(own.name)}
                                             : translate.bounded(update.where[i], own.extent));
            }
            element = sink.load(d.stage->name, where).text;
            value = translate.updated(rest, d.reduction, {element}).text;
        }
        std::string text;
        for (const std::string& line : sink.lines) text += "    " + line + "\n";
        definition_ += (definition_.empty() ? "" : "; ") + text + element + assign + value;
        return text + "    " + element + assign + value + ";\n";
    }

    std::string loop(const Definition& d, const std::string& name) {
        if (!kinds_.is_reduction(d, name)) return var(name);
        const auto found = known_.find({d.stage->name, d.update, name});
        if (found != known_.end()) return found->second;
        if (std::ranges::find(rvars_, name) == rvars_.end()) rvars_.push_back(name);
        return name;
    }

    std::string directive(std::size_t i) {
        const Directive& d = kernel_.schedule[i];
        const std::string code = call(d);
        if (code.empty()) return "";
        const bool is_guilty = static_cast<int>(i) == kernel_.guilty;
        const bool needs_guilty = std::ranges::find(d.requires_, kernel_.guilty) != d.requires_.end();
        if (is_guilty) guilty_ = code;
        return std::string("    ") + (is_guilty || needs_guilty ? "if (with_directive) " : "") + code + ";" +
               (is_guilty ? "  // <-- this directive" : "") + "\n";
    }

    std::string call(const Directive& directive) {
        using Kind = Directive::Kind;
        const Definition* d = prepared_.definition(directive);
        const expr::DirectiveKind& kind = expr::info(directive.kind);
        if (!d || kind.scope == Scope::expression) return "";  // the definition and the target say it
        std::vector<std::string> loops;
        for (const std::string& arg : directive.args) {
            loops.push_back(directive.at.empty() ? loop(*d, arg) : loop_of(directive));
            if (directive.kind == Kind::split && loops.size() == 1)
                kinds_.split(*d, arg, directive.args.at(1), directive.args.at(2));
        }
        const bool of_update = kind.scope == Scope::definition;
        return call_text(directive, directive.stage + (of_update ? update_of(*d) : ""), loops, tail(directive, *d));
    }

    /// The loop that a directive places its stage at.
    std::string loop_of(const Directive& directive) {
        const std::string& name = directive.args.at(0);
        for (const Definition& other : prepared_.definitions(*kernel_.group.stage(directive.at)))
            if (std::ranges::find(other.loops, name, &expr::LoopVar::name) != other.loops.end())
                return loop(other, name);
        return var(name);
    }

    std::string tail(const Directive& directive, const Definition& d) const {
        const std::string name = directive.factor > 0 ? tail_of(directive, d, kernel_.group) : expr::kAutoTail;
        return name == expr::kAutoTail ? "" : "TailStrategy::" + name;
    }

    std::string realized(const Stage& output, std::string& statements) {
        const std::string target = kernel_.target.empty() ? "" : ", Target(\"" + kernel_.target + "\")";
        const std::string sizes = "{" + sizes_of(output.sizes()) + "}";
        // Of no dimensions and no target realize() needs no word.
        const std::string arguments = output.vars.empty() && target.empty() ? "" : sizes + target;
        if (!kernel_.mended || !vectorizes(kernel_.schedule)) return output.name + ".realize(" + arguments + ")";
        helpers_.insert("SoundAccesses");
        statements += "    Pipeline pipeline(" + output.name +
                      ");\n    pipeline.add_custom_lowering_pass(new SoundAccesses({" + output.name + "}));\n";
        return "pipeline.realize(" + arguments + ")";
    }

    using LoopKey = std::tuple<std::string, int, std::string>;
    const PlainKernel& kernel_;
    const Prepared prepared_;
    LoopKinds kinds_;
    expr::Naming naming_;
    std::set<std::string> helpers_;
    std::vector<std::string> vars_;         ///< in the order of their first use
    std::vector<std::string> rvars_;        ///< made by splits
    std::map<LoopKey, std::string> known_;  ///< the loops of domains, as they are spelled
    int domains_ = 0;
    std::string guilty_;
    std::string definition_;  ///< of all stages, in a line
};

}  // namespace

std::optional<PlainText> plain_text(const PlainKernel& kernel) { return PlainWriter(kernel).write(); }

}  // namespace whittle::halide
