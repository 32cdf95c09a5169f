// A group's expressions as C++ text for Halide: what the two writers of programs share (halide_text.cpp,
// plain_text.cpp).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/halide/definitions.h"
#include "backends/halide/halide_text.h"
#include "backends/halide/translate.h"
#include "base/error.h"
#include "base/words.h"
#include "expr/cpp_text.h"
#include "expr/loops.h"
#include "text/language.h"

namespace whittle::halide {

using expr::Code;

/// The text of the helper in kernel_helpers.h.
inline std::string_view kernel_helper(std::string_view name) {
    const std::string_view text = kernel_helpers_text();
    const std::string line = "// ---- " + std::string(name) + " ----\n";
    const std::size_t begin = text.find(line);
    WHITTLE_CHECK(begin != std::string_view::npos, "no kernel helper " + std::string(name));
    const std::string_view rest = text.substr(begin + line.size());
    return rest.substr(0, rest.find("\n// ---- "));
}

/// What a program of kernels defines, in this order.
inline const std::pair<std::string_view, std::string_view> kHelpers[] = {
    {"view", R"text(// Existing memory as a Halide buffer; dimensions innermost first as {0, extent, stride}.
static Halide::Buffer<> view(Halide::Type type, const void* data, const std::vector<halide_dimension_t>& shape) {
    return Halide::Buffer<>(Halide::Runtime::Buffer<>(type, const_cast<void*>(data), int(shape.size()), shape.data()));
}
)text"},
    {"libm", kernel_helper("libm")},
    {"exp_f32", kernel_helper("exp_f32")},
    {"tanh_f32", kernel_helper("tanh_f32")},
    {"erf_f32", kernel_helper("erf_f32")},
    {"float_bits", kernel_helper("float_bits")},
    {"double_bits", kernel_helper("double_bits")},
    {"integer_bits", kernel_helper("integer_bits")},
    {"to_half", kernel_helper("to_half")},
    {"SoundAccesses", sound_accesses_text()},
};

inline std::string type_text(DType dtype, std::string_view scope = "Halide::", bool as_unsigned = false) {
    const std::string type =
        as_unsigned ? "UInt(" + std::to_string(size_of(dtype) * 8) + ")" : std::string(info_of(dtype).halide);
    return std::string(scope) + type;
}

/// Receives one definition as text; subexpressions that get a name become lines before it.
class TextSink : public Sink<Code> {
  public:
    TextSink(expr::Naming& naming, std::set<std::string>& helpers, std::map<std::string, std::string> variables,
             Functions functions = Functions::libm, std::string_view scope = "Halide::")
        : naming_(naming), helpers_(helpers), variables_(std::move(variables)), functions_(functions), scope_(scope) {}

    std::vector<std::string> lines;
    bool switched = false;  ///< without `bool culprit_on` the C library computes functions

    Code variable(const std::string& name) override { return {variables_.at(name)}; }

    Code literal(DType dtype, const Scalar& value) override {
        if (dtype == DType::boolean)
            return in_halide(value.to_bool() ? "Internal::const_true" : "Internal::const_false");
        if (is_reduced(dtype)) return to_half(dtype, literal(DType::f32, value));
        const Code number = expr::literal(dtype, value);
        if (dtype == DType::f32 || dtype == DType::i32) return number;
        if (dtype == DType::f64) return in_halide("Expr", number.text);
        return in_halide("Expr", language::cpp.type(dtype) + "(" + number.text + ")");
    }

    Code from_bits(DType dtype, std::uint64_t bits) override {
        char text[32];
        std::snprintf(text, sizeof text, "0x%0*llxu", static_cast<int>(size_of(dtype) * 2),
                      static_cast<unsigned long long>(bits));
        if (dtype == DType::f64) return helper("double_bits", {{text}});
        if (dtype == DType::i64) return helper("integer_bits", {{text}});
        if (dtype == DType::f32) return helper("float_bits", {{text}});
        if (dtype == DType::i32)  // an integer alone would be folded
            return in_halide("reinterpret", type(dtype) + ", " + helper("float_bits", {{text}}).text);
        return in_halide("reinterpret",
                         type(dtype) + ", " + in_halide("Expr", "uint16_t(" + std::string(text) + ")").text);
    }

    Code cast(DType dtype, bool as_unsigned, const Code& a) override {
        return in_halide("cast", type(dtype, as_unsigned) + ", " + a.text);
    }

    Code signed_bits(DType dtype, const Code& a) override {
        return in_halide("reinterpret", type(dtype) + ", " + a.text);
    }

    Code infix(expr::Op op, const Code& a, const Code& b) override { return expr::infix_code(op, a, b); }

    Code prefix(expr::Op op, const Code& a) override {
        return {(op == expr::Op::logical_not ? "!" : "~") + a.at(Code::prefix), Code::prefix};
    }

    Code call(const std::string& function, const std::vector<Code>& arguments) override {
        return in_halide(function, texts(arguments));
    }

    Code to_half(DType dtype, const Code& a) override { return helper("to_half", {{type(dtype)}, a}); }

    Code libm(expr::Op op, DType dtype, const std::vector<Code>& arguments) override {
        const Code ours = other_than_libm(op, dtype, arguments);
        if (!ours.text.empty() && !switched) return ours;
        helpers_.insert("libm");
        const std::string plain = "libm(\"" + libm_name(op, dtype) + "\", {" + texts(arguments) + "})";
        return {ours.text.empty() ? plain : "(culprit_on ? " + ours.text + " : " + plain + ")"};
    }

    Code load(const std::string& name, const std::vector<Code>& indices) override {
        return {name + "(" + texts({indices.rbegin(), indices.rend()}) + ")"};
    }

    Code share(const expr::Expr& node, Code translated) override {
        if (!naming_.wants_name(node, translated)) return translated;
        const std::string name = naming_.fresh();
        lines.push_back("const " + std::string(scope_) + "Expr " + name + " = " + translated.text + ";");
        return {name};
    }

  private:
    Code other_than_libm(expr::Op op, DType dtype, const std::vector<Code>& arguments) {
        const std::string name(expr::name(op));
        if (functions_ == Functions::halide && has_halide_function(op, dtype)) return call(name, arguments);
        if (functions_ == Functions::vectors && has_vector_function(op, dtype)) return helper(name + "_f32", arguments);
        return {};
    }

  protected:
    static std::string texts(const std::vector<Code>& codes) { return join(codes, &Code::text); }
    /// A call of a function of Halide's.
    Code in_halide(const std::string& function, const std::string& arguments = {}) const {
        return {std::string(scope_) + function + "(" + arguments + ")"};
    }
    std::string type(DType dtype, bool as_unsigned = false) const { return type_text(dtype, scope_, as_unsigned); }
    Code helper(const std::string& name, const std::vector<Code>& arguments) {
        helpers_.insert(name);
        return {name + "(" + texts(arguments) + ")"};
    }

    expr::Naming& naming_;
    std::set<std::string>& helpers_;
    std::map<std::string, std::string> variables_;
    const Functions functions_;
    const std::string_view scope_;
};

}  // namespace whittle::halide
