#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/module.h>

#include <cmath>

#include "api/impl.h"
#include "api/module_path.h"
#include "base/error.h"

namespace whittle::api {
namespace {

thread_local std::string module_path;

Tensor uniform(const IntList& sizes, std::int64_t fan_in) {
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    return (rand(sizes) * 2 - 1) * bound;
}

}  // namespace

const std::string& current_module_path() { return module_path; }

ModuleScope::ModuleScope(const Module& module) : before_(std::exchange(module_path, module.path())) {}
ModuleScope::~ModuleScope() { module_path = std::move(before_); }

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
    std::vector<std::pair<std::string, Tensor>> all = parameters_;
    for (const auto& [name, module] : modules_)
        for (const auto& [inner, parameter] : module->named_parameters())
            all.emplace_back(name + "." + inner, parameter);
    return all;
}

TensorList Module::parameters() const {
    TensorList all;
    for (const auto& [name, parameter] : named_parameters()) all.push_back(parameter);
    return all;
}

std::int64_t Module::parameter_count() const {
    std::int64_t count = 0;
    for (const Tensor& parameter : parameters()) count += parameter.numel();
    return count;
}

Tensor Module::register_parameter(const std::string& name, Tensor value) {
    if (name.empty() || name.find('.') != std::string::npos)
        throw Error("register_parameter: found the name '" + name + "', expected a nonempty name without dots");
    for (const auto& [known, parameter] : parameters_)
        if (known == name)
            throw Error("register_parameter: found the name '" + name +
                        "' twice, expected a different name for each parameter");
    parameters_.emplace_back(name, value);
    set_path(path_);
    return value;
}

void Module::add_module(const std::string& name, std::shared_ptr<Module> module) {
    if (!module) throw Error("register_module: found a null pointer under the name '" + name + "', expected a module");
    modules_.emplace_back(name, std::move(module));
    set_path(path_);
}

void Module::set_path(const std::string& path) {
    path_ = path;
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const auto& [name, parameter] : parameters_)
        if (parameter.defined()) parameter.impl()->qualified_name = prefix + name;
    for (const auto& [name, module] : modules_) module->set_path(prefix + name);
}

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias) {
    weight = register_parameter("weight", uniform({out, in}, in));
    if (with_bias) bias = register_parameter("bias", uniform({out}, in));
}
Tensor Linear::forward(const Tensor& input) { return linear(input, weight, bias); }

Conv2d::Conv2d(std::int64_t in, std::int64_t out, std::int64_t kernel, Conv2dOptions options)
    : options_(std::move(options)) {
    const std::int64_t fan_in = in / options_.groups * kernel * kernel;
    weight = register_parameter("weight", uniform({out, in / options_.groups, kernel, kernel}, fan_in));
    if (options_.bias) bias = register_parameter("bias", uniform({out}, fan_in));
}
Tensor Conv2d::forward(const Tensor& input) {
    return conv2d(input, weight, bias, options_.stride, options_.padding, options_.dilation, options_.groups);
}

LayerNorm::LayerNorm(IntList shape, double eps) : shape_(std::move(shape)), eps_(eps) {
    weight = register_parameter("weight", ones(shape_));
    bias = register_parameter("bias", zeros(shape_));
}
Tensor LayerNorm::forward(const Tensor& input) { return layer_norm(input, shape_, weight, bias, eps_); }

Embedding::Embedding(std::int64_t count, std::int64_t width) {
    weight = register_parameter("weight", randn({count, width}));
}
Tensor Embedding::forward(const Tensor& input) { return embedding(weight, input); }

Sequential::Sequential(std::vector<std::shared_ptr<Layer>> layers) : layers_(std::move(layers)) {
    for (std::size_t i = 0; i < layers_.size(); ++i) register_module(std::to_string(i), layers_[i]);
}
Tensor Sequential::forward(const Tensor& input) {
    Tensor value = input;
    for (const std::shared_ptr<Layer>& layer : layers_) value = (*layer)(value);
    return value;
}

}  // namespace whittle::api
