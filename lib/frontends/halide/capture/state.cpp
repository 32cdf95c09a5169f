#include "frontends/halide/capture/state.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "frontends/halide/capture/variables.h"
#include "frontends/libtorch/capture/stub_settings.h"

namespace whittle::halide_capture {
namespace {

State read_state() {
    State made;
    const auto text = [](const char* name) {
        const char* const value = libtorch::setting(name);
        return std::string(value ? value : "");
    };
    made.reference = !text(kReferenceVariable).empty();
    made.pipelines = !text(kPipelinesVariable).empty();
    made.times = !text(kTimesVariable).empty();
    made.results = text(kResultsVariable);
    made.captured = text(kCapturedVariable);
    made.runs = !made.captured.empty() && !text(kRunsVariable).empty();
    if (made.runs) made.run_bytes = std::strtoull(text(kRunsVariable).c_str(), nullptr, 10) << 20;
    std::ifstream keys(text(kLeftOutVariable));
    for (std::string key; std::getline(keys, key);) made.left_out.insert(key);
    return made;
}

}  // namespace

State& state() {
    static State* const only = new State(read_state());  // never destroyed: exit handlers use it
    return *only;
}

void* real_function(const char* symbol) {
    static void* const halide = ::dlopen(WHITTLE_HALIDE_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    void* const function = halide ? ::dlsym(halide, symbol) : nullptr;
    if (!function) {
        std::fprintf(stderr, "whittle: error: %s: the program's Halide has no such function\n", symbol);
        ::_exit(127);
    }
    return function;
}

std::string func_of(const std::string& stage) { return stage.substr(0, stage.find(".update(")); }

}  // namespace whittle::halide_capture
