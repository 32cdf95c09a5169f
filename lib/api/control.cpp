#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/control.h>

#include <set>

#include "api/body.h"
#include "api/probes.h"
#include "api/session.h"
#include "base/error.h"
#include "ops/core/mode.h"
#include "ops/core/nested.h"
#include "ops/core/registry.h"

namespace whittle::api::detail {
namespace {

using capture::BreakKind;

Session* recording() {
    if (!Session::current()) begin_implicit_frame();
    return Session::current();
}

std::vector<ValueMeta> metas_of(const TensorList& tensors) {
    std::vector<ValueMeta> metas;
    for (const Tensor& tensor : tensors) metas.push_back(defined(tensor, "operand").meta);
    return metas;
}

/// An operation and its nested graphs; its NodeRefs are positions in `operands`.
struct Operation {
    Node call = {};
    std::vector<ImplPtr> operands = {};
    capture::NestedGraphs graphs = {};

    void add(const Tensor& tensor) { call.args.push_back(add_operand(tensor.impl())); }
    void add(const std::string& name, std::shared_ptr<const Graph> graph) {
        call.args.emplace_back(GraphRef{name});
        graphs.emplace_back(name, std::move(graph));
    }
    void add(const TensorList& tensors, const std::vector<ImplPtr>& more = {}) {
        ArgList list;
        for (const Tensor& tensor : tensors) list.push_back(add_operand(tensor.impl()));
        for (const ImplPtr& impl : more) list.push_back(add_operand(impl));
        call.args.emplace_back(std::move(list));
    }
    /// Throws Error where the types of operands and nested graphs do not fit.
    void check() const {
        Graph graph;
        for (const auto& [name, nested] : graphs) graph.subgraphs[name] = nested;
        for (const ImplPtr& operand : operands) graph.placeholder("operand", operand->meta);
        static_cast<void>(infer(graph, call));
    }

  private:
    Arg add_operand(const ImplPtr& impl) {
        operands.push_back(impl);
        return Arg(NodeRef{static_cast<NodeId>(operands.size() - 1)});
    }
};

/// Records the operation that `make` makes of its bodies. Where that fails, the graph breaks here, and the result is
/// nothing: the program's own code shall run.
template <class Make>
std::optional<TensorList> record(Session& session, const char* target, void* pc, const Make& make) {
    std::string reason = std::string(target).substr(sizeof "higher_order." - 1) + "(): ";
    std::optional<Operation> operation;
    try {
        operation.emplace(make());
        operation->call.target = target;
        operation->check();
    } catch (const NestedBreak& inner) {
        reason += "the body has a graph break: " + inner.why.reason;
        operation.reset();
    } catch (const std::exception& error) {  // told again when the program's own code comes to it
        reason += error.what();
        operation.reset();
    }
    if (operation) return session.record(std::move(operation->call), operation->operands, pc, operation->graphs);
    session.break_graph({.kind = BreakKind::nested, .reason = std::move(reason), .op = target}, pc, true);
    return std::nullopt;
}

/// Contiguous results that share their memory with nothing, as the operation's are.
TensorList in_own_memory(TensorList results) {
    std::set<const TensorImpl*> seen;
    for (Tensor& result : results) {
        const TensorImpl& impl = defined(result, "result");
        const bool viewed =
            impl.session ? impl.session->shares_memory(impl) : impl.value && impl.value->storage().use_count() > 1;
        if (viewed || result.impl().use_count() > 1 || !seen.insert(&impl).second)
            result = result.clone();
        else if (!result.is_contiguous())
            result = result.contiguous();
    }
    return results;
}

void check_condition(const Tensor& condition, const char* what) {
    const ValueMeta& meta = defined(condition, what).meta;
    if (meta.dtype != DType::boolean || meta.numel() != 1)
        throw Error(std::string(what) + ": found " + type_text(meta) + ", expected a boolean of one element");
}

/// Modes see no calls of a body that runs for its operation.
class InBody {
  public:
    InBody() {
        if (!Session::current()) unseen_.emplace();
    }

  private:
    std::optional<WithoutModes> unseen_;
};

bool value_of(const Tensor& condition, const char* what, void* pc) {
    check_condition(condition, what);
    return demand(condition, {static_cast<int>(BreakKind::branch), what, "aten.is_nonzero", pc}).item().to_bool();
}

}  // namespace

TensorList run_cond(const Tensor& pred, const Body& on_true, const Body& on_false, const TensorList& operands,
                    void* pc) {
    check_condition(pred, "cond()");
    if (Session* session = recording()) {
        const auto results = record(*session, "higher_order.cond", pc, [&] {
            const std::vector<ValueMeta> metas = metas_of(operands);
            Bodies bodies = finish_bodies({session->record_body("true_graph", on_true, metas),
                                           session->record_body("false_graph", on_false, metas)},
                                          "operand");
            Operation operation;
            operation.add(pred);
            operation.add("true_graph", bodies.graphs[0]);
            operation.add("false_graph", bodies.graphs[1]);
            operation.add(operands, bodies.captured);
            return operation;
        });
        if (results) return *results;
    }
    const InBody body;
    return in_own_memory((value_of(pred, "cond()", pc) ? on_true : on_false)(operands));
}

TensorList run_while_loop(const Body& condition, const Body& body, const TensorList& carried, void* pc) {
    if (Session* session = recording()) {
        const auto results = record(*session, "higher_order.while_loop", pc, [&] {
            std::vector<ValueMeta> metas = metas_of(carried);
            for (ValueMeta& meta : metas) meta.strides = contiguous_strides(meta.sizes);  // in all turns but the first
            Bodies bodies = finish_bodies(
                {session->record_body("cond_graph", condition, metas), session->record_body("body_graph", body, metas)},
                "carried");
            Operation operation;
            operation.add("cond_graph", bodies.graphs[0]);
            operation.add("body_graph", bodies.graphs[1]);
            operation.add(carried);
            operation.add({}, bodies.captured);
            return operation;
        });
        if (results) return *results;
    }
    const InBody in_body;
    TensorList state = carried;
    while (value_of(condition(state).at(0), "while_loop()", pc)) state = body(state);
    return in_own_memory(std::move(state));
}

namespace {

/// How many slices there are. `op`: "map()".
std::int64_t length_of(const std::string& op, const TensorList& xs) {
    if (xs.empty()) throw Error(op + ": found no tensors to slice, expected at least one tensor");
    for (const Tensor& x : xs) {
        if (x.dim() == 0)
            throw Error(op +
                        ": found a tensor without dimensions to slice, expected a tensor of at least one dimension");
        if (x.size(0) != xs[0].size(0))
            throw Error(op + ": found tensors with " + std::to_string(xs[0].size(0)) + " and " +
                        std::to_string(x.size(0)) + " slices, expected tensors with equal numbers of slices");
    }
    return xs[0].size(0);
}

/// Of what the body is given: what is carried, laid out as it is from the second slice on, and a slice.
std::vector<ValueMeta> given_to(const TensorList& carried, const TensorList& xs) {
    std::vector<ValueMeta> metas = metas_of(carried);
    for (ValueMeta& meta : metas) meta.strides = contiguous_strides(meta.sizes);
    for (ValueMeta meta : metas_of(xs)) {
        meta.sizes.erase(meta.sizes.begin());
        meta.strides.erase(meta.strides.begin());
        metas.push_back(std::move(meta));
    }
    return metas;
}

/// Of a body that is recorded outside of any frame, and never runs.
class NoFrame final : public FrameHost {
    GraphRun run(const Recorded&, std::shared_ptr<CompiledGraph>&, const std::vector<whittle::Tensor>&,
                 const std::vector<whittle::Tensor>&) override {
        throw Error("cannot run a graph of a body that is only recorded");
    }
    void broke(const capture::GraphBreak&, const Addresses&) override {}
};

/// What no slices give: the types are known from recording the function, which never runs.
TensorList of_no_slices(const std::string& op, const Body& body, const TensorList& carried, const TensorList& xs) {
    TensorList results = carried;
    NoFrame host;
    const auto session = std::make_shared<Session>(op, host);
    try {
        const RecordedBody recorded = session->record_body("body_graph", body, given_to(carried, xs), false);
        for (std::size_t i = carried.size(); i < recorded.results.size(); ++i) {
            const ValueMeta& meta = recorded.graph.node(recorded.results[i]).meta();
            Sizes sizes = meta.sizes;
            sizes.insert(sizes.begin(), 0);
            results.push_back(wrap(whittle::Tensor(meta.dtype, sizes)));
        }
    } catch (const NestedBreak& inner) {
        throw Error(op +
                    ": found tensors with 0 slices, expected at least 1 slice, because the types of the results are "
                    "unknown if the body does not run; the body cannot be recorded: " +
                    inner.why.reason);
    }
    return results;
}

/// map(), and scan() where something is carried from slice to slice.
TensorList run_slices(const char* target, const std::string& op, const Body& body, const TensorList& init,
                      const TensorList& xs, void* pc) {
    const std::int64_t length = length_of(op, xs);
    if (Session* session = recording()) {
        const auto results = record(*session, target, pc, [&] {
            const Bodies bodies =
                finish_bodies({session->record_body("body_graph", body, given_to(init, xs))}, "slice");
            Operation operation;
            operation.add("body_graph", bodies.graphs[0]);
            if (!init.empty()) operation.add(init);
            operation.add(xs);
            operation.add({}, bodies.captured);
            return operation;
        });
        if (results) return *results;
    }
    if (length == 0) return in_own_memory(of_no_slices(op, body, init, xs));
    const InBody in_body;
    TensorList carried = init;
    std::vector<TensorList> collected;
    for (std::int64_t i = 0; i < length; ++i) {
        TensorList given = carried;
        for (const Tensor& x : xs) given.push_back(x[i]);
        const TensorList results = body(given);
        carried.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(init.size()));
        collected.resize(results.size() - init.size());
        for (std::size_t k = 0; k < collected.size(); ++k) collected[k].push_back(results[init.size() + k]);
    }
    TensorList results = in_own_memory(std::move(carried));
    for (const TensorList& slices : collected) results.push_back(stack(slices));
    return results;
}

}  // namespace

TensorList run_map(const Body& body, const TensorList& xs, void* pc) {
    return run_slices("higher_order.map", "map()", body, {}, xs, pc);
}

TensorList run_scan(const Body& body, const TensorList& init, const TensorList& xs, void* pc) {
    if (init.empty())
        throw Error("scan(): found no tensor to carry, expected at least one tensor",
                    "use map(), which carries no tensors");
    return run_slices("higher_order.scan", "scan()", body, init, xs, pc);
}

}  // namespace whittle::api::detail
