#include "expr/random/random_group.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "expr/bounds.h"

namespace whittle::expr {

namespace {

Expr number(DType dtype, std::int64_t value) { return constant(dtype, Scalar(value)); }

/// Builds expressions over the loops of one definition.
class ExprMaker {
  public:
    ExprMaker(const Group& group, Random& random, const RandomGroupOptions& options, std::vector<LoopVar> loops)
        : group_(group), random_(random), options_(options), loops_(std::move(loops)) {}

    /// Loads of the stage itself, in the ways that its update permits.
    void allow_self(std::function<Expr()> self) { self_ = std::move(self); }

    Expr any(DType dtype, int depth) {
        if (is_reduced(dtype)) return chance(3) ? leaf(dtype) : cast(dtype, any(DType::f32, depth - 1));
        if (depth <= 0) return leaf(dtype);
        switch (random_.below(9)) {
            case 0:
                return leaf(dtype);
            case 1:
                return select(any(DType::boolean, depth - 1), any(dtype, depth - 1), any(dtype, depth - 1));
            case 2:
                return converted(dtype, depth - 1);
            case 3: {
                const Expr shared = any(dtype, depth - 1);
                if (dtype == DType::boolean) return shared && any(dtype, depth - 2);
                return shared * shared - shared;
            }
            default:
                return dtype == DType::boolean ? logical(depth)
                       : is_integer(dtype)     ? integer(dtype, depth)
                                               : real(dtype, depth);
        }
    }

    /// An i32 in [0, extent); extent > 0.
    Expr in_bounds(std::int64_t extent, int depth = 2) {
        const Expr n = index(extent);
        switch (random_.below(7)) {
            case 0:
                return index(random_.below(extent));
            case 1:  // gather
                if (depth > 0) return max(min(any(DType::i32, depth - 1), n - index(1)), index(0));
                break;
            case 2:
                if (depth > 0) return any(DType::i32, depth - 1) % n;
                break;
            case 3:
                return (a_loop() * index(random_.below(4)) + index(random_.below(9))) % n;
            default:
                break;
        }
        for (int attempt = 0; attempt < 4 && !loops_.empty(); ++attempt) {
            const LoopVar& v = loops_[static_cast<std::size_t>(random_.below(size()))];
            if (v.extent > extent) continue;
            const Expr i = variable(v.name);
            return chance(3) ? n - index(1) - i : chance(3) ? i + index(random_.below(extent - v.extent + 1)) : i;
        }
        return chance(2) ? a_loop() % n : a_loop() / index(1000);
    }

    bool chance(int of) { return random_.below(of) == 0; }

  private:
    std::int64_t size() const { return static_cast<std::int64_t>(loops_.size()); }

    Expr a_loop() {
        if (loops_.empty()) return index(random_.below(5));
        return variable(loops_[static_cast<std::size_t>(random_.below(size()))].name);
    }

    DType a_type() {
        static constexpr DType types[] = {DType::f64, DType::f32, DType::f32, DType::i64, DType::i32, DType::i16,
                                          DType::i8,  DType::u8,  DType::u16, DType::u32, DType::u64, DType::boolean};
        return types[random_.below(std::size(types))];
    }

    Expr leaf(DType dtype) {
        if (self_ && chance(3)) return converted_from(dtype, self_());
        if (chance(5)) return a_constant(dtype);
        std::vector<std::pair<std::string, std::pair<DType, Sizes>>> arrays;
        for (const Input& in : group_.inputs) arrays.push_back({in.name, {in.dtype, in.sizes}});
        for (const Stage& stage : group_.stages) arrays.push_back({stage.name, {stage.dtype, stage.sizes()}});
        std::erase_if(arrays, [](const auto& a) { return element_count(a.second.second) == 0; });
        if (arrays.empty() || chance(6)) return converted_from(dtype, a_loop());
        const auto& [name, type] =
            arrays[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(arrays.size())))];
        std::vector<Expr> indices;
        const int depth = std::exchange(index_depth_, 0);  // loads inside an index have simple ones
        for (const std::int64_t extent : type.second) indices.push_back(in_bounds(extent, chance(4) ? depth : 0));
        index_depth_ = depth;
        return converted_from(dtype, load(name, type.first, std::move(indices)));
    }

    Expr a_constant(DType dtype) {
        static constexpr double specials[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e30, 1e-30};
        if (dtype == DType::boolean) return constant(dtype, chance(2));
        if (is_integer(dtype)) {
            const Interval range = range_of(dtype);
            return number(dtype, chance(8) ? range.lo : chance(8) ? range.hi : random_.below(9) - 3);
        }
        if (chance(12)) return constant(dtype, Scalar(std::numeric_limits<double>::quiet_NaN()));
        if (chance(12)) return constant(dtype, Scalar(chance(2) ? INFINITY : -INFINITY));
        if (chance(2)) return constant(dtype, Scalar(specials[random_.below(std::size(specials))]));
        return constant(dtype, Scalar(random_.normal()));
    }

    Expr converted(DType dtype, int depth) { return converted_from(dtype, any(a_type(), depth)); }

    Expr converted_from(DType dtype, Expr e) {
        if (e->dtype == dtype) return e;
        if (is_reduced(e->dtype)) e = cast(DType::f32, e);
        if (is_floating(e->dtype) && is_integer(dtype))  // defined only for values in range; NaN fails the comparison
            e = select(unary(Op::abs, e) < constant(e->dtype, 30000), e, constant(e->dtype, 0));
        return cast(dtype, std::move(e));
    }

    Expr logical(int depth) {
        switch (random_.below(6)) {
            case 0:
                return logical_not(any(DType::boolean, depth - 1));
            case 1:
                return any(DType::boolean, depth - 1) && any(DType::boolean, depth - 1);
            case 2:
                return any(DType::boolean, depth - 1) || any(DType::boolean, depth - 1);
            case 3:
                return unary(Op::is_nan, any(chance(2) ? DType::f32 : DType::f64, depth - 1));
            default: {
                static constexpr Op comparisons[] = {Op::eq, Op::ne, Op::lt, Op::le};
                const DType type = a_type();
                const Op op = comparisons[random_.below(type == DType::boolean ? 2 : 4)];
                return binary(op, any(type, depth - 1), any(type, depth - 1));
            }
        }
    }

    Expr integer(DType dtype, int depth) {
        static constexpr Op binaries[] = {Op::add, Op::sub, Op::mul,     Op::div,    Op::mod,
                                          Op::min, Op::max, Op::bit_and, Op::bit_or, Op::bit_xor};
        const Expr a = any(dtype, depth - 1);
        const std::int64_t kind = random_.below(14);
        if (kind == 0) return unary(Op::abs, a);
        if (kind == 1) return unary(Op::bit_not, a);
        if (kind <= 3)
            return binary(kind == 2 ? Op::shl : Op::shr, a,
                          number(dtype, random_.below(static_cast<std::int64_t>(size_of(dtype)) * 8)));
        return binary(binaries[random_.below(std::size(binaries))], a, any(dtype, depth - 1));
    }

    Expr real(DType dtype, int depth) {
        static constexpr Op binaries[] = {Op::add, Op::sub, Op::mul, Op::div};
        static const std::vector<Op> exact = functions(OpInfo::Kind::exact), library = functions(OpInfo::Kind::library);
        const Expr a = any(dtype, depth - 1);
        const std::int64_t kind = random_.below(10);
        if (kind <= 1) return unary(one_of(exact), a);
        if (kind == 2 && options_.library) {
            // A constant argument is folded by compilers to the correctly rounded result, not to the library's.
            const Expr x = depends(a) ? a : a + converted_from(dtype, a_loop());
            if (!depends(x)) return x;
            if (chance(4)) return binary(Op::mod, x, any_dependent(dtype, depth - 1));
            return unary(one_of(library), x);
        }
        return binary(binaries[random_.below(std::size(binaries))], a, any(dtype, depth - 1));
    }

    /// Those of one operand.
    static std::vector<Op> functions(OpInfo::Kind kind) {
        std::vector<Op> ops;
        for (std::size_t i = 0; i < std::size(kOps); ++i)
            if (kOps[i].kind == kind && kOps[i].operands == 1) ops.push_back(static_cast<Op>(i));
        return ops;
    }
    Op one_of(const std::vector<Op>& ops) {
        return ops[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(ops.size())))];
    }

    Expr any_dependent(DType dtype, int depth) {
        const Expr e = any(dtype, depth);
        return depends(e) ? e : e + converted_from(dtype, a_loop());
    }

    static bool depends(const Expr& root) {
        bool found = false;
        visit(root, [&](const Expr& e) { found = found || e->op == Op::load; });
        return found;
    }

    const Group& group_;
    Random& random_;
    const RandomGroupOptions& options_;
    std::vector<LoopVar> loops_;
    std::function<Expr()> self_;
    int index_depth_ = 2;
};

class GroupMaker {
  public:
    GroupMaker(Random& random, const RandomGroupOptions& options) : random_(random), options_(options) {}

    Group make() {
        for (std::int64_t n = 1 + random_.below(options_.inputs); n > 0; --n) group_.inputs.push_back(input());
        for (std::int64_t n = 1 + random_.below(options_.stages); n > 0; --n) group_.stages.push_back(stage());
        for (const Stage& stage : group_.stages)
            if (&stage == &group_.stages.back() || chance(3)) group_.outputs.push_back(stage.name);
        return std::move(group_);
    }

  private:
    bool chance(int of) { return random_.below(of) == 0; }

    std::int64_t extent() { return options_.empty && chance(8) ? 0 : 1 + random_.below(chance(4) ? 12 : 5); }

    DType dtype() {
        for (;;) {
            const DType d = kAllDTypes[static_cast<std::size_t>(random_.below(std::size(kAllDTypes)))];
            if (info_of(d).use != DTypeInfo::Use::stored && !is_complex(d) && (options_.half_types || !is_reduced(d)))
                return d;
        }
    }

    Input input() {
        Input in{.name = 'x' + std::to_string(group_.inputs.size()), .dtype = dtype()};
        for (std::int64_t rank = random_.below(4); rank > 0; --rank) in.sizes.push_back(extent());
        // Row-major in a random order of dimensions, then disturbed.
        std::vector<std::size_t> order(in.sizes.size());
        for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
        if (chance(2))
            for (std::size_t d = order.size(); d > 1; --d)
                std::swap(order[d - 1], order[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(d)))]);
        in.strides.resize(in.sizes.size());
        std::int64_t step = chance(4) ? 2 : 1;
        for (const std::size_t d : order) {
            in.strides[d] = chance(8) ? 0 : chance(6) ? -step : step;
            step *= std::max<std::int64_t>(in.sizes[d], 1) + (chance(6) ? 1 : 0);
        }
        return in;
    }

    Stage stage() {
        Stage stage{.name = 's' + std::to_string(group_.stages.size()), .dtype = dtype()};
        for (std::int64_t rank = random_.below(4); rank > 0; --rank)
            stage.vars.push_back({std::string(1, static_cast<char>('i' + stage.vars.size())), extent()});
        stage.origin = "%" + stage.name + " = random";
        stage.value = ExprMaker(group_, random_, options_, stage.vars).any(stage.dtype, options_.depth);
        for (std::int64_t n = chance(2) ? 1 + random_.below(2) : 0; n > 0; --n) stage.updates.push_back(update(stage));
        return stage;
    }

    LoopVar domain(std::int64_t extent) { return {'r' + std::to_string(next_domain_++), extent}; }

    Update update(const Stage& stage) {
        Update update;
        for (const LoopVar& v : stage.vars) update.where.push_back(variable(v.name));
        for (std::int64_t n = random_.below(3); n > 0; --n) update.domain.push_back(domain(extent()));
        // Dimension `d` is written in another way than at its own variable; the others stay in place.
        const std::int64_t rank = static_cast<std::int64_t>(stage.vars.size()), d = rank ? random_.below(rank) : -1;
        const std::int64_t size = d < 0 ? 0 : stage.vars[static_cast<std::size_t>(d)].extent;
        Expr* moved = d < 0 ? nullptr : &update.where[static_cast<std::size_t>(d)];
        bool scans = false;
        if (moved && size > 0) {
            switch (random_.below(6)) {
                case 0:  // a scan
                    if (size < 2) break;
                    update.domain.push_back(domain(size - 1));
                    *moved = variable(update.domain.back().name) + index(1);
                    scans = true;
                    break;
                case 1:  // a scatter
                    *moved = nullptr;
                    *moved = maker(stage, update).in_bounds(size);
                    scans = true;
                    break;
                case 2:  // in another order
                    *moved = index(size - 1) - *moved;
                    break;
                default:  // a reduction
                    break;
            }
        }
        ExprMaker make = maker(stage, update);
        make.allow_self([&, update] {
            std::vector<Expr> at = update.where;
            if (scans && chance(2)) at[static_cast<std::size_t>(d)] = maker(stage, update).in_bounds(size, 0);
            return load(stage.name, stage.dtype, at);
        });
        update.value = make.any(stage.dtype, options_.depth - 1);
        if (chance(3)) update.condition = make.any(DType::boolean, 2);
        return update;
    }

    /// Over the loops of an update whose `where` may still have a hole.
    ExprMaker maker(const Stage& stage, Update update) {
        std::erase(update.where, nullptr);
        return ExprMaker(group_, random_, options_, loops_of(stage, update));
    }

    Random& random_;
    const RandomGroupOptions& options_;
    Group group_;
    int next_domain_ = 0;
};

/// Values that tell readers apart: the corners of the type among ordinary ones.
template <class T>
T interesting(Random& random) {
    constexpr bool integer = std::is_integral_v<T>;
    const bool special = random.below(3) == 0;
    if constexpr (std::is_same_v<T, bool>) {
        return random.below(2) == 1;
    } else if constexpr (integer) {
        static constexpr T specials[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(0), T(-1),
                                         T(1)};
        return special ? specials[random.below(5)] : static_cast<T>(random.below(40) - 12);
    } else {
        static constexpr float specials[] = {0.f,   -0.f, INFINITY, -INFINITY, NAN, 1e-41f,
                                             1e38f, 0.5f, 1.5f,     2.5f,      -1.f};
        return static_cast<T>(special ? specials[random.below(11)] : static_cast<float>(random.normal() * 3));
    }
}

}  // namespace

Group random_group(Random& random, const RandomGroupOptions& options) {
    Group group = GroupMaker(random, options).make();
    verify(group);
    return group;
}

std::vector<Tensor> random_inputs(const Group& group, Random& random) {
    std::vector<Tensor> tensors;
    for (const Input& in : group.inputs) {
        std::int64_t low = 0, high = 0;
        for (std::size_t d = 0; d < in.sizes.size(); ++d) {
            const std::int64_t reach = std::max<std::int64_t>(in.sizes[d] - 1, 0) * in.strides[d];
            (reach < 0 ? low : high) += reach;
        }
        Tensor memory(in.dtype, {high - low + 1});
        visit_dtype(in.dtype, [&](auto t) {
            using T = decltype(t);
            T* data = memory.mutable_data<T>();
            for (std::int64_t i = 0; i < memory.numel(); ++i) data[i] = interesting<T>(random);
        });
        tensors.push_back(memory.as_strided(in.sizes, in.strides, -low));
    }
    return tensors;
}

}  // namespace whittle::expr
