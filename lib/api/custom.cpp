#define WHITTLE_API_IMPLEMENTATION
#include "ops/core/custom.h"

#include <whittle/api/custom.h>

#include "api/call.h"
#include "api/op_kernel.h"

namespace whittle::api::detail {
namespace {

std::string schema_of(const std::string& target, const std::vector<std::size_t>& kinds, std::size_t results) {
    std::string text = target.substr(target.find('.') + 1) + "(";
    for (std::size_t i = 0; i < kinds.size(); ++i)
        text += (i ? ", " : "") + type_of(kinds[i]) + " x" + std::to_string(i);
    text += ") -> ";
    if (results == 1) return text + "Tensor";
    for (std::size_t i = 0; i < results; ++i) text += i ? ", Tensor" : "(Tensor";
    return text + ")";
}

/// What the kernel computes, in memory of its own.
std::vector<whittle::Tensor> run(const OpKernel& kernel, const std::vector<OpValue>& values,
                                 const std::string& target) {
    std::vector<whittle::Tensor> results = run_kernel(kernel, values, target);
    for (whittle::Tensor& result : results) result = result.clone();
    return results;
}

}  // namespace

const char* allow_op(const std::string& name, const std::vector<std::size_t>& kinds, std::size_t results,
                     OpKernel kernel) {
    const auto shared = std::make_shared<const OpKernel>(std::move(kernel));
    CustomOp op{.target = name, .schema = schema_of(name, kinds, results)};
    op.infer = [=](const Arguments<ValueMeta>& arguments) {
        const auto zeros = [](const ValueMeta& meta) { return wrap(whittle::Tensor(meta.dtype, meta.sizes)); };
        std::vector<ValueMeta> metas;
        for (const whittle::Tensor& result : run(*shared, values_of<ValueMeta>(arguments, kinds, zeros), name))
            metas.push_back(ValueMeta::of(result));
        return metas;
    };
    op.eval = [=](const Arguments<whittle::Tensor>& arguments) {
        const auto copied = [](const whittle::Tensor& tensor) { return wrap(tensor.clone()); };
        return run(*shared, values_of<whittle::Tensor>(arguments, kinds, copied), name);
    };
    return register_op(std::move(op)).name.data();
}

TensorList call_op(const char* op, const std::vector<OpValue>& arguments, void* pc) {
    const Schema& schema = Registry::instance().require(op).schema;
    Call call(op, pc);
    for (std::size_t i = 0; i < arguments.size(); ++i)
        std::visit(
            [&](const auto& value) {
                const Param& param = schema.params.at(i);
                param.keyword_only ? call.add(keyword(param.name.c_str(), value)) : call.add(value);
            },
            arguments[i]);
    return call.list();
}

}  // namespace whittle::api::detail
