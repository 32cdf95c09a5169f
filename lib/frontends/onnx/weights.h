// Weights of written models as external data: https://github.com/onnx/onnx/blob/main/docs/ExternalData.md
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace whittle {

/// Whether the large weights of models that others read lie beside them.
enum class ExternalData {
    automatic,  ///< where they are worth it, all together: who reads a small model may well want one file
    always,
    never  ///< unless protobuf cannot hold them
};

/// "auto", "yes" and "no", in the order of the above.
const std::vector<std::string>& external_data_words();

/// Files of weights, named by their content, that many models share: each is written once, and a model gets a hard link
/// to it in its own folder, because readers refuse external data from outside of it. Thread-safe.
class SharedWeights {
  public:
    /// Below it a tensor stays in the model: a file of its own would cost more.
    static constexpr std::size_t kLeast = 1 << 16;
    /// What ExternalData::automatic asks of a model: below it, writing all of them costs less than starting a program.
    static constexpr std::size_t kWorth = std::size_t(64) << 20;

    /// Whether a file of this name is one of a tensor's.
    static bool is_ours(const std::string& name);

    /// The files lie in `folder`, which exists.
    explicit SharedWeights(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// The name of a file in `beside` that holds the elements of `tensor`, contiguous. `beside` is `folder` itself or
    /// another folder, best of the same file system: elsewhere the bytes are copied. Throws Error.
    std::string put(const Tensor& tensor, const std::filesystem::path& beside);

    /// Makes `to`, replacing what is there, a file with the bytes that the file `from`, which nobody changes meanwhile,
    /// had when it was first put. Throws Error.
    void put(const std::filesystem::path& from, const std::filesystem::path& to);

  private:
    std::string named(const Tensor& tensor);
    std::filesystem::path copied(const std::filesystem::path& from);

    const std::filesystem::path folder_;
    std::mutex mutex_;
    /// What is known by its place in memory is not read again for its hash; another tensor may lie there later.
    struct Known {
        std::weak_ptr<Storage> storage;
        std::string name;
    };
    std::map<std::pair<const std::byte*, std::size_t>, Known> known_;
    std::map<std::filesystem::path, std::filesystem::path> copies_;  ///< of files, by what they are copies of
};

}  // namespace whittle
