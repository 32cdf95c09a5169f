// Any bytes as a program that may carry descriptions of its sources: either an Error, or descriptions that can be told.
#include "frontends/cpp/description.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    whittle::fuzz::with_file(data, size, [](const std::filesystem::path& path) {
        for (const whittle::cpp::StaticTables& tables : whittle::cpp::read_program(path))
            if (whittle::cpp::description(tables).empty()) std::abort();
    });
    return 0;
}
