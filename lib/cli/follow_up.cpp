#include "cli/follow_up.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/subprocess.h"
#include "cli/tool.h"
#include "graph/json.h"
#include "run/trial.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// Another of our programs, installed under whatever prefix this one is.
std::string sibling(const std::string& name) {
    const fs::path own = fs::read_symlink("/proc/self/exe");
    std::string file = own.filename().string();
    for (const std::string known : {"trace", "explain"})
        if (file.ends_with(known)) file.replace(file.size() - known.size(), known.size(), name);
    return (own.parent_path() / file).string();
}

std::vector<std::string> minify_words(const FollowUp& wanted) {
    std::vector<std::string> words = {wanted.model.string(), "--accuracy=" + wanted.accuracy.mode.value_or("close"),
                                      "-o", wanted.output.string()};
    const auto add = [&](const char* option, const std::string& value) {
        words.push_back(option);
        words.push_back(value);
    };
    if (!wanted.backend.name.empty()) add("--backend", wanted.backend.name);
    for (const std::string& pair : wanted.backend.pairs) add("--backend-option", pair);
    for (const std::string& text : wanted.accuracy.rtol) add("--rtol", text);
    for (const std::string& text : wanted.accuracy.atol) add("--atol", text);
    for (const std::string& text : wanted.accuracy.ulp) add("--ulp", text);
    for (const std::string& input : wanted.inputs.inputs) add("--input", input);
    if (wanted.inputs.data_set) add("--inputs", wanted.inputs.data_set->string());
    if (wanted.inputs.seed) add("--seed", std::to_string(wanted.inputs.seed));
    for (const std::string& dim : wanted.inputs.dims) add("--dim", dim);
    return words;
}

struct Ran {
    bool yes = false;  ///< exit status 0
    nlohmann::json json = {};
};

/// Runs it. Its report is passed on, or read when it is JSON.
Ran run(const std::string& name, std::vector<std::string> words, std::ostream& report, bool json) {
    words.insert(words.begin(), sibling(name));
    if (json) words.push_back("--json");
    const ProcessResult result = run_process(words, {.output_limit = std::size_t(64) << 20, .inherit_errors = true});
    if (!json) report << result.out << std::flush;
    if (result.signal != 0 || result.exit_code > 1)
        throw Error(name + (result.signal ? " was killed by " + signal_name(result.signal)
                                          : " exited with " + std::to_string(result.exit_code)));
    Ran ran{.yes = result.exit_code == 0};
    if (json) ran.json = parse_json(result.out, name + " --json");
    return ran;
}

/// NAME.json, or NAME-1.json …
std::vector<fs::path> results_at(const fs::path& output) {
    std::vector<fs::path> found;
    if (fs::exists(output)) found.push_back(output);
    for (std::size_t i = 1; fs::exists(numbered_result(output, i)); ++i) found.push_back(numbered_result(output, i));
    return found;
}

}  // namespace

std::vector<FailingFrame> failing_frames(const std::vector<LoadedFrame>& frames, Backend& backend,
                                         const BackendOptions& options, const Accuracy& accuracy) {
    std::vector<FailingFrame> failing;
    for (const LoadedFrame& frame : frames) {
        const Trial trial =
            try_backend(frame.graph, frame.inputs, {frame.expected, frame.expected_from}, backend, options, accuracy);
        if (trial.failed()) failing.push_back({frame.name, frame.file.string(), trial.text()});
    }
    return failing;
}

fs::path numbered_result(fs::path output, std::size_t number) {
    return output.replace_filename(output.stem().string() + '-' + std::to_string(number) + output.extension().string());
}

std::string with_minify(const Tool& tool, std::vector<std::string> arguments) {
    arguments.insert(std::find(arguments.begin(), arguments.end(), "--"), "--minify");
    arguments.insert(arguments.begin(), tool.name());
    return shell_quote(arguments);
}

FollowedUp follow_up(const FollowUp& wanted, std::ostream& report, bool json) {
    std::map<fs::path, fs::file_time_type> before;
    for (const fs::path& old : results_at(wanted.output)) before[old] = fs::last_write_time(old);
    const Ran minify = run("minify", minify_words(wanted), report, json);
    FollowedUp done{.failing = minify.yes, .json = {{"minify", minify.json}, {"repros", nlohmann::json::array()}}};
    if (!done.failing) return done;
    for (const auto& [old, time] : before)  // what an earlier run left would be taken for this one's
        if (fs::last_write_time(old) == time) fs::remove(old);
    done.verified = true;
    for (const fs::path& result : results_at(wanted.output)) {
        fs::path source = result;
        source.replace_extension(".cpp");
        if (!json) report << '\n';
        const Ran repro = run("repro", {result.string(), "-o", source.string()}, report, json);
        done.verified = done.verified && repro.yes;
        done.json["repros"].push_back(repro.json);
    }
    return done;
}

}  // namespace whittle::cli
