#include "frontends/libtorch/bind.h"

#include <algorithm>

#include "ops/aten/capture.h"
#include "ops/core/registry.h"

namespace whittle::libtorch {
namespace {

/// A parameter in a schema's text.
struct Parameter {
    std::string name;
    std::string type = {};
    bool keyword_only = false;  ///< behind a "*"
    /// It takes a tensor, rather than a list of them, or a number.
    bool tensor() const { return type.starts_with("Tensor") && !type.ends_with(']'); }
};

bool take_alike(const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
    return std::ranges::equal(a, b, [](const Parameter& one, const Parameter& other) {
        return one.name == other.name && one.tensor() == other.tensor() && one.keyword_only == other.keyword_only;
    });
}

/// Of "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> …".
std::vector<Parameter> parameters(std::string_view schema) {
    std::vector<Parameter> all;
    const auto open = schema.find('(');
    if (open == std::string::npos) return all;
    int depth = 0;
    bool keyword_only = false;
    std::string current;
    const auto finish = [&] {
        const auto first = current.find_first_not_of(' ');
        const bool star = first != std::string::npos && current.substr(first) == "*";
        keyword_only |= star;
        if (first == std::string::npos || star) return current.clear();
        std::string text = current.substr(first);
        text = text.substr(0, text.find('='));
        all.push_back({text.substr(text.rfind(' ') + 1), text.substr(0, text.rfind(' ')), keyword_only});
        current.clear();
    };
    for (std::size_t i = open + 1; i < schema.size(); ++i) {
        const char c = schema[i];
        if (c == '(' || c == '[') ++depth;
        if (c == ')' && depth == 0) {
            finish();
            return all;
        }
        if (c == ')' || c == ']') --depth;
        if (c == ',' && depth == 0)
            finish();
        else
            current += c;
    }
    return all;
}

std::vector<std::string> parameter_names(const std::string& schema) {
    std::vector<std::string> names;
    for (Parameter& parameter : parameters(schema)) names.push_back(std::move(parameter.name));
    return names;
}

/// The registered op that takes what a form with so many `out` takes before those; empty when there is none.
std::string target_without_out(const OpName& op, std::size_t outs) {
    std::vector<Parameter> taken = parameters(op.schema);
    taken.resize(taken.size() - std::min(outs, taken.size()));
    const std::string target = op.target(), base = target.substr(0, target.rfind('.') + 1);
    for (const RegisteredOp& known : Registry::instance().all())
        if (known.name.starts_with(base) && take_alike(parameters(known.text), taken)) return std::string(known.name);
    return {};
}

/// The registry's op that writes what `op` does; empty when there is none.
std::string in_place_target(const OpName& op) {
    std::string target = op.target();
    const std::string_view core = core_target(target);
    if (const auto dot = core.rfind('.'); core != target && dot != std::string_view::npos)
        target = std::string(core.substr(0, dot)) + "_" + std::string(core.substr(dot));
    return Registry::instance().in_place(target) ? target : std::string();
}

/// Of a batch norm that is called with it: whether it trains. Null for others.
const bool* training_flag(const OpName& op, const Event& begin) {
    const auto& values = begin.values;
    if (capture_role(op.name) != CaptureRole::batch_norm || values.size() < 6) return nullptr;
    return std::get_if<bool>(&values[5].value);
}

/// Batch norm in training: its results come from the batch alone, and it moves the running statistics.
bool trains_batch_norm(const OpName& op, const Event& begin) {
    const bool* training = training_flag(op, begin);
    return training && *training;
}

class Binder {
  public:
    Binder(const Step& step, const std::function<NodeRef(std::size_t)>& node_of) : step_(step), node_of_(node_of) {}

    /// What Whittle has no call for is opaque: where it does not know the op, and where the tensors are none that
    /// Whittle computes with. What an opaque call writes and returns is what LibTorch's schema says.
    BoundCall bind() {
        BoundCall bound = bind_known();
        if (bound.problem.empty() || (misplaced().empty() && !(is_unknown(bound) && can_be_opaque()))) return bound;
        const bool writes = writes_argument(*step_.op), functional = step_.op->flags & kHasFunctional;
        if (writes && !(writes_memory(step_) && writes_only_these() && (functional || misplaced().empty())))
            return bound;
        BoundCall opaque = bind_opaque();
        if (writes && functional) opaque.call.target = functional_target(*step_.op);
        opaque.writes = writes;
        opaque.on_copies = writes && !functional;
        return opaque.problem.empty() ? opaque : bound;
    }

  private:
    BoundCall bind_known() {
        BoundCall bound;
        if (step_.blank) {
            bound.call = zeros_of(*step_.end->values.front().tensor());
            return bound;
        }
        bound.random = is_random(*step_.op) || makes_memory(step_);
        bound.call.target = functional_target(*step_.op);
        if (const auto training = training_target(step_.op->target());
            !training.empty() && trains_batch_norm(*step_.op, *step_.begin)) {
            bound.statistics = !written_statistics(step_).empty();
            if (!bound.statistics) bound.call.target = training;
        }
        if (bound.random) return bound;
        if (capture_role(step_.op->name) == CaptureRole::resizes) return bind_resize();
        bound.writes = writes_memory(step_);
        if (bound.writes) bound.in_place = in_place_target(*step_.op);
        const RegisteredOp* op = bound.call.target.empty() ? nullptr : Registry::instance().op(bound.call.target);
        if (!op) {
            bound.problem = "unknown op " + step_.op->target() + misplaced();
            return bound;
        }
        const std::vector<std::string> names = parameter_names(step_.op->schema);
        // Tensors are numbered over all arguments, those that fall away included.
        std::vector<std::size_t> first_tensor;
        std::size_t tensors = 0;
        for (const EventValue& value : step_.begin->values) {
            first_tensor.push_back(tensors);
            for_each_tensor(value, [&](const TensorRef&) { ++tensors; });
        }
        ArgList args;  // one per parameter, in order: inputs are numbered as they come
        for (const Param& param : op->schema.params) {
            const std::size_t at = position(names, param.name);
            if (at < step_.begin->values.size() && at < names.size()) {
                tensor_ = first_tensor[at];
                args.push_back(convert(step_.begin->values[at], param));
                if (!problem_.empty()) {  // a tensor's own is the same for all that read it
                    bound.problem =
                        is_of_tensor_ ? problem_ : step_.op->target() + ": argument '" + param.name + "': " + problem_;
                    bound.kind = capture::BreakKind::foreign_value;
                }
            } else if (param.default_value || param.optional) {
                args.push_back(param.default_value.value_or(Arg()));
            } else {
                bound.problem = step_.op->target() + " has no argument '" + param.name + "'";
                bound.kind = capture::BreakKind::disagreement;
            }
            if (!bound.problem.empty()) return bound;
        }
        spell(op->schema.params, std::move(args), bound.call);
        bound.opaque = !misplaced().empty();
        return bound;
    }

    /// resize_() shows the first elements of what the tensor was. Others are whatever lay in memory, or what the
    /// program left behind a smaller view.
    BoundCall bind_resize() {
        const TensorRef &was = *step_.begin->values.front().tensor(), &is = *step_.end->values.front().tensor();
        const std::int64_t had = element_count(was.sizes), has = element_count(is.sizes);
        BoundCall bound{.call = {}, .kind = capture::BreakKind::foreign_value};
        if (has > had)
            bound.problem = "enlarges a tensor from " + std::to_string(had) + " to " + std::to_string(has) +
                            " elements, whose new elements are undefined";
        else if (!is_contiguous(was.sizes, was.strides) || was.storage != is.storage || was.offset != is.offset)
            bound.problem = "changes the sizes of a tensor that is not contiguous";
        if (!bound.problem.empty()) {
            bound.problem = step_.op->target() + ": " + bound.problem;
            return bound;
        }
        const auto list = [](const std::vector<std::int64_t>& numbers) {
            return Arg(ArgList(numbers.begin(), numbers.end()));
        };
        bound.call = {.target = functional_target(*step_.op),
                      .args = {tensor_arg(was), list(is.sizes), list(is.strides)}};
        bound.call.args.push_back(Arg(std::int64_t{0}));
        bound.problem = problem_;
        return bound;
    }

    static bool is_unknown(const BoundCall& bound) { return bound.kind == capture::BreakKind::unregistered_op; }

    /// The schema is known, and the call gives tensors that a graph can have. None shows memory of an argument that the
    /// call does not write: of such a view no pass would know what it shows.
    bool can_be_opaque() const {
        if (step_.op->schema.empty() || !step_.end || may_update_statistics(step_.op->name)) return false;
        bool gives = false, shows = false, unusual = false;
        for (const EventValue& result : step_.end->values)
            for_each_tensor(result, [&](const TensorRef& made) {
                gives = true;
                unusual |= !made.obstacle().empty();
                if (made.has(kHasStorage) && !writes_argument(*step_.op)) shows |= is_of_argument(made);
            });
        return gives && !shows && !unusual;
    }
    /// By its schema, the op writes to nothing beside what written_among() gives.
    bool writes_only_these() const {
        const std::string_view schema = step_.op->schema, taken = schema.substr(0, schema.find(") ->"));
        if (const std::size_t outs = written_outs(*step_.op))
            return std::ranges::count(taken, '!') == static_cast<std::ptrdiff_t>(outs);
        return taken.find('!') < taken.find(',') && taken.find('!') == taken.rfind('!');
    }
    bool is_of_argument(const TensorRef& made) const {
        bool found = false;
        for (const EventValue& value : step_.begin->values)
            for_each_tensor(value, [&](const TensorRef& given) {
                found |= given.has(kHasStorage) && given.storage == made.storage;
            });
        return found;
    }

    /// The call as LibTorch's schema has it, without what was left to its default.
    BoundCall bind_opaque() {
        BoundCall bound{.call = {.target = step_.op->target()}, .opaque = true};
        const std::vector<Parameter> taken = parameters(step_.op->schema);
        tensor_ = 0;
        problem_.clear();
        for (std::size_t i = 0; i < step_.begin->values.size(); ++i) {
            Arg arg = issued(step_.begin->values[i], i < taken.size() ? as_issued(taken[i]) : Param{});
            if (i >= taken.size() || !taken[i].keyword_only)
                bound.call.args.push_back(std::move(arg));
            else if (!arg.is_none())
                bound.call.kwargs.emplace_back(taken[i].name, std::move(arg));
        }
        bound.problem = problem_;
        return bound;
    }

    /// What an event has as the number of an enumeration is a data type or a word in a call.
    static Param as_issued(const Parameter& parameter) {
        Param param{.name = parameter.name};
        if (parameter.type.starts_with("ScalarType")) param.type = ParamType::dtype;
        if (parameter.type.starts_with("MemoryFormat") || parameter.type.starts_with("Layout"))
            param.type = ParamType::text;
        return param;
    }

    Arg issued(const EventValue& value, const Param& param) {
        if (const auto* other = std::get_if<EventValue::Opaque>(&value.value)) return Arg(other->what);
        if (const auto* list = value.list()) {
            ArgList elements;
            for (const EventValue& element : *list) elements.push_back(issued(element, param));
            return Arg(std::move(elements));
        }
        const std::string before = problem_;
        Arg arg = convert(value, param);
        const auto* integer = std::get_if<std::int64_t>(&value.value);
        if (!integer || problem_ == before) return arg;
        problem_ = before;  // an enumerator that Whittle has no name for, as of a sparse layout
        return Arg(*integer);
    }

    /// ", which makes a sparse tensor": of what the op takes or makes, what Whittle does not compute with; else "".
    std::string misplaced() const {
        const Placement* found = nullptr;
        const auto look = [&](const Event* event) {
            if (event)
                for (const EventValue& value : event->values)
                    for_each_tensor(value, [&](const TensorRef& tensor) { found = found ? found : tensor.placement; });
            return found != nullptr;
        };
        if (look(step_.begin)) return ", which takes " + found->text();
        return look(step_.end) ? ", which makes " + found->text() : "";
    }

    /// What lies in memory that is written before it is read may as well be zeros.
    static Node zeros_of(const TensorRef& tensor) {
        return {.target = "aten.full.default",
                .args = {Arg::ints(tensor.sizes), std::int64_t{0}},
                .kwargs = {{"dtype", Arg(*tensor.dtype)}}};
    }

    /// Without what says the default anyway.
    static void spell(const std::vector<Param>& params, ArgList args, Node& call) {
        const auto is_default = [&](std::size_t i) {
            return params[i].default_value ? args[i] == *params[i].default_value
                                           : params[i].optional && args[i].is_none();
        };
        std::size_t positional = params.size();  // up to the last one that says more than its default
        while (positional > 0 && (params[positional - 1].keyword_only ||
                                  (params[positional - 1].default_value && is_default(positional - 1))))
            --positional;
        for (std::size_t i = 0; i < params.size(); ++i) {
            if (!params[i].keyword_only && i < positional) call.args.push_back(std::move(args[i]));
            if (params[i].keyword_only && !is_default(i)) call.kwargs.emplace_back(params[i].name, std::move(args[i]));
        }
    }

    static std::size_t position(const std::vector<std::string>& names, const std::string& name) {
        return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    }

    Arg convert(const EventValue& value, const Param& param) {
        if (const TensorRef* tensor = value.tensor()) return tensor_arg(*tensor);
        if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
            if (param.type == ParamType::dtype) {
                const auto dtype = dtype_from_aten(*integer);
                if (!dtype) problem_ = "a dtype that Whittle does not support";
                return dtype ? Arg(*dtype) : Arg();
            }
            if (param.type == ParamType::text) return option(param.name, *integer);
            if (param.type == ParamType::boolean) return Arg(*integer != 0);
            if (param.type == ParamType::number) return Arg(static_cast<double>(*integer));
            return Arg(*integer);
        }
        if (const auto* real = std::get_if<double>(&value.value)) return Arg(*real);
        if (const auto* boolean = std::get_if<bool>(&value.value)) return Arg(*boolean);
        if (const auto* text = std::get_if<std::string>(&value.value)) return Arg(*text);
        if (const auto* list = value.list()) {
            ArgList elements;
            for (const EventValue& element : *list) elements.push_back(convert(element, param));
            return Arg(std::move(elements));
        }
        if (const auto* opaque = std::get_if<EventValue::Opaque>(&value.value)) {
            if (opaque->what == "cpu") return Arg();  // the one device there is
            problem_ = "a " + opaque->what;
            return Arg();
        }
        return Arg();
    }

    /// Enumerations arrive as their numbers (c10/core/MemoryFormat.h, Layout.h).
    Arg option(const std::string& name, std::int64_t code) {
        constexpr const char* kFormats[] = {"contiguous_format", "preserve_format", "channels_last",
                                            "channels_last_3d"};
        if (name == "memory_format" && code >= 0 && code < 4) return Arg(kFormats[code]);
        if (name == "layout" && code == 0) return Arg();  // strided, as everything is
        problem_ = "option " + std::to_string(code) + ", which Whittle does not support";
        return Arg();
    }

    Arg tensor_arg(const TensorRef& tensor) {
        const std::size_t index = tensor_++;
        if (tensor.number) return Arg(*tensor.number);
        if (const std::string obstacle = tensor.obstacle(); !obstacle.empty()) {
            problem_ = obstacle;
            is_of_tensor_ = true;
        }
        return problem_.empty() ? Arg(node_of_(index)) : Arg();
    }

    const Step& step_;
    const std::function<NodeRef(std::size_t)>& node_of_;
    std::size_t tensor_ = 0;
    std::string problem_;
    bool is_of_tensor_ = false;  ///< the problem is a tensor's obstacle(), whatever the op
};

}  // namespace

std::string functional_target(const OpName& op) {
    const std::string target = op.target();
    if (const std::string_view core = core_target(target); core != target) return std::string(core);
    if (!writes_argument(op)) return target;
    if (const std::size_t outs = written_outs(op)) return target_without_out(op, outs);
    const auto dot = target.rfind('.');
    if (dot == std::string::npos || dot == 0 || target[dot - 1] != '_') return {};
    return target.substr(0, dot - 1) + target.substr(dot);
}

std::vector<const TensorRef*> written_statistics(const Step& step) {
    std::vector<const TensorRef*> written;
    if (step.kind != StepKind::op || step.threw() || training_target(step.op->target()).empty() ||
        !trains_batch_norm(*step.op, *step.begin))
        return written;
    for (const std::size_t at : {3, 4})
        if (const TensorRef* tensor = step.begin->values[at].tensor(); tensor && !tensor->placement)
            written.push_back(tensor);
    return written;
}

bool may_write_statistics(const Step& step) {
    if (step.kind != StepKind::op || !may_update_statistics(step.op->name)) return false;
    const bool* training = training_flag(*step.op, *step.begin);
    return !training || *training;
}

namespace {

bool is_known_random(const OpName& op) {
    if (capture_role(op.name) == CaptureRole::draws) return true;
    const RegisteredOp* known = Registry::instance().op(op.target());
    return known && known->def->random;
}

}  // namespace

bool is_random(const OpName& op) {
    // Of an op that Whittle does not know only the schema tells.
    return is_known_random(op) ||
           (op.schema.find("Generator? ") != std::string::npos && !Registry::instance().op(op.target()));
}

bool makes_memory(const Step& step) {
    const CaptureRole role = capture_role(step.op->name);
    return role == CaptureRole::allocates || role == CaptureRole::adopts || step.unwritten;
}

bool is_known(const OpName& op, const Event& begin) {
    const CaptureRole role = capture_role(op.name);
    if (is_known_random(op) || role == CaptureRole::allocates || role == CaptureRole::adopts) return true;
    // Its parts tell what it does to the running statistics.
    if (training_target(op.target()).empty() && trains_batch_norm(op, begin)) return false;
    return Registry::instance().op(functional_target(op));
}

BoundCall bind_call(const Step& step, const std::function<NodeRef(std::size_t)>& node_of) {
    return Binder(step, node_of).bind();
}

}  // namespace whittle::libtorch
