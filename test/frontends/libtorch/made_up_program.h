// Programs that never ran, as the events that they would have written, and the frame that is captured of them.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "base/files.h"
#include "event_writer.h"
#include "frontends/libtorch/builder.h"

namespace whittle::libtorch {

enum Op : std::uint32_t {
    kMul = 1,
    kAddInPlace,
    kItem,
    kLocal,
    kSelect,
    kLinear,
    kRelu,
    kUnknown,
    kUndescribed,
    kRandn,
    kEmpty,
    kFill,
    kLoss,
    kUnsqueeze,
    kResize
};

/// A made-up program: `write` writes what it did.
template <class Write>
EventFile program(const TempDir& folder, Write&& write) {
    const std::string path = (folder.path() / "events").string();
    {
        EventWriter writer(path);
        REQUIRE(writer.ok);
        writer.define(kMul, "aten::mul", "Tensor", "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor");
        writer.define(kAddInPlace, "aten::add_", "Tensor",
                      "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
        writer.define(kItem, "aten::item", "", "aten::item(Tensor self) -> Scalar", kComposite | kReturnsOnlyHost);
        writer.define(kLocal, "aten::_local_scalar_dense", "", "aten::_local_scalar_dense(Tensor self) -> Scalar",
                      kReturnsOnlyHost);
        writer.define(kSelect, "aten::select", "int",
                      "aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)");
        writer.define(kLinear, "aten::contiguous", "",
                      "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", kComposite);
        writer.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
        writer.define(kUnknown, "my::mystery", "", "my::mystery(Tensor self) -> Tensor");
        writer.define(kUndescribed, "my::secret", "", "");
        writer.define(kRandn, "aten::randn", "", "aten::randn(SymInt[] size) -> Tensor");
        writer.define(kEmpty, "aten::empty", "memory_format", "aten::empty.memory_format(SymInt[] size) -> Tensor");
        writer.define(kFill, "aten::fill_", "Scalar",
                      "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)");
        writer.define(kLoss, "my::loss", "", "my::loss(Tensor self) -> Tensor", kComposite);
        writer.define(kUnsqueeze, "aten::unsqueeze", "", "aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)");
        writer.define(kResize, "aten::resize_", "", "aten::resize_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)");
        write(writer);
        writer.recorder.finish();
        writer.chunk.unmap();
    }
    return read_events(path);
}

inline capture::CapturedFrame only_frame(const EventFile& file, Level level = Level::core) {
    CapturedProgram program = build_frames(file, {.level = level});
    REQUIRE(program.frames.size() == 1);
    return program.frames.front();
}

}  // namespace whittle::libtorch
