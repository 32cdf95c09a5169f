// Which graphs one executable serves.
#include <cstring>

#include "api/frame_host.h"

namespace whittle::api {
namespace {

void append(std::string& key, std::int64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void append(std::string& key, const std::string& text) {
    append(key, static_cast<std::int64_t>(text.size()));
    key += text;
}
void append(std::string& key, const Arg& arg);
void append_value(std::string&, const std::monostate&) {}
void append_value(std::string& key, const NodeRef& ref) { append(key, std::int64_t{ref.id}); }
void append_value(std::string& key, std::int64_t number) { append(key, number); }
void append_value(std::string& key, double number) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    append(key, bits);
}
void append_value(std::string& key, bool flag) { key += flag ? '1' : '0'; }
void append_value(std::string& key, const std::string& text) { append(key, text); }
void append_value(std::string& key, whittle::DType dtype) { key += static_cast<char>(dtype); }
void append_value(std::string& key, const ArgList& list) {
    append(key, static_cast<std::int64_t>(list.size()));
    for (const Arg& arg : list) append(key, arg);
}
void append_value(std::string& key, const GraphRef& graph) { append(key, graph.name); }
void append(std::string& key, const Arg& arg) {
    key += static_cast<char>(arg.value.index());
    std::visit([&](const auto& value) { append_value(key, value); }, arg.value);
}
void append(std::string& key, const std::vector<std::int64_t>& numbers) {
    append(key, static_cast<std::int64_t>(numbers.size()));
    for (const std::int64_t number : numbers) append(key, number);
}

}  // namespace

std::string key_of(const Graph& graph) {
    std::string key;
    key.reserve(graph.nodes.size() * 128);
    for (const Node& node : graph.nodes) {
        key += static_cast<char>(node.kind);
        append(key, node.target);
        append(key, static_cast<std::int64_t>(node.args.size()));
        for (const Arg& arg : node.args) append(key, arg);
        append(key, static_cast<std::int64_t>(node.kwargs.size()));
        for (const auto& [name, arg] : node.kwargs) {
            append(key, name);
            append(key, arg);
        }
        append(key, static_cast<std::int64_t>(node.results.size()));
        for (const ValueMeta& meta : node.results) {
            key += static_cast<char>(meta.dtype);
            key += meta.requires_grad ? '1' : '0';
            append(key, meta.sizes);
            append(key, meta.strides);
        }
    }
    for (const auto& [name, nested] : graph.subgraphs) {
        append(key, name);
        append(key, key_of(*nested));
    }
    return key;
}

}  // namespace whittle::api
