#include "trace/guard_json.h"

#include <algorithm>

#include "formats/shared_fields.h"
#include "graph/placement.h"

namespace whittle {

using capture::HostEquals;
using capture::HostValue;
using capture::MatchedSizes;
using capture::Outcomes;
using capture::SameTensor;
using capture::SizeCondition;
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
            "graph break, a random number, a condition as the program's source has it, with its line, or a number that "
            "an operation gets; then the path to the value, members by name and elements by number.";
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

/// A size that may vary is its symbol, or "*".
template <>
struct Form<MatchedSizes> {
    static void write(JsonWriter& out, const MatchedSizes& sizes, Plain) {
        std::vector<Word> words;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            const bool named = d < sizes.symbols.size() && !sizes.symbols[d].empty();
            if (sizes[d] == capture::kDynamicSize)
                words.emplace_back(named ? sizes.symbols[d] : "*");
            else
                words.emplace_back(sizes[d]);
        }
        Form<std::vector<Word>>::write(out, words, {});
    }
    static MatchedSizes read(const JsonReader& reader, const Json& value, Plain) {
        MatchedSizes sizes;
        for (const Word& word : Form<std::vector<Word>>::read(reader, value, {})) {
            const auto* symbol = std::get_if<std::string>(&word);
            sizes.push_back(symbol ? capture::kDynamicSize : std::get<std::int64_t>(word));
            sizes.symbols.push_back(symbol && *symbol != "*" ? *symbol : "");
        }
        if (std::ranges::all_of(sizes.symbols, &std::string::empty)) sizes.symbols.clear();
        return sizes;
    }
    static Json schema(SchemaMaker& maker, Plain) { return Form<std::vector<Word>>::schema(maker, {}); }
};

template <>
struct Form<const Placement*> {
    static void write(JsonWriter& out, const Placement* placement, Plain) {
        Form<Placement>::write(out, *placement, {});
    }
    static const Placement* read(const JsonReader& reader, const Json& value, Plain) {
        return placed(Form<Placement>::read(reader, value, {}));
    }
    static Json schema(SchemaMaker& maker, Plain) { return Form<Placement>::schema(maker, {}); }
};

namespace {

/// A guard in a file: where it is to be found, what has to be found there, and the stack.
template <class C>
struct GuardFile : C {
    static constexpr const char *kName = C::kFile, *kMeaning = C::kMeaning;
    std::optional<Source> at = {};
    std::vector<StackFrame> stack = {};

    static void fields(auto& field) {
        if constexpr (requires { C::kSource; }) field(C::kSource, &GuardFile::at, "");
        C::fields(field);
        field.maybe("stack", &GuardFile::stack,
                    "The user's stack where capture relied on the guarded value, innermost frame first.");
    }
};

void check(const JsonReader& reader, const Json& value, const SizeCondition& condition) {
    if ((condition.kind == SizeCondition::Kind::equal) != condition.right.has_value())
        reader.in.fail(value, "a member \"of\" if and only if the relation is \"equal\"");
    if (condition.factor == 0 && condition.kind == SizeCondition::Kind::multiple)
        reader.in.fail(reader.in.member(value, "factor"), "a factor that is not 0");
}

/// Calls f(File()) with the struct of each kind of guard in files and the member that tells it from the others.
void for_each_kind(auto&& f) {
    f(GuardFile<TensorMatch>(), TensorMatch::kSource);
    f(GuardFile<HostEquals>(), HostEquals::kSource);
    f(GuardFile<SameTensor>(), SameTensor::kSource);
    f(GuardFile<Outcomes>(), Outcomes::kSource);
    f(GuardFile<SizeCondition>(), "size");
}

capture::Guard guard_of(const GuardFile<SizeCondition>& file) { return capture::Guard::relation(file, file.stack); }
capture::Guard guard_of(const GuardFile<HostEquals>& file) {
    return capture::Guard::scalar(*file.at, file.value, file.stack);
}
template <class C>
capture::Guard guard_of(const GuardFile<C>& file) {
    return {*file.at, static_cast<const C&>(file), file.stack};
}

}  // namespace

void Form<capture::Guard>::write(JsonWriter& out, const capture::Guard& guard, Plain) {
    std::visit(
        [&](const auto& condition) {
            using Written = typename std::remove_cvref_t<decltype(condition)>::Written;
            GuardFile<Written> file{condition, guard.source(), guard.stack()};
            Form<GuardFile<Written>>::write(out, file, {});
        },
        guard.condition());
}

capture::Guard Form<capture::Guard>::read(const JsonReader& reader, const Json& value, Plain) {
    std::optional<capture::Guard> guard;
    for_each_kind([&](auto file, const char* member) {
        if (guard || !reader.in.find(value, member)) return;
        file = Form<decltype(file)>::read(reader, value, {});
        if constexpr (std::is_same_v<decltype(file), GuardFile<SizeCondition>>) check(reader, value, file);
        guard = guard_of(file);
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
