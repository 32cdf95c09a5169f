// Many generated functions in one shared library: compiled once by the compiler of the build, called with the pointers
// of tensors.
#pragma once

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"
#include "expr/group.h"
#include "expr/loops.h"
#include "tensor/tensor.h"
#include "text/language.h"

namespace whittle::expr {

/// Memory for a stage's elements, no better aligned than they must be: kernels may not count on more.
inline Tensor unaligned_result(const Stage& stage) {
    const Sizes sizes = stage.sizes();
    return Tensor(stage.dtype, {element_count(sizes) + 1}).as_strided(sizes, contiguous_strides(sizes), 1);
}

class Batch {
  public:
    ~Batch() {
        if (handle_) dlclose(handle_);
    }

    void add_text(const std::string& text) { text_ += text; }

    /// Takes in `definition`, which defines the function `name` for the group: pointers to inputs, then to outputs.
    void add(const Group& group, const std::string& name, const std::string& definition) {
        std::string args;
        for (std::size_t i = 0; i < group.inputs.size(); ++i)
            args += (args.empty() ? "" : ", ") + ("static_cast<const " + language::cpp.type(group.inputs[i].dtype) +
                                                  "*>(in[" + std::to_string(i) + "])");
        for (std::size_t i = 0; i < group.outputs.size(); ++i)
            args += (args.empty() ? "" : ", ") +
                    ("static_cast<" + language::cpp.type(group.stage(group.outputs[i])->dtype) + "*>(out[" +
                     std::to_string(i) + "])");
        text_ += "\n" + definition + "extern \"C\" void run_" + name +
                 "(const void* const* in, void* const* out, std::string* error) {\n    try {\n        " + name + "(" +
                 args + ");\n    } catch (const std::exception& e) {\n        *error = e.what();\n    }\n" +
                 "    (void)in;\n    (void)out;\n}\n";
    }

    /// Compiles all that was added, warnings being errors.
    void compile(const std::vector<std::string>& flags) {
        const auto source = folder_.path() / "batch.cpp", library = folder_.path() / "batch.so";
        write_file(source, text_);
        // Random groups may well compare what always differs; clang says so of bits.
        std::vector<std::string> command = {WHITTLE_CXX,
                                            "-std=c++17",
                                            "-Wall",
                                            "-Wextra",
                                            "-Werror",
                                            "-Wno-tautological-compare",
                                            "-Wno-tautological-bitwise-compare",
                                            "-shared",
                                            "-fPIC"};
        command.insert(command.end(), {source.string(), "-o", library.string()});
        command.insert(command.end(), flags.begin(), flags.end());
        const ProcessResult result = run_process(command);
        if (result.exit_code != 0) folder_.keep();
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        REQUIRE(handle_);
    }

    /// Runs the function; `error` gets what it throws.
    std::vector<Tensor> run(const std::string& name, const Group& group, const std::vector<Tensor>& inputs,
                            std::string& error) const {
        std::vector<const void*> in;
        std::vector<void*> out;
        std::vector<Tensor> results;
        for (const Tensor& t : inputs) in.push_back(t.raw());
        for (const std::string& output : group.outputs) results.push_back(unaligned_result(*group.stage(output)));
        for (Tensor& t : results) out.push_back(t.mutable_raw());
        using Run = void(const void* const*, void* const*, std::string*);
        auto* function = reinterpret_cast<Run*>(dlsym(handle_, ("run_" + name).c_str()));
        REQUIRE(function);
        function(in.data(), out.data(), &error);
        return results;
    }

  private:
    TempDir folder_;
    std::string text_ = std::string(kLoopsIncludes) + "#include <exception>\n#include <string>\n";
    void* handle_ = nullptr;
};

/// Where two tensors differ, bit by bit except that any NaN equals any other; empty when nowhere.
inline std::string difference(const Tensor& got, const Tensor& expected) {
    if (got.dtype() != expected.dtype() || got.sizes() != expected.sizes()) return "another type";
    if (!is_floating(got.dtype())) {
        if (same_bits(got, expected)) return "";
        const auto x = got.values<std::int64_t>(), y = expected.values<std::int64_t>();
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] != y[i])
                return "element " + std::to_string(i) + ": got " + std::to_string(x[i]) + ", expected " +
                       std::to_string(y[i]);
        return "";
    }
    const auto x = got.values<double>(), y = expected.values<double>();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const bool equal = x[i] == y[i] && std::signbit(x[i]) == std::signbit(y[i]);
        if (equal || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
        char text[100];
        std::snprintf(text, sizeof text, "element %zu: got %.17g, expected %.17g", i, x[i], y[i]);
        return text;
    }
    return "";
}

}  // namespace whittle::expr
