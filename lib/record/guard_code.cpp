#include "record/guard_code.h"

#include "printers/api_spelling.h"
#include "printers/cpp_source.h"
#include "text/language.h"

namespace whittle {
using language::api_cpp, language::cpp;

using capture::Guard;
using capture::HostValue;
using capture::SizeSymbol;
using capture::Source;
using capture::SourceKind;

std::optional<std::string> local_name(const Source& source) {
    const Source& root = source.root();
    if (root.kind() != SourceKind::local && root.kind() != SourceKind::global) return std::nullopt;
    return root.name() + source.text().substr(root.text().size());
}

namespace {

constexpr const char* kNotRead = "no graph reads the guarded tensor";

/// The tensor's expression; nothing where the recorded call has none there.
std::optional<std::string> tensor_code(const Source& source, const LocalTensors& locals) {
    const auto name = local_name(source);
    if (!name || !locals.contains(*name)) return std::nullopt;
    return "frame.L.at(" + cpp.quoted(*name) + ")";
}

struct ValueCode {
    std::string operator()(std::monostate) const { return "Value()"; }
    std::string operator()(bool value) const { return "Value(" + cpp.boolean(value) + ")"; }
    std::string operator()(std::int64_t value) const { return "Value(std::int64_t{" + cpp.integer(value) + "})"; }
    std::string operator()(double value) const { return "Value(double{" + api_cpp.number(value) + "})"; }
    std::string operator()(const std::string& value) const { return "Value(std::string(" + cpp.quoted(value) + "))"; }
};

GuardCode state_code(const std::string& what, const HostValue& value) {
    const bool* flag = std::get_if<bool>(&value);
    if (what == "grad_mode" && flag)
        return {.condition = std::string("whittle::grad_enabled() == ") + cpp.boolean(*flag)};
    const std::string* dtype = std::get_if<std::string>(&value);
    if (what == "default_dtype" && dtype)
        if (const auto known = dtype_from_name(*dtype))
            return {.condition = "whittle::get_default_dtype() == whittle::" + api_cpp.type(*known)};
    return {.why_not = "the API cannot read this state"};
}

/// One function for each kind of condition.
struct ConditionCode {
    const Source& source;
    const LocalTensors& locals;

    GuardCode operator()(const capture::TensorMatch& match) const {
        static_assert(capture::kDynamicSize == -1, "__matches takes any size there");
        const auto tensor = tensor_code(source, locals);
        if (!tensor) return {.why_not = kNotRead};
        const std::string strides =
            "whittle::IntList" + (match.strides.empty() ? "(std::nullopt)" : cpp.sizes(match.strides));
        return {.condition = "__matches(" + *tensor + ", whittle::" + api_cpp.type(match.dtype) + ", " +
                             cpp.sizes(match.sizes) + ", " + strides + ", " + cpp.boolean(match.requires_grad) + ")"};
    }
    GuardCode operator()(const capture::StateEqual& state) const { return state_code(source.name(), state.value); }
    GuardCode operator()(const capture::HostEquals& equal) const {
        const auto name = local_name(source);
        if (!name) return {.why_not = "no local variable holds the guarded value"};
        const std::string code = std::visit(ValueCode{}, equal.value);
        return {.condition = "frame.S.at(" + cpp.quoted(*name) + ") == " + code, .scalar = std::pair(*name, code)};
    }
    GuardCode operator()(const capture::SameTensor& same) const {
        const auto one = tensor_code(source, locals), other = tensor_code(same.as, locals);
        if (!one || !other) return {.why_not = "the graphs read both tensors under one name"};
        return {.condition = *one + ".whittle_identity() == " + *other + ".whittle_identity()"};
    }
    GuardCode operator()(const capture::Outcomes&) const {
        return {.why_not = "the guard is a condition in the program's own code"};
    }
    GuardCode operator()(const capture::SizeCondition& condition) const {
        const bool known = tensor_code(condition.left.source, locals) &&
                           (!condition.right || tensor_code(condition.right->source, locals));
        return known ? GuardCode{.condition = condition.text()}
                     : GuardCode{.why_not = "no graph reads the tensors of this condition"};
    }
};

}  // namespace

GuardCode guard_code(const Guard& guard, const LocalTensors& locals) {
    return std::visit(ConditionCode{guard.source(), locals}, guard.condition());
}

std::vector<SizeSymbol> symbols_of(const Guard& guard) {
    std::vector<SizeSymbol> symbols;
    if (const auto* match = guard.as<capture::TensorMatch>())
        for (std::size_t d = 0; d < match->sizes.symbols.size(); ++d)
            if (const std::string& name = match->sizes.symbols[d]; !name.empty())
                symbols.push_back({name, guard.source(), d});
    if (const auto* condition = guard.as<capture::SizeCondition>()) {
        symbols.push_back(condition->left);
        if (condition->right) symbols.push_back(*condition->right);
    }
    return symbols;
}

std::string symbol_code(const SizeSymbol& symbol, const LocalTensors& locals) {
    const auto tensor = tensor_code(symbol.source, locals);
    if (!tensor) return {};
    return "[[maybe_unused]] const std::int64_t " + symbol.name + " = " + *tensor + ".size(" +
           std::to_string(symbol.dim) + ");";
}

}  // namespace whittle
