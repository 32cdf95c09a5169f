// Any text as the program of an exported archive: either an Error, or a graph.
#include "../frontends/pt2/archives.h"
#include "base/error.h"
#include "base/files.h"
#include "frontends/pt2/load.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const whittle::TempDir folder("fuzz-pt2");
    const std::filesystem::path file = folder.path() / "m.pt2";
    const std::string meta =
        R"("tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7})";
    whittle::pt2::write_archive(
        file, {{"m/archive_format", "pt2"},
               {"m/data/weights/model_weights_config.json", R"({"config": {"w": {"path_name": "w0", )" + meta + "}}}"},
               {"m/data/weights/w0", "12345678"},
               {"m/models/model.json", {reinterpret_cast<const char*>(data), size}}});
    try {
        whittle::pt2::load_pt2(file);
    } catch (const whittle::Error&) {
    }
    return 0;
}
