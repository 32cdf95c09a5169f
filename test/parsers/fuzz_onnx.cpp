// Any bytes as an ONNX model: either an Error, or a graph that verifies and can be written and read again.
#include "base/error.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/save.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
    for (const bool keep_unknown : {false, true}) {
        try {
            const whittle::LoadedModel loaded =
                whittle::load_onnx_bytes(bytes, "fuzz.onnx", {}, {.keep_unknown = keep_unknown});
            const std::string saved = whittle::to_onnx(loaded.graph);
            whittle::load_onnx_bytes(std::as_bytes(std::span(saved)), "again.onnx", {}, {.keep_unknown = keep_unknown});
        } catch (const whittle::Error&) {
        }
    }
    return 0;
}
