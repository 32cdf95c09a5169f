// Arguments of directives as a C++ program would write them, as far as they have a text.
#pragma once

#include <sstream>

#include "frontends/halide/capture/state.h"

namespace whittle::halide_capture {

template <class Value>
std::string streamed(const Value& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

/// Of any other type: enumerations that Halide does not print, keys of memoize(), maps.
template <class Value>
std::string text_of(const Value&) {
    return "…";
}

inline std::string text_of(const Halide::VarOrRVar& variable) { return variable.name(); }
inline std::string text_of(const Halide::Var& variable) { return variable.name(); }
inline std::string text_of(const Halide::RVar& variable) { return variable.name(); }
inline std::string text_of(const Halide::Expr& value) { return value.defined() ? streamed(value) : "Expr()"; }
inline std::string text_of(const Halide::Func& func) { return func.name(); }
inline std::string text_of(const Halide::Stage& stage) { return stage.name(); }
inline std::string text_of(Halide::TailStrategy value) { return "TailStrategy::" + streamed(value); }
inline std::string text_of(Halide::MemoryType value) { return "MemoryType::" + streamed(value); }
inline std::string text_of(Halide::DeviceAPI value) { return "DeviceAPI::" + streamed(value); }
inline std::string text_of(Halide::LoopAlignStrategy value) {
    constexpr const char* kNames[] = {"AlignStart", "AlignEnd", "NoAlign", "Auto"};
    return std::string("LoopAlignStrategy::") + kNames[static_cast<int>(value)];
}
inline std::string text_of(Halide::PrefetchBoundStrategy value) {
    constexpr const char* kNames[] = {"Clamp", "GuardWithIf", "NonFaulting"};
    return std::string("PrefetchBoundStrategy::") + kNames[static_cast<int>(value)];
}
#if HALIDE_VERSION_MAJOR >= 17
inline std::string text_of(Halide::Partition value) { return "Partition::" + streamed(value); }
#endif
inline std::string text_of(const Halide::LoopLevel& level) {
    try {
        return "LoopLevel(" + level.to_string() + ")";
    } catch (const std::exception&) {  // it is set later
        return "LoopLevel()";
    }
}
inline std::string text_of(bool value) { return value ? "true" : "false"; }
inline std::string text_of(int value) { return std::to_string(value); }
inline std::string text_of(unsigned long value) { return std::to_string(value); }
inline std::string text_of(const std::string& value) { return quote(value); }
inline std::string text_of(const Halide::Range& range);

template <class First, class Second>
std::string text_of(const std::pair<First, Second>& pair);
template <class Value>
std::string text_of(const std::vector<Value>& values) {
    std::string text = "{";
    for (const auto& value : values) text += (text.size() > 1 ? ", " : "") + text_of(value);
    return text + "}";
}
template <class First, class Second>
std::string text_of(const std::pair<First, Second>& pair) {
    return "{" + text_of(pair.first) + ", " + text_of(pair.second) + "}";
}
inline std::string text_of(const Halide::Range& range) {
    return "{" + text_of(range.min) + ", " + text_of(range.extent) + "}";
}
inline std::string name_of(const Halide::Func& func) { return func.name(); }
inline std::string name_of(const Halide::Stage& stage) { return stage.name(); }
inline std::string name_of(const Halide::OutputImageParam& image) { return image.name(); }
/// "image.dim(0)", where an expression calls the dimension's minimum "image.min.0".
inline std::string name_of(const Halide::Internal::Dimension& dimension) {
    const std::string minimum = streamed(dimension.min());
    return minimum.substr(0, minimum.rfind(".min.")) + ".dim(" + minimum.substr(minimum.rfind('.') + 1) + ")";
}

}  // namespace whittle::halide_capture
