#define WHITTLE_API_IMPLEMENTATION
#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "api/frame.h"
#include "api/stack.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/variables.h"
#include "symbolize/text.h"

namespace whittle::api {
namespace {

std::string readable(const char* type) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(type, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && text ? text.get() : type;
}

capture::DynamicSizes dynamic_of(const CompileOptions& options) {
    if (!options.dynamic) return capture::DynamicSizes::automatic;
    return *options.dynamic ? capture::DynamicSizes::always : capture::DynamicSizes::never;
}

/// With what the environment says of what is left open.
CompileOptions resolved(CompileOptions options) {
    const auto also = [](bool& option, const char* name) { option = option || flag_variable(name).value_or(false); };
    also(options.fullgraph, "WHITTLE_FULLGRAPH");
    also(options.verify, "WHITTLE_VERIFY");
    also(options.defer_output, "WHITTLE_DEFER_OUTPUT");
    also(options.capture_scalar_outputs, "WHITTLE_CAPTURE_SCALAR_OUTPUTS");
    also(options.capture_dynamic_shapes, "WHITTLE_CAPTURE_DYNAMIC_SHAPES");
    also(options.verbose, "WHITTLE_VERBOSE");
    if (!options.dynamic && variable("WHITTLE_DYNAMIC") != "auto") options.dynamic = flag_variable("WHITTLE_DYNAMIC");
    if (options.cache_limit != 0) return options;
    options.cache_limit = 8;
    const std::string text = variable("WHITTLE_CACHE_SIZE_LIMIT");
    if (text.empty()) return options;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.cache_limit);
    if (error != std::errc() || end != text.data() + text.size() || options.cache_limit < 1)
        throw Error({"WHITTLE_CACHE_SIZE_LIMIT", {}}, "found '" + text + "', expected a number, 1 or more");
    return options;
}

capture::FrameCache empty_cache(const CompileOptions& options, bool profiled) {
    const bool observed = profiled || flag_variable("WHITTLE_PROFILE_RECOMPILES").value_or(false);
    const int limit = observed ? RecompileProfile::kMostSpecializations : std::max(options.cache_limit, 1);
    return capture::FrameCache(static_cast<std::size_t>(limit), dynamic_of(options));
}

}  // namespace

FunctionState::FunctionState(CompileOptions given, const void* where, const char* type_name)
    : options(resolved(std::move(given))),
      address(where),
      type(type_name),
      cache(empty_cache(options, profile_called(options.backend) != nullptr)),
      backend_options(options.backend_options.begin(), options.backend_options.end()),
      profile(profile_called(options.backend)) {
    backend_name = variable("WHITTLE_BACKEND");
    if (backend_name.empty()) backend_name = options.backend.empty() ? "eager" : options.backend;
    functions =
        options.function_filter.empty() ? list_variable("WHITTLE_DEBUG_FUNCTION") : split_list(options.function_filter);
    repro = ReproOptions::from(options);
    const std::string record =
        options.replay_record.empty() ? variable("WHITTLE_REPLAY_RECORD") : options.replay_record;
    if (!record.empty() && record != "0") frame_records = record == "1" ? repro.folder : std::filesystem::path(record);
}

const std::string& FunctionState::name() {
    const std::lock_guard lock(mutex);
    if (!name_.empty()) return name_;
    name_ = options.name;
    if (name_.empty() && address) name_ = function_at(address);
    if (name_.empty()) name_ = readable_function(readable(type.c_str()));
    counts.name = name_;
    return name_;
}

capture::CompileId FunctionState::id_of(std::size_t entry) {
    static std::atomic<std::int64_t> next{0};
    if (number < 0) number = next++;
    return {number, static_cast<std::int64_t>(cache.entries().at(entry).id)};
}

void FunctionState::reset() {
    decltype(graphs) dropped_graphs;  // outlive the lock: they may hold what is the program's
    decltype(tapes) dropped_tapes;
    const std::lock_guard lock(mutex);
    reset_wanted = running > 0;
    if (reset_wanted) return;
    dropped_graphs.swap(graphs);
    dropped_tapes.swap(tapes);
    cache = empty_cache(options, profile != nullptr);
    shapes.clear();
    ways.clear();
    warned = false;
    told_breaks.clear();
    skip = false;
    relies_on_deterministic = false;
    known_calls.reset();
    number = -1;
    counts = {.name = counts.name};
}

Backend& FunctionState::the_backend() {
    if (!backend) backend = find_backend(backend_name, backend_options);
    return *backend;
}

}  // namespace whittle::api
