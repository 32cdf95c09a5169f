#define WHITTLE_API_IMPLEMENTATION
#include "api/op_kernel.h"

#include <array>

#include "api/impl.h"
#include "api/session.h"
#include "base/error.h"
#include "ops/core/mode.h"

namespace whittle::api::detail {
namespace {

/// In the order of OpValue.
constexpr std::array<const char*, 13> kTypes = {"Tensor",  "int",        "float",    "bool",  "str",
                                                "Scalar",  "ScalarType", "Tensor[]", "int[]", "float[]",
                                                "Tensor?", "int?",       "float?"};
static_assert(kTypes.size() == std::variant_size_v<OpValue>);

Scalar to_api(const whittle::Scalar& scalar) {
    if (scalar.is_boolean()) return scalar.to_bool();
    if (scalar.is_integer()) return scalar.to_integer();
    return scalar.to_double();
}

}  // namespace

std::string type_of(std::size_t kind) { return kTypes.at(kind); }

template <class T>
std::vector<OpValue> values_of(const Arguments<T>& arguments, const std::vector<std::size_t>& kinds,
                               const std::function<Tensor(const T&)>& wrapped) {
    std::vector<OpValue> values;
    const auto tensors = [&](const std::vector<T>& list) {
        TensorList result;
        for (const T& each : list) result.push_back(wrapped(each));
        return result;
    };
    using Get = std::function<OpValue(const std::string&)>;
    const std::array<Get, kTypes.size()> get = {
        [&](const std::string& name) -> OpValue { return wrapped(arguments.tensor(name)); },
        [&](const std::string& name) -> OpValue { return arguments.integer(name); },
        [&](const std::string& name) -> OpValue { return arguments.number(name); },
        [&](const std::string& name) -> OpValue { return arguments.boolean(name); },
        [&](const std::string& name) -> OpValue { return arguments.text(name); },
        [&](const std::string& name) -> OpValue { return to_api(arguments.scalar(name)); },
        [&](const std::string& name) -> OpValue { return api::to_api(arguments.dtype(name).value()); },
        [&](const std::string& name) -> OpValue { return tensors(arguments.tensors(name)); },
        [&](const std::string& name) -> OpValue { return arguments.integers(name); },
        [&](const std::string& name) -> OpValue { return arguments.numbers(name); },
        [&](const std::string& name) -> OpValue {
            const std::optional<T> given = arguments.optional_tensor(name);
            return given ? OptionalTensor(wrapped(*given)) : OptionalTensor();
        },
        [&](const std::string& name) -> OpValue { return arguments.optional_integer(name); },
        [&](const std::string& name) -> OpValue { return arguments.optional_number(name); },
    };
    for (std::size_t i = 0; i < kinds.size(); ++i)
        values.push_back(get.at(kinds[i])(arguments.schema().params.at(i).name));
    return values;
}

template std::vector<OpValue> values_of(const Arguments<ValueMeta>&, const std::vector<std::size_t>&,
                                        const std::function<Tensor(const ValueMeta&)>&);
template std::vector<OpValue> values_of(const Arguments<whittle::Tensor>&, const std::vector<std::size_t>&,
                                        const std::function<Tensor(const whittle::Tensor&)>&);

std::vector<whittle::Tensor> run_kernel(const OpKernel& kernel, const std::vector<OpValue>& values,
                                        const std::string& target) {
    const NotRecording not_recording;
    const WithoutModes not_seen;  // it is one call
    std::vector<whittle::Tensor> results;
    for (const Tensor& result : kernel(values)) {
        if (!result.defined())
            throw Error(
                target +
                ": found an undefined tensor among the results of the operation, expected only defined tensors");
        results.push_back(demand(result, {}));
    }
    return results;
}

}  // namespace whittle::api::detail
