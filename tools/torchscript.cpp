// whittle-torchscript MODULE INPUTS ERROR: runs forward() of a module that torch.jit.save() wrote, once, on the tensors
// of the safetensors file INPUTS. No program for people: trace and explain run it under capture, so that a TorchScript
// module is a MODEL. Inputs are called by the names of forward()'s parameters, or "#0", "#1" … by their places. When
// the module cannot be called, what is wrong and, in a second line, what helps goes to the file ERROR, and the exit
// status is 2; what forward() itself throws ends the program with status 1, as it does any program.
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdio>
#include <string>
#include <vector>

#include "backends/libtorch/module_call.h"
#include "base/error.h"
#include "base/files.h"
#include "tensor/safetensors.h"

namespace {

using namespace whittle;

/// What it returns is held to the end of the program, as by one that uses it.
c10::IValue& result() {
    static c10::IValue& value = *new c10::IValue;
    return value;
}

struct Loaded {
    torch::jit::Module module;
    std::vector<c10::IValue> arguments;
};

/// None of its operations is the model's.
Loaded load(const char* module, const char* inputs) {
    const at::DisableRecordFunctionGuard unseen;
    Loaded loaded;
    try {
        loaded.module = torch::jit::load(module, c10::Device(c10::kCPU));
    } catch (const c10::Error& error) {
        throw Error("LibTorch cannot load the module: " + aten::first_line(error));
    } catch (const std::exception& error) {  // it has others, too
        throw Error(std::string("LibTorch cannot load the module: ") + error.what());
    }
    loaded.arguments = aten::arguments_of_forward(loaded.module, load_safetensors(inputs));
    return loaded;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr,
                     "whittle-torchscript: error: expected MODULE INPUTS ERROR; this internal program is run by trace "
                     "and explain\n");
        return 2;
    }
    const at::NoGradGuard inference;
    Loaded loaded;
    try {
        loaded = load(argv[1], argv[2]);
    } catch (const Error& error) {
        write_file(argv[3], error.message() + "\n" + error.hint());
        return 2;
    }
    try {
        result() = loaded.module.forward(std::move(loaded.arguments));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: forward() throws: %s\n", argv[1], error.what());
        return 1;
    }
    return 0;
}
