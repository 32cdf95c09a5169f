#include "expr/ring.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "expr/exprmap.h"
#include "expr/parts.h"
#include "tensor/random.h"

namespace whittle::expr {
namespace {

constexpr std::int64_t kMostChoices = std::int64_t{1} << 26;  // elements

/// The unsigned integers of a float's width; other types as they are.
DType ring_type(DType dtype) {
    if (!is_floating(dtype)) return dtype;
    switch (size_of(dtype)) {
        case 8:
            return DType::u64;
        case 4:
            return DType::u32;
        case 2:
            return DType::u16;
        default:
            return DType::u8;
    }
}

/// A bijection of 64-bit numbers (splitmix64), for constants that have nothing in common.
std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// Whole numbers are themselves, so that x * 1, x * -1 and x + 0 mean the same in the ring.
std::uint64_t ring_number(double value) {
    if (std::fabs(value) < 0x1p53 && std::trunc(value) == value)
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    return scrambled(std::bit_cast<std::uint64_t>(value));
}

Expr number(const Expr& like, std::uint64_t value) { return constant(like, Scalar(value)); }

/// Of `b` with its last bit set; by Newton's iteration, which doubles the bits that are right.
Expr inverse(const Expr& b) {
    const Expr odd = binary(Op::bit_or, b, number(b, 1));
    Expr x = binary(Op::bit_xor, odd * number(b, 3), number(b, 2));  // right in five bits
    for (std::size_t bits = 5; bits < 8 * size_of(b->dtype); bits *= 2) x = x * (number(b, 2) - odd * x);
    return x;
}

/// A function of its own for each operation and operand, which maps no two numbers to one.
Expr mixed(Op op, std::size_t operand, const Expr& x) {
    const std::uint64_t salt = scrambled(static_cast<std::uint64_t>(op) * 4 + operand);
    const Expr half = number(x, 4 * size_of(x->dtype) - 1);
    return binary(Op::bit_xor, x, binary(Op::shr, x, half)) * number(x, salt | 1) + number(x, scrambled(salt));
}

/// The definitions of a group, one by one.
class Writer {
  public:
    Writer(RingForm& form, const Stage& stage, int update, std::vector<LoopVar> loops)
        : form_(form), stage_(stage), update_(update), loops_(std::move(loops)) {}

    Expr operator()(const Expr& root) {
        visit(root, [&](const Expr& e) {
            if (!done_.contains(e)) done_.emplace(e, made(e));
        });
        return done_.at(root);
    }

  private:
    Expr made(const Expr& e) {
        std::vector<Expr> in;
        for (const Expr& operand : e->operands) in.push_back(done_.at(operand));
        if (e->op == Op::load) return load(e->name, ring_type(e->dtype), in);
        if (is_floating(e->dtype)) return in_ring(e, in);
        const bool of_floats =
            std::ranges::any_of(e->operands, [](const Expr& operand) { return is_floating(operand->dtype); });
        if (of_floats) return choice(e);
        return in.empty() ? e : rebuild(e, in);
    }

    static Expr in_ring(const Expr& e, const std::vector<Expr>& in) {
        switch (e->op) {
            case Op::constant:
                return constant(ring_type(e->dtype), Scalar(ring_number(e->number.to_double())));
            case Op::cast:
                return cast(ring_type(e->dtype), in[0]);
            case Op::select:
                return select(in[0], in[1], in[2]);
            case Op::add:
            case Op::sub:
            case Op::mul:
                return binary(e->op, in[0], in[1]);
            case Op::div:
                return in[0] * inverse(in[1]);
            default:
                break;
        }
        Expr result = mixed(e->op, 0, in[0]);
        for (std::size_t i = 1; i < in.size(); ++i) result = result + mixed(e->op, i, in[i]);
        return result;
    }

    /// The value as an input that has it.
    Expr choice(const Expr& e) {
        const std::vector<LoopVar> loops = loops_of_value(e);
        Sizes sizes;
        std::vector<Expr> indices;
        for (const LoopVar& loop : loops) {
            sizes.push_back(loop.extent);
            indices.push_back(variable(loop.name));
        }
        const std::string name = fresh_name(form_.group, "choice");
        form_.group.inputs.push_back({name, e->dtype, sizes, contiguous_strides(sizes)});
        form_.choices.push_back({stage_.name, update_, e, loops});
        return load(name, e->dtype, indices);
    }

    /// Those that the value depends on: all of them where it loads the stage, whose elements change.
    std::vector<LoopVar> loops_of_value(const Expr& value) const {
        std::set<std::string> used;
        bool loads_itself = false;
        visit(value, [&](const Expr& e) {
            if (e->op == Op::variable) used.insert(e->name);
            loads_itself = loads_itself || (e->op == Op::load && e->name == stage_.name);
        });
        std::vector<LoopVar> loops = loops_;
        if (!loads_itself) std::erase_if(loops, [&](const LoopVar& loop) { return !used.contains(loop.name); });
        return loops;
    }

    RingForm& form_;
    const Stage& stage_;  ///< of the original
    const int update_;
    const std::vector<LoopVar> loops_;
    ExprMap<Expr> done_;
};

/// Numbers that have nothing in common, laid out as the group declares the input.
Tensor random_elements(const Input& input, Random& random) {
    std::int64_t low = 0, high = 0;
    for (std::size_t d = 0; d < input.sizes.size(); ++d) {
        const std::int64_t reach = std::max<std::int64_t>(input.sizes[d] - 1, 0) * input.strides[d];
        (reach < 0 ? low : high) += reach;
    }
    const DType dtype = ring_type(input.dtype);
    std::vector<std::uint64_t> values(static_cast<std::size_t>(high - low + 1));
    for (std::uint64_t& value : values) value = random.next();
    Tensor memory(dtype, {high - low + 1});
    visit_dtype(dtype, [&](auto t) {
        using T = decltype(t);
        if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
            std::ranges::transform(values, memory.mutable_data<T>(),
                                   [](std::uint64_t value) { return static_cast<T>(value); });
    });
    return memory.as_strided(input.sizes, input.strides, -low);
}

}  // namespace

std::variant<RingForm, std::string> ring_form(const Group& group) {
    RingForm form{.group = group};
    for (Input& input : form.group.inputs) input.dtype = ring_type(input.dtype);
    for (std::size_t s = 0; s < group.stages.size(); ++s) {
        const Stage& from = group.stages[s];
        Stage& to = form.group.stages[s];
        to.dtype = ring_type(from.dtype);
        to.value = Writer(form, from, -1, from.vars)(from.value);
        for (std::size_t k = 0; k < from.updates.size(); ++k) {
            const Update& update = from.updates[k];
            Writer writer(form, from, static_cast<int>(k), loops_of(from, update));
            for (Expr& index : to.updates[k].where) index = writer(index);
            to.updates[k].value = writer(update.value);
            if (update.condition) to.updates[k].condition = writer(update.condition);
        }
    }
    std::int64_t elements = 0;
    for (std::size_t i = group.inputs.size(); i < form.group.inputs.size(); ++i)
        elements += element_count(form.group.inputs[i].sizes);
    if (elements > kMostChoices)
        return "the kernel's comparisons and casts of floats have " + std::to_string(elements) +
               " results, more than the limit of " + std::to_string(kMostChoices);
    verify(form.group);
    return form;
}

std::vector<Tensor> ring_inputs(const RingForm& form, const Group& group, std::span<const Tensor> inputs,
                                std::uint64_t seed) {
    Random random(seed);
    std::vector<Tensor> all, choices;
    for (std::size_t i = 0; i < group.inputs.size(); ++i) {
        const Input& input = group.inputs[i];
        all.push_back(is_floating(input.dtype) ? random_elements(input, random) : inputs[i]);
    }
    interpret(group, inputs, form.choices, choices);
    all.insert(all.end(), choices.begin(), choices.end());
    return all;
}

}  // namespace whittle::expr
