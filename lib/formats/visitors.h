// The visitors of a struct's list of fields (fields.h): they write it, read it and make its JSON Schema, each member by
// the Form of its type.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/field_forms.h"
#include "formats/json_io.h"

namespace whittle {

/// Any list of fields.
struct AnyField {
    void operator()(auto&&...) const {}
    void maybe(auto&&...) const {}
    void lately(auto&&...) const {}
};

template <class T>
struct Fields;
template <class T>
requires requires(AnyField& field) { T::fields(field); }
struct Fields<T> {
    static void visit(auto& field) { T::fields(field); }
};
template <class T>
concept Described = requires(AnyField& field) {
    Fields<T>::visit(field);
};

/// Specialized: `static constexpr E all[]`, whose texts are name(E).
template <class E>
struct Choices;
template <class E>
concept Chosen = requires {
    Choices<E>::all;
};

/// write(), read() and schema() of a type in a form.
template <class T, class As = Plain>
struct Form;

template <class T, class Member>
using FieldType = std::remove_cvref_t<std::invoke_result_t<const Member&, const T&>>;

/// Where kName, kMeaning and kLines are: the struct, or its description elsewhere.
template <class T>
struct AboutOf {
    using Type = Fields<T>;
};
template <class T>
requires requires(AnyField& field) { T::fields(field); }
struct AboutOf<T> {
    using Type = T;
};
template <class T>
using About = typename AboutOf<T>::Type;

/// A new struct.
template <class T>
const T& usual_values() {
    static const T usual{};
    return usual;
}

/// Whether a member has a new struct's value: `maybe` leaves it out then.
template <class T, class Member>
bool is_left_out(const T& object, const Member& member) {
    using Value = FieldType<T, Member>;
    const auto same = [](const Value& value, [[maybe_unused]] const Value& usual) {
        if constexpr (requires { value.empty(); })
            return value.empty();
        else if constexpr (requires { value.has_value(); })
            return !value.has_value();
        else
            return value == usual;
    };
    if constexpr (std::is_member_object_pointer_v<Member> && std::is_default_constructible_v<T>)
        return same(object.*member, usual_values<T>().*member);
    else
        return same(std::invoke(member, object), Value{});
}

template <class T>
class FieldWriter {
  public:
    FieldWriter(JsonWriter& out, const T& object) : out_(out), object_(object) {}

    template <class Member, class As = Plain>
    void operator()(const char* name, const Member& member, const char*, As as = {}) {
        out_.key(name);
        Form<FieldType<T, Member>, As>::write(out_, std::invoke(member, object_), as);
    }
    template <class Member, class As = Plain>
    void maybe(const char* name, const Member& member, const char* meaning, As as = {}) {
        if (!is_left_out(object_, member)) (*this)(name, member, meaning, as);
    }
    template <class Member, class As = Plain>
    void lately(const char* name, const Member& member, const char* meaning, As as = {}) {
        (*this)(name, member, meaning, as);
    }

  private:
    JsonWriter& out_;
    const T& object_;
};

class FieldNames {
  public:
    void operator()(const char* name, auto&&...) { names.push_back(name); }
    void maybe(const char* name, auto&&...) { names.push_back(name); }
    void lately(const char* name, auto&&...) { names.push_back(name); }
    std::vector<std::string_view> names;
};

template <class T>
class FieldReader {
  public:
    FieldReader(const JsonReader& reader, const Json& value, T& object)
        : reader_(reader), value_(value), object_(object) {}

    template <class Member, class As = Plain>
    void operator()(const char* name, Member member, const char*, As as = {}) {
        reader_.in.member(value_, name);  // throws where there is none
        maybe(name, member, "", as);
    }
    template <class Member, class As = Plain>
    void maybe(const char* name, Member member, const char*, As as = {}) {
        static_assert(std::is_member_object_pointer_v<Member>, "what is computed cannot be read");
        if (const Json* found = reader_.in.find(value_, name))
            object_.*member = Form<FieldType<T, Member>, As>::read(reader_, *found, as);
    }
    template <class Member, class As = Plain>
    void lately(const char* name, Member member, const char* meaning, As as = {}) {
        maybe(name, member, meaning, as);
    }

  private:
    const JsonReader& reader_;
    const Json& value_;
    T& object_;
};

template <class T>
class FieldSchema {
  public:
    FieldSchema(SchemaMaker& maker, Json& schema) : maker_(maker), schema_(schema) {}

    template <class Member, class As = Plain>
    void operator()(const char* name, const Member& member, const char* meaning, As as = {}) {
        require_member(schema_, name);
        maybe(name, member, meaning, as);
    }
    template <class Member, class As = Plain>
    void maybe(const char* name, const Member&, const char* meaning, As as = {}) {
        describe_member(schema_, name, meaning, Form<FieldType<T, Member>, As>::schema(maker_, as));
    }
    template <class Member, class As = Plain>
    void lately(const char* name, const Member& member, const char* meaning, As as = {}) {
        maybe(name, member, meaning, as);
    }

  private:
    SchemaMaker& maker_;
    Json& schema_;
};

/// The members alone, without their braces.
template <class T>
void write_members(JsonWriter& out, const T& object) {
    FieldWriter<T> writer(out, object);
    Fields<T>::visit(writer);
}

/// Refuses members that are neither fields nor `others`.
template <class T>
void read_members(const JsonReader& reader, const Json& value, T& object,
                  std::initializer_list<std::string_view> others = {}) {
    FieldNames known;
    known.names = others;
    Fields<T>::visit(known);
    reader.in.only_members(value, known.names);
    FieldReader<T> fields(reader, value, object);
    Fields<T>::visit(fields);
}

/// Adds to an object's schema.
template <class T>
void describe_members(SchemaMaker& maker, Json& schema) {
    FieldSchema<T> fields(maker, schema);
    Fields<T>::visit(fields);
    if (maker.closed) refuse_other_members(schema);
}

}  // namespace whittle
