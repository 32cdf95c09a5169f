// Einstein summation: sums of products over labelled dimensions, decomposed into products of pairs.
// Definition: https://pytorch.org/docs/stable/generated/torch.einsum.html
#include <algorithm>
#include <map>
#include <set>

#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

/// Letters stand for themselves; the dimensions an ellipsis covers are numbered from the right, 256 being the last.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 256;

/// An equation with the labels of every dimension spelled out.
struct Equation {
    std::vector<Labels> operands = {};
    Labels result = {};
    std::map<Label, std::int64_t> extents = {};  ///< a dimension of size 1 broadcasts
    Sizes sizes = {};                            ///< of the result
};

bool contains(const Labels& labels, Label label) { return std::ranges::find(labels, label) != labels.end(); }

[[noreturn]] void refuse_equation(const std::string& equation, const std::string& what) {
    throw Error("einsum: found \"" + equation + "\", expected " + what);
}

/// The labels of one term; `covered` is how many dimensions an ellipsis stands for.
Labels parse_term(const std::string& equation, const std::string& term, std::int64_t covered) {
    Labels labels;
    bool ellipsis = false;
    for (std::size_t i = 0; i < term.size(); i++) {
        if (std::isalpha(static_cast<unsigned char>(term[i]))) {
            labels.push_back(term[i]);
        } else if (term.compare(i, 3, "...") == 0 && !ellipsis) {
            for (std::int64_t d = covered; d-- > 0;) labels.push_back(kEllipsis + static_cast<Label>(d));
            ellipsis = true;
            i += 2;
        } else {
            refuse_equation(equation, "letters and at most one \"...\" in the term \"" + term + "\"");
        }
    }
    return labels;
}

std::vector<std::string> split_terms(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) c == ',' ? void(parts.emplace_back()) : parts.back().push_back(c);
    return parts;
}

/// Without an arrow: ellipsis dimensions, then letters that occur once, in alphabetical order.
Labels implicit_result(const std::vector<Labels>& operands, std::int64_t covered) {
    Labels result;
    for (std::int64_t d = covered; d-- > 0;) result.push_back(kEllipsis + static_cast<Label>(d));
    std::map<Label, int> letters;
    for (const Labels& labels : operands)
        for (const Label label : labels)
            if (label < kEllipsis) letters[label]++;
    for (const auto& [label, count] : letters)
        if (count == 1) result.push_back(label);
    return result;
}

void note_extents(const std::string& text, Equation& equation, const Labels& labels, const Sizes& sizes) {
    for (std::size_t d = 0; d < labels.size(); d++) {
        std::int64_t& extent = equation.extents.emplace(labels[d], 1).first->second;
        if (extent != 1 && sizes[d] != 1 && sizes[d] != extent)
            refuse_equation(text, "equal sizes of each label, found " + std::to_string(sizes[d]) + " and " +
                                      std::to_string(extent) + " for dimension " + std::to_string(d) + " of " +
                                      to_string(sizes));
        if (extent == 1) extent = sizes[d];
    }
}

Equation parse_equation(const std::string& with_spaces, const std::vector<Sizes>& operands) {
    std::string text = with_spaces;
    std::erase(text, ' ');
    const std::size_t arrow = text.find("->");
    const std::vector<std::string> terms = split_terms(text.substr(0, arrow));
    if (terms.size() != operands.size())
        refuse_equation(text, "as many terms as operands, " + std::to_string(operands.size()));
    Equation equation;
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < terms.size(); i++) {
        const auto letters = std::ranges::count_if(terms[i], [](unsigned char c) { return std::isalpha(c); });
        const std::int64_t rest = static_cast<std::int64_t>(operands[i].size()) - letters;
        const bool ellipsis = terms[i].find("...") != std::string::npos;
        if (rest < 0 || (rest > 0 && !ellipsis))
            refuse_equation(text, "\"" + terms[i] + "\" to label the dimensions of " + to_string(operands[i]));
        equation.operands.push_back(parse_term(text, terms[i], rest));
        covered = std::max(covered, ellipsis ? rest : 0);
        note_extents(text, equation, equation.operands.back(), operands[i]);
    }
    equation.result = arrow == std::string::npos ? implicit_result(equation.operands, covered)
                                                 : parse_term(text, text.substr(arrow + 2), covered);
    for (const Label label : equation.result) {
        if (std::ranges::count(equation.result, label) > 1) refuse_equation(text, "no label twice in the result");
        if (!equation.extents.contains(label)) refuse_equation(text, "only labels of operands in the result");
        equation.sizes.push_back(equation.extents.at(label));
    }
    return equation;
}

template <class T>
Equation equation_of(const Arguments<T>& args) {
    std::vector<Sizes> sizes;
    const std::vector<T> operands = args.tensors("tensors");
    if (operands.empty()) throw Error("einsum: found no operands, expected at least one");
    for (const T& operand : operands) {
        check_same_dtype("einsum", meta_of(operands[0]).dtype, "another operand", meta_of(operand).dtype);
        sizes.push_back(meta_of(operand).sizes);
    }
    return parse_equation(args.text("equation"), sizes);
}

// ---- decompose: operands are contracted from left to right ----

/// A value whose dimensions carry distinct labels.
struct Term {
    V value;
    Labels labels = {};
};

std::int64_t position(const Labels& labels, Label label) { return std::ranges::find(labels, label) - labels.begin(); }

/// Takes the diagonal of every label that occurs twice.
Term without_repeats(const Equation& equation, Term term) {
    for (std::size_t i = 0; i < term.labels.size();) {
        const auto again = std::ranges::find(term.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                             term.labels.end(), term.labels[i]);
        if (again == term.labels.end()) {
            i++;
            continue;
        }
        const Label label = term.labels[i];
        const auto j = again - term.labels.begin();
        Sizes square = term.value.sizes();  // a dimension of size 1 broadcasts against its namesake
        square[i] = square[static_cast<std::size_t>(j)] = equation.extents.at(label);
        if (square != term.value.sizes()) term.value = expand(term.value, square);
        term.value = diagonal(term.value, 0, static_cast<std::int64_t>(i), j);
        term.labels.erase(again);
        term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(i));
        term.labels.push_back(label);  // the diagonal comes last
        i = 0;
    }
    return term;
}

/// Sums over the labels that `needed` does not hold.
Term summed_up(Term term, const std::set<Label>& needed) {
    Sizes dims;
    Labels kept;
    for (std::size_t d = 0; d < term.labels.size(); d++)
        needed.contains(term.labels[d]) ? kept.push_back(term.labels[d]) : dims.push_back(static_cast<std::int64_t>(d));
    if (dims.empty()) return term;
    const DType dtype = term.value.dtype();  // integers would be summed in i64
    return {sum(term.value, dims, false, dtype), kept};
}

/// The term with its dimensions in the order of `labels`, expanded to their full extents, then reshaped to `sizes`.
V arranged(const Equation& equation, const Term& term, const Labels& labels, const Sizes& sizes) {
    Sizes dims, full;
    for (const Label label : labels) {
        dims.push_back(position(term.labels, label));
        full.push_back(equation.extents.at(label));
    }
    V value = term.value;
    if (!std::ranges::is_sorted(dims)) value = permute(value, dims);
    if (value.sizes() != full) value = expand(value, full);
    if (value.sizes() != sizes) value = reshape(value, sizes);
    return value;
}

/// The labels of one of two terms, sorted by what becomes of them.
struct Roles {
    Labels batch = {}, left = {}, right = {}, contracted = {};
};

std::int64_t extent(const Equation& equation, const Labels& labels) {
    std::int64_t result = 1;
    for (const Label label : labels) result *= equation.extents.at(label);
    return result;
}

/// Product of two terms, summed over the labels that are in both and not `needed`: one batched matrix product.
Term contracted(const Equation& equation, const Term& a, const Term& b, const std::set<Label>& needed) {
    Roles roles;
    for (const Label label : a.labels) {
        if (!contains(b.labels, label))
            roles.left.push_back(label);
        else
            (needed.contains(label) ? roles.batch : roles.contracted).push_back(label);
    }
    for (const Label label : b.labels)
        if (!contains(a.labels, label)) roles.right.push_back(label);
    const std::int64_t batch = extent(equation, roles.batch), m = extent(equation, roles.left),
                       n = extent(equation, roles.right), k = extent(equation, roles.contracted);
    const bool batched = !roles.batch.empty();
    const V left = arranged(equation, a, joined(joined(roles.batch, roles.left), roles.contracted),
                            batched ? Sizes{batch, m, k} : Sizes{m, k});
    const V right = arranged(equation, b, joined(joined(roles.batch, roles.contracted), roles.right),
                             batched ? Sizes{batch, k, n} : Sizes{k, n});
    const V product = batched ? bmm(left, right) : mm(left, right);
    const Labels labels = joined(joined(roles.batch, roles.left), roles.right);
    Sizes sizes;
    for (const Label label : labels) sizes.push_back(equation.extents.at(label));
    if (product.sizes() == sizes) return {product, labels};
    return {reshape(product, sizes), labels};
}

CallResults decompose_einsum(const Call& c) {
    const Equation equation = equation_of(c);
    const Vs operands = c.tensors("tensors");
    const auto term = [&](std::size_t i) { return without_repeats(equation, {operands[i], equation.operands[i]}); };
    /// Labels that the result or an operand from `first` on still needs.
    const auto needed_from = [&](std::size_t first) {
        std::set<Label> needed(equation.result.begin(), equation.result.end());
        for (std::size_t i = first; i < operands.size(); i++)
            needed.insert(equation.operands[i].begin(), equation.operands[i].end());
        return needed;
    };
    Term product = summed_up(term(0), needed_from(1));
    for (std::size_t i = 1; i < operands.size(); i++) {
        std::set<Label> needed = needed_from(i + 1);
        std::set<Label> here = needed;
        here.insert(product.labels.begin(), product.labels.end());
        const Term next = summed_up(term(i), here);
        product = summed_up(contracted(equation, product, next, needed), needed);
    }
    return arranged(equation, product, equation.result, equation.sizes);
}

// ---- eval: by definition, one loop over all labels ----

template <class T>
Tensor sum_of_products(const Equation& equation, const std::vector<Tensor>& operands, DType dtype) {
    using Wide = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>;  // integers wrap
    Labels labels = equation.result;
    Sizes extents = equation.sizes;
    for (const auto& [label, extent] : equation.extents) {
        if (contains(equation.result, label)) continue;
        labels.push_back(label);
        extents.push_back(extent);
    }
    std::vector<std::vector<T>> values;
    std::vector<Strides> steps;  // of each operand, by label
    for (std::size_t i = 0; i < operands.size(); i++) {
        values.push_back(operands[i].values<T>());
        const Strides strides = contiguous_strides(operands[i].sizes());
        steps.emplace_back(labels.size(), 0);
        for (std::size_t d = 0; d < strides.size(); d++)
            if (operands[i].sizes()[d] != 1)
                steps[i][static_cast<std::size_t>(position(labels, equation.operands[i][d]))] += strides[d];
    }
    const std::int64_t summed =
        element_count(extents) == 0 ? 0 : element_count(extents) / element_count(equation.sizes);
    std::vector<T> result(static_cast<std::size_t>(element_count(equation.sizes)), T{0});
    Sizes at(labels.size(), 0);
    for (T& sum : result)
        for (std::int64_t s = 0; s < summed; s++) {
            Wide product = 1;
            for (std::size_t i = 0; i < values.size(); i++) {
                std::int64_t offset = 0;
                for (std::size_t l = 0; l < labels.size(); l++) offset += at[l] * steps[i][l];
                product *= static_cast<Wide>(values[i][static_cast<std::size_t>(offset)]);
            }
            sum = static_cast<T>(static_cast<Wide>(sum) + product);
            for (std::size_t l = labels.size(); l-- > 0;) {
                if (++at[l] < extents[l]) break;
                at[l] = 0;
            }
        }
    return store(result, dtype, equation.sizes);
}

std::vector<Tensor> eval_einsum(const Arguments<Tensor>& args) {
    const Equation equation = equation_of(args);
    const std::vector<Tensor> operands = args.tensors("tensors");
    const DType dtype = operands[0].dtype();
    return visit_product(dtype, [&](auto zero) -> std::vector<Tensor> {
        return {sum_of_products<decltype(zero)>(equation, operands, dtype)};
    });
}

std::vector<ValueMeta> infer_einsum(const Arguments<ValueMeta>& args) {
    const Equation equation = equation_of(args);  // refuses a call without tensors
    return {ValueMeta::contiguous(args.tensors("tensors")[0].dtype, equation.sizes)};
}

constexpr OpDef kEinsumOps[] = {
    composite("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
              "Sums of products over labelled dimensions", kNumbers | kComplex, decompose_einsum,
              {.infer = infer_einsum, .eval = eval_einsum}),
};

}  // namespace

std::span<const OpDef> einsum_ops() { return kEinsumOps; }

}  // namespace whittle
