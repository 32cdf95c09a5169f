#include "frontends/pt2/codes.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "base/number_text.h"

namespace whittle::pt2 {
namespace {

constexpr const char* kMemoryFormats[] = {"", "contiguous_format", "channels_last", "channels_last_3d",
                                          "preserve_format"};

/// Reads one expression of either notation; `at_` moves behind what was read.
class ExpressionReader {
  public:
    ExpressionReader(std::string_view text, const std::map<std::string, std::int64_t>& symbols)
        : text_(text), symbols_(symbols) {}

    std::optional<std::int64_t> whole() {
        const auto value = sum();
        skip();
        return !failed_ && at_ == text_.size() ? value : std::nullopt;
    }
    const std::set<std::string>& undecided() const { return undecided_; }

  private:
    using Value = std::optional<std::int64_t>;
    static constexpr int kDeepest = 100;

    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(char c) {
        skip();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    bool take(std::string_view word) {
        skip();
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    Value sum() {
        Value left = product();
        for (;;) {
            const bool plus = take('+');
            if (!plus && !take('-')) return left;
            const Value right = product();
            if (!left || !right ||
                (plus ? __builtin_add_overflow(*left, *right, &*left) : __builtin_sub_overflow(*left, *right, &*left)))
                left.reset();
        }
    }
    Value product() {
        Value left = power();
        for (;;) {
            if (take('*'))
                left = times(left, power());
            else if (take('%'))
                left = combined("Mod", {left, power()});
            else if (take("//"))
                left = combined("FloorDiv", {left, power()});
            else
                return left;
        }
    }
    Value power() {
        const Value base = term();
        return take("**") ? combined("Pow", {base, term()}) : base;
    }
    static Value times(Value a, Value b) {
        std::int64_t result = 0;
        if (!a || !b || __builtin_mul_overflow(*a, *b, &result)) return std::nullopt;
        return result;
    }
    Value term() {
        if (take('(')) {
            if (++depth_ > kDeepest) return fail();
            const Value inner = sum();
            --depth_;
            return take(')') ? inner : fail();
        }
        const std::string_view word = this->word();
        if (word.empty()) return fail();
        if (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-') return number(word);
        return take('(') ? call(word) : size_of(std::string(word));
    }
    std::string_view word() {
        skip();
        const std::size_t begin = at_;
        if (at_ < text_.size() && text_[at_] == '-') ++at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
        return text_.substr(begin, at_ - begin);
    }
    Value number(std::string_view word) {
        const auto value = number_of<std::int64_t>(word);
        return value ? Value(*value) : fail();
    }
    Value size_of(const std::string& symbol) {
        const auto found = symbols_.find(symbol);
        if (found != symbols_.end()) return found->second;
        undecided_.insert(symbol);
        return {};
    }
    /// Of 'FUNCTION(' what follows.
    Value call(std::string_view function) {
        if (++depth_ > kDeepest) return fail();
        Value value;
        if (function == "Symbol") {
            value = symbol();
        } else {
            std::vector<Value> operands;
            do operands.push_back(sum());
            while (take(','));
            if (!take(')')) return fail();
            value = combined(function, operands);
        }
        --depth_;
        return value;
    }
    /// "'s77', integer=True, positive=True)".
    Value symbol() {
        if (!take('\'')) return fail();
        const std::size_t end = text_.find('\'', at_), close = text_.find(')', at_);
        if (end == text_.npos || close == text_.npos || close < end) return fail();
        const std::string name(text_.substr(at_, end - at_));
        at_ = close + 1;
        return size_of(name);
    }
    static Value combined(std::string_view function, const std::vector<Value>& operands) {
        if (!std::ranges::all_of(operands, [](const Value& operand) { return operand.has_value(); })) return {};
        const bool two = operands.size() == 2;
        if (function == "Integer" && operands.size() == 1) return operands[0];
        if (function == "Max") return **std::ranges::max_element(operands, {}, [](Value v) { return *v; });
        if (function == "Min") return **std::ranges::min_element(operands, {}, [](Value v) { return *v; });
        const bool divides = function == "FloorDiv" || function == "CleanDiv";
        if (divides && two && *operands[0] >= 0 && *operands[1] > 0) return *operands[0] / *operands[1];
        if (function == "Pow" && two && *operands[1] >= 0 && *operands[1] < 64) {
            Value value = 1;
            for (std::int64_t i = 0; i < *operands[1]; ++i) value = times(value, operands[0]);
            return value;
        }
        if ((function == "Mod" || function == "PythonMod") && two && *operands[0] >= 0 && *operands[1] > 0)
            return *operands[0] % *operands[1];
        if (function != "Add" && function != "Mul") return {};
        Value value = function == "Add" ? 0 : 1;
        for (const Value& operand : operands) {
            if (function == "Mul")
                value = times(value, operand);
            else if (!value || __builtin_add_overflow(*value, *operand, &*value))
                return {};
        }
        return value;
    }
    Value fail() {
        failed_ = true;
        text_ = {};
        at_ = 0;
        return {};
    }

    std::string_view text_;
    const std::map<std::string, std::int64_t>& symbols_;
    std::set<std::string> undecided_;
    std::size_t at_ = 0;
    int depth_ = 0;
    bool failed_ = false;
};

}  // namespace

DType dtype_of_code(std::int64_t code) {
    if (const auto dtype = dtype_with(&DTypeInfo::pt2, code)) return *dtype;
    throw Error("found data type code " + std::to_string(code) + ", which Whittle does not support");
}

std::string memory_format_of_code(std::int64_t code) {
    if (code < 1 || code >= static_cast<std::int64_t>(std::size(kMemoryFormats)))
        throw Error("found memory format code " + std::to_string(code) + ", expected a code from 1 to 4");
    return kMemoryFormats[code];
}

LayoutName layout_of_code(std::int64_t code) {
    constexpr LayoutName kLayouts[] = {{},
                                       {"sparse_coo", "Sparse"},
                                       {"sparse_csr", "SparseCsr"},
                                       {"sparse_csc", "SparseCsc"},
                                       {"sparse_bsr", "SparseBsr"},
                                       {"sparse_bsc", "SparseBsc"},
                                       {"_mkldnn", "Mkldnn"},
                                       {"strided", "Strided"}};
    if (code < 1 || code >= static_cast<std::int64_t>(std::size(kLayouts)))
        throw Error("found layout code " + std::to_string(code) + ", expected a code from 1 to 7");
    return kLayouts[code];
}

std::int64_t code_of(DType dtype) {
    if (const int code = info_of(dtype).pt2) return code;
    throw Error(".pt2 files do not support data type " + std::string(name(dtype)));
}

std::int64_t code_of_memory_format(const std::string& name) {
    for (std::size_t code = 1; code < std::size(kMemoryFormats); ++code)
        if (kMemoryFormats[code] == name) return static_cast<std::int64_t>(code);
    throw Error("found memory format '" + name + "', which .pt2 files do not support");
}

std::optional<std::int64_t> evaluate(std::string_view expression, const std::map<std::string, std::int64_t>& symbols) {
    return ExpressionReader(expression, symbols).whole();
}

std::set<std::string> undecided_symbols(std::string_view expression,
                                        const std::map<std::string, std::int64_t>& symbols) {
    ExpressionReader reader(expression, symbols);
    reader.whole();
    return reader.undecided();
}

std::optional<std::pair<std::string, std::int64_t>> solved(std::string_view expression, std::int64_t value,
                                                           const std::map<std::string, std::int64_t>& symbols) {
    const std::set<std::string> unknown = undecided_symbols(expression, symbols);
    if (unknown.size() != 1 || value < 0) return {};
    std::map<std::string, std::int64_t> tried = symbols;
    std::int64_t& size = tried[*unknown.begin()];
    const auto at = [&](std::int64_t other) {
        size = other;
        return evaluate(expression, tried);
    };
    const auto one = at(1), two = at(2);
    std::int64_t slope = 0, rest = 0;
    if (!one || !two || __builtin_sub_overflow(*two, *one, &slope) || slope == 0) return {};
    if (__builtin_sub_overflow(value, *one, &rest) || __builtin_add_overflow(rest / slope, 1, &rest)) return {};
    return rest >= 0 && at(rest) == value ? std::optional(std::pair(*unknown.begin(), rest)) : std::nullopt;
}

std::optional<std::string> symbol_of(std::string_view expression) {
    constexpr std::string_view kHead = "Symbol('";
    std::string_view name = expression;
    if (name.starts_with(kHead)) {
        name.remove_prefix(kHead.size());
        const std::size_t end = name.find('\'');
        if (end == name.npos || expression.find(')') + 1 != expression.size()) return {};
        name = name.substr(0, end);
    }
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    if (name.empty() || !std::ranges::all_of(name, in_name) || std::isdigit(static_cast<unsigned char>(name[0])))
        return {};
    return std::string(name);
}

}  // namespace whittle::pt2
