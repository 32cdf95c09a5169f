// Calls of exported programs that write into tensors, or change what an operand is.
#include "base/error.h"
#include "frontends/pt2/importer.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"

namespace whittle::pt2 {

void Importer::replace_operand(const Json& node, Node call) {
    call.target = Registry::instance().require(call.target).record();
    call.results = infer(graph_, call);
    const NodeRef result = graph_.add(std::move(call));
    bind_results(node.at("outputs"), result);
    bind(node.at("inputs").at(0).at("arg").at("as_tensor").at("name").get<std::string>(), result);
}

void Importer::write_results(const std::vector<std::string>& names, const OutVariant& variant) {
    Node functional = variant.functional;
    functional.results = infer(graph_, functional);
    const std::vector<StackFrame> stack = functional.stack;
    const std::vector<NodeRef> results = add_results(graph_, graph_.add(std::move(functional)));
    for (std::size_t i = 0; i < variant.outs.size(); ++i) {
        const ValueMeta out = graph_.node(*variant.outs[i].node()).meta();
        const Sizes& sizes = graph_.node(results.at(i)).meta().sizes;
        if (out.sizes != sizes)
            throw Error("found an out argument of sizes " + to_string(out.sizes) +
                        ", expected the sizes of the result, " + to_string(sizes));
        Node copy{.name = names.at(i), .target = "aten.copy_.default", .args = {variant.outs[i], results[i]}};
        copy.stack = stack;
        copy.results = {out};
        bind(names.at(i), graph_.add(std::move(copy)));
    }
}

}  // namespace whittle::pt2
