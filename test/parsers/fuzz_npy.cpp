// Any bytes as a .npy file: either an Error, or a tensor that can be read.
#include "fuzz_file.h"
#include "tensor/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    whittle::fuzz::with_file(data, size,
                             [](const std::filesystem::path& path) { whittle::content_hash(whittle::load_npy(path)); });
    return 0;
}
