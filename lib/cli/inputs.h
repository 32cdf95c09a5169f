// Values that a user gives for a model's inputs: --input.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/model.h"
#include "frontends/onnx/tensor_proto.h"

namespace whittle::cli {

/// A value that was given for an input; by position when it has no name.
struct GivenInput {
    std::string name, from;
    Tensor tensor;
    std::optional<ValueMeta> opaque = {};  ///< as NamedTensor::opaque

    ValueMeta meta() const { return opaque ? *opaque : ValueMeta::of(tensor); }
};

/// What the options name, read once.
struct Given {
    std::vector<GivenInput> inputs;
    std::vector<Tensor> expected;
    std::string expected_from;
    /// That may hold NAME.npy, what a buffer that the program writes is at the end.
    std::optional<std::filesystem::path> folder = {};
    std::map<std::string, std::optional<std::size_t>> lengths = {};  ///< as LoadOptions::lengths
};

/// Throws Error for a file that is not there or holds no tensor, and for an input that is given twice. `declared`: of
/// the model, when the files may hold sequences and optionals.
Given read_given(const InputOptions& options, const DeclaredValues& declared = {});

/// What the model calls the input, else the node's name.
std::string source_name(const Node& placeholder);
/// Fills frame.inputs: given values first, then recorded ones, then made ones. Throws Error for a value that does not
/// fit, or that the graph has no input for.
void fill_inputs(LoadedFrame& frame, const ModelOptions& options, const Given& given);
/// Takes the expected outputs that belong to given inputs, behind fill_inputs(). Where they are those that a program
/// returns, what it writes follows: as given by name, else what the reference computes. Throws Error for another number
/// of them.
void set_expected(LoadedFrame& frame, const ModelOptions& options, const Given& given);

/// The two sides of NAME=FILE. Throws Error naming the option for a word that is no assignment.
std::pair<std::string, std::string> split_assignment(const std::string& word, const char* option, const char* form);

}  // namespace whittle::cli
