#include "backends/described.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/kept.h"
#include "base/subprocess.h"
#include "base/words.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

std::string filled(std::string text, const fs::path& folder, const fs::path& data) {
    const std::pair<std::string_view, std::string> places[] = {{"{here}", folder.string()}, {"{data}", data.string()}};
    for (const auto& [place, path] : places) text = replaced(std::move(text), place, path);
    return text;
}

/// A file by its path, a program by its name.
bool is_there(const std::string& need) {
    std::error_code ignored;
    return need.find('/') == std::string::npos ? !files_named({need}).empty() : fs::exists(need, ignored);
}

}  // namespace

DescribedBackend read_described_backend(const fs::path& folder) {
    const fs::path file = folder / "backend.json";
    const std::string name = folder.filename().string();
    const fs::path data = kept_folder("backends") / name;
    DescribedBackend backend;
    backend.name = name, backend.file = file;
    try {
        const nlohmann::json said = nlohmann::json::parse(read_file(file));
        backend.description = said.at("description").get<std::string>();
        for (const std::string& word : said.at("worker").get<std::vector<std::string>>())
            backend.worker.push_back(filled(word, folder, data));
        for (const std::string& need : said.at("needs").get<std::vector<std::string>>()) {
            backend.needs.push_back(filled(need, folder, data));
            if (!is_there(backend.needs.back())) backend.missing.push_back(backend.needs.back());
        }
        backend.install = filled(said.at("install").get<std::string>(), folder, data);
        const nlohmann::json arguments = said.value("arguments", nlohmann::json::object());
        for (const auto& [option, meaning] : arguments.items()) backend.arguments.push_back(option);
        backend.variant = said.value("variant", ""), backend.earlier = said.value("earlier", backend.earlier);
    } catch (const nlohmann::json::exception& error) {
        throw Error({file.string(), {}}, std::string("found no description of a backend: ") + error.what());
    }
    if (backend.worker.empty()) throw Error({file.string(), {}}, "found an empty \"worker\", expected a command line");
    if (!backend.variant.empty() && std::ranges::find(backend.arguments, backend.variant) == backend.arguments.end())
        throw Error({file.string(), {}}, "found \"variant\": '" + backend.variant + "', expected one of \"arguments\"");
    return backend;
}

DescribedBackend variant_of(DescribedBackend backend, const std::string& value) {
    backend.worker.push_back("--" + backend.variant + "=" + value);
    backend.name += ":" + value;
    backend.earlier.clear();
    return backend;
}

void expect_installed(const DescribedBackend& backend) {
    if (backend.missing.empty()) return;
    throw Error("the backend '" + backend.name + "' is not installed: found no " + join(backend.missing, ", no "),
                "run " + backend.install);
}

}  // namespace whittle
