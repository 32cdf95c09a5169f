// Every spelling of PyTorch's and Python's internals that capture recognizes: libraries, files, functions and classes.
// Releases rename them, so a new release is adapted here. Shared by the recorder and the reader: needs neither LibTorch
// nor the rest of Whittle.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace whittle::libtorch {

namespace names {

template <std::size_t kSize>
constexpr bool starts_with_any(std::string_view text, const std::string_view (&parts)[kSize]) {
    return std::any_of(std::begin(parts), std::end(parts),
                       [&](std::string_view part) { return text.starts_with(part); });
}
template <std::size_t kSize>
constexpr bool ends_with_any(std::string_view text, const std::string_view (&parts)[kSize]) {
    return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) { return text.ends_with(part); });
}
template <std::size_t kSize>
constexpr bool contains_any(std::string_view text, const std::string_view (&parts)[kSize]) {
    return std::any_of(std::begin(parts), std::end(parts),
                       [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace names

// ---- Libraries

/// Of a file's name without its folder. Spelled out: a user's library may well be called libtorch_something.
constexpr bool is_libtorch_file(std::string_view file) {
    constexpr std::string_view kKnown[] = {"libtorch.so",         "libtorch_cpu.so",
                                           "libtorch_cuda.so",    "libtorch_cuda_cpp.so",
                                           "libtorch_cuda_cu.so", "libtorch_cuda_linalg.so",
                                           "libtorch_hip.so",     "libtorch_xpu.so",
                                           "libtorch_python.so",  "libtorch_global_deps.so",
                                           "libc10.so",           "libc10_cuda.so",
                                           "libc10_hip.so",       "libc10_xpu.so"};
    for (const std::string_view known : kKnown)  // "libc10.so.2.1", too
        if (file.starts_with(known) && (file.size() == known.size() || file[known.size()] == '.')) return true;
    return false;
}
/// LibTorch's binding for Python, and what it keeps torch.Tensor and torch.nn.Parameter in.
inline constexpr char kPythonBinding[] = "/libtorch_python.so", kTensorClass[] = "THPVariableClass",
                      kParameterClass[] = "ParameterClass";

/// What tolist() and numpy() of torch.Tensor call there, where it is exported.
#define WHITTLE_TENSOR_TO_LIST "_ZN5torch5utils14tensor_to_listERKN2at6TensorE"
#define WHITTLE_TENSOR_TO_NUMPY "_ZN5torch5utils15tensor_to_numpyERKN2at6TensorEb"

/// TorchScript runs what it compiled of several operations: TensorExprKernel::run(Stack&).
#define WHITTLE_RUN_FUSED "_ZNK5torch3jit10tensorexpr16TensorExprKernel3runERSt6vectorIN3c106IValueESaIS5_EE"

// ---- Functions of C++, as debug information or symbols spell them

/// Autograd is on the stack: it runs a backward pass.
constexpr bool runs_backward(std::string_view function) {
    return function.starts_with("torch::autograd::Engine::") || function == "torch::autograd::backward" ||
           function == "torch::autograd::grad";
}

/// TorchScript's compiler, which compares and folds a module's constants before their first use.
constexpr bool compiles_script(std::string_view function) {
    constexpr std::string_view kSpace = "torch::jit::";
    constexpr std::string_view kPasses[] = {"ConstantPooling", "ConstantPropagation", "EliminateCommonSubexpression",
                                            "ConstantPropagationImmutableTypes", "runNodeIfInputsAreConstant"};
    if (!function.starts_with(kSpace)) return false;
    const std::string_view name = function.substr(kSpace.size());
    return name.ends_with("::getPlanFor") ||
           std::find(std::begin(kPasses), std::end(kPasses), name) != std::end(kPasses);
}

/// A library's, where nothing but its name is known.
constexpr bool is_library_function(std::string_view function) {
    constexpr std::string_view kSpaces[] = {
        "at::", "c10::", "torch::", "std::", "__gnu_cxx::", "void at::", "void torch::", "void std::", "decltype"};
    return names::starts_with_any(function, kSpaces);
}
/// A part of LibTorch that a user calls as such: no wrapper of an operation.
constexpr bool is_torch_component(std::string_view function) {
    constexpr std::string_view kSpaces[] = {"torch::optim::", "torch::nn::", "torch::data::"};
    return names::starts_with_any(function, kSpaces);
}
/// The standard library calls a function that it was given.
constexpr bool calls_given_function(std::string_view function) {
    constexpr std::string_view kCalls[] = {"std::_Function_handler<", "std::function<", "std::packaged_task<",
                                           "std::__future_base::_Task_state<"};
    return names::contains_any(function, kCalls);
}

// ---- Python: files by the ends of their paths, and functions as CPython names them

/// The module of Python that defines torch.nn.Module.
inline constexpr char kModuleOfModules[] = "torch.nn.modules.module";
inline constexpr std::string_view kModuleFile = "/torch/nn/modules/module.py", kTracingFile = "/torch/jit/_trace.py";
/// torch.nn.Module's call of forward(), and what wraps that since 2.0.
inline constexpr std::string_view kModuleCall = "_call_impl", kWrappedModuleCall = "_wrapped_call_impl";
/// The tables of a torch.nn.Module.
inline constexpr char kParametersTable[] = "_parameters", kBuffersTable[] = "_buffers", kModulesTable[] = "_modules";

/// What str() and print() compute of a tensor.
constexpr bool prints_tensors(std::string_view file) { return file.ends_with("/torch/_tensor_str.py"); }
constexpr bool is_of_torch_nn(std::string_view file) {
    return file.find("/torch/nn/modules/") != std::string_view::npos;
}
/// A layer of torch.nn is no model: what calls the layer is.
constexpr bool is_layer(std::string_view file) {
    return is_of_torch_nn(file) && !file.ends_with("/container.py") && !file.ends_with("/transformer.py");
}
/// Of a model that a program loads: PyTorch's own, and not of who made the model.
constexpr bool is_torch_python(std::string_view file) {
    constexpr std::string_view kParts[] = {"/torch/nn/", "/torch/_", "/torch/jit/", "/torch/functional.py"};
    return names::contains_any(file, kParts);
}
/// By its path among packages.
constexpr bool is_of_torch(std::string_view file) { return file.starts_with("torch/"); }
/// "torch/functional.py", "torch/autograd/function.py": what PyTorch puts between the user's line and an operation.
constexpr bool wraps_operations(std::string_view file) {
    constexpr std::string_view kParts[] = {"_", "autograd/", "jit/"};
    if (!is_of_torch(file)) return false;
    const std::string_view part = file.substr(file.find('/') + 1);
    return part.find('/') == std::string_view::npos || names::starts_with_any(part, kParts);
}
/// A scope in which code that torch.compile made runs: "Torch-Compiled Region: 0/0"; the recorder's own name for a run
/// of what TorchScript compiled of several operations.
inline constexpr char kFusedKernel[] = "TorchScript-Fused Kernel";
constexpr bool is_compiled_region(std::string_view scope) {
    return scope.starts_with("Torch-Compiled Region") || scope == kFusedKernel;
}
/// What torch.compile and torch.export compute while they compile, by its path among packages: a function when it is
/// called first, what computes its gradients in the first backward pass.
constexpr bool compiles_python(std::string_view file, std::string_view function) {
    if (file == "torch/_dynamo/convert_frame.py" || file == "torch/export/_trace.py") return true;
    return file == "torch/_inductor/compile_fx.py" &&
           function.substr(function.rfind('.') + 1).find("compil") != std::string_view::npos;
}
/// What runs code that Inductor generated. The code writes to memory itself, so its operations are only a part of it.
constexpr bool runs_generated_code(std::string_view file) { return file.starts_with("torch/_inductor/"); }
/// Between a module that torch.compile was given and the function that it compiled.
constexpr bool calls_compiled_module(std::string_view file) {
    return file.find("/torch/_dynamo/") != std::string_view::npos;
}
/// Beside a module's function: hooks, and what decorates the function.
constexpr bool surrounds_forward(std::string_view file) {
    constexpr std::string_view kFiles[] = {"/torch/utils/hooks.py", "/torch/utils/_contextlib.py",
                                           "/torch/autograd/grad_mode.py", "/torch/amp/autocast_mode.py"};
    return names::ends_with_any(file, kFiles);
}
/// What works through items that it is given: a DataLoader's worker, a pool of processes or threads.
constexpr bool works_for_others(std::string_view file) {
    constexpr std::string_view kFiles[] = {"/torch/utils/data/_utils/fetch.py", "/multiprocessing/pool.py",
                                           "/concurrent/futures/process.py", "/concurrent/futures/thread.py"};
    return names::ends_with_any(file, kFiles);
}
/// What starts threads and processes.
constexpr bool starts_threads(std::string_view file) {
    constexpr std::string_view kFiles[] = {"/threading.py", "/multiprocessing/process.py",
                                           "/multiprocessing/popen_fork.py", "/multiprocessing/spawn.py",
                                           "/multiprocessing/forkserver.py"};
    return names::ends_with_any(file, kFiles);
}
/// "[f(x) for x in xs]": what Python makes a function of is a statement to who wrote it.
constexpr bool is_comprehension(std::string_view function) {
    constexpr std::string_view kKinds[] = {"<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"};
    return names::ends_with_any(function, kKinds);
}
constexpr bool is_python_constructor(std::string_view function) { return function.ends_with(".__init__"); }
/// A folder of installed packages: Debian has a name of its own for those of its own packages.
constexpr bool holds_packages(std::string_view folder) {
    constexpr std::string_view kFolders[] = {"/site-packages", "/dist-packages"};
    return names::ends_with_any(folder.ends_with('/') ? folder.substr(0, folder.size() - 1) : folder, kFolders);
}
/// A file's own code, outside of its functions.
inline constexpr std::string_view kModuleCode = "<module>";
/// The file of code that the interpreter was given as a text.
inline constexpr std::string_view kGivenText = "<string>";
/// Code of no person: the interpreter's import system, what CPython from 3.12 on runs around a class's __init__ ("file"
/// and function are "__init__"), what NumPy's protocol makes, what Inductor generates.
constexpr bool is_interpreter_code(std::string_view file) {
    return file == "__init__" || file.starts_with("<frozen ") || file.starts_with("<__array_function__") ||
           file.find("/torchinductor_") != std::string_view::npos;
}
constexpr bool imports_modules(std::string_view file) { return file.starts_with("<frozen importlib."); }

// ---- TorchScript

/// What an optimized graph runs instead where an assumption of its does not hold.
inline constexpr std::string_view kFallback = "fallback_function";
/// Names that LibTorch gives a module that it does not know.
constexpr bool is_unknown_instance(std::string_view name) {
    return name.empty() || name == "SELF" || name == "INSTANCE_NAME_UNKNOWN";
}
/// Before the name of a class of C++ that TorchScript knows: "__torch__.torch.classes.quantized.Conv2d".
inline constexpr std::string_view kClassSpace = "classes.";

}  // namespace whittle::libtorch
