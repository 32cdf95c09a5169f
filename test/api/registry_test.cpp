// Every op's samples through the API: at once and compiled, the results are the kernel's.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/compile.h>

#include <catch2/catch.hpp>

#include "api/call.h"
#include "base/error.h"
#include "base/sanitizer.h"
#include "ops/core/interpreter.h"
#include "ops/core/sparse.h"

using namespace whittle;

namespace {

struct IssuedCall {
    const RegisteredOp& op;
    const Sample& sample;
};

api::TensorList issue(const IssuedCall& call) {
    std::vector<api::ImplPtr> operands;
    for (const Tensor& tensor : call.sample.tensors) operands.push_back(api::make_impl(tensor));
    Node node;
    node.target = std::string(call.op.name);
    node.args = call.sample.args;
    node.kwargs = call.sample.kwargs;
    return api::issue(std::move(node), operands, nullptr);
}

void check(const IssuedCall& call, const std::vector<Tensor>& expected, const api::TensorList& got) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        INFO("result " << i);
        CHECK(same_bits(*got[i].impl()->value, expected[i]));
    }
    static_cast<void>(call);
}

}  // namespace

constexpr int kShards = 4;

TEMPLATE_TEST_CASE_SIG("each op's samples give the kernel's results, at once and compiled", "", ((int Shard), Shard), 0,
                       1, 2, 3) {
    int position = 0;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (position++ % kShards != Shard) continue;
        if (!op.name.starts_with("aten.") || op.def->random) continue;
        for (const DType dtype : {DType::f32, DType::i64, DType::boolean}) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : kAddressSanitizer ? test::sparse_samples(op, dtype) : samples_of(op, dtype)) {
                if (!sample.subgraphs.empty() || !sample.constants.empty()) continue;
                INFO(op.name << " " << sample.label << " " << name(dtype));
                const IssuedCall call{op, sample};
                std::vector<Tensor> expected;
                try {
                    expected = evaluate(graph_of(op, sample), sample.inputs());
                } catch (const Error&) {
                    continue;  // a sample that shall fail
                }
                check(call, expected, issue(call));
                const auto compiled = api::compile([&] { return issue(call); });
                check(call, expected, compiled());
                CHECK(compiled.stats().breaks == 0);
            }
        }
    }
}
