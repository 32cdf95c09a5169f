// Random ops: rand, randn, randint, randperm, bernoulli. They draw from one seeded generator (random.h), not
// from ATen's, so values differ from PyTorch's where distributions agree. None of them lowers: a compiled kernel is a
// function of its inputs, and what is random is drawn before it runs.
#include "ops/aten/random.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/tensor_options.h"
#include "ops/core/elements.h"
#include "ops/core/pointwise.h"
#include "tensor/random.h"

namespace whittle {

struct RandomApart::Generator {
    std::mutex lock;
    Random random{0};
};

namespace {

using Generator = RandomApart::Generator;

thread_local Generator* apart = nullptr;

Generator& generator() {
    static Generator instance;
    return apart ? *apart : instance;
}

/// A tensor of draws, in row-major order, converted to `dtype`.
template <class F>
Tensor draw(DType dtype, const Sizes& sizes, F&& next) {
    Generator& source = generator();
    const std::lock_guard hold(source.lock);
    std::vector<double> values(static_cast<std::size_t>(element_count(sizes)));
    for (double& value : values) value = next(source.random);
    return Tensor::of(values, sizes).to(dtype);
}

void check_probability(double p, const std::string& op) {
    if (!(p >= 0 && p <= 1)) throw Error(op + ": found p=" + std::to_string(p) + ", expected 0 to 1");
}

// --- Distributions
// -----------------------------------------------------------------------------------------------------

/// dtype and sizes of what is made: from `size` and `dtype`, or from `self` where the op has one.
OperandInfo drawn_info(const AnyArguments auto& a, DType otherwise) {
    check_options(a);
    OperandInfo info{otherwise, {}};
    if (a.schema().param("self")) info = operand_info(a, "self");
    if (a.schema().param("size")) info.sizes = a.integers("size");
    if (a.schema().param("n")) info.sizes = {a.integer("n")};
    if (a.schema().param("dtype")) info.dtype = a.dtype("dtype").value_or(info.dtype);
    element_count(info.sizes);
    return info;
}

/// Multiples of the dtype's spacing below 1: a finer number could round up to 1.
struct Uniform {
    static constexpr DType otherwise = DType::f32;
    static Tensor eval(const Arguments<Tensor>&, const OperandInfo& info) {
        const double steps = info.dtype == DType::f64   ? 0x1p53
                             : info.dtype == DType::f32 ? 0x1p24
                             : info.dtype == DType::f16 ? 0x1p11
                                                        : 0x1p8;
        return draw(info.dtype, info.sizes,
                    [&](Random& random) { return std::floor(random.uniform() * steps) / steps; });
    }
};

struct Normal {
    static constexpr DType otherwise = DType::f32;
    static Tensor eval(const Arguments<Tensor>&, const OperandInfo& info) {
        return draw(info.dtype, info.sizes, [](Random& random) { return random.normal(); });
    }
};

struct Integers {
    static constexpr DType otherwise = DType::i64;
    static Tensor eval(const Arguments<Tensor>& a, const OperandInfo& info) {
        const std::int64_t low = a.schema().param("low") ? a.integer("low") : 0, high = a.integer("high");
        constexpr std::int64_t kExact = std::int64_t{1} << 53;  // draws pass through double
        if (low >= high || low < -kExact || high > kExact)
            throw Error("randint: found low=" + std::to_string(low) + " and high=" + std::to_string(high) +
                        ", expected low to be less than high, and both to be from -2^53 to 2^53");
        return draw(info.dtype, info.sizes,
                    [&](Random& random) { return static_cast<double>(low + random.below(high - low)); });
    }
};

/// Fisher and Yates.
struct Permutation {
    static constexpr DType otherwise = DType::i64;
    static Tensor eval(const Arguments<Tensor>&, const OperandInfo& info) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(info.sizes[0]));
        std::iota(order.begin(), order.end(), 0);
        Generator& source = generator();
        const std::lock_guard hold(source.lock);
        for (std::size_t k = order.size(); k > 1; --k)
            std::swap(order[k - 1], order[static_cast<std::size_t>(source.random.below(static_cast<std::int64_t>(k)))]);
        return Tensor::of(order, info.sizes).to(info.dtype);
    }
};

/// 1 with the probability that self (or p) says.
struct Bernoulli {
    static constexpr DType otherwise = DType::f32;
    static Tensor eval(const Arguments<Tensor>& a, const OperandInfo& info) {
        std::vector<double> chances(static_cast<std::size_t>(element_count(info.sizes)));
        if (a.schema().param("p"))
            std::fill(chances.begin(), chances.end(), a.number("p"));
        else
            chances = a.tensor("self").values<double>();
        for (const double p : chances) check_probability(p, "bernoulli");
        std::size_t next = 0;
        return draw(info.dtype, info.sizes, [&](Random& random) { return random.uniform() < chances[next++] ? 1 : 0; });
    }
};

template <class Rule>
constexpr OpDef random_op(std::string_view schema, std::string_view doc, DTypeSet dtypes, GradientRule grad) {
    return {.doc = doc,
            .schema = schema,
            .dtypes = dtypes,
            .infer = [](const Arguments<ValueMeta>& a) -> std::vector<ValueMeta> {
                const OperandInfo info = drawn_info(a, Rule::otherwise);
                return {ValueMeta::contiguous(info.dtype, info.sizes)};
            },
            .eval = [](const Arguments<Tensor>& a) -> std::vector<Tensor> {
                return {Rule::eval(a, drawn_info(a, Rule::otherwise))};
            },
            .grad = grad,
            .random = true};
}

}  // namespace

bool draws_by_values(const Schema& schema) {
    return schema.name.starts_with("bernoulli") && !schema.param("p");  // the operand holds the probabilities
}

void seed_random_ops(std::uint64_t seed) {
    Generator& source = generator();
    const std::lock_guard hold(source.lock);
    source.random = Random(seed);
}

RandomApart::RandomApart() : copy_(std::make_unique<Generator>()), before_(apart) {
    Generator& source = generator();
    const std::lock_guard hold(source.lock);
    copy_->random = source.random;
    apart = copy_.get();
}

RandomApart::~RandomApart() { apart = before_; }

std::span<const OpDef> random_ops() {
    static const OpDef ops[] = {
        random_op<Uniform>("rand(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor", "uniform in [0, 1)",
                           kFloating, no_gradient),
        random_op<Uniform>("rand_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS
                           ", MemoryFormat? memory_format=None) -> Tensor",
                           "uniform in [0, 1)", kFloating, no_gradient),
        random_op<Normal>("randn(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor", "standard normal", kFloating,
                          no_gradient),
        random_op<Normal>("randn_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS
                          ", MemoryFormat? memory_format=None) -> Tensor",
                          "standard normal", kFloating, no_gradient),
        random_op<Integers>("randint{|.low}({|SymInt low, }SymInt high, SymInt[] size, *, ScalarType? dtype=long, "
                            "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                            "uniform integers below a bound, or in a range", kNumbers, no_gradient),
        random_op<Integers>(
            "randint_like{|.low_dtype}(Tensor self, {|SymInt low, }SymInt high, *, " WHITTLE_TENSOR_OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            "uniform integers below a bound, or in a range, in the shape of a tensor", kNumbers, no_gradient),
        random_op<Permutation>("randperm(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, Device? "
                               "device=None, bool? pin_memory=None) -> Tensor",
                               "0 to n-1 in random order", kNumbers, no_gradient),
        random_op<Bernoulli>("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
                             "1 with the probability that the tensor holds", kFloating, zero_gradient),
        random_op<Bernoulli>("bernoulli.p(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
                             "1 with probability p, in the shape of a tensor", kAnyDType, zero_gradient),
    };
    return ops;
}

}  // namespace whittle
