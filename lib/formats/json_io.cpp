#include "formats/json_io.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/fields.h"
#include "formats/json_text.h"

namespace whittle {

JsonWriter::JsonWriter(Begin begin, TensorWriter* tensors) : tensors_(tensors) {
    if (begin == Begin::in_members) open_.push_back({.lines = true, .empty = true});
}

std::string JsonWriter::indent() const {
    std::size_t levels = 0;
    for (const Open& open : open_) levels += open.lines;
    return "\n" + std::string(2 * levels, ' ');
}

void JsonWriter::open(char bracket, bool lines) {
    text_ += bracket;
    open_.push_back({.lines = lines, .empty = true});
}

void JsonWriter::close(char bracket) {
    const Open open = open_.back();
    open_.pop_back();
    if (open.lines && !open.empty) text_ += indent();
    text_ += bracket;
}

void JsonWriter::next() {
    Open& open = open_.back();
    if (!std::exchange(open.empty, false)) text_ += open.lines ? "," : ", ";
    if (open.lines) text_ += indent();
}

void JsonWriter::key(std::string_view name) {
    next();
    text_ += json_text(name) + ": ";
}

void JsonWriter::text(std::string_view value) { text_ += json_text(value); }

void JsonWriter::number(double value) {
    text_ += null_for_no_number_ && !std::isfinite(value) ? "null" : json_number(value);
}

std::filesystem::path path_in_folder(const Document& in, const Json& value) {
    const std::filesystem::path path = in.text(value);
    const std::filesystem::path normal = path.lexically_normal();
    if (path.empty() || path.is_absolute() || normal.empty() || *normal.begin() == "..")
        in.fail(value, "a relative path to a file in the folder of the trace");
    return path;
}

std::string one_of(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return text;
}

Json SchemaMaker::define(const std::string& name, const std::function<Json()>& make) {
    if (!definitions.contains(name)) {
        definitions[name] = nullptr;  // it may refer to itself
        Json made = make();
        definitions[name] = std::move(made);
    }
    return {{"$ref", "#/$defs/" + name}};
}

Json SchemaMaker::with_definitions(Json schema) {
    if (!definitions.empty()) schema["$defs"] = std::move(definitions);
    return schema;
}

Json SchemaMaker::report(const char* title, const char* description, const std::vector<Json>& kinds) {
    Json schema = root_schema(title, description);
    schema.update(kinds.size() == 1 ? kinds[0] : any_schema(kinds));
    return with_definitions(std::move(schema));
}

Json type_schema(const char* type) { return {{"type", type}}; }
Json count_schema(const char* type) { return {{"type", type}, {"minimum", 0}}; }
Json word_schema(const std::vector<std::string>& words) { return {{"enum", words}}; }
Json list_schema(Json entries) { return {{"type", "array"}, {"items", std::move(entries)}}; }
Json map_schema(Json values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }
Json any_schema(const std::vector<Json>& kinds) { return {{"anyOf", kinds}}; }

Json object_schema(const char* meaning) {
    Json schema = Json::object();
    if (*meaning) schema["description"] = meaning;
    schema["type"] = "object";
    return schema;
}

void require_member(Json& object, const char* name) { object["required"].push_back(name); }

void describe_member(Json& object, const char* name, const char* meaning, Json value) {
    Json one = Json::object();
    if (*meaning) one["description"] = meaning;
    one.update(value);
    object["properties"][name] = std::move(one);
}

void refuse_other_members(Json& object) { object["additionalProperties"] = false; }

nlohmann::json parse_report(const std::string& text) { return nlohmann::json::parse(text); }

Json Form<std::string, Matching>::schema(SchemaMaker&, Matching as) {
    return {{"type", "string"}, {"pattern", as.pattern}};
}

Json Form<std::string, OneOf>::schema(SchemaMaker&, OneOf as) {
    std::vector<std::string> words;
    const std::string all = as.words;
    for (std::size_t begin = 0, end = 0; begin <= all.size(); begin = end + 1) {
        end = std::min(all.find(' ', begin), all.size());
        words.push_back(all.substr(begin, end - begin));
    }
    return word_schema(words);
}

std::string file_text(const FileFormat& format, const std::string& members, const std::string& sidecar) {
    std::string text = "{\n  \"format\": \"" + std::string(format.name) + "\",\n  \"version\": \"" +
                       std::to_string(format.major) + "." + std::to_string(format.minor) + "\"";
    if (!sidecar.empty()) text += ",\n  \"tensors\": " + json_text(sidecar);
    return text + "," + members + "\n}\n";
}

Json root_schema(const char* title, const char* description) {
    return {
        {"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}, {"description", description}};
}

Json root_schema(const FileFormat& format) {
    Json schema = root_schema(format.title, format.description);
    schema["type"] = "object";
    schema["required"] = {"format", "version"};
    Json& members = schema["properties"];
    members["format"] = {{"const", format.name}};
    members["version"] = {{"description", "The version, MAJOR.MINOR; a reader accepts newer minor versions."},
                          {"type", "string"},
                          {"pattern", "^" + std::to_string(format.major) + "\\.[0-9]+$"}};
    if (format.tensors)
        members["tensors"] = {{"description", "The name of the safetensors file in the same folder."},
                              {"type", "string"},
                              {"pattern", "^[^/]+$"}};
    return schema;
}

}  // namespace whittle
