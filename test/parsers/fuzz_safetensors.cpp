// Any bytes as a safetensors file: either an Error, or tensors that can all be read.
#include "fuzz_file.h"
#include "tensor/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    whittle::fuzz::with_file(data, size, [](const std::filesystem::path& path) {
        for (const auto& [key, tensor] : whittle::load_safetensors(path)) whittle::content_hash(tensor);
    });
    return 0;
}
