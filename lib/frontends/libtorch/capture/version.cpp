// What this library was built for, in a section of its own, where programs find it without running anything of it: see
// choice.h. The version is that of the headers.
#include <torch/version.h>

#include <string>  // _GLIBCXX_USE_CXX11_ABI

#define TEXT(value) #value
#define TEXT_OF(value) TEXT(value)

extern "C" __attribute__((visibility("default"), used, section("whittle_built_for")))
const char whittle_capture_built_for[] = WHITTLE_CAPTURE_INTERFACE
    " " WHITTLE_TORCH_BUILD_ID " " TORCH_VERSION " " TEXT_OF(_GLIBCXX_USE_CXX11_ABI) " " WHITTLE_TORCH_SONAME;
