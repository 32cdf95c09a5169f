#include "base/checked.h"

#include <string>

#include "base/error.h"

namespace whittle {

void refuse_overflow(std::int64_t a, char op, std::int64_t b) {
    throw Error("found sizes or parameters that lead to " + std::to_string(a) + " " + op + " " + std::to_string(b) +
                    ", expected results that fit in 64 bits",
                "look for an unusually large number among the arguments");
}

}  // namespace whittle
