#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/recompiles.h>

#include <algorithm>

#include "api/recompile_profile.h"
#include "api/stack.h"
#include "base/words.h"

namespace whittle::api {
namespace {

constexpr std::size_t kMostReasons = 16;  ///< of one cause
/// So many different values are worth buckets.
constexpr std::size_t kManyValues = 4;

std::mutex profiles_mutex;
std::map<std::string, std::weak_ptr<RecompileProfile>> profiles;  ///< by backend

std::vector<std::string> call_places(const Addresses& addresses) {
    std::vector<std::string> lines;
    for (const StackFrame& frame : user_stack(addresses))
        lines.push_back(frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : "") +
                        (frame.function.empty() ? "" : " in " + frame.function));
    return lines;
}

bool can_be_grouped(const capture::Guard& guard) {
    return guard.as<capture::TensorMatch>() || guard.as<capture::ScalarEqual>() || guard.as<capture::LengthEqual>() ||
           guard.as<capture::SizeCondition>();
}

}  // namespace

std::shared_ptr<RecompileProfile> profile_called(const std::string& backend) {
    const std::lock_guard lock(profiles_mutex);
    const auto known = profiles.find(backend);
    return known == profiles.end() ? nullptr : known->second.lock();
}

void RecompileProfile::called(const std::string& function, std::size_t specializations,
                              const std::optional<capture::Violation>& unfit, const Addresses& stack) {
    const std::lock_guard lock(mutex_);
    Function& seen = functions_[function];
    ++seen.calls;
    seen.specializations = std::max(seen.specializations, specializations);
    if (!unfit) return;
    ++seen.unfit;
    const capture::Guard& guard = *unfit->guard;
    Cause& cause = seen.causes[guard.source().text() + "|" + std::string(guard.kind()) + "|" + unfit->advice + "|" +
                               text_of(stack)];
    if (cause.told.calls++ == 0) {
        cause.told.function = function;
        cause.told.advice = unfit->advice;
        cause.stack = stack;
        cause.can_be_grouped = can_be_grouped(guard);
    }
    auto& reasons = cause.told.reasons;
    std::string reason = unfit->reason.text();
    if (reasons.size() < kMostReasons && std::ranges::find(reasons, reason) == reasons.end())
        reasons.push_back(std::move(reason));
}

std::vector<RecompileProfile::Cause> RecompileProfile::ranked(const Function& function) {
    std::vector<Cause> causes;
    for (const auto& [key, cause] : function.causes) {
        causes.push_back(cause);
        causes.back().told.call = call_places(cause.stack);
    }
    std::ranges::stable_sort(causes, [](const Cause& a, const Cause& b) { return a.told.calls > b.told.calls; });
    return causes;
}

std::vector<RecompileCause> RecompileProfile::causes() const {
    const std::lock_guard lock(mutex_);
    std::vector<RecompileCause> all;
    for (const auto& [name, function] : functions_)
        for (Cause& cause : ranked(function)) all.push_back(std::move(cause.told));
    std::ranges::stable_sort(all, [](const RecompileCause& a, const RecompileCause& b) { return a.calls > b.calls; });
    return all;
}

std::string RecompileProfile::report() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [name, function] : functions_) {
        text += name + ": " + plural(function.calls, "call") + "; the first specialization did not fit " +
                std::to_string(function.unfit) + " of these calls\n";
        for (const auto& [told, stack, can_be_grouped] : ranked(function)) {
            text += "  " + plural(told.calls, "time") + ": " + told.reasons.front() + "\n";
            if (!told.call.empty()) text += "    called at " + told.call.front() + "\n";
            text += "    hint: " + told.advice + "\n";
            if (told.reasons.size() >= kManyValues && can_be_grouped)
                text += "    hint: round or pad this value to a few sizes (buckets): found " +
                        std::to_string(told.reasons.size()) + (told.reasons.size() == kMostReasons ? " or more" : "") +
                        " different values\n";
        }
        if (function.specializations == kMostSpecializations)
            text += "  no cache limit below " + std::to_string(kMostSpecializations) + " is enough for these calls\n";
        else if (function.specializations > 1)
            text += "  hint: set .cache_limit = " + std::to_string(function.specializations) +
                    ", which is enough for these calls\n";
    }
    return text.empty() ? "No compiled function was called.\n" : text;
}

RecompileProfiler::RecompileProfiler() : profile_(std::make_shared<RecompileProfile>()) {
    static int number = 0;
    const std::lock_guard lock(profiles_mutex);
    backend_ = "recompile profiler " + std::to_string(++number);
    std::erase_if(profiles, [](const auto& entry) { return entry.second.expired(); });
    profiles.emplace(backend_, profile_);
    register_backend(backend_, [](const BackendGraph&) { return BackendAnswer(); });
}

std::vector<RecompileCause> RecompileProfiler::causes() const { return profile_->causes(); }

std::string RecompileProfiler::report() const { return profile_->report(); }

}  // namespace whittle::api
