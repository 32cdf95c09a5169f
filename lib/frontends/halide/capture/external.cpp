#include "frontends/halide/capture/external.h"

#include <stdexcept>

namespace whittle::halide_capture {

namespace {

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Function;

/// Images in the place of Funcs.
using Images = std::map<std::string, Parameter>;

class ReplaceCalls : public Halide::Internal::IRMutator {
  public:
    explicit ReplaceCalls(const Images& images) : images_(images) {}

  private:
    using Halide::Internal::IRMutator::visit;
    Expr visit(const Call* node) override {
        const auto image = images_.find(node->name);
        if (node->call_type != Call::Halide || image == images_.end()) return IRMutator::visit(node);
        std::vector<Expr> arguments;
        for (const Expr& argument : node->args) arguments.push_back(mutate(argument));
        return Call::make(image->second, arguments);
    }

    const Images& images_;
};

Images images_for(const Functions& functions, const Halide::Pipeline& pipeline) {
    Images images;
    for (const auto& [name, function] : functions)
        if (function.has_extern_definition() && function.outputs() == 1)
            images.emplace(name, Parameter(function.output_types()[0], true, function.dimensions(), name));
    for (const Halide::Func& output : pipeline.outputs()) images.erase(output.name());
    return images;
}

std::vector<int> extents_of(const Asked& asked) {
    std::vector<int> extents;
    if (asked.shapes.empty()) throw std::runtime_error("nothing is realized");
    for (const Asked::Shape& shape : asked.shapes)
        if (shape != asked.shapes[0]) throw std::runtime_error("outputs of different sizes are realized");
    for (const auto& [min, extent] : asked.shapes[0]) {
        if (min != 0) throw std::runtime_error("a region that does not begin at 0 is realized");
        extents.push_back(extent);
    }
    return extents;
}

/// Gives the images the buffers that the pipeline needs of them, without contents.
void infer(Halide::Pipeline& pipeline, const Functions& functions, const Images& images, const Asked& asked) {
    std::vector<Function> outputs;
    for (const Halide::Func& output : pipeline.outputs()) outputs.push_back(output.function());
    auto copied = Halide::Internal::deep_copy(outputs, functions);
    ReplaceCalls replace(images);
    for (auto& named : copied.second)
        if (!named.second.has_extern_definition()) named.second.mutate(&replace);
    std::vector<Halide::Func> funcs;
    for (const Function& output : copied.first) funcs.emplace_back(output);
    Halide::Pipeline inferred(funcs);
    inferred.set_jit_externs(pipeline.get_jit_externs());
    inferred.infer_input_bounds(extents_of(asked));
}

/// Computes the Func alone, with all that it needs at root.
void compute(Halide::Pipeline& pipeline, const Function& function, Halide::Buffer<>& values) {
    auto copied = Halide::Internal::deep_copy({function}, Halide::Internal::find_transitive_calls(function));
    for (const auto& named : copied.second) Halide::Func(named.second).compute_root().store_root();
    Halide::Pipeline alone{Halide::Func(copied.first.at(0))};
    alone.set_jit_externs(pipeline.get_jit_externs());
    alone.realize(values);
}

}  // namespace

std::map<std::string, Halide::Buffer<>> external_values(Halide::Pipeline pipeline, const Asked& asked) {
    std::map<std::string, Halide::Buffer<>> all;
    const Functions functions = functions_of(pipeline);
    const Images images = images_for(functions, pipeline);
    if (images.empty()) return all;
    infer(pipeline, functions, images, asked);
    for (const auto& [name, image] : images) {
        Halide::Buffer<> values = image.buffer();
        if (!values.defined()) continue;  // what needs it is itself computed by an external function
        compute(pipeline, functions.at(name), values);
        all.emplace(name, values);
    }
    return all;
}

}  // namespace whittle::halide_capture
