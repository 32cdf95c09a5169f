// Writes the JSON Schemas of what has fields (lib/formats/fields.h): schemas FOLDER. For scripts/update schemas.
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "capture/hash_index.h"
#include "formats/json.h"
#include "reduce/report.h"
#include "replay/replay_report.h"
#include "report/hash_diff.h"
#include "report/show.h"
#include "report/trace_diff.h"
#include "trace/frame_record.h"
#include "trace/index.h"
#include "trace/record.h"

namespace {

using Json = nlohmann::ordered_json;

/// What every program prints with --json in the place of its answer (cli/messages.cpp).
Json error_schema() {
    const Json text = {{"type", "string"}};
    return {{"description", "An error, with exit status 2."},
            {"type", "object"},
            {"required", Json::array({"error"})},
            {"properties",
             {{"error",
               {{"type", "object"},
                {"required", Json::array({"message"})},
                {"properties", {{"message", text}, {"hint", text}, {"file", text}, {"position", text}}}}}}}};
}

/// The schema of what a program prints, or a mistake.
Json or_error(Json schema) {
    Json whole;
    for (const char* member : {"$schema", "title", "description"})
        if (schema.contains(member)) whole[member] = schema[member], schema.erase(member);
    Json definitions = schema.contains("$defs") ? schema["$defs"] : Json();
    schema.erase("$defs");
    whole["anyOf"] = schema.contains("anyOf") && schema.size() == 1 ? schema["anyOf"] : Json::array({schema});
    whole["anyOf"].push_back(error_schema());
    if (!definitions.is_null()) whole["$defs"] = definitions;
    return whole;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace whittle;
    if (argc != 2) {
        std::cerr << "usage: schemas FOLDER\n";
        return 2;
    }
    const std::pair<std::string, Json> all[] = {
        {"diff_output", report::diff_output_schema()},
        {"frame_record", frame_record_schema()},
        {"graph", graph_schema()},
        {"hash_diff_output", report::hash_diff_output_schema()},
        {"hashes", hashes_schema()},
        {"index", index_schema()},
        {"minify_output", reduce::minify_output_schema()},
        {"profile", report::profile_schema()},
        {"record", record_schema()},
        {"replay_output", replay_output_schema()},
    };
    try {
        for (const auto& [name, schema] : all) {
            const std::string file = name + ".schema.json";
            const Json told = name.ends_with("_output") ? or_error(schema) : schema;
            Json named = {{"$schema", told["$schema"]}, {"$id", file}};
            named.update(told);
            write_file(std::filesystem::path(argv[1]) / file, named.dump(2) + "\n");
        }
    } catch (const Error& error) {
        std::cerr << "schemas: error: " << error.what() << "\n";
        return 2;
    }
}
