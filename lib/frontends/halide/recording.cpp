#include "frontends/halide/recording.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "frontends/halide/capture/variables.h"
#include "frontends/libtorch/launch.h"

namespace whittle::halide_program {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPreloaded = "libwhittle_halide_capture.so";

fs::path place_of(const char* name) {
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path() / WHITTLE_CAPTURE_DIR_FROM_BIN;
    return (folder / name).lexically_normal();
}

fs::path existing(fs::path file) {
    if (!fs::exists(file))
        throw Error({file.string(), {}},
                    "found no such file, expected a file of Whittle that the capture of Halide programs needs");
    return file;
}

fs::path library(const char* name) { return existing(place_of(name)); }

/// A text that only Halide contains, which a program that is linked with Halide statically has.
bool contains_halide(const fs::path& program) {
    constexpr std::string_view kOfHalide = "could not find split dimension";
    std::error_code ignored;
    if (!fs::is_regular_file(program, ignored)) return false;
    const std::shared_ptr<const MappedFile> file = MappedFile::open(program);
    const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    return std::search(text.begin(), text.end(),
                       std::boyer_moore_horspool_searcher(kOfHalide.begin(), kOfHalide.end())) != text.end();
}

}  // namespace

bool Recording::installed() {
    std::error_code ignored;
    return fs::exists(place_of(kPreloaded), ignored);
}

Recording::Recording(fs::path folder, const RecordingOptions& options)
    : folder_(fs::absolute(folder)), options_(options) {
    fs::create_directories(results_folder());
    fs::create_directories(inputs_folder());
    std::string keys;
    for (const std::string& key : options_.left_out) keys += key + "\n";
    write_file(folder_ / "left_out", keys);
}

fs::path Recording::results_folder() const { return folder_ / "results"; }

fs::path Recording::inputs_folder() const { return folder_ / "inputs"; }

fs::path Recording::preload() const {
    const fs::path stub = library(kPreloaded);
    if (stub.string().find_first_of(" :") == std::string::npos) return stub;
    const fs::path link = folder_ / stub.filename();  // LD_PRELOAD knows no quoting
    std::error_code ignored;
    fs::create_symlink(stub, link, ignored);
    return link;
}

std::vector<std::pair<std::string, std::string>> Recording::environment() const {
    using namespace halide_capture;
    std::vector<std::pair<std::string, std::string>> variables{
        {kRecorderVariable, library("libwhittle_halide_recorder.so").string()},
        {kLogVariable, (folder_ / "log").string()},
        {kLeftOutVariable, (folder_ / "left_out").string()}};
    if (options_.reference) variables.emplace_back(kReferenceVariable, "1");
    if (options_.results) variables.emplace_back(kResultsVariable, results_folder().string());
    if (options_.captured || options_.runs_mb) variables.emplace_back(kCapturedVariable, inputs_folder().string());
    if (options_.runs_mb) variables.emplace_back(kRunsVariable, std::to_string(options_.runs_mb));
    if (options_.pipelines) variables.emplace_back(kPipelinesVariable, "1");
    return variables;
}

std::vector<std::pair<std::string, std::string>> Recording::whole_environment() const {
    std::vector<std::pair<std::string, std::string>> variables = environment();
    existing(libtorch::stub_library());
    append(variables, libtorch::preload_variables(preload(), folder_));
    return variables;
}

Program read_recording(const fs::path& folder, const fs::path& program) {
    std::set<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().filename().string().starts_with("log.")) files.insert(entry.path());
    std::vector<std::string> texts;
    for (const fs::path& file : files) texts.push_back(read_file(file));
    Program read = read_lines(texts);
    if (texts.empty() && contains_halide(program))
        read.notes.push_back(
            program.string() +
            " contains Halide, so Whittle cannot record the directives of the program; link the program with Halide's "
            "shared library (" WHITTLE_HALIDE_SONAME ")");
    return read;
}

std::set<std::string> Recording::results() const {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(results_folder()))
        names.insert(entry.path().filename().string());
    return names;
}

}  // namespace whittle::halide_program
