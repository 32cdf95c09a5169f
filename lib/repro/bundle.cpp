#include "repro/bundle.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/json.h"
#include "trace/record.h"

namespace whittle::repro {
namespace fs = std::filesystem;

namespace {

std::string run_script(const Emission& emission, const Report& report, const Options& options) {
    const bool control = !report.control.empty() && !emission.control_in_each_run;
    std::string text = "#!/bin/sh\n";
    text += emission.folder && emission.folder->build.empty()
                ? "# Runs the repro. "
                : "# Builds the repro where that is still to do, and runs it. ";
    text += emission.ends_by.empty() ? "Exit 1: the bug shows, 0: it is gone.\n"
                                     : emission.ends_by + " ends it: the bug shows, exit 0: it is gone.\n";
    text += "#   sh run.sh          show the failure\n";
    if (control) text += "#   sh run.sh control  what must pass: " + report.control + "\n";
    text += "#   sh run.sh build    build only\ncd \"$(dirname \"$0\")\" || exit 2\n";
    if (emission.folder) {
        for (const auto& [name, path] : emission.folder->lent)
            text += "[ -e " + name + " ] || " + report.get + " || exit 2\n";
        if (!emission.folder->build.empty())
            text += "[ ./run -nt ./" + emission.folder->name + " ] || " + report.compile_command + " || exit 2\n";
        return text + "[ \"$1\" = build ] || exec " + report.run_command + " \"$@\"\n";
    }
    const std::string program = shell_quote({"./" + options.output.stem().string()});
    const std::string source = shell_quote({"./" + options.output.filename().string()});
    return text + "[ " + program + " -nt " + source + " ] || " + report.compile_command +
           " || exit 2\n[ \"$1\" = build ] || exec " + program + " \"$@\"\n";
}

/// What a bundle holds beside the repro.
struct Contents {
    bool record = false, onnx = false;
};

std::string read_me(const Graph& graph, const Emission& emission, const Report& report, const Options& options,
                    const Contents& contents) {
    const bool control = !report.control.empty() && !emission.control_in_each_run;
    const Failure& failure = *graph.failure;
    // As run.sh has them: what is passed on to the program, whoever runs the script adds.
    const std::string runs =
        emission.folder ? report.run_command : shell_quote({"./" + options.output.stem().string()});
    std::string text = failure.signature.text() + " with " + failure.backend + "\n" + failure.message + "\n";
    if (failure.culprit) text += "guilty: " + failure.culprit->text() + "\n";
    if (!emission.releases.empty()) text += "releases: " + emission.releases + "\n";
    text += "\nmade by:  " + options.command +
            "\n"
            "\nWithout Whittle (needs " +
            (emission.folder && emission.folder->build.empty() ? "" : "g++ and ") +
            "the compiler under suspicion):\n"
            "  sh run.sh            " +
            (report.compile_command.empty() ? "runs " : "builds ") + report.output.filename().string() +
            (report.compile_command.empty() ? "" : " and runs it") +
            ": exit 1 shows the failure, 0 says that it is gone\n" +
            (control ? "  sh run.sh control    what must pass: " + report.control + "\n" : "") +
            "\nThe exact commands that run.sh runs:\n" +
            (report.compile_command.empty() ? "" : "  " + report.compile_command + "\n") + "  " + runs +
            "\n\nWith Whittle, in this folder:\n";
    if (contents.record) text += "  replay record\n  explain divergence candidate.json\n";
    text += "  minify candidate.json\n  repro candidate.json\n";
    if (contents.onnx)
        text += std::string("\ncandidate.onnx with test_data_set_0/ is the same graph for other tools") +
                (contents.record ? "; output_*.pb are what the reference computes.\n" : ".\n");
    return text;
}

std::string environment_text(const Emission& emission, const Options& options) {
    std::map<std::string, std::string> known = options.environment;
    if (!emission.compiler.empty()) known["suspect"] = emission.compiler;
    std::string text;
    for (const auto& [key, value] : known) text += key + ": " + value + "\n";
    return text;
}

/// The repro is a folder with the model already, under short names.
bool has_model(const Emission& emission) {
    return std::ranges::any_of(emission.sidecars, [](const Sidecar& sidecar) { return sidecar.file == "model.onnx"; });
}

/// False: the graph has no spelling in ONNX.
bool write_onnx(const fs::path& folder, const Graph& graph, const std::vector<Tensor>& expected) {
    if (graph.dialect != "onnx") return false;
    save_onnx(graph, folder / "candidate.onnx");
    const auto save = [&](const std::string& prefix, const std::vector<Tensor>& tensors) {
        for (std::size_t i = 0; i < tensors.size(); i++)
            save_tensor_proto(folder / "test_data_set_0" / (prefix + std::to_string(i) + ".pb"), tensors[i]);
    };
    save("input_", graph.failure->inputs);
    save("output_", expected);
    return true;
}

}  // namespace

void write_bundle(const fs::path& folder, const Graph& graph, const std::vector<Tensor>& expected,
                  const Emission& emission, const Report& report, const Options& options) {
    for (const fs::path& companion : emission.companions) {
        std::error_code error;
        if (fs::equivalent(companion, folder / companion.filename(), error)) continue;  // a bundle of a bundle
        fs::copy_file(companion, folder / companion.filename(), fs::copy_options::overwrite_existing, error);
        if (error) throw Error({companion.string(), {}}, "cannot copy it into the bundle: " + error.message());
    }
    write_file(folder / "run.sh", run_script(emission, report, options));
    Graph moved = graph;
    if (!emission.spec_beside.empty()) moved.failure->backend = emission.spec_beside;
    save_graph(moved, folder / "candidate.json");
    // Nobody knows what an op computes that Whittle does not know.
    const Contents contents{.record = expected.size() == graph.outputs().size(),
                            .onnx = !has_model(emission) && write_onnx(folder, graph, expected)};
    Graph plain = graph;
    plain.failure.reset();
    if (contents.record)
        save_record(folder / "record", plain,
                    {.name = "candidate",
                     .backend = moved.failure->backend,
                     .backend_options = graph.failure->options,
                     .inputs = graph.failure->inputs,
                     .expected = expected,
                     .accuracy = graph.failure->accuracy});
    write_file(folder / "environment.txt", environment_text(emission, options));
    write_file(folder / "README.txt", read_me(graph, emission, report, options, contents));
}

std::set<fs::path> files_below(const fs::path& folder) {
    std::set<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (!entry.is_directory()) files.insert(entry.path().lexically_relative(folder));
    return files;
}

/// Behind the name of what is not there yet, but belongs to the bundle and goes with it.
static constexpr const char* kMadeLater = "  (run.sh makes it)";

void note_contents(const fs::path& folder, const std::set<fs::path>& files) {
    const fs::path list = folder / "contents.txt";
    if (fs::exists(list)) {
        std::istringstream old(read_file(list));
        for (std::string line; std::getline(old, line);) {
            const fs::path file = fs::path(line.substr(0, line.find(kMadeLater))).lexically_normal();
            const bool inside = !file.empty() && file.is_relative() && *file.begin() != "..";
            std::error_code ignored;
            if (inside && !files.contains(file))
                fs::remove(folder / file, ignored);  // a folder with others' files stays
        }
    }
    std::string text;
    for (const fs::path& file : files)
        text += file.generic_string() + (fs::exists(folder / file) || file == list.filename() ? "" : kMadeLater) + "\n";
    write_file(list, text);
}

}  // namespace whittle::repro
