// Extreme elements over dimensions and where they are: NaN counts as more extreme than any number, and of equal
// elements the first is taken. Definitions: https://pytorch.org/docs/stable/generated/torch.max.html
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/core/reduce.h"

namespace whittle {
namespace {

using namespace aten;

/// Position of the row's extreme element.
template <bool kLargest, class Row>
std::int64_t extreme_position(std::int64_t length, const Row& row) {
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < length; ++j) {
        const auto sofar = row(best), element = row(j);
        if (sofar != sofar) break;
        if (element != element || (kLargest ? sofar < element : element < sofar)) best = j;
    }
    return best;
}

Reduction extremum_reduction(const AnyArguments auto& arguments) {
    const Reduction reduction = reduction_of(arguments);
    require_elements(arguments.schema(), reduction);
    return reduction;
}

/// Position of the first element that equals the extreme one, as a stage.
expr::Value fold_position(expr::GroupBuilder& builder, const expr::Value& operand, const expr::Value& extreme,
                          const Reduction& reduction) {
    const Expr none = expr::constant(DType::i64, Scalar(reduction.count()));
    const auto first = [&](const Expr& sofar, const FoldStep& step) {
        const Expr element = operand(step.operand), best = extreme(step.result);
        Expr found = expr::equal(element, best);
        if (is_floating(element->dtype)) found = found || (is_nan(element) && is_nan(best));
        return expr::min(sofar, expr::select(found, step.position, none));
    };
    return fold(builder, reduction, none, first, "position");
}

// --- CallResults only: amax, amin, max, min ---

std::vector<ValueMeta> infer_value(const Arguments<ValueMeta>& arguments) {
    const Reduction reduction = extremum_reduction(arguments);
    return {ValueMeta::contiguous(arguments.tensor("self").dtype, reduction.result())};
}

template <bool kLargest>
std::vector<Tensor> eval_value(const Arguments<Tensor>& arguments) {
    const Reduction reduction = extremum_reduction(arguments);
    const Tensor self = arguments.tensor("self");
    return {visit_ordered(self.dtype(), [&]<class T>(T) {
        const Rows<T> in = rows<T>(self, reduction, self.dtype());
        const std::vector<T> out =
            in.template each<T>([&](const auto& row) { return row(extreme_position<kLargest>(in.length, row)); });
        return store(out, self.dtype(), reduction.result());
    })};
}

template <bool kLargest>
std::vector<expr::Value> lower_value(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const expr::Value self = arguments.tensor("self"), operand = read(self, self.sizes(), self.dtype());
    return {convert(self.dtype(), fold_extremum(builder, operand, extremum_reduction(arguments), kLargest))};
}

// --- Positions: argmax, argmin ---

std::vector<ValueMeta> infer_position(const Arguments<ValueMeta>& arguments) {
    return {ValueMeta::contiguous(DType::i64, extremum_reduction(arguments).result())};
}

template <bool kLargest>
Tensor extreme_positions(const Tensor& self, const Reduction& reduction) {
    return visit_ordered(self.dtype(), [&]<class T>(T) {
        const Rows<T> in = rows<T>(self, reduction, self.dtype());
        const std::vector<std::int64_t> out =
            in.template each<std::int64_t>([&](const auto& row) { return extreme_position<kLargest>(in.length, row); });
        return store(out, DType::i64, reduction.result());
    });
}

template <bool kLargest>
std::vector<Tensor> eval_position(const Arguments<Tensor>& arguments) {
    return {extreme_positions<kLargest>(arguments.tensor("self"), extremum_reduction(arguments))};
}

// --- Both: max.dim, min.dim ---

std::vector<ValueMeta> infer_both(const Arguments<ValueMeta>& arguments) {
    return {infer_value(arguments)[0], infer_position(arguments)[0]};
}

template <bool kLargest>
std::vector<Tensor> eval_both(const Arguments<Tensor>& arguments) {
    return {eval_value<kLargest>(arguments)[0], eval_position<kLargest>(arguments)[0]};
}

template <bool kLargest>
std::vector<expr::Value> lower_both(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const Reduction reduction = extremum_reduction(arguments);
    const expr::Value self = arguments.tensor("self"), operand = read(self, self.sizes(), self.dtype());
    const expr::Value extreme = fold_extremum(builder, operand, reduction, kLargest);
    return {convert(self.dtype(), extreme), fold_position(builder, operand, extreme, reduction)};
}

template <bool kLargest>
std::vector<expr::Value> lower_position(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    return {lower_both<kLargest>(builder, arguments)[1]};
}

// --- Both extremes: aminmax ---

CallResults decompose_extremes(const Call& c) {
    const std::optional<std::int64_t> dim = c.optional_integer("dim");
    const V x = c.tensor("self");
    const Ints dims = dim ? Ints{*dim} : Ints();
    const bool keep = c.boolean("keepdim");
    return {amin(x, dims, keep), amax(x, dims, keep)};
}

void extremum_value_grad(Gradients& c) {
    const OfReduction r(c);
    const V mask = eq(r.kept(r.y), r.x);
    c.set("self", r.shared(c.schema().param("dim") ? mask : r.or_nan(mask)));
}

template <bool kLargest>
constexpr OpDef value_op(std::string_view schema) {
    return primitive(
        schema, kLargest ? "largest element; NaN if one element is NaN" : "smallest element; NaN if one element is NaN",
        kOrdered, {infer_value, eval_value<kLargest>, lower_value<kLargest>}, extremum_value_grad, kBoundExact);
}
template <bool kLargest>
constexpr OpDef position_op(std::string_view schema) {
    return primitive(schema,
                     kLargest ? "the position of the largest element (the first of equal ones), or of the first NaN"
                              : "the position of the smallest element (the first of equal ones), or of the first NaN",
                     kNumbers | kLimited, {infer_position, eval_position<kLargest>, lower_position<kLargest>},
                     no_gradient, kBoundChoice);
}
template <bool kLargest>
constexpr OpDef both_op(std::string_view schema) {
    return primitive(
        schema, kLargest ? "the largest elements and their positions" : "the smallest elements and their positions",
        kAnyDType, {infer_both, eval_both<kLargest>, lower_both<kLargest>}, picked_grad, kBoundChoice);
}

constexpr OpDef kExtremum[] = {
    value_op<true>("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    value_op<false>("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    value_op<true>("max(Tensor self) -> Tensor"),
    value_op<false>("min(Tensor self) -> Tensor"),
    position_op<true>("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    position_op<false>("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    both_op<true>("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    both_op<false>("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    composite("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
              "smallest and largest elements; NaN if one element is NaN", kOrdered, decompose_extremes),
};

}  // namespace

std::span<const OpDef> extremum_ops() { return kExtremum; }

}  // namespace whittle
