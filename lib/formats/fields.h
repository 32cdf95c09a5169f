// Files and printed JSON from one description: a struct lists its members once, with what they mean,
//
//   struct IndexModel {
//       std::string name;
//       std::filesystem::path file = {};
//
//       template <class Field>
//       static void fields(Field& field) {
//           field("name", &IndexModel::name, "After its file or folder; no two are alike.");
//           field("file", &IndexModel::file, "Relative to the trace's folder.");
//       }
//   };
//
// and visitors of the list write it, read it with errors that name file and place, and make its JSON Schema.
//
//   field(NAME, MEMBER, MEANING[, FORM])            always there
//   field.maybe(NAME, MEMBER, MEANING[, FORM])      left out where it has the value of a new struct
//   field.lately(NAME, MEMBER, MEANING[, FORM])     always written; files of older versions may lack it
//
// MEMBER is a pointer to a member; in structs that are only written also a function of the struct, and an empty
// optional is left out. A member's type decides its form, unless FORM does (field_forms.h). `static constexpr const
// char* kName` makes a struct a definition of the schema, which others refer to, and kMeaning describes it; `static
// constexpr bool kLines = true` writes it with a line for each member and for each entry of its lists. A struct whose
// header knows nothing of this is described by a specialization of Fields, an enumeration by one of Choices.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/visitors.h"

namespace whittle {

// ---- forms

struct TextForm {
    static void write(JsonWriter& out, const std::string& value, auto) { out.text(value); }
    static std::string read(const JsonReader& reader, const Json& value, auto) { return reader.in.text(value); }
};
template <>
struct Form<std::string> : TextForm {
    static Json schema(SchemaMaker&, Plain) { return type_schema("string"); }
};
template <>
struct Form<std::string, Matching> : TextForm {
    static Json schema(SchemaMaker&, Matching as);
};
template <>
struct Form<std::string, OneOf> : TextForm {
    static Json schema(SchemaMaker&, OneOf as);
};
template <>
struct Form<std::string_view> {
    static void write(JsonWriter& out, std::string_view value, Plain) { out.text(value); }
    static Json schema(SchemaMaker&, Plain) { return type_schema("string"); }
};
template <>
struct Form<bool> {
    static void write(JsonWriter& out, bool value, Plain) { out.value(value ? "true" : "false"); }
    static bool read(const JsonReader& reader, const Json& value, Plain) { return reader.in.boolean(value); }
    static Json schema(SchemaMaker&, Plain) { return type_schema("boolean"); }
};
template <>
struct Form<double> {
    static void write(JsonWriter& out, double value, auto) { out.number(value); }
    static double read(const JsonReader& reader, const Json& value, auto) { return reader.in.number(value); }
    static Json schema(SchemaMaker&, Plain) { return type_schema("number"); }
};
template <>
struct Form<double, Count> : Form<double> {
    static Json schema(SchemaMaker&, Count) { return count_schema("number"); }
};
template <std::integral T>
struct Form<T, Plain> {
    static void write(JsonWriter& out, T value, Plain) { out.value(std::to_string(value)); }
    static T read(const JsonReader& reader, const Json& value, Plain) { return integer<T>(reader.in, value); }
    static Json schema(SchemaMaker&, Plain) {
        return std::is_unsigned_v<T> ? count_schema("integer") : type_schema("integer");
    }
};
template <std::integral T>
struct Form<T, Count> {
    static void write(JsonWriter& out, T value, Count) { out.value(std::to_string(value)); }
    static T read(const JsonReader& reader, const Json& value, Count) {
        if (reader.in.integer(value) < 0) reader.in.fail(value, "an integer, 0 or more");
        return integer<T>(reader.in, value);
    }
    static Json schema(SchemaMaker&, Count) { return count_schema("integer"); }
};
template <>
struct Form<std::filesystem::path> {
    static void write(JsonWriter& out, const std::filesystem::path& value, auto) { out.text(value.generic_string()); }
    static std::filesystem::path read(const JsonReader& reader, const Json& value, Plain) {
        return reader.in.text(value);
    }
    static Json schema(SchemaMaker&, auto) { return type_schema("string"); }
};
template <>
struct Form<std::filesystem::path, InFolder> : Form<std::filesystem::path> {
    static std::filesystem::path read(const JsonReader& reader, const Json& value, InFolder) {
        return path_in_folder(reader.in, value);
    }
};

template <class T, class As>
struct Form<std::vector<T>, As> {
    static constexpr bool kOneLine = std::is_same_v<As, OneLine>;
    using Element = Form<T, std::conditional_t<kOneLine, Plain, As>>;
    static auto element([[maybe_unused]] As as) {
        if constexpr (kOneLine)
            return Plain{};
        else
            return as;
    }
    static void write(JsonWriter& out, const std::vector<T>& list, As as) {
        out.open('[', out.in_lines() && !kOneLine);
        for (const T& value : list) {
            out.next();
            Element::write(out, value, element(as));
        }
        out.close(']');
    }
    static std::vector<T> read(const JsonReader& reader, const Json& value, As as) {
        std::vector<T> list;
        list.reserve(reader.in.list(value).size());
        for (const Json& entry : value) list.push_back(Element::read(reader, entry, element(as)));
        return list;
    }
    static Json schema(SchemaMaker& maker, As as) { return list_schema(Element::schema(maker, element(as))); }
};
template <class T, class As>
struct Form<std::map<std::string, T>, As> {
    static void write(JsonWriter& out, const std::map<std::string, T>& values, As as) {
        out.open('{', false);
        for (const auto& [key, value] : values) {
            out.key(key);
            Form<T, As>::write(out, value, as);
        }
        out.close('}');
    }
    static std::map<std::string, T> read(const JsonReader& reader, const Json& value, As as) {
        std::map<std::string, T> values;
        for (const auto& [key, entry] : reader.in.object(value).items())
            values.emplace(key, Form<T, As>::read(reader, entry, as));
        return values;
    }
    static Json schema(SchemaMaker& maker, As as) { return map_schema(Form<T, As>::schema(maker, as)); }
};
/// Empty is null.
template <class T>
struct Form<std::optional<T>, OrNull> {
    static void write(JsonWriter& out, const std::optional<T>& value, OrNull) {
        value ? Form<T>::write(out, *value, Plain{}) : out.value("null");
    }
    static Json schema(SchemaMaker& maker, OrNull) {
        return any_schema({type_schema("null"), Form<T>::schema(maker, Plain{})});
    }
};
/// Of a member: left out where it is empty.
template <class T, class As>
struct Form<std::optional<T>, As> {
    static void write(JsonWriter& out, const std::optional<T>& value, As as) { Form<T, As>::write(out, *value, as); }
    static std::optional<T> read(const JsonReader& reader, const Json& value, As as) {
        return Form<T, As>::read(reader, value, as);
    }
    static Json schema(SchemaMaker& maker, As as) { return Form<T, As>::schema(maker, as); }
};
template <Chosen T>
struct Form<T, Plain> {
    static void write(JsonWriter& out, T value, Plain) { out.text(name(value)); }
    static T read(const JsonReader& reader, const Json& value, Plain) {
        const std::string& text = reader.in.text(value);
        for (const T one : Choices<T>::all)
            if (name(one) == text) return one;
        reader.in.fail(value, one_of(names()));
    }
    static Json schema(SchemaMaker&, Plain) { return word_schema(names()); }

  private:
    static std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const T one : Choices<T>::all) all.emplace_back(name(one));
        return all;
    }
};
template <Described T>
struct Form<T, Plain> {
    static void write(JsonWriter& out, const T& object, Plain) {
        out.open(
            '{', requires { requires About<T>::kLines; });
        write_members(out, object);
        out.close('}');
    }
    static T read(const JsonReader& reader, const Json& value, Plain) {
        T object{};
        read_members(reader, value, object);
        return object;
    }
    static Json schema(SchemaMaker& maker, Plain) {
        const auto make = [&] {
            const char* meaning = "";
            if constexpr (requires { About<T>::kMeaning; }) meaning = About<T>::kMeaning;
            Json schema = object_schema(meaning);
            describe_members<T>(maker, schema);
            return schema;
        };
        if constexpr (requires { About<T>::kName; })
            return maker.define(About<T>::kName, make);
        else
            return make();
    }
};

/// The value's JSON alone, on one line.
template <class T>
std::string json_of(const T& value, TensorWriter* tensors = nullptr) {
    JsonWriter out(JsonWriter::Begin::empty, tensors);
    Form<T>::write(out, value, Plain{});
    return out.take();
}

/// The value's JSON for a program to print: what JSON has no numbers for is null.
template <class T>
nlohmann::json report_json(const T& value) {
    JsonWriter out;
    out.null_for_no_number();
    Form<T>::write(out, value, Plain{});
    return parse_report(out.take());
}

/// The schema of what a program prints; more members may come.
template <class... T>
Json report_schema(const char* title, const char* description) {
    SchemaMaker maker;
    return maker.report(title, description, {Form<T>::schema(maker, Plain{})...});
}

// ---- whole files

/// What a file says of itself, and its schema of it.
struct FileFormat {
    const char* name;  ///< "whittle.trace"
    int major, minor;
    const char* title;
    const char* description;
    bool tensors = false;  ///< it may have some in a file beside it
};

/// The file's text; `members` are those of its struct, made by a writer that begins in lines. `sidecar` is the file of
/// tensors, empty where there is none.
std::string file_text(const FileFormat& format, const std::string& members, const std::string& sidecar = {});

template <class T>
std::string file_text(const FileFormat& format, const T& object) {
    JsonWriter out(JsonWriter::Begin::in_members);
    write_members(out, object);
    return file_text(format, out.take());
}

/// Throws Error for another format or version, unknown members, and what is not as T's fields say.
template <class T>
void read_file_members(Document& document, const FileFormat& format, TensorReader* tensors, T& object) {
    document.require_format(format.name, format.major, format.minor);
    if (format.tensors)
        read_members(JsonReader{document, tensors}, document.root(), object, {"format", "version", "tensors"});
    else
        read_members(JsonReader{document, tensors}, document.root(), object, {"format", "version"});
}

template <class T>
Json file_schema(const FileFormat& format) {
    SchemaMaker maker{.closed = true};
    Json schema = root_schema(format);
    describe_members<T>(maker, schema);
    return maker.with_definitions(std::move(schema));
}

}  // namespace whittle
