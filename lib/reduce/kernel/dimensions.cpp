// Dimensions with one element, which say nothing.
#include <algorithm>

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
        return directive.stage == stage && (all_definitions || directive.update == update) &&
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

void drop_stage_dimension(Search& search, std::size_t at, std::size_t dimension) {
    KernelCase candidate = search.best();
    const std::string name = candidate.group.stages[at].name;
    const std::string loop = candidate.group.stages[at].vars[dimension].name;
    if (!forget_loop(candidate, name, -1, true, loop)) return;
    drop_operand(candidate, name, dimension);
    Stage& stage = candidate.group.stages[at];
    erase_at(stage.vars, dimension);
    for (expr::Update& update : stage.updates) erase_at(update.where, dimension);
    each_expression(stage, [&](const Expr& root) { return substituted(root, {{loop, expr::index(0)}}); });
    search.attempt(std::move(candidate));
}

void drop_domain_loop(Search& search, std::size_t at, std::size_t update, std::size_t dimension) {
    KernelCase candidate = search.best();
    Stage& stage = candidate.group.stages[at];
    expr::Update& changed = stage.updates[update];
    const std::string loop = changed.domain[dimension].name;
    if (!forget_loop(candidate, stage.name, static_cast<int>(update), false, loop)) return;
    erase_at(changed.domain, dimension);
    const auto zero = [&](Expr& root) {
        if (root) root = substituted(root, {{loop, expr::index(0)}});
    };
    for (Expr& index : changed.where) zero(index);
    zero(changed.value);
    zero(changed.condition);
    search.attempt(std::move(candidate));
}

void drop_input_dimension(Search& search, std::size_t at, std::size_t dimension) {
    KernelCase candidate = search.best();
    expr::Input& input = candidate.group.inputs[at];
    drop_operand(candidate, input.name, dimension);
    erase_at(input.sizes, dimension);
    input.strides = contiguous_strides(input.sizes);
    candidate.inputs[at] = candidate.inputs[at].as_strided(input.sizes, input.strides, 0).clone();
    search.attempt(std::move(candidate));
}

}  // namespace

void fewer_dimensions(Search& search) {
    for (std::size_t s = 0; s < search.best().group.stages.size(); s++) {
        for (std::size_t d = search.best().group.stages[s].vars.size(); d-- > 0;)
            if (search.best().group.stages[s].vars[d].extent == 1) drop_stage_dimension(search, s, d);
        for (std::size_t u = 0; u < search.best().group.stages[s].updates.size(); u++)
            for (std::size_t d = search.best().group.stages[s].updates[u].domain.size(); d-- > 0;)
                if (search.best().group.stages[s].updates[u].domain[d].extent == 1) drop_domain_loop(search, s, u, d);
    }
    for (std::size_t i = 0; i < search.best().group.inputs.size(); i++)
        for (std::size_t d = search.best().group.inputs[i].sizes.size(); d-- > 0;)
            // One dimension stays: an element alone is a constant to most languages.
            if (search.best().group.inputs[i].sizes[d] == 1 && search.best().group.inputs[i].sizes.size() > 1)
                drop_input_dimension(search, i, d);
}

}  // namespace whittle::reduce::kernel
