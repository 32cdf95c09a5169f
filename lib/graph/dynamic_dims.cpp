#include "graph/dynamic_dims.h"

#include <algorithm>

#include "base/error.h"
#include "base/words.h"

namespace whittle {

void check_dims(const std::string& file, const std::map<std::string, std::int64_t>& asked,
                std::span<const std::string> dynamic) {
    for (const auto& [name, size] : asked)
        if (std::ranges::find(dynamic, name) == dynamic.end())
            throw Error(
                {file, {}},
                "there is no dynamic dimension '" + name + "'" +
                    (dynamic.empty() ? ": the sizes of all inputs are fixed" : ", expected one of " + join(dynamic)),
                did_you_mean(name, dynamic));
}

}  // namespace whittle
