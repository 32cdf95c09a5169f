#include "diagnose/bisect.h"

namespace whittle::diagnose {

std::optional<Bisected> bisect(int applications, const std::function<bool(int)>& fails,
                               const std::function<bool()>& stop) {
    if (applications <= 0 || fails(0)) return std::nullopt;
    Bisected found{.passing = 0, .failing = applications};
    while (found.failing - found.passing > 1 && !(stop && stop())) {
        const int middle = found.passing + (found.failing - found.passing) / 2;
        (fails(middle) ? found.failing : found.passing) = middle;
    }
    return found;
}

std::vector<std::string> as_options(const Bisected& found, const Switchable& switchable, const std::string& pass,
                                    const BackendOptions& options) {
    const auto option = [&](int most) {
        std::string text;
        for (const auto& [key, value] : switchable.limited(options, pass, most)) {
            const auto given = options.find(key);
            if (given != options.end() && given->second == value) continue;
            text += (text.empty() ? "" : " ") + key + "=" + value;
        }
        return text;
    };
    return {option(found.passing), option(found.failing)};
}

}  // namespace whittle::diagnose
