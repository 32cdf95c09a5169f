// Which local variables of Python hold what an op gets: its tensors and its numbers.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

bool knows_numbers = true;

namespace {

constexpr std::size_t kFrames = 12;  // the innermost, of which variables are told
constexpr int kMostVariables = 64, kWidth = sizeof(Object);

/// Calls told(function, variable) for the local variables that hold what is_it(object) accepts; of each frame the first
/// ones, no more than `most`.
template <class IsIt, class Told>
void find_variables(const Thread& thread, int most, IsIt&& is_it, Told&& told) {
    for (std::size_t i = 0; i < std::min(thread.frames.size(), kFrames); ++i) {
        const Frame& frame = thread.frames[i];
        const char* const names = at<const char*>(frame.code, layout->variables);
        const int count = static_cast<int>(std::min<long>(size_of_tuple(names), kMostVariables));
        for (int k = 0, found = 0; k < count && found < most; ++k) {
            if (!is_it(held(frame.address, layout->local + k * kWidth))) continue;
            ++found;
            told(text_of(at<const char*>(frame.code, layout->name)),
                 text_of(at<const char*>(names, layout->items + k * kWidth)));
        }
    }
}

/// False where it was told before: of those that came last it is known.
bool is_new(Thread& thread, std::uint64_t what) {
    std::uint64_t& told = thread.told_variables[what % thread.told_variables.size()];
    return std::exchange(told, what) != what;
}

/// The slot for it: of the tensor itself in 1.13, and of its own class since 2.0, where arguments come and go.
template <class Slot>
const void* object_in(Slot& slot) {
    if constexpr (requires { slot.load_pyobj(); }) {
        return slot.load_pyobj();
    } else if constexpr (requires { slot.check_pyobj(); }) {
        return slot.check_pyobj().value_or(nullptr);
    } else {
        auto* const interpreter = slot.pyobj_interpreter();
        return interpreter ? slot.check_pyobj(interpreter).value_or(nullptr) : nullptr;
    }
}

/// The tensor as Python has it; null where it never was there.
template <class Impl>
const void* python_object(Impl& impl) {
    if constexpr (requires { impl.pyobj_slot(); })
        return object_in(*impl.pyobj_slot());
    else
        return object_in(impl);
}

/// The number that an op gets: as it is, or as the tensor that PyTorch makes of it.
std::optional<Number> number_in(const c10::IValue& value) {
    if (value.isInt()) return Number{value.toInt()};
    if (value.isDouble()) return Number{value.toDouble()};
    if (!value.isTensor() || !value.toTensor().defined()) return std::nullopt;
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.unsafeGetTensorImpl()->is_wrapped_number() || !tensor.device().is_cpu()) return std::nullopt;
    const void* const data = tensor.storage().data();
    if (data && tensor.scalar_type() == at::kLong) return Number{at<std::int64_t>(data, 0)};
    if (data && tensor.scalar_type() == at::kDouble) return Number{at<double>(data, 0)};
    return std::nullopt;
}

/// An op that takes a float is given an int, too.
bool same_number(const Number& a, const Number& b) {
    const auto real = [](const Number& number) {
        return std::visit([](auto value) { return static_cast<double>(value); }, number);
    };
    return a.index() == b.index() ? a == b : real(a) == real(b);
}

}  // namespace

std::optional<Number> number_of(const void* object) {
    constexpr int kValue = 16, kDigits = 24, kDigitBits = 30;
    if (!object) return std::nullopt;
    const void* const type = at<const void*>(object, 8);
    if (type == api.PyFloat_Type) return Number{at<double>(object, kValue)};
    if (type != api.PyLong_Type) return std::nullopt;
    // Up to 3.11 the count of digits with the sign of the number, since 3.12 the count above three bits for the sign.
    const auto tag = at<std::int64_t>(object, kValue);
    const bool tagged = layout->minor >= 12, negative = tagged ? (tag & 3) == 2 : tag < 0;
    const std::int64_t digits = tagged ? tag >> 3 : std::abs(tag);
    if (digits > 2) return std::nullopt;
    std::int64_t number = 0;
    for (int i = static_cast<int>(digits); i-- > 0;)
        number = (number << kDigitBits) | at<std::uint32_t>(object, kDigits + 4 * i);
    return Number{negative ? -number : number};
}

void tell_variables(Thread& thread, const at::Tensor& tensor, std::uint64_t number, std::uint32_t stack) {
    if (!knows_variables || !is_new(thread, hash(number, stack))) return;
    const void* const object = python_object(*tensor.unsafeGetTensorImpl());
    if (!object) return;
    find_variables(
        thread, 1, [&](const char* variable) { return in_cell(variable) == object; },
        [&](const std::string& function, const std::string& variable) {
            RecordBuffer& record = thread.definition;
            record.start(records::Variable{.tensor = number, .function = function, .name = variable});
            commit(thread, record);
        });
}

void tell_numbers(Thread& thread, c10::ArrayRef<const c10::IValue> inputs, std::uint32_t stack) {
    if (!knows_variables || !knows_numbers) return;
    for (const c10::IValue& input : inputs) {
        const std::optional<Number> number = number_in(input);
        if (!number) continue;
        const auto bits = std::visit([](auto value) { return at<std::uint64_t>(&value, 0); }, *number);
        if (!is_new(thread, hash(hash(bits, number->index() + 1), stack))) continue;
        find_variables(
            thread, kMostVariables,
            [&](const char* variable) {  // what a cell holds, another thread may let go
                const std::optional<Number> has = number_of(variable);
                return has && same_number(*has, *number);
            },
            [&](const std::string& function, const std::string& variable) {
                RecordBuffer& record = thread.definition;
                record.start(records::Number{.stack = stack, .function = function, .name = variable});
                record.put(number->index() == 0 ? ValueTag::integer : ValueTag::real);
                record.put(bits);
                commit(thread, record);
            });
    }
}

}  // namespace whittle::libtorch::python
