#include "expr/expr.h"

#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "expr/fold.h"

namespace whittle::expr {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {  // Steele, Lea, Flood 2014 (splitmix64's finalizer)
    std::uint64_t z = seed + 0x9e3779b97f4a7c15u + value;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// Bits that tell two constants of one dtype apart: -0 from 0, one NaN from another.
std::uint64_t bits(const Scalar& number) {
    if (number.is_floating()) return std::bit_cast<std::uint64_t>(number.to_double());
    if (number.is_boolean()) return number.to_bool();
    return static_cast<std::uint64_t>(number.to_integer());
}

Expr make(Node node) {
    std::size_t hash = mix(static_cast<std::size_t>(node.op), static_cast<std::size_t>(node.dtype));
    if (!node.name.empty()) hash = mix(hash, std::hash<std::string>()(node.name));
    if (node.op == Op::constant) hash = mix(hash, bits(node.number));
    for (const Expr& operand : node.operands) hash = mix(hash, operand->hash);
    node.hash = hash;
    return std::make_shared<const Node>(std::move(node));
}

std::string type_message(Op op, const Expr& a) {
    return std::string(name(op)) + " does not take " + std::string(name(a->dtype)) + " operands: " + print(a);
}

DType result_type(Op op, DType operands) {
    return info_of(op).gives == OpInfo::Result::logical ? DType::boolean : operands;
}

}  // namespace

Expr constant(DType dtype, const Scalar& value) {
    return make({.op = Op::constant, .dtype = dtype, .number = normalized(dtype, value)});
}

Expr index(std::int64_t value) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
        throw Error("found index " + std::to_string(value) + ", expected an index that fits in 32 bits",
                    "use smaller tensors: a kernel indexes at most 2^31 - 1 elements");
    return constant(DType::i32, Scalar(value));
}

Expr variable(const std::string& name) { return make({.op = Op::variable, .dtype = DType::i32, .name = name}); }

Expr load(const std::string& from, DType dtype, std::vector<Expr> indices) {
    for (const Expr& i : indices)
        WHITTLE_CHECK(i && i->dtype == DType::i32, "indices are i32; cast them: load of " + from);
    return make({.op = Op::load, .dtype = dtype, .name = from, .operands = std::move(indices)});
}

Expr cast(DType dtype, Expr value) {
    if (value->dtype == dtype) return value;
    if (is_complex(dtype))
        throw Error("found a cast to " + std::string(whittle::name(dtype)) + ", expected a cast to a real dtype");
    // Half types convert to and from f32 only, as ATen's do: f64 and the integers take the way over f32.
    if (is_reduced(dtype) && value->dtype != DType::f32) return cast(dtype, cast(DType::f32, std::move(value)));
    if (is_reduced(value->dtype) && dtype != DType::f32) return cast(dtype, cast(DType::f32, std::move(value)));
    // Floats to narrow integers go over i32, as x86 converts: beyond the narrow range they wrap in every reader.
    if (is_floating(value->dtype) && is_integer(dtype) && size_of(dtype) < 4)
        return cast(dtype, cast(DType::i32, std::move(value)));
    if (is_floating(value->dtype) && is_unsigned(dtype)) return cast(dtype, cast(DType::i64, std::move(value)));
    if (value->op == Op::constant) {
        if (auto folded = fold_cast(dtype, value->dtype, value->number)) return constant(dtype, *folded);
    }
    if (value->op == Op::cast) {  // half -> f32 -> the same half
        const Expr& inner = value->operands[0];
        if (inner->dtype == dtype && is_reduced(dtype) && value->dtype == DType::f32) return inner;
    }
    return make({.op = Op::cast, .dtype = dtype, .operands = {std::move(value)}});
}

Expr unary(Op op, Expr a) {
    WHITTLE_CHECK(info_of(op).operands == 1 && op != Op::cast, std::string(name(op)) + " is not unary");
    WHITTLE_CHECK(takes(op, a->dtype), type_message(op, a));
    if (op == Op::abs && is_unsigned(a->dtype)) return a;
    if (op == Op::logical_not && a->op == Op::logical_not) return a->operands[0];
    const DType result = result_type(op, a->dtype);
    if (a->op == Op::constant) {
        if (auto folded = fold_unary(op, a->dtype, a->number)) return constant(result, *folded);
    }
    return make({.op = op, .dtype = result, .operands = {std::move(a)}});
}

namespace {

bool commutes(Op op) {
    return op == Op::add || op == Op::mul || op == Op::min || op == Op::max || op == Op::bit_and || op == Op::bit_or ||
           op == Op::bit_xor;
}

void check_types(Op op, const Expr& a, const Expr& b) {
    WHITTLE_CHECK(info_of(op).operands == 2, std::string(name(op)) + " is not binary");
    WHITTLE_CHECK(a->dtype == b->dtype, std::string(name(op)) + " of " + std::string(name(a->dtype)) + " and " +
                                            std::string(name(b->dtype)) + ": " + print(a) + " and " + print(b));
    WHITTLE_CHECK(takes(op, a->dtype), type_message(op, a));
}

/// An integer e as base + offset; {e, 0} when there is nothing to split off.
std::pair<Expr, std::int64_t> split_offset(const Expr& e) {
    if ((e->op == Op::add || e->op == Op::sub) && e->operands[1]->op == Op::constant) {
        const std::int64_t c = e->operands[1]->number.to_integer();
        return {e->operands[0], e->op == Op::add ? c : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(c))};
    }
    return {e, 0};
}

/// Identities of integers, which wrap: both sides are equal modulo 2^n. Null when none applies. A constant is on the
/// right.
Expr simplify_integers(Op op, const Expr& a, const Expr& b) {
    const DType dtype = a->dtype;
    const bool known = b->op == Op::constant;
    const std::int64_t c = known ? b->number.to_integer() : 0;
    switch (op) {
        case Op::add:
        case Op::sub: {
            // a + (b + c) reads better, and shares more, as a + b + c.
            if (op == Op::add && (b->op == Op::add || b->op == Op::sub))
                return binary(b->op, binary(Op::add, a, b->operands[0]), b->operands[1]);
            if (!known) return op == Op::sub && same(a, b) ? constant(dtype, 0) : nullptr;
            auto [base, offset] = split_offset(a);
            const auto sum = static_cast<std::uint64_t>(offset) +
                             (op == Op::add ? static_cast<std::uint64_t>(c) : 0 - static_cast<std::uint64_t>(c));
            const std::int64_t total = normalized(dtype, Scalar(static_cast<std::int64_t>(sum))).to_integer();
            if (total == 0) return base;
            // "i - 1" reads better than "i + -1". The most negative value is its own negation and stays.
            const auto negated = normalized(dtype, Scalar(static_cast<std::int64_t>(0 - sum)));
            const bool minus = total < 0 && negated.to_integer() > 0;
            if (base == a && minus == (op == Op::sub)) return nullptr;
            return make({.op = minus ? Op::sub : Op::add,
                         .dtype = dtype,
                         .operands = {base, constant(dtype, minus ? negated : Scalar(total))}});
        }
        case Op::mul:
            if (!known) return nullptr;
            if (c == 0) return b;
            if (c == 1) return a;
            if (a->op == Op::mul && a->operands[1]->op == Op::constant)
                return binary(op, a->operands[0], binary(op, a->operands[1], b));
            return nullptr;
        case Op::div:
            if (!known) return nullptr;
            if (c == 0) return b;
            if (c == 1) return a;
            if (c > 1 && a->op == Op::div && a->operands[1]->op == Op::constant) {  // floor(floor(x / m) / n)
                const std::int64_t inner = a->operands[1]->number.to_integer();
                std::int64_t product = 0;
                if (inner > 0 && !__builtin_mul_overflow(inner, c, &product) &&
                    normalized(dtype, Scalar(product)).to_integer() == product)
                    return binary(op, a->operands[0], constant(dtype, Scalar(product)));
            }
            return nullptr;
        case Op::mod:
            return known && (c == 1 || c == 0) ? constant(dtype, 0) : nullptr;
        case Op::min:
        case Op::max:
        case Op::bit_and:
        case Op::bit_or:
            return same(a, b) ? a : nullptr;
        case Op::shl:
        case Op::shr:
            return known && c == 0 ? a : nullptr;
        case Op::le:
            if (is_unsigned(dtype) && a->op == Op::constant && a->number.to_integer() == 0)
                return constant(DType::boolean, true);
            return same(a, b) ? constant(DType::boolean, true) : nullptr;
        case Op::eq:
            return same(a, b) ? constant(DType::boolean, true) : nullptr;
        case Op::lt:
            if (is_unsigned(dtype) && known && c == 0) return constant(DType::boolean, false);
            return same(a, b) ? constant(DType::boolean, false) : nullptr;
        case Op::ne:
            return same(a, b) ? constant(DType::boolean, false) : nullptr;
        default:
            return nullptr;
    }
}

}  // namespace

Expr binary(Op op, Expr a, Expr b) {
    check_types(op, a, b);
    const DType result = result_type(op, a->dtype);
    if (a->op == Op::constant && b->op == Op::constant) {
        if (auto folded = fold_binary(op, a->dtype, a->number, b->number)) return constant(result, *folded);
    }
    if (is_integer(a->dtype)) {
        if (a->op == Op::constant && commutes(op)) std::swap(a, b);
        if (Expr simple = simplify_integers(op, a, b)) return simple;
    } else if (is_floating(a->dtype)) {
        // Exact for every x, NaN, infinities and -0 included: x * 1, x / 1, x - (+0).
        if (b->op == Op::constant) {
            const double c = b->number.to_double();
            if (c == 1 && (op == Op::mul || op == Op::div)) return a;
            if (c == 0 && !std::signbit(c) && op == Op::sub) return a;
        }
        if (a->op == Op::constant && a->number.to_double() == 1 && op == Op::mul) return b;
    } else if (op == Op::logical_and || op == Op::logical_or) {
        const bool absorbing = op == Op::logical_or;
        for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
            if (x->op == Op::constant) return x->number.to_bool() == absorbing ? x : y;
        if (same(a, b)) return a;
    } else if ((op == Op::eq || op == Op::ne) && same(a, b)) {
        return constant(DType::boolean, op == Op::eq);
    }
    return make({.op = op, .dtype = result, .operands = {std::move(a), std::move(b)}});
}

Expr select(Expr condition, Expr if_true, Expr if_false) {
    WHITTLE_CHECK(condition->dtype == DType::boolean, type_message(Op::select, condition));
    WHITTLE_CHECK(if_true->dtype == if_false->dtype, "select of " + std::string(name(if_true->dtype)) + " or " +
                                                         std::string(name(if_false->dtype)) + ": " + print(if_true) +
                                                         " or " + print(if_false));
    if (condition->op == Op::constant) return condition->number.to_bool() ? if_true : if_false;
    if (same(if_true, if_false)) return if_true;
    const DType dtype = if_true->dtype;
    if (is_reduced(dtype))  // exact, and spares every reader arithmetic on half types
        return cast(dtype, select(std::move(condition), cast(DType::f32, std::move(if_true)),
                                  cast(DType::f32, std::move(if_false))));
    return make({.op = Op::select,
                 .dtype = dtype,
                 .operands = {std::move(condition), std::move(if_true), std::move(if_false)}});
}

Expr negate(Expr a) {
    if (is_floating(a->dtype)) return binary(Op::mul, a, constant(a->dtype, -1.0));
    return binary(Op::sub, constant(a->dtype, 0), a);
}

namespace {

struct PairHash {
    std::size_t operator()(const std::pair<const Node*, const Node*>& p) const {
        return mix(reinterpret_cast<std::uintptr_t>(p.first), reinterpret_cast<std::uintptr_t>(p.second));
    }
};
using Pairs = std::unordered_set<std::pair<const Node*, const Node*>, PairHash>;

/// `equal` holds pairs found equal before: without it, shared operands would be compared once per path.
bool same_nodes(const Node* a, const Node* b, Pairs& equal) {
    if (a == b) return true;
    if (a->hash != b->hash || a->op != b->op || a->dtype != b->dtype || a->name != b->name ||
        a->operands.size() != b->operands.size())
        return false;
    if (a->op == Op::constant) return bits(a->number) == bits(b->number);
    if (equal.contains({a, b})) return true;
    for (std::size_t i = 0; i < a->operands.size(); ++i)
        if (!same_nodes(a->operands[i].get(), b->operands[i].get(), equal)) return false;
    equal.insert({a, b});
    return true;
}

}  // namespace

bool same(const Expr& a, const Expr& b) {
    if (a == b) return true;
    if (!a || !b || a->hash != b->hash) return false;
    Pairs equal;
    return same_nodes(a.get(), b.get(), equal);
}

void visit(const Expr& root, const std::function<void(const Expr&)>& f) {
    std::unordered_set<const Node*> seen;
    std::vector<std::pair<Expr, std::size_t>> stack;  // node, operands already visited
    const auto push = [&](const Expr& e) {
        if (e && seen.insert(e.get()).second) stack.emplace_back(e, 0);
    };
    push(root);
    while (!stack.empty()) {
        const Expr node = stack.back().first;
        if (std::size_t& next = stack.back().second; next < node->operands.size()) {
            push(node->operands[next++]);
        } else {
            stack.pop_back();
            f(node);
        }
    }
}

Expr rebuild(const Expr& e, std::vector<Expr> operands) {
    WHITTLE_CHECK(operands.size() == e->operands.size(), "rebuild with another number of operands: " + print(e));
    if (operands == e->operands) return e;
    switch (e->op) {
        case Op::load:
            return load(e->name, e->dtype, std::move(operands));
        case Op::cast:
            return cast(e->dtype, std::move(operands[0]));
        case Op::select:
            return select(std::move(operands[0]), std::move(operands[1]), std::move(operands[2]));
        default:
            if (operands.size() == 1) return unary(e->op, std::move(operands[0]));
            return binary(e->op, std::move(operands[0]), std::move(operands[1]));
    }
}

Expr rewrite(const Expr& root, const std::function<Expr(const Expr&)>& f) {
    std::unordered_map<const Node*, Expr> done;
    std::unordered_set<const Node*> results;
    visit(root, [&](const Expr& e) {
        std::vector<Expr> operands;
        for (const Expr& operand : e->operands) operands.push_back(done.at(operand.get()));
        Expr rebuilt = rebuild(e, std::move(operands));
        // Where an operand takes its place, a choice whose condition became a constant, f has seen it.
        if (!results.contains(rebuilt.get())) rebuilt = f(rebuilt);
        results.insert(rebuilt.get());
        done[e.get()] = std::move(rebuilt);
    });
    return done.at(root.get());
}

std::size_t node_count(const Expr& root) {
    std::size_t count = 0;
    visit(root, [&](const Expr&) { ++count; });
    return count;
}

}  // namespace whittle::expr
