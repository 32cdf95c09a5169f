#include "cli/run_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/words.h"
#include "cli/model.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"

namespace whittle::cli {

namespace fs = std::filesystem;

void BackendChoice::declare(Tool& tool, std::string_view fallback) {
    tool.section("Backends");
    tool.option("--backend", name, "B",
                "Backend: the compiler to test. B is a name from 'explain list backends', a shared library "
                "(LIBRARY.so[:NAME]), or a command (cmd:COMMAND or worker:COMMAND). Default: " +
                    std::string(fallback) + ".");
    tool.offers(
        [] {
            std::vector<std::string> names;
            for (const BackendInfo& backend : list_backends()) names.push_back(backend.name);
            return names;
        },
        Tool::Offered::word_or_file);
    tool.hints_behind([](const std::string& backend) {
        const bool command = backend.starts_with("cmd:") || backend.starts_with("worker:");
        return command ? "put the command and its arguments in quotes: --backend '" + backend + " …'" : std::string();
    });
    tool.option("--backend-option", pairs, "KEY=VALUE",
                "Set an option of the backend. For example, disable=NAME turns off the pass or scheduling directive "
                "NAME, pass-limit=PASS=K allows only the first K applications of the pass PASS, and "
                "release=VERSION selects an installed release ('explain list releases'). For all options, see "
                "share/doc/reference/backends.md. May be repeated.");
    declare_libraries(tool);
}

void BackendChoice::declare_libraries(Tool& tool) {
    tool.option("--op-library", op_libraries, "FILE",
                "Load a shared library that registers ops with LibTorch (TORCH_LIBRARY). May be repeated.");
}

std::vector<std::string> BackendChoice::words() const {
    std::vector<std::string> words;
    if (!name.empty()) words = {"--backend", name};
    const std::vector<std::string> more = option_words(options());
    append(words, more);
    for (const fs::path& file : op_libraries) words.insert(words.end(), {"--op-library", file.string()});
    return words;
}

BackendOptions BackendChoice::options() const {
    BackendOptions result;
    for (const std::string& pair : pairs) add_option(result, pair);
    return result;
}

void BackendChoice::check() const {
    for (const fs::path& file : op_libraries) load_op_library(file);
    const BackendOptions given = options();
    if (name.empty()) return;
    find_backend(name, given);
    continue_in_release(name, given);
}

void BackendChoice::default_to(const LoadedFrame& frame) {
    const std::string& recorded = frame.record          ? frame.record->backend
                                  : frame.graph.failure ? frame.graph.failure->backend
                                                        : name;
    if (!name.empty() || recorded.empty() || recorded == kReferenceBackend) return;
    name = found_near(recorded, frame.file).text();
    const BackendOptions given = options();
    for (const auto& [key, value] : frame.record ? frame.record->backend_options : frame.graph.failure->options)
        if (!given.contains(key)) pairs.push_back(key + "=" + value);
}

bool BackendChoice::knows_more(const LoadedFrame& frame, std::string_view fallback) const {
    if (name.empty() && frame.graph.failure && frame.graph.failure->backend.empty()) return true;  // a command judged
    BackendChoice asked = *this;
    asked.default_to(frame);
    const auto backend = find_backend(asked.spec(fallback));
    if (!offered<ForeignOps>(*backend)) return false;
    if (frame.breaks.empty() || unknown_value(frame.graph)) return true;
    // The graph would run, but is not what the file says.
    TakesOnnxFile* const takes = offered<TakesOnnxFile>(*backend);
    return takes && takes->takes_file(asked.options());
}

void LimitOptions::declare(Tool& tool, const char* what) {
    const std::string subject = what;
    tool.section("Limits");
    tool.option("--timeout", timeout, "S", "Time limit for " + subject + ", in seconds. Default: 60.");
    tool.option("--cpu-limit", cpu, "S",
                "CPU time limit for " + subject + " and its child processes, in seconds. Default: no limit.");
    tool.option("--memory-limit", memory, "MB",
                "Memory limit for " + subject + " and its child processes, in MB. Default: 4096.");
}

Limits LimitOptions::limits() const {
    require_range("--timeout", timeout, 0.001, 1e9);
    if (cpu) require_range("--cpu-limit", *cpu, 1, 1e9);
    require_range("--memory-limit", memory, 1, 1 << 24);
    Limits limits;
    limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000));
    limits.memory = static_cast<std::size_t>(memory) << 20;
    if (cpu) limits.cpu = std::chrono::seconds(*cpu);
    return limits;
}

std::vector<std::string> LimitOptions::words() const {
    const LimitOptions defaults;
    std::vector<std::string> words;
    if (timeout != defaults.timeout) words.insert(words.end(), {"--timeout", fmt::format("{}", timeout)});
    if (cpu) words.insert(words.end(), {"--cpu-limit", std::to_string(*cpu)});
    if (memory != defaults.memory) words.insert(words.end(), {"--memory-limit", std::to_string(memory)});
    return words;
}

namespace {

double tolerance_number(const std::string& option, const std::string& text) {
    const auto value = number_of<double>(text);
    if (!value || !(*value >= 0)) throw invalid_value(text, option, "expected a number, 0 or more, or DTYPE=NUMBER");
    return *value;
}

constexpr std::string_view kSteps = "ulp";  // behind a number of --rtol

void apply(const std::string& option, const std::vector<std::string>& words, double Tolerance::*member,
           Accuracy& accuracy) {
    const auto set = [&](DType dtype, std::string text) {
        Tolerance& tolerance = accuracy.tolerances.try_emplace(dtype, default_tolerance(dtype)).first->second;
        const bool steps = member == &Tolerance::rtol && text.ends_with(kSteps);
        if (steps) text.resize(text.size() - kSteps.size());
        const double value = tolerance_number(option, text);
        if (steps && value != std::floor(value))
            throw invalid_value(text, option, "expected a whole number before ulp");
        tolerance.*(steps ? &Tolerance::ulp : member) = value;
    };
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            for (const DType dtype : kAllDTypes)
                if (is_inexact(dtype)) set(dtype, word);
            continue;
        }
        const auto dtype = dtype_from_name(word.substr(0, equals));
        if (!dtype)
            throw invalid_value(word, option,
                                "unknown data type '" + word.substr(0, equals) + "', expected one of " + dtype_names());
        set(*dtype, word.substr(equals + 1));
    }
}

}  // namespace

void AccuracyChoice::declare(Tool& tool, const std::string& means, const std::string& fallback) {
    tool.section("Accuracy");
    tool.flag_or_choice(
        "--accuracy", mode, {"close", "fp64", "strict", "exact"},
        means +
            " Modes: close, fp64, strict and exact. close: each element must be within the tolerances of --rtol and "
            "--atol. fp64: a tensor outside these tolerances also passes if its error against a run in double "
            "precision is at most about twice the error of the reference. strict: all bits must be equal; but with "
            "--rtol Nulp, an element may differ by at most N units in the last place. exact: the inputs and weights "
            "are chosen so that no operation rounds, and there is no tolerance. --accuracy without a mode selects "
            "close.");
    tool.option("--rtol", rtol, "[DTYPE=]X",
                "Relative tolerance for DTYPE; without DTYPE, for all floating-point and complex types. X is a number "
                "such as 1e-3, or Nulp such as 4ulp. Nulp: also accept elements that differ by at most N units in the "
                "last place. Default: " +
                    fallback + ", for example 1e-4 for f32. May be repeated.");
    tool.option("--atol", atol, "[DTYPE=]X",
                "Absolute tolerance for DTYPE; without DTYPE, for all floating-point and complex types. Default: " +
                    fallback + ", for example 1e-5 for f32.");
}

std::vector<std::string> AccuracyChoice::words() const {
    std::vector<std::string> words = {"--accuracy" + (mode ? "=" + *mode : "")};
    for (const std::string& text : rtol) words.insert(words.end(), {"--rtol", text});
    for (const std::string& text : atol) words.insert(words.end(), {"--atol", text});
    return words;
}

void AccuracyChoice::default_to(const Accuracy& recorded) {
    if (mode) return;
    mode = whittle::name(recorded.mode);
    if (tolerances()) return;
    const auto pair = [](DType dtype, double value) {
        return std::string(whittle::name(dtype)) + "=" + significant(value, 17);
    };
    for (const auto& [dtype, tolerance] : recorded.tolerances) {
        rtol.push_back(pair(dtype, tolerance.rtol));
        atol.push_back(pair(dtype, tolerance.atol));
        if (tolerance.ulp > 0) rtol.push_back(pair(dtype, tolerance.ulp) + std::string(kSteps));
    }
}

Accuracy AccuracyChoice::accuracy() const {
    if (exact() && tolerances())
        throw Error("--accuracy=exact cannot be used with --rtol and --atol: exact results have no tolerance");
    Accuracy accuracy;
    if (mode) accuracy.mode = accuracy_mode_from_name(*mode).value();
    apply("--rtol", rtol, &Tolerance::rtol, accuracy);
    apply("--atol", atol, &Tolerance::atol, accuracy);
    return accuracy;
}

namespace {

BackendOptions options_of(const std::vector<std::string>& pairs, BackendOptions options) {
    BackendOptions own;
    for (const std::string& pair : pairs) add_option(own, pair);
    for (const auto& [key, value] : own) options[key] = value;
    return options;
}

}  // namespace

void PaceChoice::declare(Tool& tool, const std::string& means) {
    tool.section("Running time");
    tool.option("--slower", factor, "FACTOR",
                means +
                    " fails if a run on the tested backend takes more than FACTOR (for example 1.5) times as long as a "
                    "run on the baseline, which is the backend that --than names. The two backends run in turns until "
                    "the difference is clear (share/doc/how-to/slowness.md).");
    tool.option("--than", than, "B",
                "With --slower: the baseline, that is, the backend to compare times with. Default: the tested backend "
                "without optimization.");
    tool.option("--than-option", pairs, "KEY=VALUE",
                "With --slower: set an option of the baseline, for example release=1.16.3. Without --than, the "
                "baseline is the tested backend with this option. May be repeated.");
}

void PaceChoice::check(const BackendChoice& suspect, bool alone) const {
    require_with(!than.empty(), "--than", factor.has_value(), "--slower");
    require_with(!pairs.empty(), "--than-option", factor.has_value(), "--slower");
    if (!factor) return;
    require_range("--slower", *factor, 1, 1e6);
    if (!alone)
        throw Error(
            "--slower cannot be used with --jobs on one machine, because parallel runs disturb each other's times",
            "leave out --jobs; or use minify --launcher, which runs the candidates on several machines");
    const BackendOptions options = options_of(pairs, than.empty() ? suspect.options() : BackendOptions());
    const std::string named = than.empty() ? suspect.name : than;
    if (!named.empty()) find_backend(named, options);
}

std::optional<Pace> PaceChoice::pace(const BackendSpec& spec, const BackendOptions& options) const {
    if (!factor) return std::nullopt;
    if (than.empty() && pairs.empty()) return Pace{.factor = *factor};
    return Pace{.factor = *factor,
                .than = than.empty() ? spec.text() : BackendSpec(than).text(),
                .options = options_of(pairs, than.empty() ? options : BackendOptions())};
}

std::vector<std::string> PaceChoice::words() const {
    std::vector<std::string> words;
    if (factor) words = {"--slower", shortest(*factor)};
    if (!than.empty()) words.insert(words.end(), {"--than", than});
    for (const std::string& pair : pairs) words.insert(words.end(), {"--than-option", pair});
    return words;
}

namespace {

constexpr const char* kPreload = "LD_PRELOAD";

/// What the system was given to start this process.
std::vector<std::string> arguments() {
    const std::string text = read_file("/proc/self/cmdline");
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1)
        words.push_back(text.substr(at, text.find('\0', at) - at));
    return words;
}

}  // namespace

void continue_in_release(const BackendSpec& spec, const BackendOptions& options) {
    if (spec.text().empty() || options.empty()) return;  // nobody has chosen one
    const auto backend = find_backend(spec);
    Releases* const releases = offered<Releases>(*backend);
    if (!releases) return;
    const std::string library = releases->library_for(options).string();
    if (library.empty()) return;
    const char* const given = std::getenv(kPreload);
    const std::string others = given ? given : "";
    // A library that was loaded takes itself out of the variable.
    if (others.starts_with(library))
        throw Error({library, {}}, std::string("the system's loader did not load the library that ") + kPreload +
                                       " names, expected a path without blanks or colons");
    const std::string version = releases->version_in(options);  // which a broken one cannot say
    log_info(LogChannel::backend, "starting again with " + version);
    ::setenv(kPreload, (others.empty() ? library : library + ":" + others).c_str(), 1);
    std::vector<std::string> words = arguments();
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::fflush(nullptr);
    ::execv("/proc/self/exe", argv.data());
    throw Error({library, {}}, std::string("cannot start the program again: ") + std::strerror(errno));
}

Suspect RunOptions::suspect(std::string_view fallback) const {
    return {.spec = backend.spec(fallback),
            .options = backend.options(),
            .accuracy = accuracy.chosen(),
            .limits = limits.limits()};
}

std::vector<std::string> RunOptions::words(bool wrong) const {
    std::vector<std::string> all = backend.words();
    for (const auto& more : {wrong ? accuracy.words() : std::vector<std::string>(), inputs.words(), limits.words()})
        append(all, more);
    return all;
}

}  // namespace whittle::cli
