#include "repro/steps.h"

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "formats/json.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "repro/verify.h"
#include "trace/record.h"

namespace whittle::repro {
namespace fs = std::filesystem;

namespace {

std::string run_script(const Repro& repro, const Options& options) {
    const ReproProgram& program = repro.program;
    const std::string build = shell_quote(build_command(program, options));
    std::string text = "#!/bin/sh\n";
    text += build.empty() ? "# Runs the repro. " : "# Builds the repro if necessary, and runs the repro. ";
    text += program.ends_by.empty()
                ? "Exit status 1: the bug is there; 0: the bug is gone.\n"
                : "If " + program.ends_by + " ends the program, the bug is there. Exit status 0: the bug is gone.\n";
    text += "#   sh run.sh          reproduce the failure\n";
    if (runs_control(program))
        text += "#   sh run.sh control  run the control, which must pass: " + control_of(program) + "\n";
    text += "#   sh run.sh build    build only\ncd \"$(dirname \"$0\")\" || exit 2\n";
    if (program.folder)
        for (const auto& [name, path] : program.folder->lent)
            text += "[ -e " + name + " ] || " + program.folder->get + " || exit 2\n";
    const std::string binary = program.folder ? "./run" : shell_quote({"./" + options.stem()});
    const std::string source = shell_quote({"./" + name_of(program, options)});
    if (!build.empty()) text += "[ " + binary + " -nt " + source + " ] || " + build + " || exit 2\n";
    return text + "[ \"$1\" = build ] || exec " + run_beside(program, options) + " \"$@\"\n";
}

/// `record`, `onnx`: what there is beside the repro.
std::string read_me(const Repro& repro, const Options& options, bool record, bool onnx) {
    const ReproProgram& program = repro.program;
    const Failure& failure = repro.failure();
    const std::string build = shell_quote(build_command(program, options)), name = name_of(program, options);
    return fill_template(
        "bundle_readme.txt",
        {{"FAILURE", failure.signature.heading() + " with " + failure.backend + "\n" + failure.message + "\n" +
                         (failure.culprit ? "culprit: " + failure.culprit->text() + "\n" : "") +
                         (repro.releases.empty() ? "" : "releases: " + repro.releases + "\n")},
         {"COMMAND", options.command},
         {"NEEDS", build.empty() ? "" : "g++ and "},
         {"RUNS", build.empty() ? "runs " + name : "builds and runs " + name},
         {"CONTROL", runs_control(program)
                         ? "  sh run.sh control    runs the control, which must pass: " + control_of(program) + "\n"
                         : ""},
         {"COMMANDS", (build.empty() ? "" : "  " + build + "\n") + "  " + run_beside(program, options)},
         {"RECORD", record ? "  replay record\n  explain divergence candidate.json\n" : ""},
         {"ONNX",
          !onnx
              ? ""
              : std::string("\ncandidate.onnx and test_data_set_0/ hold the same graph and its data for other tools") +
                    (record ? "; output_*.pb are the expected outputs.\n" : ".\n")}});
}

std::string environment_text(const Repro& repro, const Options& options) {
    std::map<std::string, std::string> known = options.environment;
    if (!repro.program.compiler.empty()) known["suspect"] = repro.program.compiler;
    std::string text;
    for (const auto& [key, value] : known) text += key + ": " + value + "\n";
    return text;
}

/// The repro is a folder with the model already, under short names.
bool has_model(const ReproProgram& program) {
    return std::ranges::find(program.files, "model.onnx", &ReproProgram::File::name) != program.files.end();
}

/// False: the graph has no spelling in ONNX.
bool write_onnx(const fs::path& folder, const Repro& repro) {
    if (repro.graph.dialect != "onnx") return false;
    save_onnx(repro.graph, folder / "candidate.onnx");
    save_test_data_set(folder / "test_data_set_0", repro.failure().inputs, repro.expected);
    return true;
}

}  // namespace

void write_bundle(const fs::path& folder, const Repro& repro, const Options& options) {
    write_file(folder / "run.sh", run_script(repro, options));
    Graph moved = repro.graph;
    if (!repro.program.spec_beside.empty()) moved.failure->backend = repro.program.spec_beside;
    save_graph(moved, folder / "candidate.json");
    const bool record = repro.expected.size() == repro.graph.outputs().size();  // what an op computes may be unknown
    const bool onnx = !has_model(repro.program) && write_onnx(folder, repro);
    Graph plain = repro.graph;
    plain.failure.reset();
    if (record)
        save_record(folder / "record", plain,
                    {.name = "candidate",
                     .backend = moved.failure->backend,
                     .backend_options = repro.failure().options,
                     .inputs = repro.failure().inputs,
                     .expected = repro.expected,
                     .accuracy = repro.failure().accuracy});
    write_file(folder / "environment.txt", environment_text(repro, options));
    write_file(folder / "README.txt", read_me(repro, options, record, onnx));
    write_file(folder / "ISSUE.md", issue_text(repro, options));
}

std::set<fs::path> files_below(const fs::path& folder) {
    std::set<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (!entry.is_directory()) files.insert(entry.path().lexically_relative(folder));
    return files;
}

/// Behind the name of what is not there yet, but belongs to the bundle and goes with it.
static constexpr const char* kMadeLater = "  (run.sh creates this file)";

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
