#include "program/pass_limits.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "graph/backend_options.h"

namespace whittle::program {
namespace {

constexpr Pass kPasses[] = {
    {"share", "reuses the code of an earlier kernel that differs only in names"},
    {"fuse", "adds a call to the kernel of the calls before it"},
    {"inline", "computes a value where it is read, instead of storing the value"},
    {"cse", "merges a call into an equal earlier one"},
    {"fold", "replaces a call on constants by the value of the call"},
};

bool is_pass(const std::string& name) {
    return std::any_of(std::begin(kPasses), std::end(kPasses), [&](const Pass& pass) { return pass.name == name; });
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

PassLimits::PassLimits(const BackendOptions& options) {
    for (const std::string& name : option_parts(options, "disable"))
        if (is_pass(name)) counts_[name].most = 0;
    std::vector<Limitable> known;
    for (const Pass& pass : kPasses) known.push_back({std::string(pass.name), std::numeric_limits<int>::max()});
    for (const OptionLimit& limit : option_limits(options, known)) counts_[limit.name].most = limit.most;
}

bool PassLimits::apply(std::string_view pass) {
    Count& count = counts_[std::string(pass)];
    return ++count.asked <= count.most || count.most < 0;
}

int PassLimits::applications(std::string_view pass) const {
    const auto found = counts_.find(pass);
    return found == counts_.end() ? 0 : found->second.asked;
}

std::set<std::string> disabled_directives(const BackendOptions& options) {
    std::set<std::string> texts;
    for (const std::string& part : option_parts(options, "disable"))
        if (!is_pass(part)) texts.insert(part);
    return texts;
}

}  // namespace whittle::program
