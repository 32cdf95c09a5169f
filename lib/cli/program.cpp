#include "cli/program.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <set>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interpreter.h"
#include "base/log.h"
#include "base/variables.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {

namespace {

/// Those that an environment variable stands for.
std::string compile_option_names() {
    std::string names;
    for (const Variable& entry : variables())
        if (entry.option.starts_with('.')) names += (names.empty() ? "" : ", ") + std::string(entry.option.substr(1));
    return names;
}

/// As the program's environment has them.
std::vector<std::pair<std::string, std::string>> as_variables(const std::vector<std::string>& options) {
    std::vector<std::pair<std::string, std::string>> result;
    for (const std::string& option : options) {
        const std::size_t equals = option.find('=');
        const Variable* entry = compile_variable(option.substr(0, equals));
        if (equals == option.npos || !entry)
            throw invalid_value(option, "--compile", "expected NAME=VALUE with one of " + compile_option_names());
        const std::string value = option.substr(equals + 1);
        if (const std::string expected = expected_instead(*entry, value); !expected.empty())
            throw invalid_value(option, "--compile", "expected " + expected);
        if (entry->option == ".backend") find_backend(BackendSpec(value));  // throws where there is none
        if (std::ranges::find(result, entry->name, &std::pair<std::string, std::string>::first) != result.end())
            throw invalid_value(option, "--compile", "the option is given twice");
        result.emplace_back(entry->name, value);
    }
    return result;
}

constexpr std::string_view kKeys[] = {
    "level=core", "level=api", "limit=", "seconds=", "check=always", "check=budget", "check=never", "save-every="};

}  // namespace

CaptureSettings ProgramOptions::capture() const {
    CaptureSettings settings;
    std::set<std::string> given;
    for (const std::string& pair : capture_keys) {
        const auto [key, value] = split_assignment(pair, "--capture", "KEY=VALUE");
        const std::string place = "--capture " + key;
        if (!given.insert(key).second) throw Error(place + " is given twice");
        if (key == "level") {
            check_choice(place, value, {"core", "api"});
            settings.level = value;
        } else if (key == "check") {
            check_choice(place, value, {"always", "budget", "never"});
            settings.check = value == "always"  ? CheckPolicy::always
                             : value == "never" ? CheckPolicy::never
                                                : CheckPolicy::budget;
        } else if (key == "limit")
            convert(value, place, settings.limit_mb);
        else if (key == "seconds")
            convert(value, place, settings.seconds);
        else if (key == "save-every")
            convert(value, place, settings.save_every);
        else
            throw invalid_value(pair, "--capture", "expected one of level, limit, seconds, check, save-every");
    }
    return settings;
}

void ProgramOptions::declare(Tool& tool) {
    tool.section("Programs under capture");
    tool.option("--function", functions, "NAME",
                "Capture the function NAME instead of the functions that main calls. May be repeated.");
    tool.option("--compile", compile_options, "NAME=VALUE",
                "Set an option of compile() in a program that uses Whittle's Tensor API: " + compile_option_names() +
                    ". 'explain list variables' explains these options. For a LibTorch program, only three options "
                    "have an effect: verbose, capture_dynamic_shapes and cache_limit. Here, cache_limit=N limits the "
                    "reported specializations of each graph to N (default 8). May be repeated.");
    tool.option(
        "--capture", capture_keys, "KEY=VALUE",
        "How to capture a program. May be repeated, once for each setting. level=core (default): record the basic ops "
        "into which LibTorch decomposes the called ops. level=api: record the called ops. limit=MB: stop capture after "
        "MB megabytes of data (default 2048). seconds=S: stop capture after S seconds (default 600). The other "
        "settings are only for trace. check=always: run each graph again, and compare the results with those of the "
        "program. check=budget (default): end these checks when they have taken a fifth of the program's run time. "
        "check=never: no checks. save-every=S: write the trace every S seconds (default 10).");
    tool.offers([] { return std::vector<std::string>(std::begin(kKeys), std::end(kKeys)); });
    tool.after_dashes(arguments, "Arguments of the program.");
}

std::vector<std::filesystem::path> ProgramOptions::identities(std::span<const std::filesystem::path> models) const {
    std::vector<std::filesystem::path> names;
    for (const std::filesystem::path& model : models) names.push_back(program_identity(model, arguments));
    return names;
}

void ProgramOptions::refuse_for_model(const std::filesystem::path& model) const {
    const std::string file = model.string();
    if (!arguments.empty()) throw Error({file, {}}, "found a model, which takes no arguments after --");
    if (!functions.empty() || capture().level != CaptureSettings().level || !compile_options.empty() ||
        profile_recompiles)
        throw Error({file, {}},
                    "found a model, expected a program: --function, --compile, --capture level and --recompiles=all "
                    "are for programs only");
}

namespace {

/// By name, or "#0", "#1" … for what has only a place.
std::map<std::string, Tensor> by_name(const InputOptions& options) {
    Given given = read_given(options);
    if (!given.expected.empty())
        log_warning(LogChannel::cli,
                    "the expected outputs in " + given.expected_from +
                        " are ignored: for a TorchScript module, the outputs that LibTorch computes are recorded");
    std::map<std::string, Tensor> tensors;
    for (std::size_t i = 0; i < given.inputs.size(); ++i) {
        const std::string& name = given.inputs[i].name;
        tensors.emplace(name.empty() ? "#" + std::to_string(i) : name, std::move(given.inputs[i].tensor));
    }
    return tensors;
}

}  // namespace

/// What --compile cache_limit says.
static std::optional<std::int64_t> cache_limit_in(const std::vector<std::pair<std::string, std::string>>& environment) {
    for (const auto& [name, value] : environment)
        if (name == "WHITTLE_CACHE_SIZE_LIMIT") return std::stoll(value);
    return std::nullopt;
}

/// Specializations of who is observed: as the API has it for WHITTLE_PROFILE_RECOMPILES.
static constexpr std::int64_t kMostProfiled = 64;

ProgramRequest ProgramOptions::request(const Tool& tool, const std::filesystem::path& program,
                                       const InputOptions& inputs) const {
    const ModelKind kind = recognize(program);
    const bool module = kind == ModelKind::torchscript;
    if (module && !arguments.empty())
        throw Error({program.string(), {}}, "found a model, which takes no arguments after --",
                    "give inputs with --input NAME=FILE");
    if (!module && inputs.given())
        throw Error({program.string(), {}},
                    "found a program, which computes its own inputs: --input is for models only");
    const CaptureSettings settings = capture();
    log_info(LogChannel::cli, program.string() + ": recognized as " + std::string(name(kind)));
    std::vector<std::pair<std::string, std::string>> environment = as_variables(compile_options);
    if (profile_recompiles) environment.emplace_back("WHITTLE_PROFILE_RECOMPILES", "1");
    if (tool.shared().verbose) environment.emplace_back("WHITTLE_VERBOSE", "1");
    return {.program = program,
            .inputs = module ? std::optional(by_name(inputs)) : std::nullopt,
            .arguments = arguments,
            .functions = functions,
            .composite = settings.level == "api",
            .cache_size_limit = profile_recompiles ? kMostProfiled : cache_limit_in(environment),
            .limit_mb = settings.limit_mb.value_or(ProgramRequest().limit_mb),
            .limit_seconds = settings.seconds.value_or(ProgramRequest().limit_seconds),
            .stdout_to_stderr = module || tool.shared().json,
            .save_every = static_cast<double>(settings.save_every),
            .compile_options = std::move(environment)};
}

int end_as(const RanProgram& program) {
    if (!program.signal) return program.exit_code;
    std::fflush(nullptr);
    const rlimit none{0, 0};  // the program's own core file, if any, is there already
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(program.signal, SIG_DFL);
    std::raise(program.signal);
    return 128 + program.signal;
}

}  // namespace whittle::cli
