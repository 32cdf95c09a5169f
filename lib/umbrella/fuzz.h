// whittle fuzz: random models on a backend; what fails is minimized, sorted and written as a repro.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/backend_choice.h"

namespace whittle::umbrella {

struct FuzzOptions {
    cli::BackendChoice backend = {};
    std::string dialect = "aten", data = "random";
    std::optional<std::int64_t> models = {};
    std::int64_t seed = 0, timeout = 20;
    std::optional<std::chrono::seconds> time_limit = {};
    std::vector<std::string> calls = {}, without = {}, dtypes = {};
    std::filesystem::path output = "finds";

    void declare(cli::Tool& tool);
};

/// Each model that fails is written to DIR/model_N.json and then minimized; the first of each kind gets a folder,
/// DIR/KIND, with min.json, repro.cpp (or the folder repro) and what minify and repro print. Returns the exit status:
/// 1 where one fails. Throws Error for options out of range.
int fuzz(const cli::Tool& tool, const FuzzOptions& options);

}  // namespace whittle::umbrella
