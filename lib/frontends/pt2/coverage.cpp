#include "frontends/pt2/coverage.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "frontends/pt2/importer.h"
#include "frontends/pt2/numbers.h"
#include "ops/core/registry.h"

namespace whittle::pt2 {
namespace {

constexpr std::string_view kTorchOps =
#include "frontends/pt2/torch_ops.inc"
    ;
constexpr std::string_view kRelease = "2.14";

/// Some overload of the op is known.
bool is_known(const std::string& name) {
    const std::string base = "aten." + name + ".";
    return std::ranges::any_of(Registry::instance().all(),
                               [&](const RegisteredOp& op) { return op.name.starts_with(base); });
}

Support support_of(const std::string& name, const std::string& target, bool out_variant) {
    const Registry& registry = Registry::instance();
    if (registry.in_place(target)) return Support::derived;
    if (const RegisteredOp* op = registry.op(target))
        return !op->same_as.empty() ? Support::derived : op->def->eval ? Support::native : Support::decomposed;
    if (out_variant && is_known(name)) return Support::derived;
    if (is_size_query(target) || is_number_function(target) || is_check(target) || is_computed_while_read(target))
        return Support::derived;
    if (target.starts_with(kForeach) && is_known(element_name(target))) return Support::derived;
    return Support::opaque;
}

}  // namespace

std::string_view name(Support support) {
    constexpr std::string_view kNames[] = {"native", "decomposed", "derived", "opaque"};
    return kNames[static_cast<std::size_t>(support)];
}

std::vector<TorchOp> torch_ops() {
    std::vector<TorchOp> ops;
    std::istringstream lines{std::string(kTorchOps)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        for (std::string overload; words >> overload;) {
            const bool out = overload.find('>') != std::string::npos;
            std::string target = "aten." + name + "." + overload.substr(0, overload.find_first_of("!>*"));
            const Support support = support_of(name, target, out);
            ops.push_back({std::move(target), support});
        }
    }
    return ops;
}

std::string torch_ops_page() {
    const std::vector<TorchOp> ops = torch_ops();
    std::map<Support, std::size_t> counts;
    std::map<std::string, std::string> opaque;  // overloads by name
    for (const TorchOp& op : ops) {
        ++counts[op.support];
        if (op.support != Support::opaque) continue;
        const std::size_t dot = op.target.rfind('.');
        const std::string overload = op.target.substr(dot + 1);
        std::string& overloads = opaque[op.target.substr(0, dot)];
        overloads += (overloads.empty() ? "" : ", ") + overload;
    }
    std::ostringstream text;
    text << "# PyTorch's ops\n\n"
            "<!-- Generated: explain list ops > share/doc/reference/torch-ops.md -->\n\n"
            "PyTorch "
         << kRelease << " has " << ops.size()
         << " ops in the namespace `aten`, each overload counted. This table shows how Whittle supports these ops.\n"
            "[Ops](ops.md) lists the ops that Whittle knows. [Ops seen in models](ops-in-models.md) counts the calls "
            "of\n"
            "ops in models.\n\n"
            "| kind | ops | meaning |\n|---|---|---|\n";
    constexpr std::pair<Support, std::string_view> kMeanings[] = {
        {Support::native, "the reference has a kernel for the op"},
        {Support::decomposed, "Whittle defines the op by other ops, into which a graph is decomposed"},
        {Support::derived,
         "Whittle derives the op from another op, or computes it while reading a model: in-place forms, out variants, "
         "other names, ops on lists, size queries, checks"},
        {Support::opaque,
         "Whittle has no definition of the op. Graphs keep the call, and only some backends know the op"}};
    for (const auto& [support, meaning] : kMeanings)
        text << "| " << name(support) << " | " << counts[support] << " | " << meaning << " |\n";
    text << "\n## Opaque ops\n\n| op | overloads |\n|---|---|\n";
    for (const auto& [op, overloads] : opaque) text << "| `" << op << "` | " << overloads << " |\n";
    return text.str();
}

}  // namespace whittle::pt2
