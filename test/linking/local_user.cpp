// What local_host.c loads: errors thrown in libraries that Whittle loads at run time are caught here by their type.
#include <cstdio>
#include <functional>
#include <string>

#include "backends/registry.h"
#include "base/error.h"
#include "graph/text.h"

using namespace whittle;

namespace {

/// True when f() throws an Error whose text has `words`; else says what happened.
bool throws(const char* what, const std::string& words, const std::function<void()>& f) {
    try {
        f();
        std::printf("%s: nothing was thrown\n", what);
    } catch (const Error& error) {
        if (std::string(error.what()).find(words) != std::string::npos) return true;
        std::printf("%s: found '%s', expected '%s'\n", what, error.what(), words.c_str());
    } catch (...) {
        std::printf("%s: something else was thrown\n", what);
    }
    return false;
}

}  // namespace

extern "C" int use_whittle() {
    const bool halide = throws("halide", "asserts", [] {
        const Graph graph = parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  return (%x)\n}\n");
        (void)find_backend("halide")->compile(graph, {{"asserts", "perhaps"}});
    });
    const bool command = throws("command", "found no command after the prefix", [] { (void)find_backend("cmd: "); });
    const bool core = throws("core", "unknown backend", [] { (void)find_backend("no_such_backend"); });
    return halide && command && core ? 0 : 1;
}
