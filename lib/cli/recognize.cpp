// What a file is, by its first bytes, and what a folder holds.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "cli/model.h"
#include "cli/torch_file.h"
#include "formats/failure_file.h"
#include "formats/json.h"
#include "frontends/pt2/archive.h"
#include "trace/frame_record.h"
#include "trace/record.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kModelFile = "model.onnx";  // of the ONNX backend tests' folders

std::string first_bytes(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error({path.string(), {}}, std::strerror(errno));
    std::array<char, 64> head{};
    in.read(head.data(), head.size());
    return {head.data(), static_cast<std::size_t>(in.gcount())};
}

ModelKind recognize_folder(const fs::path& path) {
    if (fs::exists(path / "index.json")) return ModelKind::trace;
    if (fs::exists(path / kModelFile)) return ModelKind::onnx;
    if (is_torch_log_folder(path)) return ModelKind::torch_file;
    throw Error({path.string(), {}},
                "the folder holds neither a trace (index.json), nor a model (model.onnx), nor logs of TORCH_TRACE");
}

/// PyTorch writes zip archives of several kinds. What is wrong with a damaged one, the reader of exports says.
ModelKind recognize_archive(const fs::path& path) {
    std::vector<std::string> entries;
    try {
        entries = pt2::Archive(path).entries();
    } catch (const Error&) {
        return ModelKind::pt2;
    }
    const auto has = [&](std::string_view ending) {
        return std::ranges::any_of(entries, [&](const std::string& e) { return e.ends_with(ending); });
    };
    if (has("/constants.pkl")) return ModelKind::torchscript;
    if (has("/data.pkl") && !has(".json"))
        throw Error({path.string(), {}}, "found tensors that torch.save() wrote, expected a model",
                    "save the model with torch.jit.save(torch.jit.script(model), FILE) or torch.export.save()");
    return ModelKind::pt2;
}

/// What a script is run with: Python by its name, else what its first line says; empty: it is none.
std::string interpreter_of(const fs::path& path, const std::string& head) {
    if (path.extension() == ".py") return "python3";
    if (!head.starts_with("#!")) return {};
    std::istringstream line(head.substr(2, head.find('\n') - 2));
    for (std::string word; line >> word;)
        if (const std::string name = fs::path(word).filename().string(); name != "env" && !name.starts_with('-'))
            return name;
    return {};
}

bool is_executable(const fs::path& path) {
    using fs::perms;
    return (fs::status(path).permissions() & (perms::owner_exec | perms::group_exec | perms::others_exec)) !=
           perms::none;
}

}  // namespace

fs::path model_file(const fs::path& model) {
    return fs::exists(model / kModelFile) && recognize(model) == ModelKind::onnx ? model / kModelFile : model;
}

namespace {

/// No other model of the folder may be what the values are for.
bool is_only_model(const fs::path& model, const fs::path& folder) {
    if (model.filename() == kModelFile) return true;
    return std::ranges::count_if(fs::directory_iterator(folder.empty() ? "." : folder),
                                 [](const auto& entry) { return entry.path().extension() == ".onnx"; }) <= 1;
}

}  // namespace

std::optional<fs::path> values_beside(const fs::path& model) {
    const bool whole = fs::is_directory(model);
    const fs::path folder = whole ? model : model.parent_path(), values = folder / "test_data_set_0";
    if (!fs::is_directory(values) || recognize(model) != ModelKind::onnx) return std::nullopt;
    if (!whole && (!is_only_model(model, folder) || fs::exists(failure_path(model)))) return std::nullopt;
    return values;
}

std::string_view name(ModelKind kind) {
    static constexpr std::string_view kNames[] = {
        "ONNX model",        "PyTorch export", "graph", "record", "trace folder", "program", "file of torch.compile",
        "TorchScript module"};
    return kNames[static_cast<std::size_t>(kind)];
}

ModelKind recognize(const fs::path& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    const std::string file = path.string();
    if (!fs::exists(status)) throw Error({file, {}}, std::strerror(ENOENT));
    if (fs::is_directory(status)) return recognize_folder(path);
    if (!fs::is_regular_file(status)) throw Error({file, {}}, "found a device or a pipe, expected a file");

    const std::string head = first_bytes(path);
    if (head.empty()) throw Error({file, {}}, "the file is empty, expected a model");
    const bool elf = head.starts_with(
        "\x7f"
        "ELF");
    if (elf && !is_executable(path))
        throw Error(
            {file, {}}, "found an ELF file without execute permission, expected a program or a model",
            "if the file is a library, pass a program that uses this library; if the file is a program, run chmod +x");
    if (is_torch_file(path)) return ModelKind::torch_file;
    if (elf || (head.starts_with("#!") && is_executable(path))) return ModelKind::program;
    if (head.starts_with("PK\x03\x04")) return recognize_archive(path);
    if (const std::string interpreter = interpreter_of(path, head); !interpreter.empty())
        throw Error({file, {}}, "found a script, expected a model or a program that runs the script",
                    shell_quote(program_words("explain", {interpreter, file})) + " reports the graphs; " +
                        shell_quote(program_words("trace", {"-o", "DIR", interpreter, file})) +
                        " records the graphs for minify, repro and replay");
    const auto text = std::ranges::find_if(head, [](unsigned char c) { return !std::isspace(c); });
    if (text != head.end() && *text == '{') return is_record(path) ? ModelKind::record : ModelKind::graph;
    const std::string extension = path.extension().string();
    if (extension == ".json") throw Error({file, "byte 0"}, "found no '{', expected a graph or record in JSON");
    // Writers start a ModelProto with field 1 (ir_version), 2 or 3: bytes that no text starts with.
    if (extension == ".onnx" || head[0] == 0x08 || head[0] == 0x12 || head[0] == 0x1a) return ModelKind::onnx;
    throw Error({file, "byte 0"},
                "unknown format, expected an ONNX model, a PyTorch export (.pt2), a TorchScript module (.pt), a graph "
                "or a record in JSON, or a trace folder");
}

namespace {

/// A graph, record, model or file of torch.compile; of other JSON files nothing is said.
bool is_model_file(const fs::path& file) {
    if (file.extension() == ".onnx" || file.extension() == ".pt2" || is_torch_file(file)) return true;
    if (file.extension() != ".json" || !fs::is_regular_file(file) || file.string().ends_with(".failure.json"))
        return false;
    try {
        return is_record(file) || (!is_frame_record(file) && format_of_json(file) == "whittle.graph");
    } catch (const Error&) {
        return false;
    }
}

void add_models(const fs::path& folder, const fs::path& but, std::vector<fs::path>& models) {
    std::set<fs::path> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.insert(entry.path());
    for (const fs::path& entry : entries) {
        if (!fs::is_directory(fs::symlink_status(entry))) {
            if (is_model_file(entry)) models.push_back(entry);
        } else if (std::error_code ignored; fs::equivalent(entry, but, ignored)) {
            continue;
        } else if (holds_models(entry)) {
            add_models(entry, but, models);
        } else {
            models.push_back(entry);
        }
    }
}

}  // namespace

bool holds_models(const fs::path& path) {
    return fs::is_directory(path) && !fs::exists(path / "index.json") && !fs::exists(path / "model.onnx") &&
           !is_torch_log_folder(path);
}

std::vector<fs::path> models_in(const fs::path& folder, const fs::path& but) {
    std::vector<fs::path> models;
    add_models(folder, but, models);
    if (models.empty())
        throw Error({folder.string(), {}},
                    "found no models in this folder, expected a trace (index.json), ONNX models, PyTorch exports "
                    "(.pt2), graphs, records or files of torch.compile");
    return models;
}

bool is_plain_model(const fs::path& path) {
    return fs::is_directory(path) || (is_model_file(path) && !(path.extension() == ".json" && is_record(path)));
}

}  // namespace whittle::cli
