#include "diagnose/asker.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/interrupt.h"
#include "base/seconds.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"

namespace whittle::diagnose {
namespace {

constexpr int kFlaky = 40;  // runs of what fails in some of them

}  // namespace

Rate ask_repeatedly(int runs, bool all, const std::function<Again()>& ask, double seconds) {
    const auto start = std::chrono::steady_clock::now();
    Rate rate;
    while (rate.runs < runs && (all || rate.failed == 0)) {
        const Again again = ask();
        rate.runs++;
        rate.failed += again == Again::fails;
        if (again == Again::otherwise || (all && seconds_since(start) > seconds)) break;
        if (all && rate.flaky()) runs = std::max(runs, kFlaky);
    }
    return rate;
}

Asker::Asker(const Graph& failing, Backend& backend, const Limits& limits, std::function<bool()> stop)
    : graph_(failing),
      backend_(backend),
      limits_(limits),
      stop_(std::move(stop)),
      rate_(failing.failure->signature.rate) {
    // What an op gives that Whittle does not know is not needed: such a failure is not one of results.
    if (suspect_of(failure()).tier == Tier::computes && opaque_ops(failing).empty())
        expected_ = evaluate(failing, failure().inputs);
}

const Rate& Asker::measure() {
    constexpr int kAlike = 2;
    return rate_ = ask_repeatedly(rate_.flaky() ? kFlaky : kAlike, true, [&] {
               const bool fails = answer({.graph = graph_, .expected = expected_}, 1).again == Again::fails;
               return fails ? Again::fails : Again::right;
           });
}

const Asker::Asked& Asker::ask(const BackendOptions& options) {
    if (const auto known = answers_.find(options); known != answers_.end()) return known->second;
    const auto [again, outcome] = answer({.graph = graph_, .expected = expected_, .options = options}, runs());
    passed_ += again != Again::fails;
    const bool exact = again == Again::right && std::ranges::equal(outcome.outputs, expected_, same_bits);
    return answers_[options] = {again, exact, outcome.message};
}

Answer Asker::ask(const Graph& other, std::span<const Tensor> expected) {
    const Answer said = answer({.graph = other, .expected = expected, .any_values = true, .any_words = true}, runs());
    passed_ += said.again != Again::fails;
    return said;
}

int Asker::runs() const { return runs_until_passing(rate_, passed_ + 1); }

Answer Asker::answer(Question question, int runs) const {
    if (stop_ && stop_()) throw Interrupted();
    question.limits = limits_;
    return ask_again(question, backend_, runs);
}

Begin begin_of_failure(std::size_t failing, const std::function<Again(std::size_t)>& ask) {
    Begin begin{.fails = failing};
    std::vector<std::size_t> open(failing);  // between the two, and not asked
    std::iota(open.begin(), open.end(), 0);
    while (!open.empty()) {
        // What an old release lacks, those before it lack, too: newer ones first.
        const std::size_t newest = begin.silent.empty() ? 0 : begin.silent.back();
        const auto newer = std::ranges::upper_bound(open, newest);
        const auto from = begin.silent.empty() || newer == open.end() ? open.begin() : newer;
        const std::size_t asked = *(from + (open.end() - from) / 2);
        const Again answer = ask(asked);
        if (answer == Again::right) begin.right = asked;
        if (answer == Again::fails) begin.fails = asked;
        if (answer == Again::otherwise) begin.silent.insert(std::ranges::upper_bound(begin.silent, asked), asked);
        const auto outside = [&](std::size_t one) {
            return one >= begin.fails || (begin.right && one <= *begin.right);
        };
        std::erase_if(begin.silent, outside);
        std::erase_if(open, [&](std::size_t one) { return one == asked || outside(one); });
    }
    return begin;
}

}  // namespace whittle::diagnose
