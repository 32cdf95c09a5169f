#include "frontends/onnx/weights.h"

#include <unistd.h>

#include <span>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"

namespace whittle {
namespace fs = std::filesystem;

const std::vector<std::string>& external_data_words() {
    static const std::vector<std::string> words = {"auto", "yes", "no"};
    return words;
}

bool SharedWeights::is_ours(const std::string& name) {
    constexpr std::size_t kDigits = 32;  // of a content_hash()
    const std::string prefix = "weights-", suffix = ".bin";
    return name.size() == prefix.size() + kDigits + suffix.size() && name.starts_with(prefix) &&
           name.ends_with(suffix) &&
           name.find_first_not_of("0123456789abcdef", prefix.size()) == prefix.size() + kDigits;
}

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
    std::error_code error;
    if (!fs::exists(beside / name, error)) link_or_copy(folder_ / name, beside / name);
    return name;
}

fs::path SharedWeights::copied(const fs::path& from) {
    const std::lock_guard lock(mutex_);
    const auto [known, added] = copies_.try_emplace(from);
    if (!added) return known->second;
    const fs::path copy = folder_ / ("file-" + std::to_string(::getpid()) + "-" + std::to_string(copies_.size()));
    std::error_code error;
    fs::copy_file(from, copy, fs::copy_options::overwrite_existing, error);
    if (error) {
        copies_.erase(known);
        throw Error({copy.string(), {}}, "cannot copy " + from.string() + ": " + error.message());
    }
    return known->second = copy;
}

void SharedWeights::put(const fs::path& from, const fs::path& to) {
    const fs::path copy = copied(from);
    std::error_code ignored;
    fs::remove(to, ignored);
    link_or_copy(copy, to);
}

}  // namespace whittle
