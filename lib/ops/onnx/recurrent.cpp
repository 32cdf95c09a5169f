#include "ops/onnx/recurrent.h"

#include <algorithm>
#include <cmath>

namespace whittle::onnx_dialect {
namespace {

using namespace aten;

/// The functions by name, with the defaults of their parameters and how many they have.
struct Function {
    std::string_view name;
    int parameters = 0;
    double alpha = 0, beta = 0;
};
constexpr Function kFunctions[] = {
    {"Relu"},
    {"Tanh"},
    {"Sigmoid"},
    {"Softsign"},
    {"Softplus"},
    {"LeakyRelu", 1, 0.01},
    {"ThresholdedRelu", 1, 1.0},
    {"Elu", 1, 1.0},
    {"Affine", 2, 1.0, 0.0},
    {"ScaledTanh", 2, 1.0, 1.0},
    {"HardSigmoid", 2, 0.2, 0.5},
};

/// Parameters are listed for those functions only that have them, in order.
std::vector<Activation> activations_of(const std::vector<std::string>& names, const std::vector<double>& alphas,
                                       const std::vector<double>& betas) {
    std::vector<Activation> result;
    std::size_t alpha = 0, beta = 0;
    for (const std::string& name : names) {
        const Function* found = nullptr;
        for (const Function& function : kFunctions)
            if (function.name == name) found = &function;
        if (!found)
            throw Error("found the activation '" + name +
                        "', expected a supported activation, for example 'Sigmoid', 'Tanh' or 'Relu'");
        Activation activation{name, found->alpha, found->beta};
        if (found->parameters > 0 && alpha < alphas.size()) activation.alpha = alphas[alpha++];
        if (found->parameters > 1 && beta < betas.size()) activation.beta = betas[beta++];
        result.push_back(std::move(activation));
    }
    return result;
}

const Sizes& sizes_of(const ValueMeta& value) { return value.sizes; }
const Sizes& sizes_of(const Tensor& value) { return value.sizes(); }
const Sizes& sizes_of(const V& value) { return value.sizes(); }

template <class T>
void require_sizes(const Arguments<T>& arguments, std::string_view name, const Sizes& expected) {
    if (!arguments.schema().param(name) || !arguments.has(name)) return;
    const Sizes sizes = sizes_of(arguments.tensor(name));
    if (sizes != expected)
        throw Error("found " + std::string(name) + " of sizes " + to_string(sizes) + ", expected " +
                    to_string(expected));
}

}  // namespace

template <class T>
Recurrent recurrent_of(const Arguments<T>& arguments, std::int64_t gates, const std::vector<std::string>& defaults) {
    Recurrent r;
    r.gates = gates;
    r.direction = arguments.text("direction");
    if (r.direction != "forward" && r.direction != "reverse" && r.direction != "bidirectional")
        throw Error("found direction '" + r.direction + "', expected 'forward', 'reverse' or 'bidirectional'");
    r.directions = r.direction == "bidirectional" ? 2 : 1;
    r.batch_first = arguments.integer("layout") != 0;
    r.clip = arguments.optional_number("clip").value_or(0);
    r.results = arguments.integer("num_outputs");

    const Sizes x = sizes_of(arguments.tensor("X")), recurrence = sizes_of(arguments.tensor("R"));
    if (x.size() != 3 || recurrence.size() != 3)
        throw Error("found X of sizes " + to_string(x) + " and R of sizes " + to_string(recurrence) +
                    ", expected three dimensions each");
    r.time = x[r.batch_first ? 1 : 0];
    r.batch = x[r.batch_first ? 0 : 1];
    r.input = x[2];
    r.hidden = recurrence[2];
    const auto stated = arguments.optional_integer("hidden_size");
    if (stated && *stated != r.hidden)
        throw Error("found hidden_size=" + std::to_string(*stated) + ", expected " + std::to_string(r.hidden) +
                    ", the last size of R");
    require_sizes(arguments, "W", {r.directions, gates * r.hidden, r.input});
    require_sizes(arguments, "R", {r.directions, gates * r.hidden, r.hidden});
    require_sizes(arguments, "B", {r.directions, 2 * gates * r.hidden});
    require_sizes(arguments, "P", {r.directions, 3 * r.hidden});
    require_sizes(arguments, "sequence_lens", {r.batch});
    require_sizes(arguments, "initial_h", r.state_sizes());
    require_sizes(arguments, "initial_c", r.state_sizes());

    std::vector<std::string> names = arguments.texts("activations");
    if (names.empty())
        for (std::int64_t d = 0; d < r.directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
    if (names.size() != defaults.size() * static_cast<std::size_t>(r.directions))
        throw Error("found " + std::to_string(names.size()) + " activations, expected " +
                    std::to_string(defaults.size()) + " for each of " + std::to_string(r.directions) + " directions");
    r.activations = activations_of(names, arguments.numbers("activation_alpha"), arguments.numbers("activation_beta"));
    return r;
}

template Recurrent recurrent_of(const Arguments<ValueMeta>&, std::int64_t, const std::vector<std::string>&);
template Recurrent recurrent_of(const Arguments<Tensor>&, std::int64_t, const std::vector<std::string>&);
template Recurrent recurrent_of(const Arguments<V>&, std::int64_t, const std::vector<std::string>&);

double apply(const Activation& a, double x) {
    if (a.name == "Relu") return std::max(x, 0.0);
    if (a.name == "Tanh") return std::tanh(x);
    if (a.name == "Sigmoid") return 1 / (1 + std::exp(-x));
    if (a.name == "Softsign") return x / (1 + std::fabs(x));
    if (a.name == "Softplus") return std::log1p(std::exp(x));
    if (a.name == "LeakyRelu") return x < 0 ? a.alpha * x : x;
    if (a.name == "ThresholdedRelu") return x > a.alpha ? x : 0;
    if (a.name == "Elu") return x < 0 ? a.alpha * std::expm1(x) : x;
    if (a.name == "Affine") return a.alpha * x + a.beta;
    if (a.name == "ScaledTanh") return a.alpha * std::tanh(a.beta * x);
    return std::clamp(a.alpha * x + a.beta, 0.0, 1.0);  // HardSigmoid
}

V apply(const Activation& a, const V& x) {
    const auto line = [&] { return x * a.alpha + a.beta; };
    if (a.name == "Relu") return relu(x);
    if (a.name == "Tanh") return tanh(x);
    if (a.name == "Sigmoid") return sigmoid(x);
    if (a.name == "Softsign") return x / (abs(x) + 1.0);
    if (a.name == "Softplus") return softplus(x);
    if (a.name == "LeakyRelu") return leaky_relu(x, a.alpha);
    if (a.name == "ThresholdedRelu") return keep(gt(x, a.alpha), x);
    if (a.name == "Elu") return elu(x, a.alpha);
    if (a.name == "Affine") return line();
    if (a.name == "ScaledTanh") return tanh(x * a.beta) * a.alpha;
    return clamp(line(), 0.0, 1.0);  // HardSigmoid
}

}  // namespace whittle::onnx_dialect
