#include "compile/pass_limits.h"

#include <limits>
#include <optional>
#include <string_view>

#include "graph/backend_options.h"

namespace whittle::program {
namespace {

/// Of one that can be limited.
std::optional<PassId> pass_called(std::string_view called) {
    for (const Pass& pass : kPasses)
        if (pass.limitable && pass.name == called) return pass.id;
    return std::nullopt;
}

}  // namespace

std::vector<PassId> limitable_passes() {
    std::vector<PassId> ids;
    for (const Pass& pass : kPasses)
        if (pass.limitable) ids.insert(ids.begin(), pass.id);
    return ids;
}

PassLimits::PassLimits(const BackendOptions& options) {
    const auto limit = [this](PassId pass, int most) { counts_[static_cast<std::size_t>(pass)].most = most; };
    for (const std::string& part : option_parts(options, "disable"))
        if (const auto pass = pass_called(part)) limit(*pass, 0);
    std::vector<Limitable> known;
    for (const PassId pass : limitable_passes())
        known.push_back({std::string(name(pass)), std::numeric_limits<int>::max()});
    for (const OptionLimit& given : option_limits(options, known)) limit(pass_called(given.name).value(), given.most);
}

bool PassLimits::apply(PassId pass) {
    Count& count = counts_[static_cast<std::size_t>(pass)];
    return ++count.asked <= count.most || count.most < 0;
}

std::set<std::string> disabled_directives(const BackendOptions& options) {
    std::set<std::string> texts;
    for (const std::string& part : option_parts(options, "disable"))
        if (!pass_called(part)) texts.insert(part);
    return texts;
}

}  // namespace whittle::program
