#include "cli/follow_up.h"

#include <map>

#include "base/error.h"
#include "base/subprocess.h"

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
    std::vector<std::string> words = {wanted.model.string(), "--accuracy", "-o", wanted.output.string()};
    const auto add = [&](const char* option, const std::string& value) {
        words.push_back(option);
        words.push_back(value);
    };
    if (!wanted.backend.name.empty()) add("--backend", wanted.backend.name);
    for (const std::string& pair : wanted.backend.pairs) add("--backend-option", pair);
    for (const std::string& input : wanted.inputs.inputs) add("--input", input);
    if (wanted.inputs.data_set) add("--inputs", wanted.inputs.data_set->string());
    if (wanted.inputs.seed) add("--seed", std::to_string(wanted.inputs.seed));
    for (const std::string& dim : wanted.inputs.dims) add("--dim", dim);
    return words;
}

/// Runs it and passes its report on; its exit status.
int run(const std::string& name, std::vector<std::string> words, std::ostream& report) {
    words.insert(words.begin(), sibling(name));
    const ProcessResult result = run_process(words, {.output_limit = std::size_t(64) << 20, .inherit_errors = true});
    report << result.out << std::flush;
    if (result.signal != 0 || result.exit_code > 1)
        throw Error(name + (result.signal ? " was killed by " + signal_name(result.signal)
                                          : " exited with " + std::to_string(result.exit_code)));
    return result.exit_code;
}

/// NAME.json, or NAME-1.json …
std::vector<fs::path> results_at(const fs::path& output) {
    std::vector<fs::path> found;
    if (fs::exists(output)) found.push_back(output);
    for (std::size_t i = 1; fs::exists(numbered_result(output, i)); ++i) found.push_back(numbered_result(output, i));
    return found;
}

}  // namespace

fs::path numbered_result(fs::path output, std::size_t number) {
    return output.replace_filename(output.stem().string() + '-' + std::to_string(number) + output.extension().string());
}

std::string minify_command(const FollowUp& wanted) {
    std::vector<std::string> words = minify_words(wanted);
    words.insert(words.begin(), "minify");
    return shell_quote(words);
}

FollowedUp follow_up(const FollowUp& wanted, std::ostream& report) {
    std::map<fs::path, fs::file_time_type> before;
    for (const fs::path& old : results_at(wanted.output)) before[old] = fs::last_write_time(old);
    FollowedUp done;
    done.failing = run("minify", minify_words(wanted), report) == 0;
    if (!done.failing) return done;
    for (const auto& [old, time] : before)  // what an earlier run left would be taken for this one's
        if (fs::last_write_time(old) == time) fs::remove(old);
    done.results = results_at(wanted.output);
    done.verified = true;
    for (const fs::path& result : done.results) {
        fs::path repro = result;
        repro.replace_extension(".cpp");
        report << '\n';
        if (run("repro", {result.string(), "-o", repro.string()}, report) != 0) done.verified = false;
        done.repros.push_back(repro);
    }
    return done;
}

}  // namespace whittle::cli
