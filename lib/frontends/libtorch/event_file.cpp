// What an event file says of one thing: an op, a tensor, a stack.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// By LibTorch's names of layouts and devices: "SparseCsr", "cuda:0".
std::string TensorKind::text() const {
    constexpr std::string_view kSparse = "Sparse";
    std::string what = "a tensor", of = layout.substr(std::min(layout.size(), kSparse.size()));
    std::ranges::transform(of, of.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (layout == "Mkldnn")
        what = "an MKL-DNN tensor";
    else if (layout.starts_with(kSparse))
        what = "a sparse tensor" + (of.empty() ? "" : " (" + of + ")");
    else if (layout != "Strided")
        what = "a tensor of layout " + layout;
    return device == "cpu" ? what : what + " on the device " + device;
}

std::string TensorRef::obstacle() const {
    // By c10::ScalarType's numbers; those that dtype_from_aten() knows are not asked for.
    constexpr const char* kTypes[] = {"",      "",       "",          "",          "",           "",
                                      "",      "",       "complex32", "complex64", "complex128", "",
                                      "qint8", "quint8", "qint32",    "",          "quint4x2",   "quint2x4"};
    const auto code = static_cast<std::size_t>(type_code);
    if (has(kElsewhere) || has(kSparse)) return kind ? kind->text() : "a tensor of another kind";
    if (!dtype)
        return code < std::size(kTypes) ? std::string("a ") + kTypes[code] + " tensor" : "a tensor of another type";
    if (has(kWrappedNumber) && is_complex(*dtype)) return "a complex number of the host";
    if (has(kQuantized)) return "a quantized tensor";
    if (!has(kPlain))
        return has(kHasStorage) ? "a tensor that is conjugated or negated by a flag" : "a tensor without memory";
    return {};
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
        if (place->second.file.ends_with("/torch/_tensor_str.py")) return caller;
        caller = *pc;
    }
    return 0;
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
