// Variables of other libraries that are preloaded together with the stub (frontends/halide/capture). The stub takes
// them and the libraries out of the environment before main, so that the program does not see them, and gives them to
// the programs that this one starts.
#pragma once

#include <dlfcn.h>

namespace whittle::libtorch {

/// The names of all these variables begin so.
inline constexpr char kOthersPrefix[] = "WHITTLE_HALIDE_";

/// For these libraries: the value of such a variable, which stays; null where it was not given. May be called before
/// the stub's constructor has run. Needs no static, which would bring the C++ library into a C program.
inline const char* setting(const char* name) {
    const auto find = reinterpret_cast<const char* (*)(const char*)>(dlsym(RTLD_DEFAULT, "whittle_capture_setting"));
    return find ? find(name) : nullptr;
}

}  // namespace whittle::libtorch
