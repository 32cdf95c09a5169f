#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/modes.h>

#include "api/session.h"
#include "backends/debug/modes.h"
#include "base/error.h"
#include "base/words.h"
#include "graph/backend_options.h"
#include "graph/text.h"

namespace whittle::api {
namespace {

/// The values of a mode's results.
std::vector<whittle::Tensor> result_values(const TensorList& results, const std::string& target) {
    std::vector<whittle::Tensor> values;
    for (const Tensor& result : results) {
        if (!result.defined())
            throw Error("a mode returned an undefined tensor for " + target + ", expected a defined tensor");
        values.push_back(demand(result, {}).with_requires_grad(false));
    }
    return values;
}

void check_kinds(const std::vector<whittle::Tensor>& values, const std::vector<ValueMeta>& expected,
                 const std::string& target) {
    if (values.size() != expected.size())
        throw Error("a mode returned " + plural(values.size(), "result") + " for " + target + ", expected " +
                    std::to_string(expected.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i].dtype() != expected[i].dtype || values[i].sizes() != expected[i].sizes)
            throw Error("a mode returned " + print(ValueMeta::of(values[i])) + " as result " + std::to_string(i) +
                        " of " + target + ", expected " + print(expected[i]));
}

/// The program's mode among those of the library.
class ProgramsMode final : public whittle::Mode {
  public:
    explicit ProgramsMode(api::Mode& mode) : mode_(mode) {}

    std::vector<whittle::Tensor> call(const ModeCall& call, const whittle::Compute& compute) override {
        const NotRecording not_recording;
        OpCall op{.target = call.node.target, .name = call.node.name};
        for_each_input(call.node, [&](NodeRef ref) { op.operands.push_back(lent(call.value(ref))); });
        std::vector<ValueMeta> expected = call.node.results;  // empty of what runs eagerly
        const auto computed = [&] {
            TensorList results;
            expected.clear();
            for (const whittle::Tensor& value : compute()) {
                expected.push_back(ValueMeta::of(value));
                results.push_back(lent(value));
            }
            return results;
        };
        std::vector<whittle::Tensor> values = result_values(mode_.call(op, computed), op.target);
        if (!expected.empty()) check_kinds(values, expected, op.target);
        return values;
    }

  private:
    static Tensor lent(const whittle::Tensor& value) { return wrap(value.with_requires_grad(false)); }

    api::Mode& mode_;
};

}  // namespace

struct ModeScope::State {
    explicit State(Modes all) : modes(std::move(all)), scopes(modes) {}
    const Modes modes;
    const ModeScopes scopes;
};

ModeScope::ModeScope(Mode& mode) {
    Modes modes;
    modes.push_back(std::make_unique<ProgramsMode>(mode));
    state_ = std::make_unique<State>(std::move(modes));
}

ModeScope::ModeScope(const std::string& names) {
    const std::vector<std::string> parts = option_parts({{"modes", names}}, "modes");
    check_modes("modes", parts);
    state_ = std::make_unique<State>(make_modes(parts));
}

ModeScope::~ModeScope() = default;

}  // namespace whittle::api
