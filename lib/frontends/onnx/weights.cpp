#include "frontends/onnx/weights.h"

#include <span>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"

namespace whittle {
namespace fs = std::filesystem;

std::string SharedWeights::named(const Tensor& tensor) {
    const Tensor whole = tensor.contiguous();  // itself where it is
    const std::span<const std::byte> bytes = whole.contiguous_bytes();
    const std::lock_guard lock(mutex_);
    Known& known = known_[{bytes.data(), bytes.size()}];
    if (known.storage.lock() == whole.storage()) return known.name;
    std::string name = "weights-" + content_hash(bytes) + ".bin";
    // write_file() renames: a file that is there is whole, whoever wrote it.
    if (std::error_code ignored; !fs::exists(folder_ / name, ignored))
        write_file(folder_ / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    known = {whole.storage(), name};
    return name;
}

std::string SharedWeights::put(const Tensor& tensor, const fs::path& beside) {
    const std::string name = named(tensor);
    const fs::path from = folder_ / name, to = beside / name;
    std::error_code error;
    if (fs::exists(to, error)) return name;
    fs::create_hard_link(from, to, error);
    if (error) error.clear(), fs::copy_file(from, to, error);
    if (error) throw Error({to.string(), {}}, "cannot be written: " + error.message());
    return name;
}

}  // namespace whittle
