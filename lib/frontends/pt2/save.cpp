#include "frontends/pt2/save.h"

#include <zip.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.h"
#include "frontends/pt2/exporter.h"

namespace whittle::pt2 {
namespace {

/// A zip archive that appears when close() is called. Nothing in it is compressed, as readers may map it.
class ArchiveWriter {
  public:
    explicit ArchiveWriter(const std::filesystem::path& path)
        : file_(path.string()), root_(path.stem().string() + "/") {
        int code = 0;
        zip_ = zip_open(file_.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
        if (zip_) return;
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const std::string words = zip_error_strerror(&error);
        zip_error_fini(&error);
        throw Error({file_, {}}, "cannot write the file: " + words);
    }
    ~ArchiveWriter() {
        if (zip_) zip_discard(zip_);
    }
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;

    /// Copied: sources are read when the archive is closed. An empty one has no buffer: libzip would not free it.
    void add(const std::string& entry, const void* data, std::size_t size) {
        void* const copy = size ? std::malloc(size) : nullptr;
        if (size && !copy) throw std::bad_alloc();
        if (size) std::memcpy(copy, data, size);
        zip_source_t* const source = zip_source_buffer(zip_, copy, size, 1);
        if (!source) std::free(copy);
        const zip_int64_t index = source ? zip_file_add(zip_, (root_ + entry).c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
        if (source && index < 0) zip_source_free(source);
        if (index < 0 || zip_set_file_compression(zip_, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0) fail();
        // Equal graphs give equal files.
        constexpr zip_uint16_t kMidnight = 0, kFirstOfJanuary1980 = (0 << 9) | (1 << 5) | 1;
        zip_file_set_dostime(zip_, static_cast<zip_uint64_t>(index), kMidnight, kFirstOfJanuary1980, 0);
    }
    void add(const std::string& entry, const std::string& text) { add(entry, text.data(), text.size()); }

    void close() {
        if (zip_close(zip_) != 0) fail();
        zip_ = nullptr;
    }

  private:
    [[noreturn]] void fail() { throw Error({file_, {}}, std::string("cannot write the file: ") + zip_strerror(zip_)); }

    std::string file_, root_;
    zip_t* zip_ = nullptr;
};

/// A tensor whose elements lie behind the first one; and how many there are from that to the last in memory.
Tensor storable(const Tensor& tensor) {
    const auto backward = [](std::int64_t stride) { return stride < 0; };
    return std::ranges::any_of(tensor.strides(), backward) ? tensor.contiguous() : tensor;
}
std::size_t extent(const Tensor& tensor) {
    if (tensor.numel() == 0) return 0;
    std::int64_t last = 0;
    for (std::size_t d = 0; d < tensor.sizes().size(); ++d) last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
    return static_cast<std::size_t>(last) + 1;
}

Json write_weights(ArchiveWriter& archive, const Graph& graph) {
    Json config = Json::object();
    std::size_t number = 0;
    for (const auto& [name, value] : graph.attributes) {
        const Tensor tensor = storable(value);
        const std::string path = "weight_" + std::to_string(number++);
        archive.add("data/weights/" + path, tensor.raw(), extent(tensor) * size_of(tensor.dtype()));
        config[name] = {{"path_name", path},
                        {"is_param", value.requires_grad()},
                        {"use_pickle", false},
                        {"tensor_meta", tensor_meta(ValueMeta::of(tensor.with_requires_grad(value.requires_grad())))}};
    }
    return config;
}

}  // namespace

void save_pt2(const std::filesystem::path& path, const Graph& graph) {
    const Json program = program_of(graph);  // refuses before anything is written
    ArchiveWriter archive(path);
    archive.add("archive_format", "pt2");
    archive.add("archive_version", "0");
    archive.add("byteorder", "little");
    archive.add(".data/version", "6\n");
    archive.add("models/model.json", program.dump());
    archive.add("data/weights/model_weights_config.json", Json{{"config", write_weights(archive, graph)}}.dump());
    archive.add("data/constants/model_constants_config.json", Json{{"config", Json::object()}}.dump());
    archive.add("data/sample_inputs/model.pt", "");  // none, but a reader asks for it
    archive.close();
}

}  // namespace whittle::pt2
