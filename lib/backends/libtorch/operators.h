// LibTorch's operators by the targets of calls. Includes LibTorch's headers: for the files of this folder.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/core/not_implemented.h"

namespace whittle::aten {

/// Of "aten.add.Tensor", "aten.relu.default", or "mylib.scale"; nothing where LibTorch has none of that name.
std::optional<c10::OperatorHandle> find_operator(std::string_view target);

/// The call as this LibTorch spells it, which may know the op by an earlier name only.
Node spelled(const Node& call);

/// The arguments in the order of the schema; null where the schema's default holds. Throws Error for arguments that it
/// has not.
std::vector<const Arg*> bind(const Node& call, const c10::FunctionSchema& schema);

/// What stands where an argument is not given. Throws Error for a parameter that must have one.
c10::IValue default_of(const Node& call, const c10::Argument& parameter);

/// f(), with LibTorch's own words in an Error where it refuses: it throws its own errors, its libraries, TorchScript
/// and its derivatives others. NotImplemented where it has no kernel for a dtype, or no derivative: of TorchScript, and
/// before 2.0, only the words tell that from other errors (AT_DISPATCH_SWITCH in ATen/Dispatch.h, NotImplemented in
/// torch/csrc/autograd/functions/basic_ops.h).
template <class F>
auto in_libtorch(F f) {
    try {
        return f();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        const auto* own = dynamic_cast<const c10::Error*>(&error);
        const std::string words = own ? own->what_without_backtrace() : error.what();
        if (dynamic_cast<const c10::NotImplementedError*>(&error) ||
            words.find(" not implemented for '") != std::string::npos || words.ends_with(" is not implemented"))
            throw NotImplemented("LibTorch: " + words);
        throw Error("LibTorch: " + words);
    }
}

}  // namespace whittle::aten
