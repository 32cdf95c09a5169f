#include "backends/eager/eager.h"

#include "backends/eager/interpreted.h"
#include "graph/abilities.h"

namespace whittle {
namespace {

class EagerBackend final : public InterpretingBackend, public Reference {
    using InterpretingBackend::InterpretingBackend;
};

}  // namespace

std::unique_ptr<Backend> make_eager(const BuiltInBackend& row, const FindBackend&) {
    return std::make_unique<EagerBackend>(row);
}

std::unique_ptr<Backend> make_eager_backend() { return make_eager(*find_built_in("eager"), {}); }

}  // namespace whittle
