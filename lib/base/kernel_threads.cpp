#include "base/kernel_threads.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace whittle {

int kernel_threads() {
    const char* const told = std::getenv("HL_NUM_THREADS");
    const int wanted = told ? std::atoi(told) : 0;
    return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace whittle
