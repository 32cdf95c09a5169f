#include "base/variables.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/number_text.h"

namespace whittle {

namespace {

constexpr std::string_view kFlagWords[] = {"1", "0"}, kDynamic[] = {"1", "0", "auto"}, kRepro[] = {"capture", "aot"},
                           kRecords[] = {"always", "on-error", "never"}, kOn[] = {"1"};
constexpr VariableValues kFlag = {.words = kFlagWords};

constexpr Variable kVariables[] = {
    {"WHITTLE_BACKEND",
     {.text = "a backend"},
     "Compile all functions with this backend, in place of the backend given to compile(). Default: the backend given "
     "to compile().",
     ".backend",
     "`trace --backend`"},
    {"WHITTLE_DEBUG_FUNCTION",
     {.text = "names, separated by commas"},
     "Capture only these functions; all other functions run as if they were not compiled. Default: all functions.",
     ".function_filter",
     "`trace --function`"},
    {"WHITTLE_CACHE_SIZE_LIMIT",
     {.least = 1},
     "The largest number of specializations that a function can have. At this limit, calls that fit no "
     "specialization run eagerly. Default: 8.",
     ".cache_limit",
     "`trace --compile cache_limit=8`"},
    {"WHITTLE_PROFILE_RECOMPILES", kFlag,
     "If set to 1: raise every cache limit to 64 specializations, so that no limit hides a recompile. Default: 0.", "",
     "`explain --recompiles=all`"},
    {"WHITTLE_FULLGRAPH", kFlag, "If set to 1: treat a graph break as an error. Default: 0.", ".fullgraph",
     "`trace --compile fullgraph=1`"},
    {"WHITTLE_VERIFY", kFlag,
     "If set to 1: also run every graph on the reference, and treat wrong results as an error. Default: 0.", ".verify",
     "`trace --compile verify=1`"},
    {"WHITTLE_DYNAMIC",
     {.words = kDynamic},
     "When to treat a size as dynamic. `1`: from the start. `0`: never. `auto` (default): as soon as the size has a "
     "second value.",
     ".dynamic",
     "`trace --compile dynamic=1`"},
    {"WHITTLE_DEFER_OUTPUT", kFlag,
     "If set to 1: delay the output of a function until the printed values are computed, so that printing causes no "
     "graph break. The order of the output does not change. Default: 0.",
     ".defer_output", "`trace --compile defer_output=1`"},
    {"WHITTLE_CAPTURE_SCALAR_OUTPUTS", kFlag,
     "If set to 1: keep a number that `item()` reads from a tensor as a symbol in the graph, so that `item()` causes "
     "no graph break. Default: 0.",
     ".capture_scalar_outputs", "`trace --compile capture_scalar_outputs=1`"},
    {"WHITTLE_CAPTURE_DYNAMIC_SHAPES", kFlag,
     "If set to 1: keep operations whose result sizes depend on values (`nonzero`, `masked_select`, `unique`, indexing "
     "with a mask) in the graph, so that these operations cause no graph break. Default: 0.",
     ".capture_dynamic_shapes", "`trace --compile capture_dynamic_shapes=1`"},
    {"WHITTLE_LOGS",
     {.text = "log channels, separated by commas"},
     "Log these channels, to stderr by default. Example: `graph_code,graph_breaks,recompiles,+capture`. For the names, "
     "see [share/doc/reference/logs.md](logs.md).",
     "set_logs()",
     "`--log`"},
    {"WHITTLE_LOG_FILE",
     {.text = "a file"},
     "Append the log to this file. Default: the log goes to stderr.",
     "set_logs()",
     ""},
    {"WHITTLE_VERBOSE", kFlag,
     "If set to 1: print full stacks of the program and of Whittle when capture itself fails. Default: 0.", ".verbose",
     "`--verbose`"},
    {"WHITTLE_DEBUG_DIR",
     {.text = "a folder"},
     "Write graphs, guards, kernels and generated code into a new subfolder `run_N`; see "
     "[share/doc/reference/logs.md](logs.md).",
     "set_debug_dir()",
     "`--debug-dir`"},
    {"WHITTLE_DEBUG_PARTS",
     {.text = "artifacts, separated by commas"},
     "The artifacts to write into `WHITTLE_DEBUG_DIR`. Example: the value `guards,ir` writes only `guards` and `ir`. "
     "The value `+assembly,-ir` adds `assembly` to the default artifacts, and omits `ir`. For the names and the "
     "default, see [share/doc/reference/logs.md](logs.md).",
     "set_debug_dir()",
     ""},
    {"WHITTLE_REPRO_AFTER",
     {.words = kRepro},
     "The graph to save for `minify` when a backend fails. `capture`: the captured graph. `aot`: the captured graph, "
     "decomposed into core ops. If a backward pass fails, the graph of the backward pass is saved. Default: not set; "
     "no graph is saved.",
     ".repro_after",
     "`trace --compile repro_after=aot`"},
    {"WHITTLE_REPRO_LEVEL",
     {.least = 1, .most = 4},
     "What to do when a backend fails, if `WHITTLE_REPRO_AFTER` is set. 1: save the graph. 2 (default): also run "
     "`minify`, which must be in `PATH`, on "
     "this graph. 3: save every graph before the backend compiles the graph, so that the graph exists even if the "
     "backend crashes. 4: like 2, and also treat wrong results as failures.",
     ".repro_level",
     "`trace --compile repro_level=4`"},
    {"WHITTLE_REPLAY_RECORD",
     {.text = "`1`, or a folder"},
     "If the capture of a function fails, save a record of the function's operations for `replay`. `1`: in "
     "`WHITTLE_BASE_DIR`. A folder: in this folder. Default: not set; no record is saved.",
     ".replay_record",
     "`trace --compile replay_record=1`"},
    {"WHITTLE_BASE_DIR",
     {.text = "a folder"},
     "The folder for saved graphs and records of failures. Default: `whittle_debug`.",
     ".base_dir",
     "`trace --compile base_dir=DIR`"},
    {"WHITTLE_TRACE_DIR",
     {.text = "a folder"},
     "Write a trace of the program into this folder. Default: not set; no trace is written.",
     "",
     "`trace --output`"},
    {"WHITTLE_TRACE_RECORDS",
     {.words = kRecords},
     "When to write records of runs into the trace. `always` (default): for each run. `on-error`: for runs that fail "
     "or give wrong results. `never`: for no run.",
     "",
     "`trace --record`"},
    {"WHITTLE_TIMES",
     {.words = kOn},
     "If set to 1: record the times of compilations and of LibTorch operations in the trace. Default: not set; no "
     "times are recorded.",
     "",
     "`explain --times`"},
    {"WHITTLE_CACHE_DIR",
     {.text = "a folder, or `off`"},
     "Keep kernels compiled by Halide in this folder for later runs, at most 512 MiB; the least recently used kernels "
     "are deleted first. `off`: no cache. Default: `$XDG_CACHE_HOME/whittle`; if `XDG_CACHE_HOME` is not set, "
     "`~/.cache/whittle`.",
     "",
     ""},
    {"WHITTLE_BACKEND_PATH",
     {.text = "folders, separated by colons"},
     "Search these folders for backends: shared libraries, and workers that a file `backend.json` describes.",
     "",
     ""},
};

}  // namespace

std::span<const Variable> variables() { return kVariables; }

namespace {

const Variable& entry_of(std::string_view name) {
    const auto known = std::ranges::find_if(kVariables, [&](const Variable& entry) { return entry.name == name; });
    WHITTLE_CHECK(known != std::end(kVariables), "an environment variable that is in no list");
    return *known;
}

}  // namespace

std::string variable(std::string_view name) {
    const char* value = std::getenv(entry_of(name).name.data());
    return value ? value : "";
}

std::optional<bool> flag_variable(std::string_view name) {
    const std::string value = variable(name);
    if (value.empty()) return std::nullopt;
    if (value == "0" || value == "1") return value == "1";
    const std::string expected = expected_instead(entry_of(name), value);
    throw Error({std::string(name), {}}, "found '" + value + "', expected " + (expected.empty() ? "1 or 0" : expected));
}

const Variable* compile_variable(std::string_view option) {
    for (const Variable& entry : kVariables)
        if (entry.option.starts_with('.') && entry.option.substr(1) == option) return &entry;
    return nullptr;
}

std::string values_text(const VariableValues& values) {
    if (!values.text.empty()) return std::string(values.text);
    const std::string least = std::to_string(values.least);
    if (values.words.empty()) return values.most ? least + " to " + std::to_string(values.most) : least + " or more";
    std::string text;
    for (const std::string_view& word : values.words) {
        const bool last = &word == &values.words.back();
        text += (text.empty() ? "`" : last ? " or `" : ", `") + std::string(word) + "`";
    }
    return text;
}

std::string expected_instead(const Variable& entry, std::string_view value) {
    const VariableValues& values = entry.values;
    if (!values.text.empty()) return {};
    std::string shown = values_text(values);
    std::ranges::replace(shown, '`', '\'');
    if (!values.words.empty())
        return std::ranges::find(values.words, value) == values.words.end() ? "one of " + shown : "";
    const auto number = number_of<std::int64_t>(value);
    const bool fits = number && *number >= values.least && (values.most == 0 || *number <= values.most);
    return fits ? "" : "a number, " + shown;
}

std::vector<std::string> list_variable(std::string_view name) { return split_list(variable(name)); }

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> list(1);
    for (const char c : text) {
        if (c == ',')
            list.emplace_back();
        else if (c != ' ')
            list.back() += c;
    }
    std::erase(list, "");
    return list;
}

std::string variables_page() {
    std::string text =
        "# Environment variables\n\n"
        "<!-- Generated: explain list variables > share/doc/reference/environment.md -->\n\n"
        "Programs that use Whittle's Tensor API read all of these variables. Each of Whittle's own programs\n"
        "reads the variables that apply to it. If both a variable and its option of `compile()`\n"
        "(see [api.md](api.md)) are set, the option counts. Exception: `WHITTLE_BACKEND` counts, not `.backend`.\n\n"
        "| variable | value | meaning | in the API | option of a program |\n|---|---|---|---|---|\n";
    const auto code = [](std::string_view option) {
        return option.empty() ? std::string() : "`" + std::string(option) + "`";
    };
    for (const Variable& v : kVariables)
        text += "| `" + std::string(v.name) + "` | " + values_text(v.values) + " | " + std::string(v.meaning) + " | " +
                code(v.option) + " | " + std::string(v.tool) + " |\n";
    return text;
}

}  // namespace whittle
