#include "trace/guard_json.h"

#include <algorithm>

#include "graph/shared_fields.h"

namespace whittle {

using capture::HostValue;
using capture::Outcomes;
using capture::SameTensor;
using capture::SizeCondition;
using capture::SizeSymbol;
using capture::Source;
using capture::SourceKind;
using capture::TensorMatch;

namespace {

/// A member's name or an element's number; a size, or what one that may vary is called.
using Word = std::variant<std::int64_t, std::string>;

struct SourceFile {
    static constexpr const char
        *kName = "source",
        *kMeaning =
            "The source of a value: a local variable, a global, program state, a value that was live at the previous "
            "graph break, a random number, a condition in the program's own words, in this line, or a number that an "
            "operation gets; then the path to the value, members by name and elements by number.";
    std::optional<std::string> local = {}, global = {}, state = {}, condition = {}, operand = {};
    std::optional<std::int64_t> live = {}, random = {}, line = {};
    std::vector<Word> path = {};

    static void fields(auto& field) {
        field.maybe("local", &SourceFile::local, "");
        field.maybe("global", &SourceFile::global, "");
        field.maybe("state", &SourceFile::state, "");
        field.maybe("live", &SourceFile::live, "", Count{});
        field.maybe("random", &SourceFile::random, "", Count{});
        field.maybe("condition", &SourceFile::condition, "");
        field.maybe("line", &SourceFile::line, "", Count{});
        field.maybe("operand", &SourceFile::operand,
                    "The operation and its parameter, as in: aten.mul.Tensor other. Since 1.8.");
        field.maybe("path", &SourceFile::path, "");
    }

    SourceFile() = default;
    explicit SourceFile(const Source& source) {
        const Source* at = &source;
        for (; at->base(); at = at->base()) {
            const bool item = at->kind() == SourceKind::item;
            path.insert(path.begin(), item ? Word(at->index()) : Word(at->name()));
        }
        switch (at->kind()) {
            case SourceKind::local:
                local = at->name();
                break;
            case SourceKind::global:
                global = at->name();
                break;
            case SourceKind::state:
                state = at->name();
                break;
            case SourceKind::live:
                live = at->index();
                break;
            case SourceKind::random:
                random = at->index();
                break;
            case SourceKind::condition:
                condition = at->name(), line = at->index();
                break;
            case SourceKind::operand:
                operand = at->name();
                break;
            case SourceKind::attribute:
            case SourceKind::item:
                break;  // no roots
        }
    }
    /// Nothing where no root is named.
    std::optional<Source> source() const {
        std::optional<Source> source;
        if (local) source = Source::local(*local);
        if (global) source = Source::global(*global);
        if (state) source = Source::state(*state);
        if (live) source = Source::live(*live);
        if (random) source = Source::random(*random);
        if (condition && line) source = Source::condition(*condition, *line);
        if (operand) source = Source::operand(*operand);
        for (const Word& step : path) {
            if (!source) break;
            const auto* name = std::get_if<std::string>(&step);
            source = name ? source->attribute(*name) : source->item(std::get<std::int64_t>(step));
        }
        return source;
    }
};

}  // namespace

template <>
struct Form<Word> {
    static void write(JsonWriter& out, const Word& word, Plain) {
        const auto* text = std::get_if<std::string>(&word);
        text ? out.text(*text) : out.value(std::to_string(std::get<std::int64_t>(word)));
    }
    static Word read(const JsonReader& reader, const Json& value, Plain) {
        return value.is_string() ? Word(reader.in.text(value)) : Word(reader.in.integer(value));
    }
    static Json schema(SchemaMaker&, Plain) { return {{"type", {"string", "integer"}}}; }
};

template <>
struct Form<Source> {
    static void write(JsonWriter& out, const Source& source, Plain) {
        Form<SourceFile>::write(out, SourceFile(source), {});
    }
    static Source read(const JsonReader& reader, const Json& value, Plain) {
        const std::optional<Source> source = Form<SourceFile>::read(reader, value, {}).source();
        if (source) return *source;
        reader.in.fail(
            value, R"(a member "local", "global", "state", "live", "random", "operand", or "condition" with "line")");
    }
    static Json schema(SchemaMaker& maker, Plain) { return Form<SourceFile>::schema(maker, {}); }
};

/// None, a flag, a number, or a text.
template <>
struct Form<HostValue> {
    static void write(JsonWriter& out, const HostValue& value, Plain) {
        if (std::holds_alternative<std::monostate>(value))
            out.value("null");
        else if (const auto* text = std::get_if<std::string>(&value))
            out.text(*text);
        else if (const auto* number = std::get_if<double>(&value))
            out.number(*number);
        else
            out.value(capture::text_of(value));  // true, false and integers as JSON has them
    }
    static HostValue read(const JsonReader& reader, const Json& value, Plain) {
        if (value.is_null()) return {};
        if (value.is_boolean()) return reader.in.boolean(value);
        if (value.is_string()) return reader.in.text(value);
        if (value.is_number_integer()) return reader.in.integer(value);
        return reader.in.number(value);
    }
    static Json schema(SchemaMaker&, Plain) { return {{"type", {"null", "boolean", "number", "string", "object"}}}; }
};

template <>
struct Choices<SizeCondition::Kind> {
    static constexpr SizeCondition::Kind all[] = {SizeCondition::Kind::above, SizeCondition::Kind::equal,
                                                  SizeCondition::Kind::multiple, SizeCondition::Kind::at_most};
};
namespace capture {
std::string_view name(SizeCondition::Kind relation) {
    constexpr std::string_view kNames[] = {"above", "equal", "multiple", "at_most"};
    return kNames[static_cast<std::size_t>(relation)];
}
}  // namespace capture

template <>
struct Fields<SizeSymbol> {
    static constexpr const char *kName = "symbol", *kMeaning = "A size that may vary.";
    static void visit(auto& field) {
        field("name", &SizeSymbol::name, "");
        field("tensor", &SizeSymbol::source, "");
        field("dim", &SizeSymbol::dim, "");
    }
};

namespace {

// A guard is a struct for each kind of condition: where it is to be found, what has to be found there, and the stack.

struct GuardFile {
    std::optional<Source> source = {};
    std::vector<StackFrame> stack = {};

    static void stack_field(auto& field) {
        field.maybe("stack", &GuardFile::stack, "The user's stack where capture relied on it, innermost frame first.");
    }
};

struct TensorGuard : GuardFile {
    using Condition = TensorMatch;
    static constexpr const char *kName = "tensor_guard", *kMeaning =
                                                             "The type of a tensor. A size that may vary is a name or "
                                                             "*; strides are absent if they follow from the sizes.";
    DType dtype = DType::f32;
    std::vector<Word> sizes = {};
    Strides strides = {};
    bool requires_grad = false;
    Placement placement = {};

    static void fields(auto& field) {
        field("tensor", &TensorGuard::source, "");
        field("dtype", &TensorGuard::dtype, "");
        field("sizes", &TensorGuard::sizes, "");
        field.maybe("strides", &TensorGuard::strides, "");
        field.maybe("requires_grad", &TensorGuard::requires_grad, "");
        field.maybe("placement", &TensorGuard::placement, "");
        stack_field(field);
    }
    void take(const TensorMatch& match) {
        dtype = match.dtype, strides = match.strides, requires_grad = match.requires_grad;
        if (match.placement) placement = *match.placement;
        for (std::size_t d = 0; d < match.sizes.size(); ++d) {
            const bool named = d < match.symbols.size() && !match.symbols[d].empty();
            if (match.sizes[d] == capture::kDynamicSize)
                sizes.emplace_back(named ? match.symbols[d] : "*");
            else
                sizes.emplace_back(match.sizes[d]);
        }
    }
    TensorMatch condition() const {
        TensorMatch match{.dtype = dtype,
                          .sizes = {},
                          .strides = strides,
                          .requires_grad = requires_grad,
                          .placement = placed(placement)};
        for (const Word& word : sizes) {
            const auto* symbol = std::get_if<std::string>(&word);
            match.sizes.push_back(symbol ? capture::kDynamicSize : std::get<std::int64_t>(word));
            match.symbols.push_back(symbol && *symbol != "*" ? *symbol : "");
        }
        const auto named = [](const std::string& symbol) { return !symbol.empty(); };
        if (std::ranges::none_of(match.symbols, named)) match.symbols.clear();
        return match;
    }
};

struct ValueGuard : GuardFile {
    using Condition = HostValue;
    static constexpr const char *kName = "value_guard",
                                *kMeaning =
                                    "A number, string or boolean of the program; null is none. Floats are never "
                                    "written as integers; NaN and infinities are {\"float\": \"nan\"}.";
    HostValue equals = {};

    static void fields(auto& field) {
        field("value", &ValueGuard::source, "");
        field("equals", &ValueGuard::equals, "");
        stack_field(field);
    }
    void take(const HostValue& value) { equals = value; }
    HostValue condition() const { return equals; }
};

struct SameGuard : GuardFile {
    using Condition = SameTensor;
    static constexpr const char *kName = "same_guard", *kMeaning = "The source is the same tensor as another source.";
    std::optional<Source> as = {};

    static void fields(auto& field) {
        field("same", &SameGuard::source, "");
        field("as", &SameGuard::as, "");
        stack_field(field);
    }
    void take(const SameTensor& same) { as = same.as; }
    SameTensor condition() const { return {*as}; }
};

struct BranchGuard : GuardFile {
    using Condition = Outcomes;
    static constexpr const char
        *kName = "branch_guard",
        *kMeaning = "The outcomes of a condition of the program, in order: 0 or 1, or the value of a switch.";
    std::vector<std::int64_t> values = {};
    bool selects = false;

    static void fields(auto& field) {
        field("branch", &BranchGuard::source, "");
        field("outcomes", &BranchGuard::values, "");
        field.maybe("selects", &BranchGuard::selects, "");
        stack_field(field);
    }
    void take(const Outcomes& went) { values = went.values, selects = went.selects; }
    Outcomes condition() const { return {values, selects}; }
};

struct SizeGuard : GuardFile {
    using Condition = SizeCondition;
    static constexpr const char *kName = "size_guard",
                                *kMeaning =
                                    "size > factor, size == factor * of, size % factor == 0, or size <= factor.";
    SizeSymbol size = {};
    SizeCondition::Kind relation = SizeCondition::Kind::above;
    std::int64_t factor = 1;
    std::optional<SizeSymbol> of = {};

    static void fields(auto& field) {
        field("size", &SizeGuard::size, "");
        field("relation", &SizeGuard::relation, "");
        field("factor", &SizeGuard::factor, "");
        field.maybe("of", &SizeGuard::of, "");
        stack_field(field);
    }
    void take(const SizeCondition& told) {
        size = told.left, relation = told.kind, factor = told.factor, of = told.right;
    }
    SizeCondition condition() const { return {.kind = relation, .left = size, .factor = factor, .right = of}; }
};

void check(const JsonReader& reader, const Json& value, const SizeCondition& condition) {
    if ((condition.kind == SizeCondition::Kind::equal) != condition.right.has_value())
        reader.in.fail(value, "a member \"of\" if the relation is \"equal\", and none otherwise");
    if (condition.factor == 0 && condition.kind == SizeCondition::Kind::multiple)
        reader.in.fail(reader.in.member(value, "factor"), "a factor that is not 0");
}

/// Calls f(File()) with each kind's struct and the member that tells it from the others.
void for_each_kind(auto&& f) {
    f(TensorGuard(), "tensor");
    f(ValueGuard(), "value");
    f(SameGuard(), "same");
    f(BranchGuard(), "branch");
    f(SizeGuard(), "size");
}

}  // namespace

void Form<capture::Guard>::write(JsonWriter& out, const capture::Guard& guard, Plain) {
    for_each_kind([&](auto file, const char*) {
        const auto* condition = std::get_if<typename decltype(file)::Condition>(&guard.condition());
        if (!condition) return;
        file.source = guard.source(), file.stack = guard.stack();
        file.take(*condition);
        Form<decltype(file)>::write(out, file, {});
    });
}

capture::Guard Form<capture::Guard>::read(const JsonReader& reader, const Json& value, Plain) {
    std::optional<capture::Guard> guard;
    for_each_kind([&](auto file, const char* member) {
        if (guard || !reader.in.find(value, member)) return;
        file = Form<decltype(file)>::read(reader, value, {});
        if constexpr (std::is_same_v<decltype(file), SizeGuard>) {
            check(reader, value, file.condition());
            guard = capture::Guard::relation(file.condition(), std::move(file.stack));
        } else {
            guard.emplace(*file.source, file.condition(), std::move(file.stack));
        }
    });
    if (guard) return *std::move(guard);
    reader.in.fail(value, R"(a member "tensor", "value", "same", "size" or "branch")");
}

Json Form<capture::Guard>::schema(SchemaMaker& maker, Plain) {
    Json kinds = Json::array();
    for_each_kind([&](auto file, const char*) { kinds.push_back(Form<decltype(file)>::schema(maker, {})); });
    return {{"anyOf", kinds}};
}

}  // namespace whittle
