// A pass over what Halide lowered a kernel to, run last, that keeps four mistakes of Halide 14's code generator
// (CodeGen_LLVM.cpp) from being made; all concern the loads and stores of vectorized loops:
//  - A result that the kernel reads back (an update's own element, a result that another stage loads) is taken for
//    memory of Halide's own: aligned to whole vectors, with room to read behind its end. It is the caller's. Loads are
//    therefore given the parameter of the result, as loads of inputs have theirs.
//  - A load whose stride is 2, 3 or 4 is rounded down to a multiple of the stride. Where the index is a constant this
//    loses its remainder, and any address counts as aligned to a whole vector. Such loads claim no alignment.
//  - A constant index that falls along the vector fails the internal assertion "base >= 0", or is told to LLVM as
//    touching one element only, so that it may be moved across stores. Its base is made a call, which nothing folds.
//  - The lanes of a load that are switched off have no value; an integer division by one traps. They are 0.
// The first two crash, now and then, depending on where memory happens to lie. share/doc/how-to/halide.md lists them
// for users. What stands between the two lines below is also what repro.cpp contains: texts.cmake makes a string of it.
#pragma once

#include <Halide.h>

#include <map>
#include <vector>

namespace whittle::halide {

// ---- text of repro.cpp ----
// A lowering pass that runs last and works around bugs of Halide 14. Loads from a result of the same kernel, and loads
// with a constant index and a stride, are assumed to be aligned to whole vectors. Constant indices that decrease along
// a vector fail an internal assertion. Integer divisions trap on lanes that are masked out.
struct SoundAccesses : Halide::Internal::IRMutator {
    using IRMutator::visit;
    std::map<std::string, decltype(Halide::OutputImageParam().parameter())> results;
    explicit SoundAccesses(const std::vector<Halide::Func>& outputs) {
        for (Halide::Func f : outputs) results[f.name()] = f.output_buffer().parameter();
    }
    Halide::Expr visit(const Halide::Internal::Load* op) override {
        const auto result = results.find(op->name);
        const bool constant = op->alignment.modulus == 0;
        const Halide::Expr predicate = mutate(op->predicate);
        const Halide::Expr load =
            Halide::Internal::Load::make(op->type, op->name, sound(mutate(op->index)), op->image,
                                         result == results.end() ? op->param : result->second, predicate,
                                         constant ? Halide::Internal::ModulusRemainder() : op->alignment);
        if (Halide::Internal::is_const_one(predicate)) return load;
        return Halide::Internal::Select::make(predicate, load, Halide::Internal::make_zero(op->type));
    }
    Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override {
        return Halide::Internal::Store::make(op->name, mutate(op->value), sound(mutate(op->index)), op->param,
                                             mutate(op->predicate), op->alignment);
    }
    static Halide::Expr sound(const Halide::Expr& index) {
        const auto* ramp = index.as<Halide::Internal::Ramp>();
        if (!ramp) return index;
        // A pointer in Halide 14, an optional in later ones.
        const auto base = Halide::Internal::as_const_int(ramp->base);
        const auto stride = Halide::Internal::as_const_int(ramp->stride);
        if (!base || !stride || (*base >= 0 && *stride > 0)) return index;
        using Call = Halide::Internal::Call;
        const Halide::Expr hidden =
            Call::make(Halide::Int(32), Call::return_second, {0, ramp->base}, Call::PureIntrinsic);
        return Halide::Internal::Ramp::make(hidden, ramp->stride, ramp->lanes);
    }
};
// ---- end ----

}  // namespace whittle::halide
