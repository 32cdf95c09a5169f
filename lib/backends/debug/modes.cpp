#include "backends/debug/modes.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"
#include "graph/backend_options.h"
#include "graph/text.h"

namespace whittle {
namespace {

void say(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

class Log final : public Mode {
  public:
    std::vector<Tensor> call(const ModeCall& call, const Compute& compute) override {
        const std::string& name = call.node.name;
        say("log: " + (name.empty() ? "" : "%" + name + " = ") +
            call.node.target);  // before it may take the process down
        std::vector<Tensor> results = compute();
        for (const Tensor& result : results) say("log:   " + print(ValueMeta::of(result)));
        return results;
    }
};

class Nan final : public Mode {
  public:
    std::vector<Tensor> call(const ModeCall& call, const Compute& compute) override {
        std::vector<Tensor> results = compute();
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (!is_floating(results[i].dtype())) continue;
            const std::vector<double> values = results[i].to(DType::f64).values<double>();
            const auto nans = std::ranges::count_if(values, [](double value) { return std::isnan(value); });
            if (nans > 0)
                throw Error("result " + std::to_string(i) + " of " + call.node.target +
                            " has NaN: " + std::to_string(nans) + " of " + plural(values.size(), "value"));
        }
        return results;
    }
};

class Time final : public Mode {
  public:
    ~Time() override {
        for (const auto& [op, spent] : spent_) {
            say("time: " + fixed(spent.seconds, 6) + " s in " + plural(spent.calls, "call") + " of " + op);
        }
    }
    std::vector<Tensor> call(const ModeCall& call, const Compute& compute) override {
        const auto begin = std::chrono::steady_clock::now();
        std::vector<Tensor> results = compute();
        Spent& spent = spent_[call.node.target];
        spent.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        ++spent.calls;
        return results;
    }

  private:
    struct Spent {
        double seconds = 0;
        std::size_t calls = 0;
    };
    std::map<std::string, Spent> spent_;
};

class MemoryInUse final : public Mode {
  public:
    ~MemoryInUse() override {
        say("memory: at most " + plural(most_, "byte") + " of results" + (at_.empty() ? "" : ", at " + at_));
    }
    std::vector<Tensor> call(const ModeCall& call, const Compute& compute) override {
        std::vector<Tensor> results = compute();
        for (const Tensor& result : results) made_.insert_or_assign(result.storage().get(), result.storage());
        std::size_t held = 0;
        std::erase_if(made_, [](const auto& made) { return made.second.expired(); });
        for (const auto& [address, storage] : made_) held += storage.lock()->bytes().size();
        if (held > most_) most_ = held, at_ = call.node.name.empty() ? call.node.target : "%" + call.node.name;
        return results;
    }

  private:
    std::map<const Storage*, std::weak_ptr<Storage>> made_;
    std::size_t most_ = 0;
    std::string at_;
};

struct Named {
    std::string_view name;
    std::unique_ptr<Mode> (*make)();
};
template <class M>
std::unique_ptr<Mode> made() {
    return std::make_unique<M>();
}
constexpr Named kModes[] = {
    {"log", made<Log>}, {"nan", made<Nan>}, {"time", made<Time>}, {"memory", made<MemoryInUse>}};

/// Lives as long as one run.
class UnderModes final : public NamingInterpreter {
  public:
    explicit UnderModes(Modes modes) : modes_(std::move(modes)), scopes_(modes_) {}

  private:
    const Modes modes_;
    const ModeScopes scopes_;
};

/// As eager, under the modes that its option modes=NAME;NAME… names.
class EagerWithModes final : public InterpretingBackend {
  public:
    using InterpretingBackend::InterpretingBackend;
    std::vector<std::string> option_names(const BackendOptions&) override { return {"modes"}; }
    void check(const BackendOptions& options) override { modes_of(options); }

  private:
    CompileResult compiled(const Graph& graph, const BackendOptions& options) override {
        return interpreted(graph, modes_of(options));
    }
    MakeInterpreter modes_of(BackendOptions options) const {
        options.merge(options_in(row_.options));
        return under_modes("modes", option_parts(options, "modes"));
    }
};

}  // namespace

ModeScopes::ModeScopes(const Modes& modes) {
    for (std::size_t i = modes.size(); i-- > 0;) scopes_.push_back(std::make_unique<ModeScope>(*modes[i]));
}

ModeScopes::~ModeScopes() {
    while (!scopes_.empty()) scopes_.pop_back();
}

void check_modes(const std::string& key, const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const Named& mode : kModes) known.emplace_back(mode.name);
    if (names.empty()) throw wrong_option(key, "", "one of " + join(known), known);
    for (const std::string& name : names) expect_known(key, name, known);
}

Modes make_modes(const std::vector<std::string>& names) {
    Modes modes;
    for (const std::string& name : names) modes.push_back(std::ranges::find(kModes, name, &Named::name)->make());
    return modes;
}

MakeInterpreter under_modes(const std::string& key, const std::vector<std::string>& names) {
    check_modes(key, names);
    return [names] { return std::make_unique<UnderModes>(make_modes(names)); };
}

std::unique_ptr<Backend> make_eager_with_modes(const BuiltInBackend& row, const FindBackend&) {
    return std::make_unique<EagerWithModes>(row);
}

}  // namespace whittle
