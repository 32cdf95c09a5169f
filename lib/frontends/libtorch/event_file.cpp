// What an event file says of one thing: an op, a tensor, a stack.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "frontends/libtorch/reader.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {

std::string TensorRef::obstacle() const {
    if (placement) return {};
    std::string what;
    if (dtype && has(kWrappedNumber) && is_complex(*dtype))
        what = "a complex scalar";
    else if (!has(kPlain))
        what = has(kHasStorage) ? "a tensor with the conjugate or negative bit" : "a tensor without storage";
    return what.empty() ? what : what + ", which Whittle does not support";
}

std::string OpName::target() const {
    if (!(flags & kHasSchema)) return name;
    std::string target = name;
    if (const auto colons = target.find("::"); colons != std::string::npos) target.replace(colons, 2, ".");
    return target + "." + (overload.empty() ? "default" : overload);
}

std::uint64_t EventFile::printing_place(std::uint32_t stack) const {
    const auto pcs = stacks.find(stack);
    if (pcs == stacks.end()) return 0;
    std::uint64_t caller = 0;
    for (auto pc = pcs->second.rbegin(); pc != pcs->second.rend(); ++pc) {
        const auto place = places.find(*pc);
        if (place == places.end()) continue;
        if (prints_tensors(place->second.file)) return caller;
        caller = *pc;
    }
    return 0;
}

std::uint32_t Words::number(const std::string& text) {
    const auto [word, fresh] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (fresh) texts_.push_back(text);
    return word->second;
}

const std::string* EventFile::variable_of(std::uint64_t tensor, std::string_view function, std::uint64_t order) const {
    auto last = std::ranges::lower_bound(variables, VariableName{.tensor = tensor, .order = order});
    while (last != variables.begin() && std::prev(last)->tensor == tensor) {
        --last;
        if (words.text(last->function) == function) return &words.text(last->name);
    }
    return nullptr;
}

Tensor EventFile::tensor(const Snapshot& snapshot) const {
    const TensorRef& ref = snapshot.tensor;
    WHITTLE_CHECK(ref.dtype.has_value(), "a snapshot of a type Whittle does not have");
    const auto storage = Storage::allocate(snapshot.bytes.size() + 8);
    Tensor tensor(storage, *ref.dtype, ref.sizes, contiguous_strides(ref.sizes));
    if (!snapshot.bytes.empty()) std::memcpy(tensor.mutable_raw(), snapshot.bytes.data(), snapshot.bytes.size());
    return tensor.with_requires_grad(ref.has(kRequiresGrad));
}

}  // namespace whittle::libtorch
