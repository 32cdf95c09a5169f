// Dimensions with one element, which say nothing.
#include <algorithm>
#include <vector>

#include "reduce/kernel/edits.h"
#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

using expr::Expr;
using expr::Stage;

/// The loops of a definition without one; a reorder of what is left. False where a directive is about it.
bool forget_loop(KernelCase& kernel, const std::string& stage, int update, bool all_definitions,
                 const std::string& loop) {
    const auto about = [&](const expr::Directive& directive) {
        const bool own = directive.at.empty() && directive.stage == stage;
        return ((own && (all_definitions || directive.update == update)) || directive.at == stage) &&
               std::ranges::find(directive.args, loop) != directive.args.end();
    };
    for (expr::Directive& directive : kernel.schedule)
        if (directive.kind == expr::Directive::Kind::reorder && about(directive)) std::erase(directive.args, loop);
    return drop_directives(kernel, [&](const expr::Directive& directive) {
        return about(directive) || (directive.kind == expr::Directive::Kind::reorder && directive.args.size() < 2);
    });
}

template <class T>
void erase_at(std::vector<T>& list, std::size_t at) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Loads of the tensor without the operand of the dimension.
void drop_operand(KernelCase& kernel, const std::string& tensor, std::size_t dimension) {
    each_expression(kernel.group, [&](const Expr& root) {
        return with_loads(root, tensor, [&](const Expr& load) {
            std::vector<Expr> indices = load->operands;
            erase_at(indices, dimension);
            return expr::load(tensor, load->dtype, std::move(indices));
        });
    });
}

/// A dimension with one element: of a stage, of the domain of one of its updates, or of an input.
struct Single {
    enum class Of { stage, update, input } of;
    std::size_t at;      ///< position of the stage or the input
    std::size_t update;  ///< position in the stage's
    std::size_t dimension;
};

bool drop_stage_dimension(KernelCase& kernel, const Single& single) {
    Stage& stage = kernel.group.stages[single.at];
    const std::string loop = stage.vars[single.dimension].name;
    if (!forget_loop(kernel, stage.name, -1, true, loop)) return false;
    drop_operand(kernel, stage.name, single.dimension);
    erase_at(stage.vars, single.dimension);
    for (expr::Update& update : stage.updates) erase_at(update.where, single.dimension);
    each_expression(stage, [&](const Expr& root) { return substituted(root, {{loop, expr::index(0)}}); });
    return true;
}

bool drop_domain_loop(KernelCase& kernel, const Single& single) {
    const Stage& stage = kernel.group.stages[single.at];
    expr::Update& changed = kernel.group.stages[single.at].updates[single.update];
    const std::string loop = changed.domain[single.dimension].name;
    if (!forget_loop(kernel, stage.name, static_cast<int>(single.update), false, loop)) return false;
    erase_at(changed.domain, single.dimension);
    each_expression(changed, [&](const Expr& root) { return substituted(root, {{loop, expr::index(0)}}); });
    return true;
}

bool drop_input_dimension(KernelCase& kernel, const Single& single) {
    expr::Input& input = kernel.group.inputs[single.at];
    // One dimension stays: an element alone is a constant to most languages.
    if (input.sizes.size() == 1) return false;
    drop_operand(kernel, input.name, single.dimension);
    erase_at(input.sizes, single.dimension);
    input.strides = contiguous_strides(input.sizes);
    kernel.inputs[single.at] = kernel.inputs[single.at].as_strided(input.sizes, input.strides, 0).clone();
    return true;
}

bool drop(KernelCase& kernel, const Single& single) {
    switch (single.of) {
        case Single::Of::stage:
            return drop_stage_dimension(kernel, single);
        case Single::Of::update:
            return drop_domain_loop(kernel, single);
        case Single::Of::input:
            return drop_input_dimension(kernel, single);
    }
    return false;
}

/// The last dimension first: those that are left keep their positions.
std::vector<Single> singles(const expr::Group& group) {
    std::vector<Single> all;
    for (std::size_t s = 0; s < group.stages.size(); s++) {
        const Stage& stage = group.stages[s];
        for (std::size_t d = stage.vars.size(); d-- > 0;)
            if (stage.vars[d].extent == 1) all.push_back({Single::Of::stage, s, 0, d});
        for (std::size_t u = 0; u < stage.updates.size(); u++)
            for (std::size_t d = stage.updates[u].domain.size(); d-- > 0;)
                if (stage.updates[u].domain[d].extent == 1) all.push_back({Single::Of::update, s, u, d});
    }
    for (std::size_t i = 0; i < group.inputs.size(); i++)
        for (std::size_t d = group.inputs[i].sizes.size(); d-- > 0;)
            if (group.inputs[i].sizes[d] == 1) all.push_back({Single::Of::input, i, 0, d});
    return all;
}

}  // namespace

void fewer_dimensions(Search& search) {
    const std::vector<Single> all = singles(search.best().group);
    KernelCase without = search.best();
    std::size_t dropped = 0;
    for (const Single& single : all) {
        KernelCase candidate = without;
        if (drop(candidate, single)) without = std::move(candidate), dropped++;
    }
    if (dropped == 0 || search.attempt(std::move(without))) return;
    for (const Single& single : all) search.attempt_with([&](KernelCase& kernel) { return drop(kernel, single); });
}

}  // namespace whittle::reduce::kernel
