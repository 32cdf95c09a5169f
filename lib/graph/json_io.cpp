#include "graph/json_io.h"

#include <cmath>
#include <utility>

#include "graph/fields.h"
#include "graph/json_text.h"

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

void JsonWriter::key(const std::string& name) {
    next();
    text_ += json_text(name) + ": ";
}

void JsonWriter::text(const std::string& value) { text_ += json_text(value); }

void JsonWriter::number(double value) {
    text_ += null_for_no_number_ && !std::isfinite(value) ? "null" : json_number(value);
}

std::filesystem::path path_in_folder(const Document& in, const Json& value) {
    const std::filesystem::path path = in.text(value);
    const std::filesystem::path normal = path.lexically_normal();
    if (path.empty() || path.is_absolute() || normal.empty() || *normal.begin() == "..")
        in.fail(value, "a relative path in the folder of the trace");
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

Json Form<std::string, OneOf>::schema(SchemaMaker&, OneOf as) {
    Json words = Json::array();
    const std::string all = as.words;
    for (std::size_t begin = 0, end = 0; begin <= all.size(); begin = end + 1) {
        end = std::min(all.find(' ', begin), all.size());
        words.push_back(all.substr(begin, end - begin));
    }
    return {{"enum", words}};
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
    members["version"] = {{"description", "MAJOR.MINOR; a reader accepts newer minor versions."},
                          {"type", "string"},
                          {"pattern", "^" + std::to_string(format.major) + "\\.[0-9]+$"}};
    if (format.tensors)
        members["tensors"] = {
            {"description", "The safetensors file, in the same folder."}, {"type", "string"}, {"pattern", "^[^/]+$"}};
    return schema;
}

}  // namespace whittle
