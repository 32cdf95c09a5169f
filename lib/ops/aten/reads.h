// What ATen ops read of the tensors that they are given, where a schema does not say. Without dependencies.
#pragma once

#include <string_view>

namespace whittle {

/// Whether the op takes sizes and dtype of the tensor that it is given, and none of its elements: "randn_like",
/// "aten::new_zeros".
constexpr bool reads_only_sizes(std::string_view name) {
    constexpr std::string_view kNamespace = "aten::", kNew = "new_", kLike = "_like";
    if (name.substr(0, kNamespace.size()) == kNamespace) name.remove_prefix(kNamespace.size());
    return name.substr(0, kNew.size()) == kNew ||
           (name.size() > kLike.size() && name.substr(name.size() - kLike.size()) == kLike);
}

/// Whether the op writes the elements of another tensor into all of its first argument, whatever that held.
constexpr bool copies_into(std::string_view name) { return name == "copy_" || name == "aten::copy_"; }

}  // namespace whittle
