#include "graph/schema.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"

namespace whittle {
namespace {

/// A host type of ATen's notation and its list form; text stands for ATen's enumerations that only have names.
struct BaseType {
    std::string_view spelling;
    ParamType type;
    std::optional<ParamType> list = {};
};

constexpr BaseType kBaseTypes[] = {
    {"Tensor", ParamType::tensor, ParamType::tensor_list},
    {"int", ParamType::integer, ParamType::int_list},
    {"DataType", ParamType::integer},
    {"SymInt", ParamType::integer, ParamType::int_list},
    {"float", ParamType::number, ParamType::float_list},
    {"bool", ParamType::boolean, ParamType::bool_list},
    {"Scalar", ParamType::scalar},
    {"str", ParamType::text, ParamType::text_list},
    {"ScalarType", ParamType::dtype},
    {"Layout", ParamType::text},
    {"Device", ParamType::text},
    {"MemoryFormat", ParamType::text},
    {"Generator", ParamType::text},
    {"Graph", ParamType::graph},
};

/// The first row of a type, or of its lists.
const BaseType& row_of(ParamType type) {
    const auto row =
        std::ranges::find_if(kBaseTypes, [&](const BaseType& base) { return base.type == type || base.list == type; });
    WHITTLE_CHECK(row != std::end(kBaseTypes), "a type of parameters that no schema names");
    return *row;
}
/// Whether ATen's defaults spell the dtype so: "double", "long", as C++ constants are named in lower case.
bool is_spelling(std::string_view text, DType dtype) {
    const std::string_view name = info_of(dtype).aten_name;
    return std::ranges::equal(text, name,
                              [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

/// at::Reduction: the enumeration behind "int reduction=Mean".
constexpr std::pair<std::string_view, int> kReductions[] = {{"Mean", 1}, {"Sum", 2}};

/// Recursive descent over one schema.
class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Schema schema() {
        Schema schema;
        skip_space();
        while (pos_ < text_.size() && (is_word(text_[pos_]) || text_[pos_] == '.' || text_[pos_] == ':'))
            schema.name += text_[pos_++];
        if (schema.name.empty()) fail("the op's name");
        expect("(");
        parameters(schema);
        expect("->");
        returns(schema);
        if (pos_ != text_.size()) fail("the end of the schema");
        return schema;
    }

    /// Of what schema() has read.
    const SchemaColumns& columns() const { return columns_; }

  private:
    [[noreturn]] void fail(const std::string& expected) const {
        const std::string found = pos_ < text_.size() ? "'" + std::string(text_.substr(pos_, 12)) + "'" : "the end";
        throw schema_error(pos_ + 1, found, expected, text_);
    }

    void skip_space() {
        while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
    }

    bool accept(std::string_view token) {
        skip_space();
        if (!text_.substr(pos_).starts_with(token)) return false;
        pos_ += token.size();
        skip_space();
        return true;
    }

    void expect(std::string_view token) {
        if (!accept(token)) fail("'" + std::string(token) + "'");
    }

    std::string word() {
        skip_space();
        const std::size_t start = pos_;
        while (pos_ < text_.size() && is_word(text_[pos_])) ++pos_;
        const std::string result(text_.substr(start, pos_ - start));
        skip_space();
        return result;
    }

    std::string expect_word(const std::string& what) {
        std::string result = word();
        if (result.empty()) fail(what);
        return result;
    }

    int length() {
        const int value = number_of<int>(word()).value_or(0);
        if (value <= 0 || value > 64) fail("a length from 1 to 64");
        return value;
    }

    void parameters(Schema& schema) {
        bool keyword_only = false;
        std::set<std::string> names;
        if (accept(")")) return;
        do {
            if (!keyword_only && accept("*")) {
                keyword_only = true;
                continue;
            }
            columns_.params.push_back(pos_ + 1);
            Param param = parameter();
            param.keyword_only = keyword_only;
            if (!names.insert(param.name).second) fail("a name other than '" + param.name + "', which is already used");
            schema.params.push_back(std::move(param));
        } while (accept(","));
        expect(")");
    }

    Param parameter() {
        Param param;
        const BaseType& base = base_type();
        param.type = base.type;
        param.data_type = base.spelling == "DataType";
        alias(param.alias, param.mutates);
        param.optional = accept("?");
        if (accept("[")) {
            if (!base.list) fail("a type that can be in a list");
            param.type = *base.list;
            if (!accept("]")) {
                param.length = length();
                expect("]");
            }
            alias(param.alias, param.mutates);
            if (accept("?")) param.optional = true;
        }
        param.name = expect_word("the parameter's name");
        if (accept("=")) param.default_value = default_of(param);
        return param;
    }

    const BaseType& base_type() {
        const std::size_t start = pos_;
        const std::string spelling = expect_word("a type");
        for (const BaseType& base : kBaseTypes)
            if (base.spelling == spelling) return base;
        pos_ = start;
        fail("a type (Tensor, int, SymInt, float, bool, Scalar, str, ScalarType, Graph …)");
    }

    /// "(a)", "(a!)", "(a|b)", "(a -> *)"
    void alias(std::string& name, bool& mutates) {
        if (!accept("(")) return;
        name = expect_word("an alias set");
        while (accept("|")) name += '|' + expect_word("an alias set");
        mutates = accept("!");
        if (accept("->") && !accept("*")) expect_word("an alias set");
        expect(")");
    }

    void returns(Schema& schema) {
        if (!accept("(")) {
            schema.returns.push_back(returned());
            return;
        }
        if (accept(")")) return;
        do schema.returns.push_back(returned());
        while (accept(","));
        expect(")");
    }

    Return returned() {
        const std::size_t start = pos_;
        columns_.returns.push_back(start + 1);
        if (base_type().type != ParamType::tensor) {
            pos_ = start;
            fail("Tensor: calls return tensors only");
        }
        Return result;
        bool mutates = false;
        alias(result.alias, mutates);
        if (accept("[")) {
            expect("]");
            result.list = true;
        }
        result.name = word();
        return result;
    }

    Arg default_of(const Param& param) {
        if (accept("None")) return {};
        return is_list(param.type) ? list_default(param.type, param.length) : single_default(param.type);
    }

    Arg list_default(ParamType type, int length) {
        const ParamType element = element_of(type);
        ArgList list;
        if (!accept("[")) {  // "int[2] stride=1": one value for all
            if (length == 0) fail("a list");
            list.assign(static_cast<std::size_t>(length), single_default(element));
            return list;
        }
        if (accept("]")) return list;
        if (type == ParamType::tensor_list) fail("']': the default of a list of tensors can only be an empty list");
        do list.push_back(single_default(element));
        while (accept(","));
        expect("]");
        return list;
    }

    Arg single_default(ParamType type) {
        skip_space();
        const std::size_t start = pos_;
        if (pos_ < text_.size() && (text_[pos_] == '\'' || text_[pos_] == '"')) return quoted();
        std::string token;
        while (pos_ < text_.size() &&
               (is_word(text_[pos_]) || text_[pos_] == '.' || text_[pos_] == '-' || text_[pos_] == '+'))
            token += text_[pos_++];
        skip_space();
        if (std::optional<Arg> value = value_of(token, type)) return *value;
        pos_ = start;
        fail("a default value of the parameter's type");
    }

    Arg quoted() {
        const char quote = text_[pos_];
        const std::size_t end = text_.find(quote, pos_ + 1);
        if (end == std::string_view::npos) fail("a closing quote");
        std::string value(text_.substr(pos_ + 1, end - pos_ - 1));
        pos_ = end + 1;
        skip_space();
        return value;
    }

    static std::optional<Arg> value_of(const std::string& token, ParamType type) {
        const std::optional<std::int64_t> integer = number_of<std::int64_t>(token);
        const std::optional<double> real = number_of<double>(token);
        const bool boolean = token == "True" || token == "False";
        switch (type) {
            case ParamType::integer:
                for (const auto& [name, value] : kReductions)
                    if (name == token) return Arg(value);
                return integer ? std::optional<Arg>(*integer) : std::nullopt;
            case ParamType::number:
                return real ? std::optional<Arg>(*real) : std::nullopt;
            case ParamType::boolean:
                return boolean ? std::optional<Arg>(token == "True") : std::nullopt;
            case ParamType::scalar:
                if (boolean) return Arg(token == "True");
                if (integer) return Arg(*integer);
                return real ? std::optional<Arg>(*real) : std::nullopt;
            case ParamType::dtype:
                for (const DType dtype : kAllDTypes)
                    if (is_spelling(token, dtype)) return Arg(dtype);
                if (token == "uint8_t") return Arg(DType::u8);
                if (const auto dtype = dtype_from_name(token)) return Arg(*dtype);
                return std::nullopt;
            case ParamType::text:
                return token.empty() ? std::nullopt : std::optional<Arg>(token);
            default:
                return std::nullopt;
        }
    }

    std::string_view text_;
    std::size_t pos_ = 0;
    SchemaColumns columns_;
};

}  // namespace

bool is_list(ParamType type) { return row_of(type).list == type; }
ParamType element_of(ParamType type) { return row_of(type).type; }

Schema Schema::parse(std::string_view text) { return Parser(text).schema(); }

SchemaColumns SchemaColumns::of(std::string_view schema) {
    Parser parser(schema);
    parser.schema();
    return parser.columns();
}

const Param* Schema::param(std::string_view name) const {
    for (const Param& param : params)
        if (param.name == name) return &param;
    return nullptr;
}

std::string type_name(const Param& param) {
    std::string text(row_of(param.type).spelling);
    const bool elements_optional = param.type == ParamType::tensor_list && param.optional;
    if (elements_optional) text += "?";
    if (is_list(param.type)) text += param.length > 0 ? '[' + std::to_string(param.length) + "]" : "[]";
    if (param.optional && !elements_optional) text += "?";
    return text;
}

}  // namespace whittle
