// Values that a user gives for a model's inputs: --input and --inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/model.h"

namespace whittle::cli {

/// A value that was given for an input; by position when it has no name.
struct GivenInput {
    std::string name, from;
    Tensor tensor;
};

/// What the options name, read once.
struct Given {
    std::vector<GivenInput> inputs;
    std::vector<Tensor> expected;
    std::string expected_from;
};

/// Throws Error for a file that is not there or holds no tensor, and for an input that is given twice.
Given read_given(const InputOptions& options);

/// The two sides of NAME=FILE. Throws Error naming the option for a word that is no assignment.
std::pair<std::string, std::string> split_assignment(const std::string& word, const char* option, const char* form);

}  // namespace whittle::cli
