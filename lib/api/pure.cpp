#define WHITTLE_API_IMPLEMENTATION
#include "api/pure.h"

#include <algorithm>
#include <bit>

#include "api/frame.h"
#include "api/global_state.h"
#include "api/session.h"
#include "api/stepping.h"

namespace whittle::api {
namespace {

constexpr std::size_t kMostCalls = 16;  // of one function

}  // namespace

/// Takes note of a call's arguments.
class ArgumentRecorder final : public Visitor {
  public:
    void tensor(const Tensor& value) override {
        if (!value.defined()) return seen.emplace_back(), void();
        const auto known = std::ranges::find(tensors, value.impl());
        if (known != tensors.end()) {
            seen.emplace_back(SeenAgain{static_cast<std::size_t>(known - tensors.begin())});
            return;
        }
        const ValueMeta& meta = value.impl()->meta;
        seen.emplace_back(SeenTensor{meta.dtype, meta.requires_grad, meta.sizes, meta.strides});
        tensors.push_back(value.impl());
    }
    void parameter(const Tensor& value, const std::string&) override { tensor(value); }
    void number(bool value) override { seen.emplace_back(value); }
    void number(std::int64_t value) override { seen.emplace_back(value); }
    void number(double value) override { seen.emplace_back(value); }
    void text(const std::string& value) override { seen.emplace_back(value); }
    void length(std::size_t count) override { seen.emplace_back(static_cast<std::int64_t>(count)); }
    void present(bool value) override { seen.emplace_back(value); }
    void opaque(const char*) override { unseen = true; }
    void enter(const char*) override {}
    void enter(std::size_t) override {}
    void leave() override {}

    std::vector<Seen> seen;
    std::vector<ImplPtr> tensors;  ///< each once
    bool unseen = false;           ///< an argument that nobody looks into
};

namespace {

/// Compares a call's arguments with those of an earlier one.
class Matcher final : public Visitor {
  public:
    explicit Matcher(const KnownCall& call) : call_(call) { tensors.reserve(call.tensors); }

    void tensor(const Tensor& value) override {
        const Seen* const seen = next();
        if (!seen) return;
        if (!value.defined()) return expect(std::holds_alternative<std::monostate>(*seen));
        const ImplPtr& impl = value.impl();
        const auto known = std::ranges::find(tensors, impl);
        if (known != tensors.end()) {
            const auto* again = std::get_if<SeenAgain>(seen);
            return expect(again && again->position == static_cast<std::size_t>(known - tensors.begin()));
        }
        const auto* like = std::get_if<SeenTensor>(seen);
        const ValueMeta& meta = impl->meta;
        expect(like && impl->value && !impl->session && like->dtype == meta.dtype &&
               like->requires_grad == meta.requires_grad && like->sizes == meta.sizes && like->strides == meta.strides);
        tensors.push_back(impl);
    }
    void parameter(const Tensor& value, const std::string&) override { tensor(value); }
    void number(bool value) override { same(value); }
    void number(std::int64_t value) override { same(value); }
    void number(double value) override {
        const Seen* const seen = next();
        const double* known = seen ? std::get_if<double>(seen) : nullptr;
        expect(known && std::bit_cast<std::uint64_t>(*known) == std::bit_cast<std::uint64_t>(value));
    }
    void text(const std::string& value) override { same(value); }
    void length(std::size_t count) override { same(static_cast<std::int64_t>(count)); }
    void present(bool value) override { same(value); }
    void opaque(const char*) override { fits_ = false; }
    void enter(const char*) override {}
    void enter(std::size_t) override {}
    void leave() override {}

    bool fits() const { return fits_ && next_ == call_.seen.size(); }
    std::vector<ImplPtr> tensors;

  private:
    const Seen* next() {
        if (next_ == call_.seen.size()) fits_ = false;
        return fits_ ? &call_.seen[next_++] : nullptr;
    }
    void expect(bool condition) { fits_ = fits_ && condition; }
    template <class T>
    void same(const T& value) {
        const Seen* const seen = next();
        const T* known = seen ? std::get_if<T>(seen) : nullptr;
        expect(known && *known == value);
    }

    const KnownCall& call_;
    std::size_t next_ = 0;
    bool fits_ = true;
};

std::shared_ptr<const KnownCalls> known_calls(FunctionState& function) {
    const std::lock_guard lock(function.mutex);
    return function.known_calls;
}

bool same_place(const whittle::Tensor& a, const whittle::Tensor& b) {
    return a.storage() == b.storage() && a.offset() == b.offset() && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
           a.strides() == b.strides();
}

TensorList run_known(const KnownCall& call, const std::vector<ImplPtr>& tensors) {
    const NotRecording not_recording;
    const RestoreState restore;
    std::vector<whittle::Tensor> inputs;
    inputs.reserve(call.inputs.size());
    for (const std::size_t position : call.inputs) inputs.push_back(*tensors[position]->value);
    const std::vector<whittle::Tensor> outputs = run_compiled(*call.compiled, inputs);
    TensorList results;
    results.reserve(call.results.size());
    for (const KnownCall::Result& result : call.results)
        results.push_back(result.is_argument ? Tensor(tensors[result.position]) : wrap(outputs.at(result.position)));
    return results;
}

/// Nothing where a result is no value of the graph.
std::optional<KnownCall> known_call(const ArgumentRecorder& arguments, const PureRun& ran, const TensorList& results) {
    KnownCall call;
    call.seen = arguments.seen;
    call.tensors = arguments.tensors.size();
    call.compiled = ran.compiled;
    // Nothing, too, where several arguments are the same memory: a later call may give them apart.
    const auto argument_at = [&](const whittle::Tensor& value) -> std::optional<std::size_t> {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < arguments.tensors.size(); ++i) {
            if (!arguments.tensors[i]->value || !same_place(*arguments.tensors[i]->value, value)) continue;
            if (found) return std::nullopt;
            found = i;
        }
        return found;
    };
    for (const whittle::Tensor& input : ran.inputs) {
        const auto position = argument_at(input);
        if (!position) return std::nullopt;  // a global, or drawn at random
        call.inputs.push_back(*position);
    }
    for (const Tensor& result : results) {
        if (!result.defined() || !result.impl()->value) return std::nullopt;
        const auto argument = std::ranges::find(arguments.tensors, result.impl());
        if (argument != arguments.tensors.end()) {
            call.results.push_back({true, static_cast<std::size_t>(argument - arguments.tensors.begin())});
            continue;
        }
        const auto output = std::ranges::find_if(
            ran.outputs, [&](const whittle::Tensor& value) { return same_place(value, *result.impl()->value); });
        if (output == ran.outputs.end()) return std::nullopt;  // it shares memory with something else
        call.results.push_back({false, static_cast<std::size_t>(output - ran.outputs.begin())});
    }
    return call;
}

}  // namespace

SeenState SeenState::now() {
    return {.grad = grad_enabled(), .deterministic = is_deterministic(), .dtype = get_default_dtype()};
}

namespace detail {

struct PureCall::State {
    FunctionState& function;
    const std::function<void(Visitor&)> describe;
    SeenState state = SeenState::now();
    ArgumentRecorder arguments = {};
    std::optional<PureRun> ran = {};
};

bool is_pure(const FunctionState& function) { return function.options.pure; }

PureCall::PureCall(FunctionState& function, const std::function<void(Visitor&)>& describe)
    : state_(std::make_unique<State>(State{function, describe})) {
    describe(state_->arguments);
}
PureCall::~PureCall() = default;

void PureCall::run(const std::function<void()>& body) {
    run_frame(state_->function, state_->describe, body, state_->ran);
}

std::shared_ptr<const void> PureCall::known(FunctionState& function, const std::function<void(Visitor&)>& describe,
                                            TensorList& results) {
    if (Session::current() || current_trace() || function.profile) return nullptr;
    const SeenState state = SeenState::now();
    const std::shared_ptr<const KnownCalls> calls = known_calls(function);
    if (!calls) return nullptr;
    for (const std::shared_ptr<const KnownCall>& call : *calls) {
        if (!(call->state == state) || call->compiled->stepped != steps()) continue;
        Matcher matcher(*call);
        describe(matcher);
        if (!matcher.fits()) continue;
        results = run_known(*call, matcher.tensors);
        const std::lock_guard lock(function.mutex);
        ++function.counts.calls;
        ++function.counts.code_skipped;
        return call->form;
    }
    return nullptr;
}

void PureCall::remember(const TensorList& results, std::shared_ptr<const void> form) {
    if (!state_->ran || state_->arguments.unseen) return;
    std::optional<KnownCall> call = known_call(state_->arguments, *state_->ran, results);
    if (!call) return;
    call->state = state_->state;
    call->form = std::move(form);
    const std::lock_guard lock(state_->function.mutex);
    std::shared_ptr<const KnownCalls>& known = state_->function.known_calls;
    auto calls = std::make_shared<KnownCalls>(known ? *known : KnownCalls());
    calls->insert(calls->begin(), std::make_shared<const KnownCall>(std::move(*call)));
    if (calls->size() > kMostCalls) calls->pop_back();
    known = std::move(calls);
}

}  // namespace detail

}  // namespace whittle::api
