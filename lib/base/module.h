// Libraries of ours that bring heavy ones along (Halide, LLVM, protobuf): they lie beside the one that holds this code
// and are loaded when they are first needed. Built separately they would disagree about classes, so each says of which
// build it is, and another one's is refused.
#pragma once

#include <filesystem>
#include <string>

namespace whittle {

/// The folder of the library (or, linked otherwise, the program) that holds this code: in it are the modules, in
/// whittle/backends below it the plug-ins.
const std::filesystem::path& library_folder();

/// Whether the module libwhittle-NAME.so is there.
bool has_module(const std::string& name);

/// The function `symbol` (extern "C") of the module libwhittle-NAME.so, which stays loaded: of the one that this
/// process has, else of the one in library_folder(). Throws Error when it is not there, cannot be loaded, or is of
/// another build. Safe to call from several threads.
void* module_symbol(const std::string& name, const char* symbol);

/// The same from the library `file`.
void* module_symbol_in(const std::filesystem::path& file, const char* symbol);

/// As module_symbol(), of type `F`: module_function<Backend*()>("halide", "whittle_make_halide_backend")().
template <class F>
F* module_function(const std::string& name, const char* symbol) {
    return reinterpret_cast<F*>(module_symbol(name, symbol));
}

}  // namespace whittle
