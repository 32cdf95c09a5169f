// Ops that write elements at positions which tensors hold. Where several sources go to one element, they are taken in
// row-major order of the index tensor: of plain scatter the last wins, where ATen leaves it open. Sums of half types
// are kept in f32 until the end. Positions outside are refused as gather.cpp says.
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/combine.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

/// A scatter in terms of T, 0-d tensors seen as [1].
template <class T>
struct Scatter {
    T self, index, source;
    std::size_t dim = 0;
    Combine how = Combine::assign;
    bool include_self = true;
};

/// at::native::scatter_shape_check: the index no larger than the source, and than self but along dim.
std::size_t check_scatter(const OperandInfo& self, const OperandInfo& index, const OperandInfo& source,
                          std::int64_t dim, const std::string& op) {
    check_index_dtype(index.dtype, op);
    if (source.dtype != self.dtype)
        throw Error(op + ": found a source of dtype " + std::string(name(source.dtype)) + " for a tensor of dtype " +
                    std::string(name(self.dtype)) + ", expected equal dtypes");
    const Sizes to = at_least_1d(self.sizes), at = at_least_1d(index.sizes), from = at_least_1d(source.sizes);
    const auto wrapped = static_cast<std::size_t>(wrap_dim(dim, to));
    if (element_count(at) == 0) return wrapped;
    bool fits = to.size() == at.size() && from.size() == at.size();
    for (std::size_t d = 0; fits && d < at.size(); ++d) fits = at[d] <= from[d] && (d == wrapped || at[d] <= to[d]);
    if (!fits)
        throw Error(
            op + ": found an index of sizes " + to_string(index.sizes) + " for a tensor of sizes " +
            to_string(self.sizes) + " and a source of sizes " + to_string(source.sizes) +
            ", expected an index no larger than the source, and no larger than the tensor except in dimension " +
            std::to_string(wrapped));
    return wrapped;
}

Combine combine_from_name(const std::string& reduce) {
    if (reduce == "sum") return Combine::sum;
    if (reduce == "prod") return Combine::prod;
    if (reduce == "amax") return Combine::amax;
    if (reduce == "amin") return Combine::amin;
    throw Error("scatter_reduce: found reduce='" + reduce + "', expected 'sum', 'prod', 'amax' or 'amin'",
                "to compute a mean, divide the sum by the number of elements");
}

/// How the op at hand combines: schemas differ in the names of their parameters.
std::pair<Combine, bool> combine_mode_of(const AnyArguments auto& a) {
    if (a.schema().param("reduce")) return {combine_from_name(a.text("reduce")), a.boolean("include_self")};
    const std::string& name = a.schema().name;
    if (name == "scatter_add") return {Combine::sum, true};
    WHITTLE_CHECK(name == "scatter" || name.starts_with("scatter."), name + " is not a scatter op");
    return {Combine::assign, true};
}

ValueMeta infer_scatter_of(const AnyArguments auto& a, const OperandInfo& source) {
    const OperandInfo self = operand_info(a, "self"), index = operand_info(a, "index");
    check_scatter(self, index, source, a.integer("dim"), a.schema().name);
    combine_mode_of(a);
    return ValueMeta::contiguous(self.dtype, self.sizes);
}

std::vector<ValueMeta> infer_scatter(const Arguments<ValueMeta>& a) {
    return {infer_scatter_of(a, operand_info(a, "src"))};
}

std::vector<ValueMeta> infer_scatter_value(const Arguments<ValueMeta>& a) {
    return {infer_scatter_of(a, {a.tensor("self").dtype, a.tensor("index").sizes})};
}

// --- eval ------------------------------------------------------------------------------------------------------------

Tensor eval_scatter_of(const Scatter<Tensor>& s) {
    const std::vector<std::int64_t> positions = s.index.values<std::int64_t>();
    const Strides strides = contiguous_strides(s.self.sizes());
    std::vector<std::int64_t> targets(positions.size());  // element offsets in the result
    std::size_t next = 0;
    for_each_index(s.index.sizes(), [&](std::vector<std::int64_t> i) {
        i[s.dim] = checked_index(positions[next], s.self.sizes()[s.dim], false, "scatter");
        targets[next++] = element_offset(i, strides);
    });
    const Tensor used = s.source.as_strided(s.index.sizes(), s.source.strides(), s.source.offset());
    if (s.how == Combine::assign) {
        Tensor result = s.self.clone().with_requires_grad(false);
        next = 0;
        for_each_index(s.index.sizes(), [&](const std::vector<std::int64_t>& i) {
            copy_into(result, {}, targets[next++],
                      used.as_strided({}, {}, used.offset() + element_offset(i, used.strides())));
        });
        return result;
    }
    const auto kernel = [&]<class T>(T) {
        std::vector<T> values = s.self.values<T>();
        const std::vector<T> added = used.values<T>();
        if (!s.include_self) {
            const T start = Tensor::of(identity(s.how, s.self.dtype()), s.self.dtype()).values<T>()[0];
            for (const std::int64_t target : targets) values[static_cast<std::size_t>(target)] = start;
        }
        for (std::size_t k = 0; k < targets.size(); ++k) {
            const auto target = static_cast<std::size_t>(targets[k]);
            values[target] = combine<T>(s.how, values[target], added[k]);
        }
        return store<T>(values, s.self.dtype(), s.self.sizes());
    };
    return is_complex(s.self.dtype()) ? visit_complex(s.self.dtype(), kernel) : visit_ordered(s.self.dtype(), kernel);
}

std::vector<Tensor> eval_scatter(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self"), index = a.tensor("index"), source = a.tensor("src");
    const std::size_t dim =
        check_scatter(operand_info(self), operand_info(index), operand_info(source), a.integer("dim"), a.schema().name);
    const auto [how, include_self] = combine_mode_of(a);
    if (index.numel() == 0) return {self.clone().with_requires_grad(false)};
    const Tensor result =
        eval_scatter_of({at_least_1d(self), at_least_1d(index), at_least_1d(source), dim, how, include_self});
    return {reshape_tensor(result, self.sizes())};
}

std::vector<Tensor> eval_scatter_value(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self"), index = at_least_1d(a.tensor("index"));
    const OperandInfo source{self.dtype(), index.sizes()};
    const std::size_t dim =
        check_scatter(operand_info(self), operand_info(index), source, a.integer("dim"), a.schema().name);
    if (index.numel() == 0) return {self.clone().with_requires_grad(false)};
    const Tensor value = checked_number(a.scalar("value"), self.dtype(), a.schema().name);
    const Tensor repeated = value.as_strided(index.sizes(), Strides(index.sizes().size(), 0), 0);
    return {reshape_tensor(eval_scatter_of({at_least_1d(self), index, repeated, dim}), self.sizes())};
}

// --- lower -----------------------------------------------------------------------------------------------------------

/// A stage that starts as `init` and whose update walks the index tensor: along `dim` in order, along the other
/// dimensions wherever the index is as large as self in the stage's own (parallel) loops.
expr::Value scatter_stage(expr::GroupBuilder& g, const Scatter<expr::Value>& s, const expr::Value& init,
                          const std::function<Expr(const Expr& old, const expr::Index& at)>& value,
                          const std::string& hint) {
    const Sizes& sizes = init.sizes();
    return g.stage(
        init.dtype(), sizes, [&](const expr::Index& i) { return init(i); },
        [&](const expr::Index& i, const std::function<Expr(const expr::Index&)>& self) {
            expr::Update update;
            expr::Index at = i;
            for (std::size_t d = 0; d < i.size(); ++d) {
                const std::int64_t extent = s.index.sizes()[d];
                if (d != s.dim && extent == sizes[d]) continue;
                update.domain.push_back(g.domain_variable(extent));
                at[d] = expr::variable(update.domain.back().name);
            }
            update.where = at;
            update.where[s.dim] = data_index(s.index(at), sizes[s.dim], false);
            update.value = value(self(update.where), at);
            return std::vector<expr::Update>{update};
        },
        hint);
}

expr::Value lower_scatter_of(expr::GroupBuilder& g, Scatter<expr::Value> s) {
    require_elements(s.self.sizes()[s.dim], "scatter");
    if (element_count(s.self.sizes()) == 0) return s.self;
    s.index = g.materialize(s.index, "index");
    const DType dtype = s.self.dtype(), work = s.how == Combine::assign ? dtype : compute_dtype(dtype);
    expr::Value init = convert(work, s.self);
    if (!s.include_self) {
        const expr::Value never(DType::boolean, s.self.sizes(),
                                [](const expr::Index&) { return expr::constant(DType::boolean, Scalar(false)); });
        const expr::Value touched = scatter_stage(
            g, s, never, [](const Expr&, const expr::Index&) { return expr::constant(DType::boolean, Scalar(true)); },
            "touched");
        const Expr start = convert(work, expr::constant(dtype, identity(s.how, dtype)));
        init = expr::Value(work, init.sizes(), [touched, start, init](const expr::Index& i) {
            return expr::select(touched(i), start, init(i));
        });
    }
    const expr::Value source = convert(work, s.source);
    const expr::Value result = scatter_stage(
        g, s, init, [&](const Expr& old, const expr::Index& at) { return combine(s.how, old, source(at)); }, "scatter");
    return convert(dtype, result);
}

std::vector<expr::Value> lower_scatter(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self"), index = a.tensor("index"), source = a.tensor("src");
    const std::size_t dim =
        check_scatter(operand_info(self), operand_info(index), operand_info(source), a.integer("dim"), a.schema().name);
    if (element_count(index.sizes()) == 0) return {self};
    const auto [how, include_self] = combine_mode_of(a);
    const expr::Value result =
        lower_scatter_of(g, {at_least_1d(self), at_least_1d(index), at_least_1d(source), dim, how, include_self});
    return {reshape_value(result, self.sizes())};
}

std::vector<expr::Value> lower_scatter_value(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self"), index = at_least_1d(a.tensor("index"));
    const DType dtype = self.dtype();
    const OperandInfo source{dtype, index.sizes()};
    const std::size_t dim =
        check_scatter(operand_info(self), operand_info(index), source, a.integer("dim"), a.schema().name);
    if (element_count(index.sizes()) == 0) return {self};
    const Expr number = expr::constant(dtype, checked_number(a.scalar("value"), dtype, a.schema().name).item());
    const expr::Value value(dtype, index.sizes(), [number](const expr::Index&) { return number; });
    return {reshape_value(lower_scatter_of(g, {at_least_1d(self), index, value, dim}), self.sizes())};
}

// --- Gradients ---

using namespace aten;

/// The gradient of "src", of which the index may read a corner only.
void set_source(Gradients& c, const V& grad) {
    const V source = c.tensor("src");
    const V read = gather(grad, c.integer("dim"), c.tensor("index"));
    Ints missing;
    for (std::size_t d = source.sizes().size(); d-- > 0;)
        missing.insert(missing.end(), {0, source.sizes()[d] - read.sizes().at(d)});
    const bool whole = read.sizes() == source.sizes();
    c.set("src", whole ? read : constant_pad_nd(read, missing));
}
/// The gradient of "self", zero where something was written.
V unwritten(Gradients& c, const V& grad) { return scatter(grad, c.integer("dim"), c.tensor("index"), 0); }

void scatter_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", unwritten(c, c.grad()));
    if (c.needed("src")) set_source(c, c.grad());
}
void scatter_value_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", unwritten(c, c.grad()));
}
void scatter_add_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (c.needed("src")) set_source(c, c.grad());
}
/// Of sums and means; amax, amin and prod have none.
void scatter_reduce_grad(Gradients& c) {
    c.takes_complex();
    const std::string reduce = c.text("reduce");
    const bool include_self = c.boolean("include_self");
    if (reduce != "sum" && reduce != "mean")
        throw Error("scatter_reduce has no gradient rule for reduce='" + reduce + "', only for 'sum' and 'mean'");
    const V index = c.tensor("index"), source = c.tensor("src");
    V grad = c.grad();
    if (reduce == "mean") {
        const V start = include_self ? ones_like(grad) : zeros_like(grad);
        const V counts = scatter_add(start, c.integer("dim"), index, ones_like(source));
        grad = grad / clamp_min(counts, 1);
    }
    if (c.needed("self")) c.set("self", include_self ? grad : unwritten(c, grad));
    if (c.needed("src")) set_source(c, grad);
}

/// For each element of `index`, in row-major order, its place in a contiguous tensor of the sizes of `self` when it
/// stands for the element's own index along `dim`. The index tensor is no larger than self but along dim.
std::vector<std::int64_t> places_along(const Tensor& self, std::int64_t dim, const Tensor& index) {
    const Tensor to = at_least_1d(self), at = at_least_1d(index);
    const auto d = static_cast<std::size_t>(wrap_dim(dim, to.rank()));
    if (to.rank() != at.rank())
        throw Error("found an index of rank " + std::to_string(at.rank()) + ", expected the tensor's rank, " +
                    std::to_string(to.rank()));
    const Strides strides = contiguous_strides(to.sizes());
    const std::vector<std::int64_t> positions = at.values<std::int64_t>();
    std::vector<std::int64_t> places;
    for_each_index(at.sizes(), [&](std::vector<std::int64_t> i) {
        i[d] = positions[places.size()];
        places.push_back(element_offset(i, strides));
    });
    return places;
}

/// Of scatter: which of several values remains where they go to one element ("will be picked arbitrarily").
Reason open_scattered(std::string_view op, const Arguments<Tensor>& a) {
    if (Reason reason = aten_open::index_along_dim(op, a)) return reason;
    const Tensor index = a.tensor("index"), source = a.tensor("src");
    if (index.rank() != source.rank() && index.rank() + source.rank() > 1)
        return std::nullopt;  // the kernel refuses it
    const Tensor used = index.rank() == source.rank()
                            ? source.as_strided(index.sizes(), source.strides(), source.offset())
                            : at_least_1d(source);
    return written_twice(op, places_along(a.tensor("self"), a.integer("dim"), index), used, index);
}

}  // namespace

std::span<const OpDef> scatter_ops() {
    static const OpDef ops[] = {
        primitive("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
                  "result[index[i][j]][j] = src[i][j] along dim 0; of several writes to an element, the last counts: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
                  kMoved, {infer_scatter, eval_scatter, lower_scatter}, scatter_grad, kBoundExact,
                  {.ask = open_scattered}),
        primitive(
            "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
            "one number written at every index: https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
            kMoved, {infer_scatter_value, eval_scatter_value, lower_scatter_value}, scatter_value_grad, kBoundExact,
            {.ask = aten_open::index_along_dim}),
        primitive(
            "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
            "sources added at each index: https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_add_.html",
            kMoved, {infer_scatter, eval_scatter, lower_scatter}, scatter_add_grad, kBoundSums,
            {.ask = aten_open::index_along_dim}),
        primitive("scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
                  "include_self=True) -> Tensor",
                  "sources combined at each index (sum, prod, amax, amin): "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",
                  kOrdered, {infer_scatter, eval_scatter, lower_scatter}, scatter_reduce_grad, Bound(),
                  {.ask = aten_open::index_along_dim}),
    };
    return ops;
}

}  // namespace whittle
