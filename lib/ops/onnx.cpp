#include <vector>

#include "ops/families.h"
#include "ops/onnx_families.h"

namespace whittle {

std::span<const OpDef> onnx_ops() {
    static const std::vector<OpDef> all = [] {
        std::vector<OpDef> ops;
        for (const std::span<const OpDef> family : {
                 onnx_control_ops(),  //
             })
            ops.insert(ops.end(), family.begin(), family.end());
        return ops;
    }();
    return all;
}

}  // namespace whittle
