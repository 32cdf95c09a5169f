// A pass of LLVM's code generator that makes a pipeline wrong, and the module that it gets: what Halide prints with
// LLVM's options -opt-bisect-limit and -print-before-all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace whittle::reduce {

struct LlvmPass {
    std::int64_t number = 0;    ///< among those of the process
    std::string name = {};      ///< "CodeGen Prepare on function (out)"
    std::string function = {};  ///< whose code it changes: "out"; empty: unknown
    std::string module = {};    ///< text of LLVM's, before the first pass of the code generator; empty: unknown
    /// How llc runs the same passes on the module, in a file that stands for {}; empty: there is no llc, or its passes
    /// are others.
    std::vector<std::string> llc = {};
    std::int64_t number_in_llc = 0;
    /// Where llc fails in the pass, too, llvm-reduce has made the module smaller: from so many lines. 0: see
    /// `not_reduced`.
    std::size_t lines_before = 0;
    std::string not_reduced = {};  ///< why, where there is an llc
};

/// The pass with this number, of what -opt-bisect-limit printed, without its module.
LlvmPass pass_numbered(const std::string& printed, std::int64_t number);
/// The number of the pass among those that another program printed; nothing where that has not the same ones.
std::optional<std::int64_t> number_among(const std::string& printed, const std::string& by_others,
                                         const LlvmPass& pass);
/// The first module in what -print-before-all printed; empty: there is none.
std::string first_module(const std::string& printed);

/// `printed`: with -opt-bisect-limit. `print`: runs the pipeline with these options of LLVM more, and returns what it
/// printed.
LlvmPass find_pass(const std::string& printed, std::int64_t number,
                   const std::function<std::string(const std::string& options)>& print);

}  // namespace whittle::reduce
