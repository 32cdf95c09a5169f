// Halide objects of a group: the Funcs, their schedule, and what is thrown while they are made. For the readers that
// compile them (pipeline.cpp, plain.cpp).
#pragma once

#include <Halide.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/halide/definitions.h"
#include "backends/halide/object_sink.h"
#include "backends/halide/pipeline.h"
#include "backends/halide/sound_accesses.h"
#include "backends/halide/walk.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sanitizer.h"
#include "tensor/tensor.h"

namespace whittle::halide {

using expr::Directive;
using expr::Schedule;
using expr::Stage;

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
class PipelineMaker final : ScheduleSink<Halide::VarOrRVar> {
  public:
    /// With `data`, one tensor per input, as a short program has it: inputs are Buffers, and nothing is promised of
    /// sizes.
    explicit PipelineMaker(const Prepared& prepared, std::optional<std::span<const Tensor>> data = {},
                           bool careful = true)
        : prepared_(prepared), data_(data), careful_(careful), walk_(*this, prepared) {}

    Halide::Pipeline make(const Schedule& schedule, bool with_workarounds = true) {
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
        for (const Directive* directive : active(schedule)) walk_(*directive);
        for (const Stage* stage : prepared_.stages())  // else Halide warns
            for (const Definition& d : prepared_.definitions(*stage))
                if (d.update >= 0 && !scheduled.contains({stage->name, d.update}))
                    funcs_.at(stage->name).update(d.halide_update).unscheduled();
        Halide::Pipeline pipeline(outputs);
        if (with_workarounds && vectorizes(schedule))
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
        const std::vector<Halide::Expr> where = reversed(indices(translate, sink, d));
        func(where) = rounded(translate.updated(d.assigned(), d.reduction, func(where)));
    }

    Halide::VarOrRVar loop(const Definition& of, const std::string& name, bool reduction) override {
        if (!reduction) return Halide::Var(name);
        return rvars_.try_emplace({of.stage->name, of.update, name}, Halide::RVar(name)).first->second;
    }

    void call(const Directive& directive, const Definition& d, const std::vector<Halide::VarOrRVar>& loops,
              const std::string& tail) override {
        using Kind = Directive::Kind;
        Halide::Func func = funcs_.at(directive.stage);
        const auto level = [&] { return Halide::LoopLevel(funcs_.at(directive.at), loops.at(0)); };
        const auto stage = [&] { return d.update < 0 ? Halide::Stage(func) : func.update(d.halide_update); };
        const int factor = static_cast<int>(directive.factor);
        switch (directive.kind) {
            case Kind::compute_root:
                func.compute_root();
                // A part of a dimension may be all that is read: the last vector, shifted inwards, would begin before
                // it.
                if (!data_)
                    for (const expr::LoopVar& var : d.stage->vars)
                        func.bound(Halide::Var(var.name), 0, static_cast<int>(var.extent));
                return;
            case Kind::compute_at:
                func.compute_at(level());
                return;
            case Kind::split:
                stage().split(loops.at(0), loops.at(1), loops.at(2), factor, tail_strategy(tail));
                return;
            case Kind::reorder:
                stage().reorder(loops);
                return;
            case Kind::vectorize:
                factor > 0 ? stage().vectorize(loops.at(0), factor, tail_strategy(tail))
                           : stage().vectorize(loops.at(0));
                return;
            case Kind::unroll:
                factor > 0 ? stage().unroll(loops.at(0), factor, tail_strategy(tail)) : stage().unroll(loops.at(0));
                return;
            case Kind::parallel:
                stage().parallel(loops.at(0));
                return;
            case Kind::allow_race:
                stage().allow_race_conditions();
                return;
#if HALIDE_VERSION_MAJOR >= 17
            case Kind::hoist_storage:
                func.hoist_storage(level());
                return;
            case Kind::always_partition:
                stage().partition(loops.at(0), Halide::Partition::Always);
                return;
            case Kind::never_partition:
                stage().partition(loops.at(0), Halide::Partition::Never);
                return;
#endif
            default:
                WHITTLE_CHECK(false, "no object form of directive " + print(directive));
        }
    }

    static Halide::TailStrategy tail_strategy(const std::string& name) {
        using Tail = Halide::TailStrategy;
        static constexpr std::pair<std::string_view, Tail> kTails[] = {
            {expr::kAutoTail, Tail::Auto},
            {"GuardWithIf", Tail::GuardWithIf},
            {"RoundUp", Tail::RoundUp},
            {"ShiftInwards", Tail::ShiftInwards},
            {"Predicate", Tail::Predicate},
            {"PredicateLoads", Tail::PredicateLoads},
            {"PredicateStores", Tail::PredicateStores},
#if HALIDE_VERSION_MAJOR >= 17
            {"ShiftInwardsAndBlend", Tail::ShiftInwardsAndBlend},
            {"RoundUpAndBlend", Tail::RoundUpAndBlend},
#endif
        };
        const auto found = std::ranges::find(kTails, name, &std::pair<std::string_view, Tail>::first);
        WHITTLE_CHECK(found != std::end(kTails), "no object form of tail strategy " + name);
        return found->second;
    }

    const Prepared& prepared_;
    const std::optional<std::span<const Tensor>> data_;
    const bool careful_;
    const Schedule* schedule_ = nullptr;  ///< which says how floats are computed; of a short program the target does
    std::function<Functions(const Definition&)> functions_;
    std::vector<Halide::ImageParam> inputs_;
    std::map<std::string, Halide::Func> funcs_;
    Loads loads_;
    std::map<std::tuple<std::string, int, std::string>, Halide::RVar> rvars_;  ///< by stage, update and loop
    ScheduleWalk<Halide::VarOrRVar> walk_;
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
