#include "frontends/libtorch/wanted_results.h"

#include <functional>

namespace whittle::libtorch {

std::uint64_t WantedResults::key(const Piece& piece, const std::string& function) {
    const auto mix = [](std::uint64_t seed, std::uint64_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15ull; };
    std::uint64_t key = std::hash<std::string>()(function);
    for (const std::int32_t index : piece.steps) {
        const Step& step = recording_.step(index);
        const auto [place, fresh] = places_.try_emplace({function, step.stack}, 0);
        if (fresh)
            for (const StackFrame& frame : inside(recording_.stack(index), function))
                place->second =
                    mix(mix(place->second, std::hash<std::string>()(frame.file + frame.function)),
                        static_cast<std::uint64_t>(frame.line) << 32 | static_cast<std::uint32_t>(frame.column));
        key = mix(mix(key, place->second), reinterpret_cast<std::uintptr_t>(step.op));
    }
    return key;
}

}  // namespace whittle::libtorch
