// Assertions: what capture makes of check(), check_is_size() and constrain_range(), and programs of PyTorch of
// torch._check(). Who runs a graph refuses values for which one does not hold (compile/assertions.h).
#include "ops/core/assertions.h"
#include "base/error.h"
#include "ops/aten/families.h"

namespace whittle {
namespace {

void check_one_element(const Sizes& sizes) {
    if (element_count(sizes) != 1)
        throw Error("found a condition of sizes " + to_string(sizes) + ", expected a condition with exactly 1 element");
}

std::vector<ValueMeta> infer_assertion(const Arguments<ValueMeta>& a) {
    check_one_element(a.tensor("self").sizes);
    return {a.tensor("dep_token")};
}

std::vector<Tensor> eval_assertion(const Arguments<Tensor>& a) {
    const Tensor condition = a.tensor("self"), about = a.tensor("dep_token");
    check_one_element(condition.sizes());
    if (!condition.item().to_bool()) throw Error(failed_assertion(a.text("assert_msg"), about));
    return {about};
}

/// A kernel cannot refuse: the value passes through, and whoever runs the kernel asks.
std::vector<expr::Value> lower_assertion(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    return {a.tensor("dep_token")};
}

constexpr OpDef kAssertionOps[] = {
    primitive("_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor",
              "returns dep_token if self is true, else fails: the functional form of torch._check", kAnyDType,
              {infer_assertion, eval_assertion, lower_assertion}, no_gradient),
};

}  // namespace

std::span<const OpDef> assertion_ops() { return kAssertionOps; }

}  // namespace whittle
