// A JSON file and the tensors beside it, written so that both appear together or neither does: a process that is killed
// in between leaves what was there before. Used by everything that writes tensors beside JSON.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace whittle {

/// The file beside `path` that its JSON names as its tensors; empty when there is none. Only the head is read, where
/// Whittle writes that member.
std::filesystem::path sidecar_named_in(const std::filesystem::path& path);

/// Writes `tensors`, keyed by content hash, to NAME.safetensors beside `path` (NAME.json), then the JSON: `text` is
/// given the tensors' file name. Tensors that the JSON of before refers to are never written over: others then go to
/// NAME.2.safetensors, and the old file is removed once the new JSON is there; the same go where they were. So they do
/// when NAME.safetensors is not Whittle's, or another JSON in the folder names it. `shares`: nothing is written where a
/// file of Whittle's in the folder has all of them, which is named then. Throws Error.
void save_with_tensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::function<std::string(const std::string& sidecar)>& text, bool shares = false);

/// Files of tensors that JSON files in many folders share: a graph whose tensors were all written before gets a link.
/// Thread-safe; other processes, copies of this one among them, may share the folder, too.
class SharedTensors {
  public:
    /// The files lie in `folder`, which exists.
    explicit SharedTensors(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Makes `to`, which is not there yet, a file that has `tensors`, keyed by content hash, and perhaps others: a hard
    /// link where it can be one, best in the same file system. It is not to be written to. Throws Error.
    void put(const std::map<std::string, Tensor>& tensors, const std::filesystem::path& to);

  private:
    struct Written {
        std::filesystem::path file;
        std::set<std::string> hashes;
    };
    /// The file that has them all; null where none is known.
    const Written* find(const std::map<std::string, Tensor>& tensors) const;
    /// Gets to know what others have written meanwhile.
    void look_around();

    const std::filesystem::path folder_;
    std::mutex mutex_;
    std::vector<Written> written_;          ///< what is known of the folder
    std::set<std::filesystem::path> seen_;  ///< all that was looked at
};

}  // namespace whittle
