// Every op of the registry on its f64, c128 and c64 samples: the gradients that its joint graph computes are those of
// LibTorch's autograd and, where LibTorch has no such op, those of finite differences. test/known-failing/gradients.txt
// lists where they are not. WHITTLE_TEST_OP=TEXT in the environment restricts the walk to ops whose name holds TEXT.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "agreement.h"
#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "base/files.h"
#include "ops/core/interpreter.h"
#include "ops/samples/samples.h"
#include "ops/samples/table.h"
#include "passes/joint.h"
#include "tensor/complex.h"
#include "versions.h"

namespace whittle {
namespace {

using test::Aspect;
using test::Disagreement;
using Tensors = std::vector<Tensor>;

/// What is differentiated by in samples of a dtype: all that is as wide.
DType differentiated(DType dtype) { return dtype == DType::c64 ? DType::f32 : DType::f64; }

/// Complex numbers as pairs of parts.
Tensor parts_of(const Tensor& tensor) { return is_complex(tensor.dtype()) ? as_real(tensor) : tensor; }

/// A sample's graph, with the operands by name: of placeholders their own, of attributes the qualified one.
struct Problem {
    Graph graph;
    const Node* call = nullptr;
    Tensors inputs;
    DType real;  ///< of the operands' parts
    std::set<std::string> wanted;
    std::map<NodeId, std::string> names;

    Problem(const RegisteredOp& op, const Sample& sample, DType real)
        : graph(graph_of(op, sample)), inputs(sample.inputs()), real(real) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (node.kind == NodeKind::call && !call) call = &node;
            if (node.kind != NodeKind::placeholder && node.kind != NodeKind::get_attr) continue;
            names[static_cast<NodeId>(i)] = node.kind == NodeKind::placeholder ? node.name : node.target;
            if (real_of(node.meta().dtype) == real) wanted.insert(names[static_cast<NodeId>(i)]);
        }
    }

    Tensor operand(NodeRef ref) const {
        const Node& node = graph.node(ref);
        if (node.kind == NodeKind::get_attr) return graph.attributes.at(node.target);
        const std::vector<NodeId> placeholders = graph.placeholders();
        return inputs.at(static_cast<std::size_t>(std::ranges::find(placeholders, ref.id) - placeholders.begin()));
    }

    /// One for each result, of numbers that no two results share.
    Tensors tangents() const {
        Tensors result;
        for (const ValueMeta& meta : call->results)
            result.push_back(
                samples::uniform(is_inexact(meta.dtype) ? meta.dtype : real, meta.sizes, -1, 1, 100 + result.size()));
        return result;
    }
};

using Gradients = std::map<std::string, Tensor>;

/// What the joint graph computes; nothing for what the results do not depend on.
Gradients of_joint(const Problem& problem, const Tensors& tangents) {
    const Joint made = joint(problem.graph, {.wanted = problem.wanted});
    Tensors inputs = problem.inputs;
    for (const std::size_t output : made.tangents) inputs.push_back(tangents.at(output));
    const Tensors results = evaluate(made.graph, inputs);
    Gradients gradients;
    for (std::size_t i = 0; i < made.gradients.size(); ++i)
        gradients.emplace(made.gradients[i], results.at(made.outputs + i));
    return gradients;
}

/// Sum of results times tangents when one element of an operand is moved.
double moved(Problem problem, const Tensors& tangents, std::size_t input, std::size_t element, double by) {
    std::vector<double> values = problem.inputs[input].values<double>();
    values[element] += by;
    problem.inputs[input] = samples::values(DType::f64, values, problem.inputs[input].sizes());
    const Tensors results = evaluate(problem.graph, problem.inputs);
    double sum = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!is_floating(results[i].dtype())) continue;
        const std::vector<double> result = results[i].values<double>(), weights = tangents[i].values<double>();
        for (std::size_t j = 0; j < result.size(); ++j) sum += result[j] * weights[j];
    }
    return sum;
}

/// By central differences, where the sample is finite and smooth.
Gradients of_differences(const Problem& problem, const Tensors& tangents) {
    constexpr double kStep = 1e-6;
    Gradients gradients;
    const std::vector<NodeId> placeholders = problem.graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
        const std::string& name = problem.names.at(placeholders[i]);
        if (!problem.wanted.contains(name)) continue;
        std::vector<double> slopes;
        for (std::size_t j = 0; j < static_cast<std::size_t>(problem.inputs[i].numel()); ++j)
            slopes.push_back((moved(problem, tangents, i, j, kStep) - moved(problem, tangents, i, j, -kStep)) /
                             (2 * kStep));
        gradients.emplace(name, samples::values(DType::f64, slopes, problem.inputs[i].sizes()));
    }
    return gradients;
}

bool near(double got, double expected, double tolerance) {
    if (std::isnan(expected) || std::isinf(expected)) return std::isnan(expected) ? std::isnan(got) : got == expected;
    return std::fabs(got - expected) <= tolerance * (1 + std::fabs(expected));
}

/// No gradient is one of zeros.
void compare(const std::string& name, const std::optional<Tensor>& got, const std::optional<Tensor>& expected,
             double tolerance, std::vector<Disagreement>& found) {
    if (!got && !expected) return;
    const Tensor &any = got ? *got : *expected, zeros(any.dtype(), any.sizes());
    const Tensor ours = parts_of(got.value_or(zeros)), theirs = parts_of(expected.value_or(zeros));
    if (ours.sizes() != theirs.sizes()) {
        found.push_back(
            {Aspect::sizes, name + ": got " + to_string(ours.sizes()) + ", expected " + to_string(theirs.sizes())});
        return;
    }
    const std::vector<double> a = ours.values<double>(), b = theirs.values<double>();
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (near(a[i], b[i], tolerance)) continue;
        found.push_back({Aspect::values, name + "[" + std::to_string(i) + "]: got " + std::to_string(a[i]) +
                                             ", expected " + std::to_string(b[i])});
        return;
    }
}

std::optional<Tensor> at(const Gradients& gradients, const std::string& name) {
    const auto found = gradients.find(name);
    return found == gradients.end() ? std::nullopt : std::optional(found->second);
}

/// The operand that LibTorch says it cannot differentiate by: "… not differentiable with respect to argument 'weight'".
std::optional<NodeId> refused_operand(const Problem& problem, const std::string& message) {
    const Schema& schema = Registry::instance().require(problem.call->target).schema;
    const ArgList bound = bind_arguments(schema, *problem.call);
    for (std::size_t i = 0; i < bound.size(); ++i)
        if (message.find("respect to argument '" + schema.params[i].name + "'") != std::string::npos && bound[i].node())
            return bound[i].node()->id;
    return std::nullopt;
}

/// LibTorch's; nothing where it has no such op, refuses the call or has no gradient of it. Tangents of results that it
/// does not differentiate become zeros, operands that it does not differentiate by are no longer wanted.
std::optional<Gradients> of_libtorch(Problem& problem, Tensors& tangents) {
    if (!aten::schema_of(problem.call->target)) return std::nullopt;
    std::set<NodeId> operands;
    for (const auto& [id, name] : problem.names)
        if (problem.wanted.contains(name)) operands.insert(id);
    while (true) try {
            const aten::BoxedGradients found = aten::differentiate_boxed(
                *problem.call, [&](NodeRef ref) { return problem.operand(ref); }, tangents, operands);
            for (std::size_t i = 0; i < tangents.size() && i < found.differentiable.size(); ++i)
                if (!found.differentiable[i]) tangents[i] = Tensor(tangents[i].dtype(), tangents[i].sizes());
            Gradients gradients;
            for (const auto& [id, gradient] : found.gradients) gradients.emplace(problem.names.at(id), gradient);
            return gradients;
        } catch (const Error& error) {
            const std::optional<NodeId> operand = refused_operand(problem, error.what());
            if (!operand || operands.erase(*operand) == 0) return std::nullopt;
            problem.wanted.erase(problem.names.at(*operand));
        }
}

struct Count {
    int libtorch = 0, differences = 0;
};

bool is_finite(const Tensor& tensor) {
    return !is_inexact(tensor.dtype()) ||
           std::ranges::all_of(parts_of(tensor).values<double>(), [](double x) { return std::isfinite(x); });
}

/// What differences can tell: of one finite real result in f64 of real numbers, not of statistics beside it.
bool is_simple(const RegisteredOp& op, const Problem& problem) {
    return problem.real == DType::f64 && op.def->grad != no_gradient &&
           problem.call->results.at(0).dtype == DType::f64 && std::ranges::all_of(problem.inputs, is_finite) &&
           std::ranges::none_of(problem.inputs, [](const Tensor& input) { return is_complex(input.dtype()); }) &&
           is_finite(evaluate(problem.graph, problem.inputs).at(0));
}

/// Running statistics are constants to every autograd, not to differences.
void drop_statistics(Problem& problem) {
    const Schema& schema = Registry::instance().require(problem.call->target).schema;
    const ArgList bound = bind_arguments(schema, *problem.call);
    for (std::size_t i = 0; i < bound.size(); ++i)
        if (schema.params[i].name.starts_with("running_") && bound[i].node())
            problem.wanted.erase(problem.names.at(bound[i].node()->id));
}

/// LibTorch computes some gradients with factors in f32, and in f32 what was converted.
double tolerance(const Problem& problem, bool exact) {
    if (problem.real == DType::f32) return 1e-4;
    const bool wide =
        std::ranges::all_of(problem.call->results, [](const ValueMeta& meta) { return size_of(meta.dtype) >= 8; });
    return exact && wide ? 1e-7 : 1e-5;
}

std::vector<Disagreement> gradient_disagreements(const RegisteredOp& op, const Sample& sample, DType real,
                                                 Count& count) {
    Problem problem(op, sample, real);
    Tensors tangents = problem.tangents();
    const std::optional<Gradients> theirs = of_libtorch(problem, tangents);
    if (!theirs && !is_simple(op, problem)) return {};
    if (!theirs) {
        for (std::size_t i = 1; i < tangents.size(); ++i)
            tangents[i] = Tensor(tangents[i].dtype(), tangents[i].sizes());
        drop_statistics(problem);
    }
    ++(theirs ? count.libtorch : count.differences);
    try {
        const Gradients got = of_joint(problem, tangents);
        const Gradients expected = theirs ? *theirs : of_differences(problem, tangents);
        std::vector<Disagreement> found;
        for (const std::string& name : problem.wanted)
            compare(name, at(got, name), at(expected, name), tolerance(problem, theirs.has_value()), found);
        return found;
    } catch (const Error& error) {
        return {{Aspect::refused, error.what()}};
    }
}

/// With something to differentiate by.
bool is_tried(const Sample& sample, DType real) {
    return !test::beyond_libtorch(sample) &&
           std::ranges::any_of(sample.tensors, [&](const Tensor& tensor) { return real_of(tensor.dtype()) == real; });
}

/// Of complex numbers an op, or one that it is made of, has no rule, which is refused by name.
bool is_refused(const std::vector<Disagreement>& found) {
    return std::ranges::any_of(found, [](const Disagreement& one) {
        return one.description.find("a gradient that goes through complex numbers") != std::string::npos ||
               one.description.find("no gradient rule for complex numbers") != std::string::npos;
    });
}

/// The dtypes whose samples are tried: f64, or for what takes none the one that makes some, and complex numbers.
std::vector<DType> tried_dtypes(const RegisteredOp& op) {
    const DType whole = op.def->dtypes & kBool ? DType::boolean : DType::i64;
    std::vector<DType> dtypes = {op.def->dtypes & kFloating ? DType::f64 : whole};
    for (const DType dtype : {DType::c128, DType::c64})
        if (op.def->dtypes & set_of(dtype)) dtypes.push_back(dtype);
    return dtypes;
}

std::string key_of(const RegisteredOp& op, DType dtype, const Sample& sample) {
    return std::string(op.name) + " " + std::string(name(dtype)) + " " + sample.label;
}

/// What becomes of the cases in which LibTorch is known to end the process. They come first: once autograd has threads,
/// LibTorch refuses it in a child.
std::map<std::string, std::vector<Disagreement>> crashes(const test::Exceptions& exceptions, const char* only,
                                                         Count& count) {
    std::map<std::string, std::vector<Disagreement>> found;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.name.starts_with("aten.") || (only && op.name.find(only) == std::string_view::npos)) continue;
        if (op.def->random || op.replaces_operand()) continue;
        for (const DType dtype : tried_dtypes(op))
            for (const Sample& sample : samples_of(op, dtype))
                if (is_tried(sample, differentiated(dtype)) &&
                    exceptions.crashes({exceptions.listed(op), dtype, sample.label}))
                    found[key_of(op, dtype, sample)] =
                        test::crash([&] { gradient_disagreements(op, sample, differentiated(dtype), count); });
    }
    return found;
}

TEST_CASE("gradients agree with LibTorch's", "[libtorch][gradients][process]") {
    test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/gradients.txt", test::of_libtorch());
    const char* only = std::getenv("WHITTLE_TEST_OP");
    Count count;
    std::set<std::string> complex, refused;
    const std::map<std::string, std::vector<Disagreement>> ended = crashes(exceptions, only, count);
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.name.starts_with("aten.") || (only && op.name.find(only) == std::string_view::npos)) continue;
        if (op.def->random || op.replaces_operand()) continue;  // LibTorch replaces no leaf that requires a gradient
        for (const DType dtype : tried_dtypes(op))
            for (const Sample& sample : samples_of(op, dtype)) {
                const DType real = differentiated(dtype);
                if (!is_tried(sample, real)) continue;
                const test::Case tried{exceptions.listed(op), dtype, sample.label};
                const auto found = exceptions.crashes(tried) ? ended.at(key_of(op, dtype, sample))
                                                             : gradient_disagreements(op, sample, real, count);
                if (is_refused(found)) {
                    refused.insert(std::string(op.record()));
                    continue;
                }
                if (is_complex(dtype)) complex.insert(std::string(op.name));
                for (const std::string& problem : exceptions.judge(tried, found))
                    FAIL_CHECK(op.name << ' ' << name(dtype) << " '" << sample.label << "' " << problem);
                SUCCEED();
            }
        if (exceptions.listed(op) != op.name) continue;
        for (const std::string& line : exceptions.unused(op.name))
            FAIL_CHECK("test/known-failing/gradients.txt, " << line << ": no case is like that");
    }
    INFO("samples compared with LibTorch: " << count.libtorch << ", with differences: " << count.differences);
    if (only) return;
    CHECK(count.libtorch > 20 * count.differences);
    // Ops whose gradients of complex numbers are refused, if only of some samples.
    if (TORCH_VERSION_MAJOR >= 2) refused.insert("aten.qr.default");  // not there, and so not tried
    std::string list;
    for (const std::string& name : refused) list += name + '\n';
    CHECK(list == read_file(WHITTLE_SOURCE_DIR "/test/backends/libtorch/no_complex_gradient.golden"));
    CHECK(complex.size() > 2 * refused.size());
}

}  // namespace
}  // namespace whittle
