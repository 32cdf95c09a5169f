#include "backends/built_in/built_in.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace whittle {
namespace {

constexpr BuiltInBackend kBuiltIn[] = {
#define WHITTLE_BACKEND(name, maker, description, needs, options, tracker, ...) \
    {#name, make_##maker, description, needs, options, tracker, __VA_ARGS__},
#include "backends/built_in/backends.def"
};

}  // namespace

std::span<const BuiltInBackend> built_in_backends() { return kBuiltIn; }

const BuiltInBackend* find_built_in(std::string_view name) {
    const auto* const found = std::ranges::find(kBuiltIn, name, &BuiltInBackend::name);
    return found == std::end(kBuiltIn) ? nullptr : found;
}

BackendOptions options_in(std::string_view text) {
    BackendOptions options;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        options.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    return options;
}

}  // namespace whittle
