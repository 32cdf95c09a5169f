// Calls that mark where a region of an exported program begins or ends, and what holds for the nodes between them.
#include "base/error.h"
#include "frontends/pt2/codes.h"
#include "frontends/pt2/importer.h"
#include "ops/core/builder.h"
#include "ops/core/registry.h"

namespace whittle::pt2 {

bool Importer::add_marker(const Json& node, const std::string& target) {
    constexpr std::string_view kFunctorch = "torch._functorch.predispatch.", kAutocast = "torch.amp.autocast_mode.";
    if (target.starts_with(kFunctorch)) return add_vmap(node, target.substr(kFunctorch.size()));
    if (target == "torch._C._set_grad_enabled") return true;
    std::vector<bool>& autocast = regions_->autocast;
    if (target == std::string(kAutocast) + "_enter_autocast") {
        // Of the device, the dtype, whether it is on, and whether it keeps what it converted.
        const Json& inputs = node.at("inputs");
        autocast.push_back(inputs.size() < 3 || argument(inputs[2].at("arg")) == Arg(true));
        return true;
    }
    if (target != std::string(kAutocast) + "_exit_autocast") return false;
    if (autocast.empty()) throw Error("found the end of an autocast region that never began");
    autocast.pop_back();
    return true;
}

bool Importer::add_vmap(const Json& node, const std::string& name) {
    if (name == "lazy_load_decompositions" || name == "_vmap_decrement_nesting" || name == "_vmap_increment_nesting")
        return true;  // the calls between them say which level they are of
    const auto at = [&](std::size_t i) { return argument(node.at("inputs").at(i).at("arg")); };
    const auto number = [&](std::size_t i) {
        const Arg value = at(i);
        const auto* whole = std::get_if<std::int64_t>(&value.value);
        if (!whole) throw Error("found an argument that is not an integer, expected an integer");
        return *whole;
    };
    const bool adds = name == "_add_batch_dim";
    if (!adds && name != "_remove_batch_dim") return false;
    const Arg value = at(0);
    if (!value.node()) throw Error("found a vmapped value that is not a tensor, expected a tensor");
    Batches& batches = regions_->batches;
    const NodeRef result = adds ? batches.add(*value.node(), number(1), number(2))
                                : batches.remove(*value.node(), number(1), number(2), number(3));
    bind(node.at("outputs").at(0).at("as_tensor").at("name").get<std::string>(), result);
    return true;
}

void Importer::cast_operands(const Json& graph, Node& call, const std::vector<std::string>& names) {
    if (names.empty() || !graph.contains("tensor_values")) return;
    const Json& values = graph.at("tensor_values");
    const auto stated = values.find(names.front());
    if (stated == values.end()) return;
    const DType dtype = dtype_of_code(stated->at("dtype").get<std::int64_t>());
    if (!is_floating(dtype)) return;
    try {
        if (infer(graph_, call).at(0).dtype == dtype) return;
    } catch (const Error&) {  // operands of different dtypes
    }
    GraphBuilder builder(graph_);
    builder.set_origin(call);
    call = map_inputs(call, [&](NodeRef ref) {
        const V value = builder.value(ref);
        return Arg(is_floating(value.dtype()) && value.dtype() != dtype ? builder.convert(value, dtype) : value);
    });
}

}  // namespace whittle::pt2
