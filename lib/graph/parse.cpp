#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "base/words.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "tensor/opaque_types.h"

namespace whittle {
namespace {

/// Zeros for attributes are memory that the text promises by a number, not by content: this much and no more.
constexpr std::int64_t kAttributeBytes = std::int64_t(128) << 20;
constexpr int kMaxTextDepth = 256;  // as in JSON files

/// Characters, words and literals, with the place of each for messages.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    [[noreturn]] void fail_at(std::size_t pos, const std::string& found, const std::string& expected) const {
        std::size_t line = 1, start = 0;
        for (std::size_t i = 0; i < pos && i < text_.size(); ++i)
            if (text_[i] == '\n') {
                ++line;
                start = i + 1;
            }
        throw Error({"", "line " + std::to_string(line) + ", column " + std::to_string(pos - start + 1)},
                    "found " + found + ", expected " + expected);
    }

    [[noreturn]] void fail(const std::string& expected) const {
        std::string found = "the end";
        if (pos_ < text_.size()) {
            const std::string_view rest = text_.substr(pos_, std::min<std::size_t>(text_.find('\n', pos_) - pos_, 20));
            found = rest.empty() ? "the end of the line" : "'" + std::string(rest) + "'";
        }
        fail_at(pos_, found, expected);
    }

    std::size_t pos() const { return pos_; }
    bool at_end() const { return pos_ == text_.size(); }
    char peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }

    void skip_blanks() {
        while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\r')) ++pos_;
    }

    /// Blanks, ends of lines and lines that are only a comment.
    void skip_lines() {
        for (;;) {
            skip_blanks();
            if (peek() == '#')
                while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
            if (peek() != '\n') return;
            ++pos_;
        }
    }

    bool accept(std::string_view token) {
        if (!text_.substr(pos_).starts_with(token)) return false;
        pos_ += token.size();
        skip_blanks();
        return true;
    }
    void expect(std::string_view token) {
        if (!accept(token)) fail("'" + std::string(token) + "'");
    }

    /// The word at the cursor without consuming it.
    std::string_view peek_word() const {
        std::size_t end = pos_;
        while (end < text_.size() && is_word(text_[end])) ++end;
        return text_.substr(pos_, end - pos_);
    }
    std::string word(const std::string& what) {
        const std::string_view result = peek_word();
        if (result.empty()) fail(what);
        pos_ += result.size();
        skip_blanks();
        return std::string(result);
    }
    /// "(f32)", what is in it included; nested ones match.
    std::string in_parentheses() {
        const std::size_t start = pos_;
        int depth = 0;
        do {
            if (pos_ == text_.size() || text_[pos_] == '\n') fail_at(start, "a '(' alone", "a ')' on the same line");
            depth += text_[pos_] == '(' ? 1 : text_[pos_] == ')' ? -1 : 0;
        } while (++pos_, depth > 0);
        std::string result(text_.substr(start, pos_ - start));
        skip_blanks();
        return result;
    }
    std::string word_or_quoted(const std::string& what) { return peek() == '"' ? quoted() : word(what); }
    /// A word with dots in it.
    std::string dotted(const std::string& what) {
        const std::size_t start = pos_;
        while (pos_ < text_.size() && (is_word(text_[pos_]) || text_[pos_] == '.')) ++pos_;
        if (pos_ == start) fail(what);
        std::string result(text_.substr(start, pos_ - start));
        skip_blanks();
        return result;
    }

    std::string quoted() {
        const std::size_t start = pos_;
        if (peek() != '"') fail("a quoted string");
        std::string result;
        for (++pos_; pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n'; ++pos_)
            result += text_[pos_] == '\\' ? escaped() : text_[pos_];
        if (peek() != '"') fail_at(start, "a string without a closing quote", "'\"' on the same line");
        ++pos_;
        skip_blanks();
        return result;
    }

    /// The characters of a number, with its sign and exponent.
    std::string_view number_token() {
        const std::size_t start = pos_;
        while (pos_ < text_.size()) {
            const char c = text_[pos_];
            const bool sign =
                (c == '-' || c == '+') && (pos_ == start || text_[pos_ - 1] == 'e' || text_[pos_ - 1] == 'E');
            if (!is_word(c) && c != '.' && !sign) break;
            ++pos_;
        }
        return text_.substr(start, pos_ - start);
    }

    std::int64_t integer() {
        const std::size_t start = pos_;
        const std::string_view token = number_token();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
        if (token.empty() || error != std::errc{} || end != token.data() + token.size())
            fail_at(start, "'" + std::string(token) + "'", "an integer that fits in 64 bits");
        skip_blanks();
        return value;
    }

    std::vector<std::int64_t> integers() {
        std::vector<std::int64_t> values;
        expect("[");
        if (accept("]")) return values;
        do values.push_back(integer());
        while (accept(","));
        expect("]");
        return values;
    }

    std::string rest_of_line() {
        std::size_t end = std::min(text_.find('\n', pos_), text_.size());
        std::string_view rest = text_.substr(pos_, end - pos_);
        pos_ = end;
        while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
        return std::string(rest);
    }

  private:
    char escaped() {
        ++pos_;
        switch (peek()) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case '"':
            case '\\':
                return peek();
            case 'x': {
                unsigned value = 0;
                const char* first = text_.data() + pos_ + 1;
                const char* last = text_.data() + std::min(pos_ + 3, text_.size());
                const auto [end, error] = std::from_chars(first, last, value, 16);
                if (error != std::errc{} || end != first + 2) fail("two hexadecimal digits");
                pos_ += 2;
                return static_cast<char>(value);
            }
            default:
                fail("an escape: \\n \\t \\r \\\" \\\\ \\xHH");
        }
    }

    std::string_view text_;
    std::size_t pos_ = 0;
};

/// One graph; nested graphs are parsed by parsers of their own on the same cursor.
class GraphParser {
  public:
    GraphParser(Cursor& cursor, std::int64_t& attribute_bytes, int depth)
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
        Cursor ahead = in_;
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
        std::int64_t integer = 0;
        double real = 0;
        const char* end = token.data() + token.size();
        if (const auto r = std::from_chars(token.data(), end, integer); r.ec == std::errc{} && r.ptr == end)
            return integer;
        const bool integral = token.find_first_not_of("-0123456789") == std::string_view::npos;
        if (const auto r = std::from_chars(token.data(), end, real); r.ec == std::errc{} && r.ptr == end && !integral)
            return real;
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

    Cursor& in_;
    std::int64_t& attribute_bytes_;
    const int depth_;
    Graph graph_;
    std::unordered_map<std::string, NodeId> ids_;
};

}  // namespace

Graph parse(std::string_view text) {
    Cursor cursor(text);
    cursor.skip_lines();
    std::int64_t attribute_bytes = kAttributeBytes;
    Graph graph = GraphParser(cursor, attribute_bytes, 0).run();
    cursor.skip_lines();
    if (!cursor.at_end()) cursor.fail("nothing after the graph's '}'");
    return graph;
}

}  // namespace whittle
