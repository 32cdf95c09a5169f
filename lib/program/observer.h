// Who wants to see what compilations make on the way: each stage as it is made, plans, the source of kernels. Of one
// thread, as long as an Observing lives.
#pragma once

#include <string>

#include "program/program.h"

namespace whittle::program {

class CompileObserver {
  public:
    virtual ~CompileObserver() = default;
    /// A pass made the stage of its program.
    virtual void made(Stage stage, const Graph& graph) = 0;
    virtual void planned(const Plan& plan) = 0;
    /// The program that the compiler is given for a kernel of the plan, in the compiler's language.
    virtual void generated(const Kernel& kernel, const std::string& source) = 0;
};

/// This thread's, or null.
CompileObserver* observer();

class Observing {
  public:
    explicit Observing(CompileObserver* observer);
    ~Observing();
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;

  private:
    CompileObserver* const before_;
};

}  // namespace whittle::program
