// What reads, writes and describes JSON for fields.h, without templates.
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "formats/document.h"

namespace whittle {

class TensorReader;
class TensorWriter;
struct FileFormat;

using Json = Document::Json;

/// Text of JSON as our files have it: on one line, but for what is opened in lines.
class JsonWriter {
  public:
    enum class Begin { empty, in_members };
    /// in_members: what is written are members, in lines, of an object around it.
    explicit JsonWriter(Begin begin = Begin::empty, TensorWriter* tensors = nullptr);

    void open(char bracket, bool lines);
    void close(char bracket);
    /// Before each entry of a list.
    void next();
    /// Before each member's value.
    void key(std::string_view name);
    /// JSON as it is.
    void value(std::string_view json) { text_ += json; }
    void text(std::string_view value);
    void number(double value);
    /// number() writes null for NaN and infinities from now on.
    void null_for_no_number() { null_for_no_number_ = true; }

    /// Whether what was opened last has a line for each entry.
    bool in_lines() const { return !open_.empty() && open_.back().lines; }
    TensorWriter* tensors() const { return tensors_; }
    std::string take() { return std::move(text_); }

  private:
    struct Open {
        bool lines, empty;
    };
    std::string indent() const;

    std::string text_;
    std::vector<Open> open_;
    TensorWriter* tensors_;
    bool null_for_no_number_ = false;
};

/// A document and the tensors beside it; null where none can be.
struct JsonReader {
    const Document& in;
    TensorReader* tensors = nullptr;
};

/// Throws Error for one that T does not hold.
template <std::integral T>
T integer(const Document& in, const Json& value) {
    const std::int64_t wide = in.integer(value);
    if (!std::in_range<T>(wide)) in.fail(value, "an integer that fits in " + std::to_string(8 * sizeof(T)) + " bits");
    return static_cast<T>(wide);
}

/// Throws Error for a path that is absolute, or that leads out of the folder.
std::filesystem::path path_in_folder(const Document& in, const Json& value);

nlohmann::json parse_report(const std::string& text);

/// "close, fp64 or strict".
std::string one_of(const std::vector<std::string>& words);

/// A JSON Schema in the making (draft 2020-12).
struct SchemaMaker {
    bool closed = false;  ///< there are no other members than those described, as in files
    Json definitions = Json::object();

    /// A reference to the definition, which is made once.
    Json define(const std::string& name, const std::function<Json()>& make);
    /// The schema of the whole, with all that was defined.
    Json with_definitions(Json schema);
    /// The schema of what a program prints, one of these kinds.
    Json report(const char* title, const char* description, const std::vector<Json>& kinds);
};

// Schemas of values.
Json type_schema(const char* type);
Json count_schema(const char* type);  ///< a number of 0 or more
Json word_schema(const std::vector<std::string>& words);
Json list_schema(Json entries);
Json map_schema(Json values);
Json any_schema(const std::vector<Json>& kinds);
Json object_schema(const char* meaning);  ///< without members; "": it has no meaning of its own
void require_member(Json& object, const char* name);
void describe_member(Json& object, const char* name, const char* meaning, Json value);
void refuse_other_members(Json& object);

Json root_schema(const char* title, const char* description);
/// Of a file without its own members.
Json root_schema(const FileFormat& format);

}  // namespace whittle
