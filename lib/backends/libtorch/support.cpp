#include "backends/libtorch/support.h"

#include <dlfcn.h>

#include <algorithm>
#include <sstream>

#include "backends/libtorch/boxed_call.h"
#include "backends/libtorch/memory.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "graph/backend_options.h"
#include "ops/core/registry.h"

namespace whittle::aten {
namespace {

/// The op, or the element type of what it reads or gives.
bool is_unsupported(const Graph& graph, const Node& node) {
    if (node.kind != NodeKind::call) return false;
    bool known = std::ranges::all_of(node.results, [](const ValueMeta& meta) { return has(meta.dtype); });
    for_each_input(node, [&](NodeRef read) {
        for (const ValueMeta& meta : graph.node(read).results) known &= has(meta.dtype);
    });
    if (!known) return true;
    if (node.target == kGetItem || schema_of(node.target)) return false;
    const RegisteredOp* op = Registry::instance().op(node.target);
    return !op || (!op->def->decompose && !has_nested_graph(op->schema));
}

void add_unsupported(const Graph& graph, std::vector<std::string>& targets) {
    for (const Node& node : graph.nodes)
        if (is_unsupported(graph, node) && std::ranges::find(targets, node.target) == targets.end())
            targets.push_back(node.target);
    for (const auto& [name, nested] : graph.subgraphs) add_unsupported(*nested, targets);
}

/// Files between ':'.
std::vector<std::string> libraries(const BackendOptions& options) {
    const auto given = options.find(std::string(kLibrary));
    std::istringstream rest(given == options.end() ? std::string() : given->second);
    std::vector<std::string> files;
    for (std::string file; std::getline(rest, file, ':');)
        if (!file.empty()) files.push_back(file);
    return files;
}

void load(const std::string& file) {
    if (!::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) throw Error(std::string(::dlerror()));
}

}  // namespace

std::vector<std::string> not_in_libtorch(const Graph& graph) {
    std::vector<std::string> targets;
    add_unsupported(graph, targets);
    return targets;
}

bool has_nested_graph(const Schema& schema) {
    return std::ranges::any_of(schema.params, [](const Param& param) { return param.type == ParamType::graph; });
}

void load_libraries(const BackendOptions& options) {
    for (const std::string& file : libraries(options)) load(file);
}

void check_libraries(const BackendOptions& options) {
    for (const std::string& file : libraries(options)) {
        const ForkedAnswer asked = ask_forked(
            [&] {
                try {
                    load(file);
                    return std::string();
                } catch (const Error& error) {
                    return std::string(error.what());
                }
            },
            {.timeout = std::chrono::seconds(30)});
        const std::string& refused = asked.process.good() ? asked.answer : ending_of(asked.process);
        if (!refused.empty())
            throw wrong_option(std::string(kLibrary), file, "shared libraries, between ':': " + refused);
    }
}

}  // namespace whittle::aten
