#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/text_cursor.h"
#include "tensor/opaque_types.h"

namespace whittle {
namespace {

/// Zeros for attributes are memory that the text promises by a number, not by content: this much and no more.
constexpr std::int64_t kAttributeBytes = std::int64_t(128) << 20;
constexpr int kMaxTextDepth = 256;  // as in JSON files

/// One graph; nested graphs are parsed by parsers of their own on the same cursor.
class GraphParser {
  public:
    GraphParser(TextCursor& cursor, std::int64_t& attribute_bytes, int depth)
        : in_(cursor), attribute_bytes_(attribute_bytes), depth_(depth) {}

    Graph run() {
        if (depth_ > kMaxTextDepth) in_.fail("at most " + std::to_string(kMaxTextDepth) + " nested graphs");
        header();
        for (in_.skip_lines(); !in_.accept("}"); in_.skip_lines()) line();
        return std::move(graph_);
    }

  private:
    void header() {
        if (in_.word("'graph'") != "graph") in_.fail("'graph' before the name of the graph");
        graph_.name = in_.word_or_quoted("the graph's name");
        bool dialect = false;
        while (!in_.accept("{")) {
            const std::string option = in_.word("dialect(…), opset(…) or '{'");
            in_.expect("(");
            if (option == "dialect") {
                graph_.dialect = in_.quoted();
                dialect = true;
            } else if (option == "opset") {
                do {
                    const std::string domain = in_.quoted();
                    in_.expect(":");
                    graph_.opset_imports[domain] = in_.integer();
                } while (in_.accept(","));
            } else {
                in_.fail("dialect or opset before '('");
            }
            in_.expect(")");
        }
        if (!dialect && !graph_.opset_imports.empty()) graph_.dialect = "onnx";
    }

    void line() {
        if (in_.accept("@")) {
            const std::size_t start = in_.pos();
            const std::string key = in_.word_or_quoted("the nested graph's name");
            in_.expect("=");
            auto nested = std::make_shared<const Graph>(GraphParser(in_, attribute_bytes_, depth_ + 1).run());
            if (!graph_.subgraphs.emplace(key, std::move(nested)).second)
                in_.fail_at(start, "a second nested graph \"" + key + "\"", "another name");
        } else if (in_.peek_word() == "attribute") {
            in_.word("attribute");
            const std::string key = bracketed();
            in_.expect(":");
            add_attribute(key, meta());
        } else {
            node();
        }
        in_.skip_blanks();
        if (in_.peek() == '#') in_.rest_of_line();
        if (in_.peek() != '\n' && in_.peek() != '}') in_.fail("the end of the line");
    }

    void node() {
        Node node;
        node.name = "output";
        const std::size_t start = in_.pos();
        if (in_.accept("%")) {
            node.name = in_.word("the node's name");
            in_.expect("=");
        } else if (in_.peek_word() != "return") {
            in_.fail("'%name = …', 'return (…)', '@name = graph …' or '}'");
        }
        body(node);
        in_.skip_blanks();
        if (in_.accept("#")) node.module_path = in_.peek() == '"' ? in_.quoted() : in_.rest_of_line();
        const auto id = static_cast<NodeId>(graph_.nodes.size());
        if (!ids_.emplace(node.name, id).second) in_.fail_at(start, "a second %" + node.name, "another name");
        if (identifier(node.name) != node.name) in_.fail_at(start, "%" + node.name, "%" + identifier(node.name));
        graph_.nodes.push_back(std::move(node));
    }

    void body(Node& node) {
        const std::string word = in_.dotted("an op, placeholder, get_attr or return");
        if (word == "return") {
            node.kind = NodeKind::output;
            operands(node);
            return;
        }
        const bool placeholder = word == "placeholder" && in_.peek() != '(';
        const bool get_attr = word == "get_attr" && in_.peek() != '(';
        if (placeholder || get_attr) {
            node.kind = placeholder ? NodeKind::placeholder : NodeKind::get_attr;
            node.target = in_.peek() == '[' ? bracketed() : node.name;
        } else {
            node.kind = NodeKind::call;
            node.target = word == "call" && in_.peek() == '[' ? bracketed() : word;
            operands(node);
        }
        in_.expect(":");
        results(node);
        if (get_attr) {
            if (node.results.size() != 1) in_.fail("one type for a get_attr");
            add_attribute(node.target, node.results[0]);
        }
    }

    std::string bracketed() {
        in_.expect("[");
        std::string text = in_.quoted();
        in_.expect("]");
        return text;
    }

    void operands(Node& node) {
        in_.expect("(");
        if (in_.accept(")")) return;
        do {
            if (std::optional<std::string> key = keyword())
                node.kwargs.emplace_back(std::move(*key), argument(0));
            else if (!node.kwargs.empty())
                in_.fail("a keyword argument: positional arguments come first");
            else
                node.args.push_back(argument(0));
        } while (in_.accept(","));
        in_.expect(")");
    }

    /// The key and '=' of a keyword argument, when there is one at the cursor.
    std::optional<std::string> keyword() {
        TextCursor ahead = in_;
        if (ahead.peek() != '"' && ahead.peek_word().empty()) return std::nullopt;
        std::string key = ahead.word_or_quoted("a keyword");
        if (!ahead.accept("=")) return std::nullopt;
        in_ = ahead;
        return key;
    }

    Arg argument(int depth) {
        if (depth > kMaxTextDepth) in_.fail("at most " + std::to_string(kMaxTextDepth) + " nested lists");
        switch (in_.peek()) {
            case '%':
                return reference();
            case '@':
                in_.accept("@");
                return GraphRef{in_.word_or_quoted("a nested graph's name")};
            case '"':
                return in_.quoted();
            case '[':
                return list(depth);
            default:
                return literal();
        }
    }

    Arg list(int depth) {
        ArgList values;
        in_.expect("[");
        if (in_.accept("]")) return values;
        do values.push_back(argument(depth + 1));
        while (in_.accept(","));
        in_.expect("]");
        return values;
    }

    Arg reference() {
        const std::size_t start = in_.pos();
        in_.expect("%");
        const std::string name = in_.word("a node's name");
        const auto found = ids_.find(name);
        if (found == ids_.end()) in_.fail_at(start, "%" + name, "a node defined on an earlier line");
        return NodeRef{found->second};
    }

    Arg literal() {
        const std::size_t start = in_.pos();
        const std::string_view token = in_.number_token();
        in_.skip_blanks();
        if (token == "none") return {};
        if (token == "true" || token == "false") return token == "true";
        if (const auto dtype = dtype_from_name(token)) return *dtype;
        if (const auto integer = number_of<std::int64_t>(token)) return *integer;
        const bool integral = token.find_first_not_of("-0123456789") == std::string_view::npos;
        if (const auto real = number_of<double>(token); real && !integral) return *real;
        in_.fail_at(start, token.empty() ? "'" + std::string(1, in_.peek()) + "'" : "'" + std::string(token) + "'",
                    "an argument: %node, number, true, false, none, dtype, \"text\", [list] or @graph");
    }

    void results(Node& node) {
        if (!in_.accept("(")) {
            node.results.push_back(meta());
            return;
        }
        if (in_.accept(")")) return;
        do node.results.push_back(meta());
        while (in_.accept(","));
        in_.expect(")");
    }

    ValueMeta meta() {
        const std::size_t start = in_.pos();
        const std::string word = in_.word("a type such as f32[2, 3]");
        if (word == "unknown") return unknown_meta();
        if (in_.peek() == '(') return unknown_meta(word + in_.in_parentheses());
        if (opaque_type_from_name(word)) return opaque_meta(word, in_.integers());
        const auto dtype = dtype_from_name(word);
        if (!dtype) in_.fail_at(start, "'" + word + "'", "a dtype: " + dtype_names());
        ValueMeta meta;
        meta.dtype = *dtype;
        meta.sizes = in_.integers();
        try {
            meta.strides = contiguous_strides(meta.sizes);
            element_count(meta.sizes);
        } catch (const Error& error) {
            in_.fail_at(start, to_string(meta.sizes), "sizes of a tensor (" + error.message() + ")");
        }
        if (in_.peek_word() == "strides") {
            in_.word("strides");
            meta.strides = in_.integers();
            if (meta.strides.size() != meta.sizes.size())
                in_.fail_at(start, to_string(meta.strides), "as many strides as sizes");
        }
        if (in_.peek_word() == "offset") {
            in_.word("offset");
            meta.storage_offset = in_.integer();
        }
        if (in_.peek_word() == "grad") {
            in_.word("grad");
            meta.requires_grad = true;
        }
        if (in_.peek_word() == "nonleaf") {
            in_.word("nonleaf");
            meta.leaf = false;
        }
        if (in_.peek_word() == "placed") {
            in_.word("placed");
            meta.placement = placement();
        }
        return meta;
    }

    /// As print() has it.
    const Placement* placement() {
        Placement place;
        in_.expect("[");
        place.device = in_.quoted();
        in_.expect(",");
        place.layout = in_.quoted();
        in_.expect(",");
        place.elements = in_.quoted();
        in_.expect("]");
        return placed(std::move(place));
    }

    /// Zeros of the meta, strides included. A second line for the same name keeps the first.
    void add_attribute(const std::string& key, const ValueMeta& meta) {
        if (graph_.attributes.count(key)) return;
        if (meta.placement) {  // what its bytes are, the text does not say
            graph_.attributes[key] = Tensor(DType::u8, {0});
            return;
        }
        std::int64_t lowest = 0, highest = 0, bytes = 0;  // reach of the strides, in elements
        bool overflow = false;
        for (std::size_t d = 0; d < meta.sizes.size(); ++d) {
            std::int64_t reach = 0;
            overflow |= __builtin_mul_overflow(std::max<std::int64_t>(meta.sizes[d] - 1, 0), meta.strides[d], &reach);
            overflow |= __builtin_add_overflow(reach < 0 ? lowest : highest, reach, reach < 0 ? &lowest : &highest);
        }
        overflow |= __builtin_sub_overflow(highest, lowest, &bytes) || __builtin_add_overflow(bytes, 1, &bytes);
        overflow |= __builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(meta.dtype)), &bytes);
        if (overflow || bytes > attribute_bytes_)
            in_.fail_at(in_.pos(), "attributes of more than " + std::to_string(kAttributeBytes >> 20) + " MiB",
                        "less: save a large graph as JSON");
        attribute_bytes_ -= bytes;
        graph_.attributes[key] =
            Tensor(Storage::allocate(static_cast<std::size_t>(bytes)), meta.dtype, meta.sizes, meta.strides, -lowest)
                .with_requires_grad(meta.requires_grad);
    }

    TextCursor& in_;
    std::int64_t& attribute_bytes_;
    const int depth_;
    Graph graph_;
    std::unordered_map<std::string, NodeId> ids_;
};

}  // namespace

Graph parse(std::string_view text) {
    TextCursor cursor(text);
    cursor.skip_lines();
    std::int64_t attribute_bytes = kAttributeBytes;
    Graph graph = GraphParser(cursor, attribute_bytes, 0).run();
    cursor.skip_lines();
    if (!cursor.at_end()) cursor.fail("nothing after the graph's '}'");
    return graph;
}

}  // namespace whittle
