#include "base/variables.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/error.h"

namespace whittle {

namespace {

constexpr std::string_view kFlagWords[] = {"1", "0"}, kDynamic[] = {"1", "0", "auto"}, kRepro[] = {"capture", "aot"},
                           kRecords[] = {"always", "on-error", "never"}, kOn[] = {"1"};
constexpr VariableValues kFlag = {.words = kFlagWords};

constexpr Variable kVariables[] = {
    {"WHITTLE_BACKEND",
     {.text = "a backend"},
     "Compiles with it instead of each function's own.",
     ".backend",
     "`trace --backend`"},
    {"WHITTLE_DEBUG_FUNCTION",
     {.text = "names, separated by commas"},
     "Captures these functions only; the others run as if they were not compiled.",
     ".function_filter",
     "`trace --function`"},
    {"WHITTLE_CACHE_SIZE_LIMIT",
     {.least = 1},
     "So many specializations of a function (default 8); calls that none of them fits run eagerly then.",
     ".cache_limit",
     "`trace --compile cache_limit=8`"},
    {"WHITTLE_PROFILE_RECOMPILES", kFlag,
     "Every function may have 64 specializations, whatever its cache limit is, so that the limit hides no recompile.",
     "", "`explain --recompiles=all`"},
    {"WHITTLE_FULLGRAPH", kFlag, "A graph break is an error.", ".fullgraph", "`trace --compile fullgraph=1`"},
    {"WHITTLE_VERIFY", kFlag, "Runs every graph on the reference, too; wrong results are an error.", ".verify",
     "`trace --compile verify=1`"},
    {"WHITTLE_DYNAMIC",
     {.words = kDynamic},
     "Sizes may vary: from the start, never, or from the second value on.",
     ".dynamic",
     "`trace --compile dynamic=1`"},
    {"WHITTLE_DEFER_OUTPUT", kFlag,
     "What a function prints breaks no graph: it comes, in order, once its values are there.", ".defer_output",
     "`trace --compile defer_output=1`"},
    {"WHITTLE_CAPTURE_SCALAR_OUTPUTS", kFlag,
     "A number that `item()` takes from a tensor is a symbol of the graph, and breaks none.", ".capture_scalar_outputs",
     "`trace --compile capture_scalar_outputs=1`"},
    {"WHITTLE_CAPTURE_DYNAMIC_SHAPES", kFlag,
     "Operations whose results' sizes depend on values (`nonzero`, `masked_select`, `unique`, indexing with a mask) "
     "stay "
     "in the graph, and break none.",
     ".capture_dynamic_shapes", "`trace --compile capture_dynamic_shapes=1`"},
    {"WHITTLE_LOGS",
     {.text = "a list of channels"},
     "What is logged to stderr, see [logs.md](logs.md): `graph_code,graph_breaks,recompiles,+capture`.",
     "set_logs()",
     "`--log`"},
    {"WHITTLE_LOG_FILE", {.text = "a file"}, "The log is appended to it instead of stderr.", "set_logs()", ""},
    {"WHITTLE_VERBOSE", kFlag, "When capture itself fails: full stacks, of the program and of Whittle.", ".verbose",
     "`--verbose`"},
    {"WHITTLE_DEBUG_DIR",
     {.text = "a folder"},
     "Graphs, guards, kernels and their code as files, see [logs.md](logs.md), in a new folder `run_N` below it.",
     "set_debug_dir()",
     "`--debug-dir`"},
    {"WHITTLE_DEBUG_PARTS",
     {.text = "names of artifacts"},
     "Which of them: `guards,ir`, or `+assembly,-ir`.",
     "set_debug_dir()",
     ""},
    {"WHITTLE_REPRO_AFTER",
     {.words = kRepro},
     "What a backend fails on is kept as a record for `minify`: the captured graph, or (`aot`) the graph of core ops "
     "without writes that it decomposes to; of a backward pass, its graph.",
     ".repro_after",
     "`trace --compile repro_after=aot`"},
    {"WHITTLE_REPRO_LEVEL",
     {.least = 1, .most = 4},
     "1: keep the record. 2, the default: also run `minify` (from `PATH`) on it. 3: keep every graph before it is "
     "compiled, for backends that crash. 4: as 2, and wrong results are failures, too.",
     ".repro_level",
     "`trace --compile repro_level=4`"},
    {"WHITTLE_REPLAY_RECORD",
     {.text = "`1`, or a folder"},
     "When capture of a function fails, its event stream is kept for `replay`; in `WHITTLE_BASE_DIR` unless a folder "
     "is named.",
     ".replay_record",
     "`trace --compile replay_record=1`"},
    {"WHITTLE_BASE_DIR",
     {.text = "a folder"},
     "Where the two above write. Default: `whittle_debug`.",
     ".base_dir",
     "`trace --compile base_dir=DIR`"},
    {"WHITTLE_TRACE_DIR", {.text = "a folder"}, "Writes a trace of the program into it.", "", "`trace --output`"},
    {"WHITTLE_TRACE_RECORDS", {.words = kRecords}, "Which runs of graphs the trace records.", "", "`trace --record`"},
    {"WHITTLE_TIMES",
     {.words = kOn},
     "The trace says what compilations took, and operations of LibTorch.",
     "",
     "`explain --times`"},
    {"WHITTLE_CACHE_DIR",
     {.text = "a folder, or `off`"},
     "Where kernels that Halide compiled are kept for other runs, at most 512 MiB of them; those that were not asked "
     "for the longest go first. Default: `$XDG_CACHE_HOME/whittle`, or `~/.cache/whittle`. `off`: nowhere.",
     "",
     ""},
    {"WHITTLE_BACKEND_PATH",
     {.text = "folders, separated by colons"},
     "Where backends in shared libraries are looked for.",
     "",
     ""},
};

}  // namespace

std::span<const Variable> variables() { return kVariables; }

namespace {

const Variable& entry_of(std::string_view name) {
    const auto known = std::find_if(std::begin(kVariables), std::end(kVariables),
                                    [&](const Variable& entry) { return entry.name == name; });
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
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool fits = error == std::errc() && end == value.data() + value.size() && number >= values.least &&
                      (values.most == 0 || number <= values.most);
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
        "<!-- Generated: explain list variables > share/doc/environment.md -->\n\n"
        "Every switch also works without the tools: by environment, or by an option of `compile()` (see api.md), "
        "which\n"
        "wins, except over `WHITTLE_BACKEND`. Programs written against the Tensor API read these, and the tools those "
        "that\nconcern them:\n\n"
        "| variable | value | meaning | in the API | as a tool's option |\n|---|---|---|---|---|\n";
    const auto code = [](std::string_view option) {
        return option.empty() ? std::string() : "`" + std::string(option) + "`";
    };
    for (const Variable& v : kVariables)
        text += "| `" + std::string(v.name) + "` | " + values_text(v.values) + " | " + std::string(v.meaning) + " | " +
                code(v.option) + " | " + std::string(v.tool) + " |\n";
    return text;
}

}  // namespace whittle
