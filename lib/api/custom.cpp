#define WHITTLE_API_IMPLEMENTATION
#include "ops/core/custom.h"

#include <whittle/api/custom.h>

#include "api/call.h"
#include "api/session.h"
#include "base/error.h"

namespace whittle::api::detail {

namespace {

constexpr std::array<const char*, 5> kTypes = {"Tensor", "int", "float", "bool", "str"};

std::string parameter(std::size_t position) { return "x" + std::to_string(position); }

std::string schema_of(const std::string& target, const std::vector<std::size_t>& kinds, std::size_t results) {
    std::string text = target.substr(target.find('.') + 1) + "(";
    for (std::size_t i = 0; i < kinds.size(); ++i)
        text += (i ? ", " : "") + std::string(kTypes.at(kinds[i])) + " " + parameter(i);
    text += ") -> ";
    if (results == 1) return text + "Tensor";
    for (std::size_t i = 0; i < results; ++i) text += i ? ", Tensor" : "(Tensor";
    return text + ")";
}

/// The call's arguments as the kernel takes them; `value` makes its tensors.
template <class T, class Value>
std::vector<OpValue> values_of(const Arguments<T>& arguments, const std::vector<std::size_t>& kinds,
                               const Value& value) {
    std::vector<OpValue> values;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const std::string name = parameter(i);
        switch (kinds[i]) {
            case 0:
                values.emplace_back(wrap(value(arguments.tensor(name))));
                break;
            case 1:
                values.emplace_back(arguments.integer(name));
                break;
            case 2:
                values.emplace_back(arguments.number(name));
                break;
            case 3:
                values.emplace_back(arguments.boolean(name));
                break;
            default:
                values.emplace_back(arguments.text(name));
        }
    }
    return values;
}

/// What the kernel computes: nothing of it is recorded.
std::vector<whittle::Tensor> run(const OpKernel& kernel, const std::vector<OpValue>& values,
                                 const std::string& target) {
    const NotRecording not_recording;
    std::vector<whittle::Tensor> results;
    for (const Tensor& result : kernel(values)) {
        if (!result.defined()) throw Error(target + ": found an undefined tensor among its results");
        results.push_back(demand(result, {}).clone());
    }
    return results;
}

}  // namespace

const char* allow_op(const std::string& name, const std::vector<std::size_t>& kinds, std::size_t results,
                     OpKernel kernel) {
    const auto shared = std::make_shared<const OpKernel>(std::move(kernel));
    CustomOp op{.target = name, .schema = schema_of(name, kinds, results)};
    op.infer = [=](const Arguments<ValueMeta>& arguments) {
        const auto zeros = [](const ValueMeta& meta) { return whittle::Tensor(meta.dtype, meta.sizes); };
        std::vector<ValueMeta> metas;
        for (const whittle::Tensor& result : run(*shared, values_of(arguments, kinds, zeros), name))
            metas.push_back(ValueMeta::of(result));
        return metas;
    };
    op.eval = [=](const Arguments<whittle::Tensor>& arguments) {
        const auto copied = [](const whittle::Tensor& tensor) { return tensor.clone(); };
        return run(*shared, values_of(arguments, kinds, copied), name);
    };
    return register_op(std::move(op)).def->name.data();
}

TensorList call_op(const char* op, const std::vector<OpValue>& arguments, void* pc) {
    Call call(op, pc);
    for (const OpValue& argument : arguments) std::visit([&](const auto& value) { call.add(value); }, argument);
    return call.list();
}

}  // namespace whittle::api::detail
