#include "compile/finite_differences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/number_text.h"
#include "graph/joint_forward.h"
#include "ops/core/custom.h"
#include "ops/core/draws.h"
#include "ops/core/gradients.h"
#include "ops/core/interpreter.h"
#include "passes/widen.h"
#include "tensor/random.h"
#include "tensor/reach.h"

namespace whittle::program {
namespace {

constexpr int kDirections = 2;       ///< of all tensors together
constexpr double kStep = 1e-5;       ///< of a tensor's own size
constexpr double kNearer = 4;        ///< the second step is so much shorter
constexpr double kTolerance = 1e-5;  ///< of a slope's terms, above their curvature and rounding
constexpr double kRoundings = 64;    ///< that a value may have

using Numbers = std::vector<double>;
using Direction = std::map<std::string, Numbers>;  ///< by name; what is not in it stays

Numbers numbers(const Tensor& tensor) { return tensor.to(DType::f64).values<double>(); }

/// Laid out as the other tensor is.
Tensor like(const Numbers& values, const Tensor& other) {
    return laid_out(Tensor::of(values, other.sizes()), other.strides());
}

double dot(const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// The first run remembers what gradients end at; those after it give the same.
class Holding final : public Interpreter {
  public:
    std::vector<Tensor> next_run(const PreparedGraph& graph, std::span<const Tensor> inputs) {
        next_ = 0;
        std::vector<Tensor> outputs = run(graph, inputs);
        first_ = false;
        return outputs;
    }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        if (op.def->grad != no_gradient) return Interpreter::step(graph, call, op, arguments);
        if (first_) return held_.emplace_back(Interpreter::step(graph, call, op, arguments));
        return held_.at(next_++);
    }

  private:
    bool first_ = true;
    std::size_t next_ = 0;
    std::vector<std::vector<Tensor>> held_;
};

/// The forward graph in f64, with its parameters as inputs, so that all can be moved alike.
Graph with_parameters_given(const Graph& joint, const JointShape& shape, std::vector<Tensor>& inputs) {
    Graph graph = widen(forward_of(joint, shape)).graph;
    for (Node& node : graph.nodes) {
        if (node.kind != NodeKind::get_attr || std::ranges::count(shape.gradients, node.target) == 0) continue;
        node.kind = NodeKind::placeholder;
        inputs.push_back(graph.attributes.at(node.target));
    }
    return graph;
}

/// sum(tangent · output), as a function of what has a gradient.
class Loss {
  public:
    Loss(const Graph& joint, const JointShape& shape, std::span<const Tensor> given)
        : graph_(forward(joint, shape, given)), shape_(shape) {
        const std::vector<NodeId> placeholders = graph_.graph().placeholders();
        for (std::size_t i = 0; i < placeholders.size(); ++i) {
            const Node& node = graph_.graph().node({placeholders[i]});
            const std::string& name = i < own_ ? node.name : node.target;
            if (std::ranges::count(shape.gradients, name) != 0) places_[name].push_back(i);
        }
        here_ = at({}, 0);
    }

    double here() const { return here_; }
    /// What rounding may have made of it.
    double noise() const { return kRoundings * std::numeric_limits<double>::epsilon() * terms_; }
    const Tensor& value(const std::string& name) const { return inputs_.at(places_.at(name).front()); }

    /// So far along the direction.
    double at(const Direction& direction, double far) {
        std::vector<Tensor> moved = inputs_;
        for (const auto& [name, along] : direction) {
            Numbers values = numbers(value(name));
            for (std::size_t i = 0; i < values.size(); ++i) values[i] += far * along[i];
            const Tensor there = like(values, value(name));
            for (const std::size_t place : places_.at(name)) moved[place] = there;
        }
        const std::vector<Tensor> outputs = interpreter_.next_run(graph_, moved);
        double sum = 0;
        terms_ = 0;
        for (std::size_t i = 0; i < tangents_.size(); ++i) {
            const Numbers values = numbers(outputs.at(shape_.tangents[i]));
            for (std::size_t k = 0; k < values.size(); ++k) {
                sum += tangents_[i][k] * values[k];
                terms_ += std::abs(tangents_[i][k] * values[k]);
            }
        }
        return sum;
    }

  private:
    Graph forward(const Graph& joint, const JointShape& shape, std::span<const Tensor> given) {
        own_ = given.size() - shape.tangents.size();
        inputs_ = widen(given.first(own_));
        for (const Tensor& tangent : given.subspan(own_)) tangents_.push_back(numbers(tangent));
        return with_parameters_given(joint, shape, inputs_);
    }

    std::size_t own_ = 0;  ///< inputs that are none of the parameters behind them
    std::vector<Tensor> inputs_;
    std::vector<Numbers> tangents_;
    const PreparedGraph graph_;
    const JointShape& shape_;
    std::map<std::string, std::vector<std::size_t>> places_;  ///< of a parameter, wherever it is read
    Holding interpreter_;
    double here_ = 0, terms_ = 0;
};

class Judge {
  public:
    Judge(const Graph& joint, const JointShape& shape, std::span<const Tensor> inputs, const std::vector<Tensor>& exact)
        : shape_(shape), loss_(joint, shape, inputs) {
        for (std::size_t i = 0; i < shape.gradients.size(); ++i)
            gradients_[shape.gradients[i]] = numbers(exact.at(shape.outputs + i));
    }

    Slopes run() {
        Slopes slopes;
        int settled = 0;
        for (int i = 0; i < kDirections; ++i) {
            const Direction all = drawn(shape_.gradients);
            const std::optional<double> measured = slope(all);
            settled += measured.has_value();
            if (measured && differs(all, *measured)) return {.wrong = worst(all)};
        }
        if (settled == 0) slopes.undecided = "the outputs change smoothly in none of the tried directions";
        return slopes;
    }

  private:
    /// As large as the tensors are.
    Direction drawn(const std::vector<std::string>& names) {
        Direction direction;
        for (const std::string& name : names) {
            const Numbers values = numbers(loss_.value(name));
            const double mean = dot(values, values) / static_cast<double>(std::max<std::size_t>(values.size(), 1));
            const double size = mean > 0 && std::isfinite(mean) ? std::sqrt(mean) : 1;
            Numbers along;
            for (std::size_t i = 0; i < values.size(); ++i) along.push_back(size * (2 * random_.uniform() - 1));
            direction[name] = numbers(like(along, loss_.value(name)));  // elements of one place move together
        }
        return direction;
    }

    double by_rules(const Direction& direction) const {
        double sum = 0;
        for (const auto& [name, along] : direction) sum += dot(gradients_.at(name), along);
        return sum;
    }
    /// What the terms of a sum that may cancel amount to.
    double terms(const Direction& direction) const {
        double squares = 0;
        for (const auto& [name, along] : direction)
            for (std::size_t i = 0; i < along.size(); ++i) squares += std::pow(gradients_.at(name)[i] * along[i], 2);
        return std::sqrt(squares);
    }

    /// The central difference; nothing where the function is not smooth so near: its two sides differ by what does not
    /// become less with the step.
    std::optional<double> slope(const Direction& direction) {
        struct At {
            double slope, bend;
        };
        const auto at = [&](double step) -> At {
            const double right = loss_.at(direction, step), left = loss_.at(direction, -step);
            return {(right - left) / (2 * step), std::abs(right + left - 2 * loss_.here()) / step};
        };
        const At far = at(kStep), near = at(kStep / kNearer);
        if (!std::isfinite(far.slope) || !std::isfinite(near.slope) || !std::isfinite(by_rules(direction)))
            return std::nullopt;
        const double small = allowed(direction, near.slope);
        const bool bends = near.bend > small && near.bend > 2 * far.bend / kNearer;
        if (bends || std::abs(far.slope - near.slope) > small) return std::nullopt;
        return near.slope;
    }

    double allowed(const Direction& direction, double measured) const {
        return kTolerance * std::max(std::abs(measured), terms(direction)) + 2 * loss_.noise() * kNearer / kStep;
    }
    bool differs(const Direction& direction, double measured) const {
        return std::abs(by_rules(direction) - measured) > allowed(direction, measured);
    }

    /// Of the tensors, the first along which alone it differs; where none does, all together.
    Slope worst(const Direction& all) {
        for (const std::string& name : shape_.gradients) {
            const Direction one = {{name, all.at(name)}};
            const std::optional<double> measured = slope(one);
            if (measured && differs(one, *measured)) return {name, by_rules(one), *measured};
        }
        return {shape_.gradients.front(), by_rules(all), slope(all).value_or(0)};
    }

    const JointShape& shape_;
    Loss loss_;
    std::map<std::string, Numbers> gradients_;
    Random random_{1};
};

/// Why the graph cannot be judged.
std::string refused(const Graph& joint) {
    if (draws_random_numbers(joint)) return "the graph draws random numbers";
    for (const NodeId id : joint.calls())
        if (custom_op(joint.node({id}).target))
            return "the op " + joint.node({id}).target + " is defined only in the program";
    return "";
}

}  // namespace

std::string Slope::text() const {
    return "in one direction, the gradient rules predict a change of " + significant(by_rules, 6) +
           " in the weighted sum of the outputs, but finite differences in f64 give " + significant(by_outputs, 6);
}

Slopes check_slopes(const Graph& joint, const JointShape& shape, std::span<const Tensor> inputs) {
    if (std::string why = refused(joint); !why.empty()) return {.undecided = std::move(why)};
    std::string why;
    const auto exact = evaluate_exactly(joint, inputs, &why);
    if (!exact) return {.undecided = why};
    try {
        return Judge(joint, shape, inputs, *exact).run();
    } catch (const Error& error) {
        return {.undecided = error.what()};
    }
}

}  // namespace whittle::program
