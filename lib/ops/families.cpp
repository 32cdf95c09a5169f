// The list of all op families.
#include "ops/aten/families.h"
#include "ops/core/registry.h"
#include "ops/onnx/families.h"

namespace whittle {

std::vector<OpFamily> op_families() {
    return {
#define WHITTLE_FAMILY(dialect, name) {dialect, name##_ops()},
#include "ops/aten/families.def"
#include "ops/onnx/families.def"
#undef WHITTLE_FAMILY
    };
}

}  // namespace whittle
