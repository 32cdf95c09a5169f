#include "ops/core/arguments.h"

#include <utility>

#include "base/error.h"
#include "expr/builder.h"
#include "ops/core/builder.h"

namespace whittle {
namespace {

std::optional<Scalar> as_scalar(const Arg& arg) {
    if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) return Scalar(*integer);
    if (const auto* number = std::get_if<double>(&arg.value)) return Scalar(*number);
    if (const auto* boolean = std::get_if<bool>(&arg.value)) return Scalar(*boolean);
    return std::nullopt;
}

/// The host values of a list; bind_arguments has checked their types, so anything else is our bug.
template <class Element, class Convert>
std::vector<Element> elements(const Arg& arg, std::string_view name, Convert convert) {
    std::vector<Element> result;
    if (arg.is_none()) return result;
    const ArgList* list = arg.list();
    WHITTLE_CHECK(list != nullptr, "parameter " + std::string(name) + " is not a list");
    result.reserve(list->size());
    for (const Arg& element : *list) result.push_back(convert(element));
    return result;
}

}  // namespace

template <class T>
Arguments<T>::Arguments(const Schema& schema, const Node& call, const Resolve& resolve, RunGraph run_graph,
                        const Graph* graph)
    : schema_(&schema),
      bound_(bind_arguments(schema, call)),
      resolve_(resolve),
      run_graph_(std::move(run_graph)),
      graph_(graph) {}

template <class T>
Arguments<T>::Arguments(const Schema& schema, const ArgList* bound, const Resolve& resolve, RunGraph run_graph,
                        const Graph* graph)
    : schema_(&schema), lent_(bound), resolve_(resolve), run_graph_(std::move(run_graph)), graph_(graph) {}

template <class T>
const Arg& Arguments<T>::arg(std::string_view name) const {
    for (std::size_t i = 0; i < schema_->params.size(); ++i)
        if (schema_->params[i].name == name) return bound().at(i);
    WHITTLE_CHECK(false, schema_->name + " has no parameter " + std::string(name));
    std::abort();
}

template <class T>
T Arguments<T>::tensor(std::string_view name) const {
    const Arg& value = arg(name);
    if (const NodeRef* ref = value.node()) return resolve_(*ref);
    throw Error(schema_->name + ": found a number as parameter '" + std::string(name) + "', expected a tensor",
                "make a tensor from the number, for example with aten.full.default");
}

template <class T>
std::vector<T> Arguments<T>::tensors(std::string_view name) const {
    std::vector<T> result;
    for (std::optional<T>& element : optional_tensors(name)) {
        WHITTLE_CHECK(element.has_value(), schema_->name + ": none in the list " + std::string(name));
        result.push_back(std::move(*element));
    }
    return result;
}

template <class T>
std::vector<std::optional<T>> Arguments<T>::optional_tensors(std::string_view name) const {
    std::vector<std::optional<T>> result;
    const Arg& value = arg(name);
    if (value.is_none()) return result;
    const ArgList* list = value.list();
    WHITTLE_CHECK(list != nullptr, schema_->name + ": parameter " + std::string(name) + " is not a list");
    for (const Arg& element : *list) {
        if (const NodeRef* ref = element.node()) {
            result.push_back(resolve_(*ref));
        } else if (element.is_none()) {
            result.push_back(std::nullopt);
        } else {
            throw Error(schema_->name + ": found a number in the list '" + std::string(name) +
                        "', expected only tensors");
        }
    }
    return result;
}

template <class T>
std::variant<T, Scalar> Arguments<T>::operand(std::string_view name) const {
    const Arg& value = arg(name);
    if (const NodeRef* ref = value.node()) return resolve_(*ref);
    return scalar(name);
}

template <class T>
std::int64_t Arguments<T>::integer(std::string_view name) const {
    return scalar(name).to_integer();
}

template <class T>
std::vector<std::int64_t> Arguments<T>::integers(std::string_view name) const {
    return elements<std::int64_t>(arg(name), name, [&](const Arg& element) {
        const std::optional<Scalar> value = as_scalar(element);
        WHITTLE_CHECK(value.has_value(), schema_->name + ": list " + std::string(name) + " holds no integers");
        return value->to_integer();
    });
}

template <class T>
double Arguments<T>::number(std::string_view name) const {
    return scalar(name).to_double();
}

template <class T>
std::vector<double> Arguments<T>::numbers(std::string_view name) const {
    return elements<double>(arg(name), name, [&](const Arg& element) {
        const std::optional<Scalar> value = as_scalar(element);
        WHITTLE_CHECK(value.has_value(), schema_->name + ": list " + std::string(name) + " holds no numbers");
        return value->to_double();
    });
}

template <class T>
bool Arguments<T>::boolean(std::string_view name) const {
    return scalar(name).to_bool();
}

template <class T>
std::vector<bool> Arguments<T>::booleans(std::string_view name) const {
    return elements<bool>(arg(name), name, [&](const Arg& element) {
        const std::optional<Scalar> value = as_scalar(element);
        WHITTLE_CHECK(value.has_value(), schema_->name + ": list " + std::string(name) + " holds no booleans");
        return value->to_bool();
    });
}

template <class T>
Scalar Arguments<T>::scalar(std::string_view name) const {
    const std::optional<Scalar> value = as_scalar(arg(name));
    WHITTLE_CHECK(value.has_value(), schema_->name + ": parameter " + std::string(name) + " is not a number");
    return *value;
}

template <class T>
std::string Arguments<T>::text(std::string_view name) const {
    const auto* value = std::get_if<std::string>(&arg(name).value);
    WHITTLE_CHECK(value != nullptr, schema_->name + ": parameter " + std::string(name) + " is not a string");
    return *value;
}

template <class T>
std::vector<std::string> Arguments<T>::texts(std::string_view name) const {
    return elements<std::string>(arg(name), name, [&](const Arg& element) {
        const auto* value = std::get_if<std::string>(&element.value);
        WHITTLE_CHECK(value != nullptr, schema_->name + ": list " + std::string(name) + " holds no strings");
        return *value;
    });
}

template <class T>
std::optional<DType> Arguments<T>::dtype(std::string_view name) const {
    const Arg& value = arg(name);
    if (value.is_none()) return std::nullopt;
    const auto* result = std::get_if<DType>(&value.value);
    WHITTLE_CHECK(result != nullptr, schema_->name + ": parameter " + std::string(name) + " is not a dtype");
    return *result;
}

template <class T>
bool Arguments<T>::has(std::string_view name) const {
    return !arg(name).is_none();
}

template <class T>
std::vector<T> Arguments<T>::run_graph(std::string_view name, const std::vector<T>& inputs) const {
    const auto* graph = std::get_if<GraphRef>(&arg(name).value);
    WHITTLE_CHECK(graph != nullptr, schema_->name + ": parameter " + std::string(name) + " is not a graph");
    WHITTLE_CHECK(run_graph_ != nullptr, schema_->name + ": nothing runs nested graphs here");
    return run_graph_(graph->name, inputs);
}

template <class T>
const Graph& Arguments<T>::nested(std::string_view name) const {
    const auto* graph = std::get_if<GraphRef>(&arg(name).value);
    WHITTLE_CHECK(graph != nullptr, schema_->name + ": parameter " + std::string(name) + " is not a graph");
    WHITTLE_CHECK(graph_ != nullptr, schema_->name + ": no nested graphs here");
    const auto found = graph_->subgraphs.find(graph->name);
    if (found == graph_->subgraphs.end())
        throw Error("graph " + graph_->name + ": unknown nested graph '" + graph->name + "'");
    return *found->second;
}

template <class T>
std::optional<Tensor> Arguments<T>::known(std::string_view name) const {
    const NodeRef* ref = arg(name).node();
    if (!ref || !graph_) return std::nullopt;
    const Node& node = graph_->node(*ref);
    if (node.kind != NodeKind::get_attr) return std::nullopt;
    return graph_->attributes.at(node.target);
}

template class Arguments<ValueMeta>;
template class Arguments<Tensor>;
template class Arguments<V>;
template class Arguments<expr::Value>;

}  // namespace whittle
