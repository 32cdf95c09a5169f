// Halide objects of a group: the Funcs, their schedule, and what is thrown while they are made. For the readers that
// compile them (pipeline.cpp, plain.cpp).
#pragma once

#include <Halide.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backends/halide/definitions.h"
#include "backends/halide/kernel_helpers.h"
#include "backends/halide/pipeline.h"
#include "backends/halide/sound_accesses.h"
#include "backends/halide/translate.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sanitizer.h"
#include "tensor/tensor.h"

namespace whittle::halide {

using expr::Directive;
using expr::Schedule;
using expr::Stage;

inline Halide::Type halide_type(DType dtype) {
    const std::string_view text = info_of(dtype).halide, kind = text.substr(0, text.find('('));
    const int bits = static_cast<int>(8 * size_of(dtype));
    if (kind == "Bool") return Halide::Bool();
    if (kind == "Float") return Halide::Float(bits);
    if (kind == "BFloat") return Halide::BFloat(bits);
    if (kind == "Int") return Halide::Int(bits);
    WHITTLE_CHECK(kind == "UInt", std::string(name(dtype)) + " has no Halide type");
    return Halide::UInt(bits);
}

using Loads = std::map<std::string, std::function<Halide::Expr(const std::vector<Halide::Expr>&)>>;

/// Receives one definition.
class ObjectSink final : public Sink<Halide::Expr> {
  public:
    ObjectSink(const Loads& loads, std::map<std::string, Halide::Expr> variables, Functions functions)
        : loads_(loads), variables_(std::move(variables)), functions_(functions) {}

    using E = Halide::Expr;
    E variable(const std::string& name) override { return variables_.at(name); }
    E literal(DType dtype, const Scalar& value) override {
        const Halide::Type type = halide_type(dtype);
        return is_floating(dtype) ? Halide::Internal::make_const(type, value.to_double())
                                  : Halide::Internal::make_const(type, value.to_integer());
    }
    E from_bits(DType dtype, std::uint64_t bits) override {
        if (dtype == DType::f64) return double_bits(bits);
        if (dtype == DType::i64) return integer_bits(bits);
        if (dtype == DType::f32) return float_bits(static_cast<std::uint32_t>(bits));
        if (dtype == DType::i32)  // an integer alone would be folded
            return Halide::reinterpret(Halide::Int(32), float_bits(static_cast<std::uint32_t>(bits)));
        return Halide::reinterpret(halide_type(dtype), Halide::Expr(static_cast<std::uint16_t>(bits)));
    }
    E cast(DType dtype, bool as_unsigned, const E& a) override {
        const Halide::Type type = halide_type(dtype);
        return Halide::cast(as_unsigned ? type.with_code(halide_type_uint) : type, a);
    }
    E unsigned_bits(DType dtype, const E& a) override {
        return Halide::reinterpret(halide_type(dtype).with_code(halide_type_uint), a);
    }
    E signed_bits(DType dtype, const E& a) override { return Halide::reinterpret(halide_type(dtype), a); }
    E infix(expr::Op op, const E& a, const E& b) override {
        switch (op) {
#define WHITTLE_EXPR_INFIX(op, symbol, ...) \
    case expr::Op::op:                      \
        return a symbol b;
#include "expr/expr_ops.def"
            default:
                WHITTLE_CHECK(false, "no infix operator " + std::string(expr::name(op)));
                return {};
        }
    }
    E prefix(expr::Op op, const E& a) override { return op == expr::Op::logical_not ? !a : ~a; }
    E call(const std::string& function, const std::vector<E>& in) override {
        if (function == "select") return Halide::select(in[0], in[1], in[2]);
        if (function == "min") return Halide::min(in[0], in[1]);
        if (function == "max") return Halide::max(in[0], in[1]);
        if (function == "clamp") return Halide::clamp(in[0], in[1], in[2]);
        if (function == "unsafe_promise_clamped") return Halide::unsafe_promise_clamped(in[0], in[1], in[2]);
        if (function == "strict_float") return Halide::strict_float(in[0]);
        if (function == "is_nan") return Halide::is_nan(in[0]);
        if (function == "abs") return Halide::abs(in[0]);
        if (function == "floor") return Halide::floor(in[0]);
        if (function == "ceil") return Halide::ceil(in[0]);
        if (function == "trunc") return Halide::trunc(in[0]);
        if (function == "round") return Halide::round(in[0]);
        WHITTLE_CHECK(function == "sqrt", "no function " + function);
        return Halide::sqrt(in[0]);
    }
    E to_half(DType dtype, const E& a) override { return halide::to_half(halide_type(dtype), a); }
    E libm(expr::Op op, DType dtype, const std::vector<E>& in) override {
        using expr::Op;
        if (functions_ == Functions::halide && has_halide_function(op, dtype))
            return op == Op::exp   ? Halide::exp(in[0])
                   : op == Op::log ? Halide::log(in[0])
                   : op == Op::pow ? Halide::pow(in[0], in[1])
                                   : Halide::erf(in[0]);
        if (functions_ == Functions::vectors && has_vector_function(op, dtype))
            return op == Op::exp ? exp_f32(in[0]) : op == Op::tanh ? tanh_f32(in[0]) : erf_f32(in[0]);
        return halide::libm(libm_name(op, dtype).c_str(), in);
    }
    E load(const std::string& name, const std::vector<E>& indices) override { return loads_.at(name)(indices); }
    E share(const expr::Expr&, E translated) override { return translated; }

  private:
    const Loads& loads_;
    std::map<std::string, Halide::Expr> variables_;
    const Functions functions_;
};

/// Indices or variables outermost first, as Halide has them: innermost first.
template <class T>
std::vector<T> reversed(const std::vector<T>& values) {
    return {values.rbegin(), values.rend()};
}

/// A negative stride is not told: constant addresses below zero fail an assertion in Halide 14.
inline void describe(Halide::OutputImageParam&& buffer, const Sizes& sizes, const Strides& strides) {
    for (std::size_t d = 0; d < sizes.size(); ++d)
        buffer.dim(static_cast<int>(sizes.size() - 1 - d))
            .set_bounds(0, static_cast<int>(sizes[d]))
            .set_stride(strides[d] < 0 ? Halide::Expr() : Halide::Expr(static_cast<int>(strides[d])));
}

inline Halide::Buffer<> view(DType dtype, const void* data, const Sizes& sizes, const Strides& strides) {
    std::vector<halide_dimension_t> shape;
    for (std::size_t d = sizes.size(); d-- > 0;)
        shape.emplace_back(0, static_cast<int>(sizes[d]), static_cast<int>(strides[d]));
    return Halide::Buffer<>(Halide::Runtime::Buffer<>(halide_type(dtype), const_cast<void*>(data),
                                                      static_cast<int>(shape.size()), shape.data()));
}

/// Builds the Funcs of a group and schedules them.
class PipelineMaker {
  public:
    /// With `data`, one tensor per input, as a short program has it: inputs are Buffers, and nothing is promised of
    /// sizes.
    explicit PipelineMaker(const Prepared& prepared, std::optional<std::span<const Tensor>> data = {},
                           bool careful = true)
        : prepared_(prepared), data_(data), careful_(careful), kinds_(prepared) {}

    Halide::Pipeline make(const Schedule& schedule, bool mended = true) {
        // A short program is strict or not as its target says.
        if (!data_) schedule_ = &schedule;
        functions_ = [&](const Definition& d) {
            return data_ ? plain_functions(schedule, d) : functions_of(schedule, d);
        };
        for (const expr::Input* input : prepared_.inputs()) add(*input);
        for (const Stage* stage : prepared_.stages()) add(*stage);
        std::vector<Halide::Func> outputs;
        for (const Stage* output : prepared_.outputs()) {
            outputs.push_back(funcs_.at(output->name));
            if (data_) continue;
            const Sizes sizes = output->sizes();
            describe(outputs.back().output_buffer(), sizes, contiguous_strides(sizes));
        }
        std::set<std::pair<std::string, int>> scheduled;
        for (const Directive& d : schedule) scheduled.insert({d.stage, d.update});
        for (const Directive* directive : active(schedule)) apply(*directive);
        for (const Stage* stage : prepared_.stages())  // else Halide warns
            for (const Definition& d : prepared_.definitions(*stage))
                if (d.update >= 0 && !scheduled.contains({stage->name, d.update}))
                    funcs_.at(stage->name).update(d.halide_update).unscheduled();
        Halide::Pipeline pipeline(outputs);
        if (mended && vectorizes(schedule))
            pipeline.add_custom_lowering_pass(new SoundAccesses(outputs));  // takes ownership
        return pipeline;
    }

    std::vector<Halide::ImageParam> inputs() const { return inputs_; }

  private:
    void add(const expr::Input& input) {
        if (data_) {
            const Tensor& tensor = (*data_)[static_cast<std::size_t>(&input - prepared_.group().inputs.data())];
            const Halide::Buffer<> buffer = view(input.dtype, tensor.raw(), input.sizes, tensor.strides());
            loads_[input.name] = [buffer](const std::vector<Halide::Expr>& at) { return buffer(reversed(at)); };
            return;
        }
        Halide::ImageParam param(halide_type(input.dtype), static_cast<int>(input.sizes.size()), input.name);
        describe(Halide::OutputImageParam(param), input.sizes, input.strides);
        inputs_.push_back(param);
        loads_[input.name] = [param](const std::vector<Halide::Expr>& at) { return param(reversed(at)); };
    }

    void add(const Stage& stage) {
        Halide::Func func(data_ ? stage.name : func_name(stage));
        funcs_[stage.name] = func;
        loads_[stage.name] = [func](const std::vector<Halide::Expr>& at) { return Halide::Expr(func(reversed(at))); };
        for (const Definition& d : prepared_.definitions(stage)) define(func, d);
    }

    void define(Halide::Func& func, const Definition& d) {
        std::map<std::string, Halide::Expr> variables;
        for (const expr::LoopVar& v : d.loops) variables[v.name] = Halide::Var(v.name);
        if (!d.reduction.empty()) {
            Halide::Region region;
            for (const expr::LoopVar& v : d.reduction) region.emplace_back(0, static_cast<int>(v.extent));
            const Halide::RDom domain(region, d.stage->name + "_domain" + std::to_string(d.update));
            for (std::size_t i = 0; i < d.reduction.size(); ++i) {
                const Halide::RVar r = domain[static_cast<int>(i)];
                variables[d.reduction[i].name] = r;
                rvars_[{d.stage->name, d.update, d.reduction[i].name}] = r;
            }
        }
        ObjectSink sink(loads_, variables, functions_(d));
        Translator<Halide::Expr> translate(sink, prepared_.group(), d.loops, careful_,
                                           schedule_ && contracts(*schedule_));
        const auto rounded = [&](const Halide::Expr& value) {
            return schedule_ && is_strict_apart(*schedule_, d) ? Halide::strict_float(value) : value;
        };
        if (d.update < 0) {
            std::vector<Halide::Var> vars;
            for (const expr::LoopVar& v : d.stage->vars) vars.emplace_back(v.name);
            func(reversed(vars)) = rounded(translate(d.stage->value));
            return;
        }
        const expr::Update& update = d.stage->updates[static_cast<std::size_t>(d.update)];
        std::vector<Halide::Expr> where;
        for (std::size_t i = 0; i < update.where.size(); ++i) {
            const expr::LoopVar& own = d.stage->vars[i];
            where.push_back(d.is_pure(i) ? variables.at(own.name) : translate.bounded(update.where[i], own.extent));
        }
        where = reversed(where);
        func(where) = rounded(translate.updated(update, d.reduction, func(where)));
    }

    Halide::VarOrRVar loop(const Definition& d, const std::string& name) {
        if (!kinds_.is_reduction(d, name)) return Halide::Var(name);
        return rvar({d.stage->name, d.update, name});
    }

    using RVarKey = std::tuple<std::string, int, std::string>;
    Halide::RVar rvar(const RVarKey& key) {
        return rvars_.try_emplace(key, Halide::RVar(std::get<2>(key))).first->second;
    }

    Halide::VarOrRVar loop_of(const std::string& stage, const std::string& name) {
        if (!kinds_.is_reduction(stage, name)) return Halide::Var(name);
        for (const auto& [key, r] : rvars_)
            if (std::get<0>(key) == stage && std::get<2>(key) == name) return r;
        return Halide::RVar(name);
    }

    void apply(const Directive& directive) {
        using Kind = Directive::Kind;
        const Definition* d = prepared_.definition(directive);
        if (!d) return;
        Halide::Func func = funcs_.at(directive.stage);
        if (directive.kind == Kind::compute_root) {
            func.compute_root();
            // A part of a dimension may be all that is read: the last vector, shifted inwards, would begin before it.
            if (!data_)
                for (const expr::LoopVar& var : d->stage->vars)
                    func.bound(Halide::Var(var.name), 0, static_cast<int>(var.extent));
            return;
        }
        if (directive.kind == Kind::compute_at) {
            const auto at = funcs_.find(directive.at);
            if (at == funcs_.end()) return;  // its only user is empty
            func.compute_at(Halide::LoopLevel(at->second, loop_of(directive.at, directive.args.at(0))));
            return;
        }
        Halide::Stage stage = d->update < 0 ? Halide::Stage(func) : func.update(d->halide_update);
        const auto arg = [&](std::size_t i) { return loop(*d, directive.args.at(i)); };
        const int factor = static_cast<int>(directive.factor);
        const auto tail = [&] { return tail_strategy(tail_of(directive, *d, prepared_.group())); };
        switch (directive.kind) {
            case Kind::split: {
                const Halide::VarOrRVar old = arg(0);
                kinds_.split(*d, directive.args.at(0), directive.args.at(1), directive.args.at(2));
                stage.split(old, arg(1), arg(2), factor, tail());
                return;
            }
            case Kind::reorder: {
                std::vector<Halide::VarOrRVar> order;
                for (std::size_t i = 0; i < directive.args.size(); ++i) order.push_back(arg(i));
                stage.reorder(order);
                return;
            }
            case Kind::vectorize:
                factor > 0 ? stage.vectorize(arg(0), factor, tail()) : stage.vectorize(arg(0));
                return;
            case Kind::unroll:
                factor > 0 ? stage.unroll(arg(0), factor, tail()) : stage.unroll(arg(0));
                return;
            case Kind::parallel:
                stage.parallel(arg(0));
                return;
            case Kind::vector_math:
            case Kind::contract:
                return;  // see define()
            case Kind::allow_race:
                stage.allow_race_conditions();
                return;
            case Kind::compute_root:
            case Kind::compute_at:
                return;  // of a Func: done above
        }
    }

    static Halide::TailStrategy tail_strategy(const std::string& name) {
        if (name == "GuardWithIf") return Halide::TailStrategy::GuardWithIf;
        if (name == "ShiftInwards") return Halide::TailStrategy::ShiftInwards;
        if (name == "RoundUp") return Halide::TailStrategy::RoundUp;
        if (name == expr::kAutoTail) return Halide::TailStrategy::Auto;
        throw Error("found tail strategy " + name + ", expected GuardWithIf, ShiftInwards, RoundUp or Auto");
    }

    const Prepared& prepared_;
    const std::optional<std::span<const Tensor>> data_;
    const bool careful_;
    const Schedule* schedule_ = nullptr;  ///< which says how floats are computed; of a short program the target does
    std::function<Functions(const Definition&)> functions_;
    LoopKinds kinds_;
    std::vector<Halide::ImageParam> inputs_;
    std::map<std::string, Halide::Func> funcs_;
    Loads loads_;
    std::map<RVarKey, Halide::RVar> rvars_;
};

/// Halide's warnings go to our log, not to the user's terminal; its errors become exceptions as they would without us.
class Reporter final : public Halide::CompileTimeErrorReporter {
    void warning(const char* message) override { log_debug(LogChannel::backend, message); }
    void error(const char* message) override { throw Halide::CompileError(message); }
};

/// Runs `f`, turning Halide's exceptions and our Errors (a schedule that names what is not there) into values.
template <class F>
std::optional<KernelError> caught(F&& f) {
    static Reporter reporter;
    static const bool reports = (Halide::set_custom_compile_time_error_reporter(&reporter), true);
    (void)reports;
    try {
        if (kAddressSanitizer) Halide::set_compiler_stack_size(0);  // the sanitizer does not follow swapcontext
        f();
        return {};
    } catch (const Halide::Error& e) {
        std::string message = e.what();
        while (message.ends_with('\n')) message.pop_back();
        return KernelError{message};
    } catch (const Error& e) {
        return KernelError{e.what()};
    }
}

}  // namespace whittle::halide
