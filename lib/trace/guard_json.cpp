#include "trace/guard_json.h"

#include <algorithm>
#include <array>
#include <utility>

#include "graph/json_text.h"
#include "graph/stack_json.h"
#include "graph/tensor_json.h"

namespace whittle {

namespace {

using capture::Condition;
using capture::Guard;
using capture::HostValue;
using capture::Outcomes;
using capture::SameTensor;
using capture::SizeCondition;
using capture::SizeSymbol;
using capture::Source;
using capture::SourceKind;
using capture::TensorMatch;
using Json = Document::Json;

// ---- Writing

std::string path_text(const Source& source) {
    if (!source.base()) return {};
    const std::string before = path_text(*source.base());
    return before + (before.empty() ? "" : ", ") +
           (source.kind() == SourceKind::item ? std::to_string(source.index()) : json_text(source.name()));
}

std::string source_text(const Source& source) {
    const Source& root = source.root();
    const std::string path = source.base() ? ", \"path\": [" + path_text(source) + "]" : "";
    switch (root.kind()) {
        case SourceKind::local:
            return "{\"local\": " + json_text(root.name()) + path + "}";
        case SourceKind::global:
            return "{\"global\": " + json_text(root.name()) + path + "}";
        case SourceKind::state:
            return "{\"state\": " + json_text(root.name()) + path + "}";
        case SourceKind::live:
            return "{\"live\": " + std::to_string(root.index()) + path + "}";
        case SourceKind::random:
            return "{\"random\": " + std::to_string(root.index()) + path + "}";
        case SourceKind::condition:
            return "{\"condition\": " + json_text(root.name()) + ", \"line\": " + std::to_string(root.index()) + "}";
        case SourceKind::attribute:
        case SourceKind::item:
            break;  // no roots
    }
    return "{}";
}

std::string symbol_text(const SizeSymbol& symbol) {
    return "{\"name\": " + json_text(symbol.name) + ", \"tensor\": " + source_text(symbol.source) +
           ", \"dim\": " + std::to_string(symbol.dim) + "}";
}

constexpr std::array<std::pair<SizeCondition::Kind, std::string_view>, 3> kRelations = {
    {{SizeCondition::Kind::above, "above"},
     {SizeCondition::Kind::equal, "equal"},
     {SizeCondition::Kind::multiple, "multiple"}}};

/// "s0"; "*" of a size that may vary and has no name.
std::string symbol_of(const TensorMatch& match, std::size_t dim) {
    return dim < match.symbols.size() && !match.symbols[dim].empty() ? match.symbols[dim] : "*";
}

struct Writer {
    const Source& source;

    std::string operator()(const TensorMatch& match) const {
        std::string text = "\"tensor\": " + source_text(source) +
                           ", \"dtype\": " + json_text(std::string(name(match.dtype))) + ", \"sizes\": [";
        for (std::size_t d = 0; d < match.sizes.size(); ++d) {
            const bool varies = match.sizes[d] == capture::kDynamicSize;
            text += (d > 0 ? ", " : "") + (varies ? json_text(symbol_of(match, d)) : std::to_string(match.sizes[d]));
        }
        text += "]";
        if (!match.strides.empty()) text += ", \"strides\": " + json_list(match.strides);
        return text + (match.requires_grad ? ", \"requires_grad\": true" : "");
    }
    std::string operator()(const HostValue& value) const {
        std::string equals = "null";
        if (const auto* text = std::get_if<std::string>(&value))
            equals = json_text(*text);
        else if (const auto* number = std::get_if<double>(&value))
            equals = json_number(*number);
        else if (!std::holds_alternative<std::monostate>(value))
            equals = capture::text_of(value);  // true, false and integers as JSON has them
        return "\"value\": " + source_text(source) + ", \"equals\": " + equals;
    }
    std::string operator()(const SameTensor& same) const {
        return "\"same\": " + source_text(source) + ", \"as\": " + source_text(same.as);
    }
    std::string operator()(const Outcomes& outcomes) const {
        return "\"branch\": " + source_text(source) + ", \"outcomes\": " + json_list(outcomes.values) +
               (outcomes.selects ? ", \"selects\": true" : "");
    }
    std::string operator()(const SizeCondition& condition) const {
        const auto* relation = std::ranges::find(kRelations, condition.kind, &decltype(kRelations)::value_type::first);
        return "\"size\": " + symbol_text(condition.left) +
               ", \"relation\": " + json_text(std::string(relation->second)) +
               ", \"factor\": " + std::to_string(condition.factor) +
               (condition.right ? ", \"of\": " + symbol_text(*condition.right) : "");
    }
};

// ---- Reading

Source read_source(const Document& in, const Json& value) {
    in.only_members(value, {"local", "global", "state", "live", "random", "condition", "line", "path"});
    std::optional<Source> source;
    if (const Json* local = in.find(value, "local")) source = Source::local(in.text(*local));
    if (const Json* global = in.find(value, "global")) source = Source::global(in.text(*global));
    if (const Json* state = in.find(value, "state")) source = Source::state(in.text(*state));
    if (const Json* live = in.find(value, "live")) source = Source::live(in.integer(*live));
    if (const Json* random = in.find(value, "random")) source = Source::random(in.integer(*random));
    if (const Json* condition = in.find(value, "condition"))
        source = Source::condition(in.text(*condition), in.integer(in.member(value, "line")));
    if (!source) in.fail(value, R"(a member "local", "global", "state", "live", "random" or "condition")");
    if (const Json* path = in.find(value, "path"))
        for (const Json& step : in.list(*path))
            source = step.is_string() ? source->attribute(in.text(step)) : source->item(in.integer(step));
    return *std::move(source);
}

SizeSymbol read_symbol(const Document& in, const Json& value) {
    in.only_members(value, {"name", "tensor", "dim"});
    const Json& dim = in.member(value, "dim");
    if (in.integer(dim) < 0) in.fail(dim, "a dimension");
    return {in.text(in.member(value, "name")), read_source(in, in.member(value, "tensor")),
            static_cast<std::size_t>(in.integer(dim))};
}

TensorMatch read_match(const Document& in, const Json& value) {
    TensorMatch match{.dtype = read_dtype(in, in.member(value, "dtype"))};
    const Json& sizes = in.list(in.member(value, "sizes"));
    for (const Json& size : sizes) {
        match.sizes.push_back(size.is_string() ? capture::kDynamicSize : in.integer(size));
        match.symbols.resize(match.sizes.size());
        if (size.is_string() && size != "*") match.symbols.back() = in.text(size);
    }
    const auto named = [](const std::string& symbol) { return !symbol.empty(); };
    if (std::ranges::none_of(match.symbols, named)) match.symbols.clear();
    if (const Json* strides = in.find(value, "strides")) match.strides = in.integers(*strides);
    if (const Json* flag = in.find(value, "requires_grad")) match.requires_grad = in.boolean(*flag);
    return match;
}

HostValue read_value(const Document& in, const Json& value) {
    if (value.is_null()) return {};
    if (value.is_boolean()) return in.boolean(value);
    if (value.is_string()) return in.text(value);
    if (value.is_number_integer()) return in.integer(value);
    return in.number(value);
}

SizeCondition read_condition(const Document& in, const Json& value) {
    const Json& name = in.member(value, "relation");
    const auto* relation = std::ranges::find(kRelations, in.text(name), &decltype(kRelations)::value_type::second);
    if (relation == kRelations.end()) in.fail(name, R"("above", "equal" or "multiple")");
    SizeCondition condition{.kind = relation->first,
                            .left = read_symbol(in, in.member(value, "size")),
                            .factor = in.integer(in.member(value, "factor"))};
    if (const Json* of = in.find(value, "of")) condition.right = read_symbol(in, *of);
    if ((condition.kind == SizeCondition::Kind::equal) != condition.right.has_value())
        in.fail(value, "a member \"of\" where the relation is \"equal\", and only there");
    if (condition.factor == 0 && condition.kind == SizeCondition::Kind::multiple)
        in.fail(in.member(value, "factor"), "a factor that is not 0");
    return condition;
}

}  // namespace

std::string guard_to_json(const Guard& guard) {
    const std::string stack = guard.stack().empty() ? "" : ", \"stack\": " + stack_to_json(guard.stack());
    return "{" + std::visit(Writer{guard.source()}, guard.condition()) + stack + "}";
}

Guard read_guard(const Document& in, const Json& value) {
    in.only_members(value, {"tensor", "dtype", "sizes", "strides", "requires_grad", "value", "equals", "same", "as",
                            "size", "relation", "factor", "of", "branch", "outcomes", "selects", "stack"});
    std::vector<StackFrame> stack;
    if (const Json* frames = in.find(value, "stack")) stack = read_stack(in, *frames);
    if (const Json* source = in.find(value, "tensor"))
        return {read_source(in, *source), read_match(in, value), std::move(stack)};
    if (const Json* source = in.find(value, "value"))
        return {read_source(in, *source), read_value(in, in.member(value, "equals")), std::move(stack)};
    if (const Json* source = in.find(value, "same"))
        return {read_source(in, *source), SameTensor{read_source(in, in.member(value, "as"))}, std::move(stack)};
    if (const Json* source = in.find(value, "branch")) {
        const Json* selects = in.find(value, "selects");
        return {read_source(in, *source),
                Outcomes{in.integers(in.member(value, "outcomes")), selects && in.boolean(*selects)}, std::move(stack)};
    }
    if (in.find(value, "size")) return Guard::relation(read_condition(in, value), std::move(stack));
    in.fail(value, R"(a member "tensor", "value", "same", "size" or "branch")");
}

}  // namespace whittle
