// Modules: named parameters, and a few layers. In the graphs of a compiled function a parameter is a get_attr under its
// qualified name ("layers.0.weight"), whether or not the module is an argument.
#ifndef WHITTLE_API_MODULE_H
#define WHITTLE_API_MODULE_H

#include <whittle/api/tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

WHITTLE_API_BEGIN

class Module {
  public:
    Module() = default;
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// Its parameters and those of its modules, in order of registration, with names relative to this module.
    std::vector<std::pair<std::string, Tensor>> named_parameters() const;
    TensorList parameters() const;
    std::int64_t parameter_count() const;  ///< elements of all parameters
    /// The path of this module from the outermost module that holds it: "layers.0".
    const std::string& path() const { return path_; }

  protected:
    /// Returns the tensor, which has this name from now on.
    Tensor register_parameter(const std::string& name, Tensor value);
    template <class M>
    std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module) {
        add_module(name, module);
        return module;
    }

  private:
    void add_module(const std::string& name, std::shared_ptr<Module> module);
    void set_path(const std::string& path);

    std::vector<std::pair<std::string, Tensor>> parameters_;
    std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules_;
    std::string path_;
};

/// While it lives, operations carry the module's path. Layers create one themselves.
class ModuleScope {
  public:
    explicit ModuleScope(const Module& module);
    ~ModuleScope();
    ModuleScope(const ModuleScope&) = delete;
    ModuleScope& operator=(const ModuleScope&) = delete;

  private:
    std::string before_;
};

/// A module that maps one tensor to one tensor.
class Layer : public Module {
  public:
    virtual Tensor forward(const Tensor& input) = 0;
    Tensor operator()(const Tensor& input) {
        const ModuleScope scope(*this);
        return forward(input);
    }
};

/// x W^T + b; weight [out, in]. Initialized uniformly within 1 / sqrt(in), as PyTorch's.
class Linear : public Layer {
  public:
    Linear(std::int64_t in, std::int64_t out, bool with_bias = true);
    Tensor forward(const Tensor& input) override;
    Tensor weight, bias;
};

struct Conv2dOptions {
    IntList stride = 1, padding = 0, dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
};
/// [N, in, H, W] -> [N, out, H', W']; weight [out, in / groups, kernel, kernel].
class Conv2d : public Layer {
  public:
    Conv2d(std::int64_t in, std::int64_t out, std::int64_t kernel, Conv2dOptions options = {});
    Tensor forward(const Tensor& input) override;
    Tensor weight, bias;

  private:
    Conv2dOptions options_;
};

/// Normalizes over the last dimensions, whose sizes are `shape`.
class LayerNorm : public Layer {
  public:
    explicit LayerNorm(IntList shape, double eps = 1e-5);
    Tensor forward(const Tensor& input) override;
    Tensor weight, bias;

  private:
    IntList shape_;
    double eps_;
};

/// Rows of a table: i64 [...] -> [..., width].
class Embedding : public Layer {
  public:
    Embedding(std::int64_t count, std::int64_t width);
    Tensor forward(const Tensor& input) override;
    Tensor weight;
};

/// A function as a layer without parameters.
class Function : public Layer {
  public:
    explicit Function(std::function<Tensor(const Tensor&)> function) : function_(std::move(function)) {}
    Tensor forward(const Tensor& input) override { return function_(input); }

  private:
    std::function<Tensor(const Tensor&)> function_;
};

/// Layers that run one after the other, named "0", "1" …
class Sequential : public Layer {
  public:
    explicit Sequential(std::vector<std::shared_ptr<Layer>> layers);
    Tensor forward(const Tensor& input) override;

  private:
    std::vector<std::shared_ptr<Layer>> layers_;
};

WHITTLE_API_END

#endif
