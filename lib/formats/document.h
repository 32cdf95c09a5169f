// A JSON file while it is read: typed access to its values, whose errors name the file, the JSON pointer, what was
// found and what was expected. Members keep their order. Include in few files: nlohmann's header is large.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle {

class Document {
  public:
    using Json = nlohmann::ordered_json;

    /// Parses. Nesting is capped and a repeated member is refused. Throws Error with the byte offset.
    Document(const std::string& text, std::string file);

    const Json& root() const { return root_; }
    const std::string& file() const { return file_; }

    /// The root is an object that says "format": `format` and "version": "MAJOR.N". A larger N is accepted, and unknown
    /// members with it.
    void require_format(std::string_view format, int major, int minor);

    /// Throws Error at the value (or at the member `key` that it lacks).
    [[noreturn]] void fail(const Json& at, const std::string& expected, const std::string& hint = {}) const;
    [[noreturn]] void fail_found(const Json& at, const std::string& found, const std::string& expected,
                                 const std::string& hint = {}) const;

    const Json& member(const Json& object, std::string_view key) const;
    /// nullptr when there is none.
    const Json* find(const Json& object, std::string_view key) const;
    /// Refuses other members, unless the file is of a newer minor version.
    void only_members(const Json& object, std::span<const std::string_view> keys) const;
    void only_members(const Json& object, std::initializer_list<std::string_view> keys) const {
        only_members(object, std::span(keys.begin(), keys.size()));
    }

    const Json& object(const Json& value) const;
    const Json& list(const Json& value) const;
    const std::string& text(const Json& value) const;
    std::int64_t integer(const Json& value) const;
    std::uint64_t unsigned_integer(const Json& value) const;
    /// A number, or {"float": "nan" | "inf" | "-inf"}.
    double number(const Json& value) const;
    bool boolean(const Json& value) const;
    std::vector<std::int64_t> integers(const Json& value) const;
    /// An object whose values are texts.
    std::map<std::string, std::string> texts(const Json& value) const;

    /// "/nodes/3/args/0".
    std::string pointer_to(const Json& value) const;

  private:
    Json root_;
    std::string file_;
    bool newer_ = false;
};

}  // namespace whittle
