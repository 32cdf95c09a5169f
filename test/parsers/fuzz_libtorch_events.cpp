// Any bytes as an event file of a LibTorch program: either an Error, or frames.
#include "frontends/libtorch/builder.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    whittle::fuzz::with_file(data, size, [](const std::filesystem::path& path) {
        whittle::libtorch::EventFile file = whittle::libtorch::read_events(path);
        file.mappings.clear();  // paths of files to open
        file.names.clear();     // parameters, whose memory explain sets aside
        whittle::libtorch::build_frames(file, {});
    });
    return 0;
}
