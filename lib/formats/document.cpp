#include "formats/document.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/number_text.h"
#include "base/words.h"
#include "formats/json.h"

namespace whittle {
namespace {

/// Values nest in a graph by lists of arguments and by nested graphs; no honest file comes near this.
constexpr std::size_t kMaxJsonDepth = 256;

/// Builds a value from parser events. Unlike nlohmann's own builder it bounds the depth, refuses repeated members and
/// appends members in constant time. Iterative: the place of the open containers is a stack of pointers.
template <class Json>
class Builder : public nlohmann::json_sax<Json> {
  public:
    using typename nlohmann::json_sax<Json>::number_integer_t;
    using typename nlohmann::json_sax<Json>::number_unsigned_t;
    using typename nlohmann::json_sax<Json>::number_float_t;
    using typename nlohmann::json_sax<Json>::string_t;
    using typename nlohmann::json_sax<Json>::binary_t;

    explicit Builder(const std::string& file) : file_(file) {}

    Json take() { return std::move(root_); }

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t&) override { return put(value); }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t& value) override { return put(std::move(value)); }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        key_ = std::move(value);
        return true;
    }
    bool end_object() override {
        refuse_repeated(*stack_.back());
        return close();
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
        // nlohmann's message: "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
        std::string message = error.what();
        if (const std::size_t start = message.find(": "); start != std::string::npos) message.erase(0, start + 2);
        throw Error({file_, "byte " + std::to_string(position)}, "malformed JSON: " + message);
    }

  private:
    template <class Value>
    Json* insert(Value&& value) {
        if (stack_.empty()) {
            root_ = std::forward<Value>(value);
            return &root_;
        }
        Json& parent = *stack_.back();
        if (parent.is_array()) {
            auto& elements = parent.template get_ref<typename Json::array_t&>();
            return &elements.emplace_back(std::forward<Value>(value));
        }
        auto& members = parent.template get_ref<typename Json::object_t&>();
        if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) {
            using Members = typename Json::object_t::Container;
            if (members.empty()) members.reserve(4);  // growth one by one dominated the time of large files
            return &static_cast<Members&>(members).emplace_back(std::move(key_), std::forward<Value>(value)).second;
        } else {
            const auto [place, fresh] = members.emplace(std::move(key_), std::forward<Value>(value));
            if (!fresh) repeated(place->first);
            return &place->second;
        }
    }

    template <class Value>
    bool put(Value&& value) {
        insert(std::forward<Value>(value));
        return true;
    }

    bool open(Json&& container) {
        if (stack_.size() >= kMaxJsonDepth)
            throw Error({file_, {}}, "found JSON nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
        stack_.push_back(insert(std::move(container)));
        return true;
    }

    bool close() {
        stack_.pop_back();
        return true;
    }

    [[noreturn]] void repeated(const std::string& key) const {
        throw Error({file_, {}}, "found the member \"" + key + "\" twice in one object, expected each member once");
    }

    void refuse_repeated(const Json& object) const {
        if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) {
            std::vector<std::string_view> keys;
            for (const auto& [key, value] : object.template get_ref<const typename Json::object_t&>())
                keys.push_back(key);
            std::ranges::sort(keys);
            const auto twice = std::ranges::adjacent_find(keys);
            if (twice != keys.end()) repeated(std::string(*twice));
        }
    }

    const std::string& file_;
    Json root_;
    std::vector<Json*> stack_;
    std::string key_;
};

/// Stops at the top level's member "format".
class FormatFinder : public nlohmann::json_sax<nlohmann::json> {
  public:
    std::string format;

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }
    bool string(string_t& text) override {
        if (wanted_) format = std::move(text);
        return value();
    }
    bool start_object(std::size_t) override { return open(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& key) override {
        wanted_ = depth_ == 1 && key == "format";
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  private:
    bool value() const { return !wanted_; }
    bool open() { return !wanted_ && ++depth_ < kMaxJsonDepth; }
    bool close() {
        --depth_;
        return true;
    }

    std::size_t depth_ = 0;
    bool wanted_ = false;
};

template <class Json>
Json parse_as(const std::string& text, const std::string& file) {
    if (text.empty()) throw Error({file, {}}, "the file is empty, expected JSON");
    refuse_lfs_pointer(text, file);
    Builder<Json> builder(file);
    Json::sax_parse(text, &builder);
    return builder.take();
}

std::string describe(const Document::Json& value) {
    constexpr std::size_t kShown = 40;
    if (value.is_object()) return "an object";
    if (value.is_array()) return "a list of " + plural(static_cast<std::int64_t>(value.size()), "element");
    std::string text = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (text.size() > kShown) text = text.substr(0, kShown) + "…";
    return text;
}

/// Appends the path from `at` to `wanted`, found by address: paths are needed only in errors.
bool find_path(const Document::Json& at, const Document::Json& wanted, std::string& path) {
    if (&at == &wanted) return true;
    const std::size_t length = path.size();
    const auto below = [&](const std::string& step, const Document::Json& child) {
        path += "/" + step;
        if (find_path(child, wanted, path)) return true;
        path.resize(length);
        return false;
    };
    if (at.is_object()) {
        for (const auto& [key, child] : at.get_ref<const Document::Json::object_t&>()) {
            std::string step;  // RFC 6901
            for (const char c : key) step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
            if (below(step, child)) return true;
        }
    } else if (at.is_array()) {
        for (std::size_t i = 0; i < at.size(); ++i)
            if (below(std::to_string(i), at[i])) return true;
    }
    return false;
}

std::optional<int> natural(std::string_view text) {
    const auto value = number_of<int>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

nlohmann::json parse_json(const std::string& text, const std::string& file) {
    return parse_as<nlohmann::json>(text, file);
}

std::string format_of_json(const std::filesystem::path& path) {
    FormatFinder finder;
    nlohmann::json::sax_parse(read_file(path), &finder);
    return finder.format;
}

Document::Document(const std::string& text, std::string file)
    : root_(parse_as<Json>(text, file)), file_(std::move(file)) {}

void Document::require_format(std::string_view format, int major, int minor) {
    const std::string ours = std::to_string(major) + "." + std::to_string(minor);
    const std::string& found = text(member(object(root_), "format"));
    if (found != format) fail(*find(root_, "format"), '"' + std::string(format) + "\"");
    const Json& version = member(root_, "version");
    const std::string& number = text(version);
    const std::size_t dot = number.find('.');
    const auto file_major = natural(std::string_view(number).substr(0, dot));
    const auto file_minor = dot == std::string::npos ? std::nullopt : natural(std::string_view(number).substr(dot + 1));
    if (!file_major || !file_minor) fail(version, "a version, for example \"" + ours + "\"");
    if (*file_major != major)
        fail(version, "version " + std::to_string(major) + ".x",
             "read the file with the version of Whittle that wrote the file");
    newer_ = *file_minor > minor;
}

void Document::fail(const Json& at, const std::string& expected, const std::string& hint) const {
    fail_found(at, describe(at), expected, hint);
}

void Document::fail_found(const Json& at, const std::string& found, const std::string& expected,
                          const std::string& hint) const {
    const std::string pointer = pointer_to(at);
    throw Error({file_, pointer.empty() ? "the top level" : pointer}, "found " + found + ", expected " + expected,
                hint);
}

std::string Document::pointer_to(const Json& value) const {
    std::string path;
    find_path(root_, value, path);
    return path;
}

const Document::Json* Document::find(const Json& object, std::string_view key) const {
    for (const auto& [name, value] : this->object(object).get_ref<const Json::object_t&>())
        if (name == key) return &value;
    return nullptr;
}

const Document::Json& Document::member(const Json& object, std::string_view key) const {
    if (const Json* value = find(object, key)) return *value;
    fail_found(object, "no member \"" + std::string(key) + "\"", "one");
}

void Document::only_members(const Json& object, std::span<const std::string_view> keys) const {
    for (const auto& [name, value] : this->object(object).get_ref<const Json::object_t&>()) {
        if (newer_ || std::ranges::find(keys, name) != keys.end()) continue;
        fail_found(value, "an unknown member",
                   "one of " + join(keys, [](std::string_view key) { return std::string(key); }));
    }
}

const Document::Json& Document::object(const Json& value) const {
    if (!value.is_object()) fail(value, "an object");
    return value;
}

const Document::Json& Document::list(const Json& value) const {
    if (!value.is_array()) fail(value, "a list");
    return value;
}

const std::string& Document::text(const Json& value) const {
    if (!value.is_string()) fail(value, "a string");
    return value.get_ref<const std::string&>();
}

std::int64_t Document::integer(const Json& value) const {
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
        fail(value, "an integer that fits in 64 bits");
    if (!value.is_number_integer()) fail(value, "an integer");
    return value.get<std::int64_t>();
}

std::uint64_t Document::unsigned_integer(const Json& value) const {
    if (!value.is_number_unsigned()) fail(value, "an integer, 0 or more");
    return value.get<std::uint64_t>();
}

double Document::number(const Json& value) const {
    if (value.is_number()) return value.get<double>();
    if (value.is_object() && value.size() == 1)
        if (const Json* special = find(value, "float")) {
            if (*special == "nan") return std::numeric_limits<double>::quiet_NaN();
            if (*special == "inf") return std::numeric_limits<double>::infinity();
            if (*special == "-inf") return -std::numeric_limits<double>::infinity();
        }
    fail(value, R"(a number or {"float": "nan" | "inf" | "-inf"})");
}

bool Document::boolean(const Json& value) const {
    if (!value.is_boolean()) fail(value, "true or false");
    return value.get<bool>();
}

std::vector<std::int64_t> Document::integers(const Json& value) const {
    std::vector<std::int64_t> values;
    values.reserve(list(value).size());
    for (const Json& element : value) values.push_back(integer(element));
    return values;
}

std::map<std::string, std::string> Document::texts(const Json& value) const {
    std::map<std::string, std::string> texts;
    for (const auto& [key, element] : object(value).items()) texts[key] = text(element);
    return texts;
}

}  // namespace whittle
