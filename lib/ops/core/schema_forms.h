// One text for the schemas of overloads that differ in few places: "eq.{Tensor|Scalar}(Tensor self, {Tensor|Scalar}
// other) -> Tensor" is eq.Tensor and eq.Scalar. All braces of a text have as many alternatives. Without dependencies:
// the generator of ops/aten/calls.h reads records, too.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace whittle {

inline std::vector<std::string> schema_forms(std::string_view text) {
    const std::size_t open = text.find('{'), close = text.find('}', std::min(open, text.size()));
    if (close == std::string_view::npos) return {std::string(text)};
    const std::string_view first = text.substr(open, close - open);
    std::vector<std::string> forms(1 + static_cast<std::size_t>(std::ranges::count(first, '|')));
    for (std::size_t i = 0; i < forms.size(); ++i) {
        std::size_t alternative = 0;
        bool inside = false;
        for (const char c : text) {
            if (c == '{' || c == '}')
                inside = c == '{', alternative = 0;
            else if (inside && c == '|')
                ++alternative;
            else if (!inside || alternative == i)
                forms[i] += c;
        }
    }
    return forms;
}

}  // namespace whittle
