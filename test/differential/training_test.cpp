// Training with our own API, eager and compiled, against LibTorch's autograd (training.cpp): the same losses step by
// step, the same gradients, hooks and errors.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "base/subprocess.h"

namespace whittle {
namespace {

std::vector<std::string> words_of(const std::vector<std::string>& command) {
    const ProcessResult result = run_process(command, {.timeout = std::chrono::seconds(60)});
    INFO(command.at(0) << " " << command.at(1) << "\n" << result.err);
    REQUIRE(result.good());
    // In PyTorch 1.13's words: later versions count.
    static const std::regex counted("element 0 ?of the (differentiated T|input t)ensors");
    std::istringstream in(std::regex_replace(result.out, counted, "One of the differentiated Tensors"));
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

/// As words, or as numbers.
bool agree(const std::string& a, const std::string& b) {
    if (a == b) return true;
    char *end_a = nullptr, *end_b = nullptr;
    const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
    return *end_a == 0 && *end_b == 0 && x == Approx(y).epsilon(2e-3).margin(2e-4);
}

void check(const std::string& program, const std::vector<std::string>& backends, std::size_t at_least) {
    const std::vector<std::string> torch = words_of({WHITTLE_TORCH, program});
    CHECK(torch.size() >= at_least);
    for (const std::string& backend : backends) {
        INFO(program << " " << backend);
        std::vector<std::string> command = {WHITTLE_OURS, program};
        if (!backend.empty()) command.push_back(backend);
        const std::vector<std::string> ours = words_of(command);
        REQUIRE(ours.size() == torch.size());
        for (std::size_t i = 0; i < ours.size(); ++i) {
            INFO(i << ": LibTorch " << torch[i] << ", ours " << ours[i]);
            CHECK(agree(ours[i], torch[i]));
        }
    }
}

}  // namespace

TEST_CASE("training follows LibTorch's loss, eager and compiled", "[training]") {
    check("mlp", {"", "aot_eager", "halide"}, 20);
    check("cnn", {"", "aot_eager", "halide"}, 20);
    check("style", {"", "aot_eager", "halide"}, 16);
    check("transformer", {"", "aot_eager", "halide"}, 12);
}

TEST_CASE("autograd has LibTorch's rules", "[training]") { check("rules", {""}, 250); }

}  // namespace whittle
