#include "backends/debug/crossref.h"

#include "ops/core/custom.h"

namespace whittle {
namespace {

class CrossRefInterpreter final : public HoldingInterpreter {
  public:
    explicit CrossRefInterpreter(bool all) : all_(all) {}

  private:
    bool holds(const Graph& graph, const Node& call) override {
        if (!all_ && !custom_op(call.target)) return false;
        inferred_ = infer(graph, call);
        return true;
    }
    void check(const CheckedCall& call) override {
        check_unwritten(call);
        check_unshared(call);
        check_metas(call, inferred_, "inferred");
    }

    const bool all_;
    std::vector<ValueMeta> inferred_;
};

}  // namespace

std::unique_ptr<HoldingInterpreter> make_crossref_interpreter(bool all) {
    return std::make_unique<CrossRefInterpreter>(all);
}

}  // namespace whittle
