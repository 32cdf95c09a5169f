// What LibTorch's own libraries are called. Shared by the capture library and the reader, so it needs neither LibTorch
// nor the rest of Whittle.
#pragma once

#include <string_view>

namespace whittle::libtorch {

/// Of a file's name without its folder. Spelled out: a user's library may well be called libtorch_something.
constexpr bool is_libtorch_file(std::string_view file) {
    constexpr std::string_view kKnown[] = {"libtorch.so",         "libtorch_cpu.so",
                                           "libtorch_cuda.so",    "libtorch_cuda_cpp.so",
                                           "libtorch_cuda_cu.so", "libtorch_cuda_linalg.so",
                                           "libtorch_hip.so",     "libtorch_xpu.so",
                                           "libtorch_python.so",  "libtorch_global_deps.so",
                                           "libc10.so",           "libc10_cuda.so",
                                           "libc10_hip.so",       "libc10_xpu.so"};
    for (const std::string_view known : kKnown)  // "libc10.so.2.1", too
        if (file.substr(0, known.size()) == known && (file.size() == known.size() || file[known.size()] == '.'))
            return true;
    return false;
}

}  // namespace whittle::libtorch
