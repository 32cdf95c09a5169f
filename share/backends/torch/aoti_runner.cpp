// Runs a package of AOTInductor as a C++ program does that deploys it:  aoti_runner PACKAGE INPUTS OUTPUTS
// INPUTS is a list of tensors as torch.save() writes it; OUTPUTS gets a tuple of them.
#include <ATen/core/ivalue.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

int main(int argc, char** argv) try {
    if (argc != 4) throw std::runtime_error("expected PACKAGE INPUTS OUTPUTS");
    std::ifstream in(argv[2], std::ios::binary);
    const std::vector<char> stored((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::vector<at::Tensor> inputs;
    const c10::IValue list = torch::jit::pickle_load(stored);
    for (const c10::IValue& input : list.toListRef()) inputs.push_back(input.toTensor());
    const c10::InferenceMode inference;
    torch::inductor::AOTIModelPackageLoader package(argv[1]);
    std::vector<c10::IValue> outputs;
    for (const at::Tensor& output : package.run(inputs)) outputs.emplace_back(output);
    const std::vector<char> made = torch::jit::pickle_save(c10::ivalue::Tuple::create(outputs));
    std::ofstream(argv[3], std::ios::binary).write(made.data(), static_cast<std::streamsize>(made.size()));
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
