// What hooks (hooks.h) are told of one compilation, gathered while it runs.
#pragma once

#include <whittle/api/hooks.h>

#include <string>

#include "api/frame.h"
#include "compile/observer.h"

namespace whittle::api {

class CompileReport final : public program::CompileObserver {
  public:
    /// What is made from now on belongs to this part: "forward", "backward", "" of a graph without gradients.
    void begin_part(std::string part) { part_ = std::move(part); }
    void made(program::Stage stage, const Graph& graph) override;
    void planned(const program::Plan& plan, const program::SourceNames& sources) override;
    void generated(const program::Kernel& kernel, const std::string& source) override;

    /// All of it, with what is known when the compilation is over. `captured` has the parameters.
    CompiledGraphInfo finish(const Graph& captured, const CompiledGraph& compiled,
                             const std::vector<capture::Guard>& guards);

  private:
    void add(std::string stage, std::string part, const Graph& graph);

    std::string part_;
    CompiledGraphInfo info_;
};

}  // namespace whittle::api
