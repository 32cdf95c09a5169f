// Who wants to see what compilations make on the way: each stage as it is made, plans, the source of kernels. Of one
// thread, as long as an Observing lives.
#pragma once

#include <string>
#include <vector>

#include "base/exchanged.h"
#include "compile/program.h"

namespace whittle::program {

/// A kernel as it really runs: what depends on constants alone is computed once and no part of it.
struct KernelTexts {
    std::string loop_nest = {}, output_code = {}, assembly = {};
    std::size_t code_of = 0;  ///< the first kernel of the plan that has the same code
};

using SourceNames = std::vector<std::vector<std::string>>;

class CompileObserver {
  public:
    virtual ~CompileObserver() = default;
    /// A pass made the stage of its program.
    virtual void made(Stage stage, const Graph& graph) = 0;
    /// `sources`: of each node of the plan's graph the names of those of the captured graph that it stands for.
    virtual void planned(const Plan& plan, const SourceNames& sources) = 0;
    /// The program that the compiler is given for a kernel of the plan, in the compiler's language.
    virtual void generated(const Kernel& kernel, const std::string& source) = 0;
    /// Whether what follows is wanted: a compiler may have to compile each kernel once more for it.
    virtual bool wants_code() const { return false; }
    /// The same kernels by their code: `of` is the position of the kernel in the plan.
    virtual void compiled(std::size_t of, const KernelTexts& texts) { static_cast<void>(of), static_cast<void>(texts); }
    /// The machine code of a kernel, by a hash of what was loaded: once for each kernel of a plan, in order.
    virtual void loaded(const std::string& code) { static_cast<void>(code); }
};

/// This thread's, or null.
CompileObserver* observer();

struct Observing : Exchanged<CompileObserver*> {
    explicit Observing(CompileObserver* observer);
};

}  // namespace whittle::program
