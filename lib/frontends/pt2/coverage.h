// How Whittle takes each of PyTorch's ops: what exported programs can be made of, and what is known of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::pt2 {

enum class Support : std::uint8_t {
    native,      ///< a kernel of the reference
    decomposed,  ///< written in other ops
    derived,     ///< follows from another op: in-place form, out variant, other name, op of lists, number
    opaque       ///< kept as the program states it; only some backends know it
};
std::string_view name(Support support);

struct TorchOp {
    std::string target;  ///< "aten.add.Tensor"
    Support support = Support::opaque;
};
/// All ops of the release whose list the build has, by name.
std::vector<TorchOp> torch_ops();

/// Markdown: how many ops there are of each kind, and which are opaque.
std::string torch_ops_page();

}  // namespace whittle::pt2
