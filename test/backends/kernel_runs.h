// A group compiled by Halide and run, for tests of what reads and schedules groups.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/halide/pipeline.h"
#include "expr/batch.h"

namespace whittle::halide {

inline std::vector<Tensor> run(CompiledGroup& kernel, const expr::Group& group, const std::vector<Tensor>& inputs,
                               std::string& error) {
    std::vector<const void*> in;
    std::vector<void*> out;
    std::vector<Tensor> results;
    for (const Tensor& t : inputs) in.push_back(t.raw());
    for (const std::string& name : group.outputs) results.push_back(expr::unaligned_result(*group.stage(name)));
    for (Tensor& t : results) out.push_back(t.mutable_raw());
    if (const auto failed = kernel.run(in, out)) error = failed->message;
    return results;
}

inline std::unique_ptr<CompiledGroup> compile(const expr::Group& group, const expr::Schedule& schedule,
                                              std::string& error) {
    auto result = CompiledGroup::compile(group, schedule);
    if (const auto* failed = std::get_if<KernelError>(&result)) {
        error = failed->message;
        return nullptr;
    }
    return std::get<std::unique_ptr<CompiledGroup>>(std::move(result));
}

}  // namespace whittle::halide
