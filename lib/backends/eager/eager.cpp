#include "backends/eager/eager.h"

#include "backends/eager/interpreted.h"
#include "graph/abilities.h"

namespace whittle {
namespace {

class EagerBackend final : public InterpretingBackend, public Reference {
  public:
    std::string name() const override { return "eager"; }
    std::string description() const override { return "the reference: interprets each op by its own kernel"; }
};

}  // namespace

std::unique_ptr<Backend> make_eager_backend() { return std::make_unique<EagerBackend>(); }

}  // namespace whittle
