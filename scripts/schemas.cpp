// Writes the JSON Schemas of what has fields (lib/graph/fields.h): schemas FOLDER. For scripts/update-schemas.
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "explain/show.h"
#include "explain/trace_diff.h"
#include "graph/json.h"
#include "reduce/report.h"
#include "run/replay_report.h"
#include "trace/frame_record.h"
#include "trace/index.h"
#include "trace/record.h"

int main(int argc, char** argv) {
    using namespace whittle;
    if (argc != 2) {
        std::cerr << "usage: schemas FOLDER\n";
        return 2;
    }
    const std::pair<std::string, nlohmann::ordered_json> all[] = {
        {"diff_output", explain::diff_output_schema()},
        {"frame_record", frame_record_schema()},
        {"graph", graph_schema()},
        {"index", index_schema()},
        {"minify_output", reduce::minify_output_schema()},
        {"profile", explain::profile_schema()},
        {"record", record_schema()},
        {"replay_output", replay_output_schema()},
    };
    try {
        for (const auto& [name, schema] : all) {
            const std::string file = name + ".schema.json";
            nlohmann::ordered_json named = {{"$schema", schema["$schema"]}, {"$id", file}};
            named.update(schema);
            write_file(std::filesystem::path(argv[1]) / file, named.dump(2) + "\n");
        }
    } catch (const Error& error) {
        std::cerr << "schemas: error: " << error.what() << "\n";
        return 2;
    }
}
