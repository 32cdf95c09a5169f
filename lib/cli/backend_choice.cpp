#include "cli/backend_choice.h"

#include "backends/registry.h"
#include "base/error.h"
#include "cli/model.h"
#include "cli/release.h"
#include "cli/tool.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/foreign_ops.h"

namespace whittle::cli {

namespace fs = std::filesystem;

void BackendChoice::declare(Tool& tool, std::string_view fallback) {
    tool.section("Backends");
    tool.option("--backend", name, "B",
                "Backend: the compiler to test. A name that 'explain list backends' lists, a shared library "
                "(LIBRARY.so[:NAME]), or a command (cmd:COMMAND or worker:COMMAND). Default: " +
                    std::string(fallback) + ".");
    tool.offers(
        [] {
            std::vector<std::string> names;
            for (const BackendInfo& backend : list_backends()) names.push_back(backend.name);
            return names;
        },
        Tool::Offered::word_or_file);
    tool.option("--backend-option", pairs, "KEY=VALUE",
                "Set an option of the backend. For example, disable=NAME turns off the pass or scheduling directive "
                "NAME, and pass-limit=PASS=K allows only the first K applications of the pass PASS. All options: "
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
    words.insert(words.end(), more.begin(), more.end());
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
    return offered<ForeignOps>(*find_backend(asked.spec(fallback))) != nullptr;
}

}  // namespace whittle::cli
