// Whether JSON is what a published schema says: `PROGRAM --json | conforms SCHEMA.json`. Prints the first place that is
// not; exit status 1 then. For the golden tests.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "json_schema.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: conforms SCHEMA.json < JSON\n";
        return 2;
    }
    try {
        std::ifstream file(argv[1]);
        const whittle::JsonSchema schema(nlohmann::json::parse(file));
        const std::string error = schema.check(nlohmann::json::parse(std::cin));
        std::cout << (error.empty() ? "conforms" : error) << "\n";
        return error.empty() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << "conforms: error: " << error.what() << "\n";
        return 2;
    }
}
