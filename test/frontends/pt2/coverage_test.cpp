#include "frontends/pt2/coverage.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

using namespace whittle::pt2;

TEST_CASE("each of PyTorch's ops is native, decomposed, derived or opaque") {
    std::map<std::string, Support> support;
    for (const TorchOp& op : torch_ops()) CHECK(support.emplace(op.target, op.support).second);
    CHECK(support.size() > 3000);
    const auto is = [&](const char* target) { return std::string(name(support.at(target))); };
    CHECK(is("aten.add.Tensor") == "native");
    CHECK(is("aten.addbmm.default") == "decomposed");
    for (const char* derived : {"aten.add_.Tensor", "aten.add.out", "aten.absolute.default", "aten.sym_size.int",
                                "aten._foreach_add.List", "aten.item.default", "aten.where.default"}) {
        INFO(derived);
        CHECK(is(derived) == "derived");
    }
    CHECK(is("aten.cudnn_convolution.default") == "opaque");
    const std::string page = torch_ops_page();
    CHECK(page.find("| `aten.cudnn_convolution` | default, out |") != std::string::npos);
    CHECK(page.find("`aten.add`") == std::string::npos);
}
