// fuzz(): random models on a backend, held against the reference.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "fuzz/random_model.h"
#include "judge/suspect.h"

namespace whittle::fuzz {

struct Options {
    ModelOptions models = {};
    std::uint64_t seed = 0;                               ///< the first model's number; the others follow
    std::optional<std::uint64_t> count = {};              ///< models; nothing: as many as the time allows
    std::optional<std::chrono::seconds> time_limit = {};  ///< no new model after it
    Suspect suspect = {};                                 ///< wrong results count, too: Tier::computes

    /// The number of models that ends the run: kDefaultCount where neither it nor a time was given. Nothing: the time
    /// does.
    std::optional<std::uint64_t> last() const;
};
constexpr std::uint64_t kDefaultCount = 1000;

/// What became of the models.
struct Counts {
    std::size_t models = 0, right = 0, unsupported = 0;
    std::size_t refused = 0;   ///< by the reference
    std::size_t unstable = 0;  ///< rounding decides
    std::size_t outside = 0;   ///< the ONNX standard does not say what they compute
    std::size_t inexact = 0;   ///< of models on exact data: no operation is exact
    std::size_t open = 0;      ///< an op's documentation leaves open what is right
    std::size_t failing = 0;
    std::size_t ops = 0, pairs = 0;  ///< ops that models are made of, and pairs of them that were met
    double seconds = 0;
};

struct Observer {
    /// Called with each model that fails: its number, and the graph, which has its failure.
    std::function<void(std::uint64_t number, const Graph& failing)> found;
    /// Called before each model.
    std::function<void(const Counts& so_far)> progress = [](const Counts&) {};
};

/// Throws Error for a backend or a dialect that is not there, and Interrupted.
Counts fuzz(const Options& options, const Observer& observer);

/// How a minimized model fails and on which ops, the first four of them: "mismatch-add+relu". Failures of one name are
/// likely to have one cause.
std::string kind_of(const Graph& minimized);

/// One line.
std::string to_text(const Counts& counts);
nlohmann::json to_json(const Counts& counts);

}  // namespace whittle::fuzz
