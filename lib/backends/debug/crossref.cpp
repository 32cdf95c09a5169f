#include "backends/debug/crossref.h"

#include "ops/core/custom.h"

namespace whittle {
namespace {

class CrossRefInterpreter final : public HoldingInterpreter {
  public:
    explicit CrossRefInterpreter(bool all) : all_(all) {}

  private:
    std::optional<std::vector<ValueMeta>> said_of(const Graph& graph, const Node& call) override {
        return all_ || custom_op(call.target) ? std::optional(infer(graph, call)) : std::nullopt;
    }
    std::string said_is() const override { return "inferred"; }

    const bool all_;
};

}  // namespace

std::unique_ptr<HoldingInterpreter> make_crossref_interpreter(bool all) {
    return std::make_unique<CrossRefInterpreter>(all);
}

}  // namespace whittle
