#include "cli/inputs.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/usage.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

/// PREFIX0.npy, PREFIX1.npy … as long as they exist.
std::vector<Tensor> load_numbered(const fs::path& folder, const std::string& prefix) {
    std::vector<Tensor> tensors;
    for (;;) {
        const fs::path file = folder / (prefix + std::to_string(tensors.size()) + ".npy");
        if (!fs::exists(file)) return tensors;
        tensors.push_back(load_npy(file));
    }
}

/// in_0.npy, in_1.npy … and, when they are known, out_0.npy ….
void read_numbered(const fs::path& folder, Given& given) {
    for (Tensor& tensor : load_numbered(folder, "in_"))
        given.inputs.push_back({"", folder.string(), std::move(tensor)});
    given.expected = load_numbered(folder, "out_");
}

/// A folder of the ONNX backend tests' layout.
void read_test_data_set(const fs::path& folder, const DeclaredValues& declared, Given& given) {
    TestDataSet set = load_test_data_set(folder, declared);
    given.lengths = std::move(set.lengths);
    for (NamedTensor& input : set.inputs)
        given.inputs.push_back({input.name, folder.string(), std::move(input.tensor)});
    for (NamedTensor& output : set.outputs) given.expected.push_back(std::move(output.tensor));
    // One tensor without a name: all go by position, as the files are numbered.
    if (std::any_of(given.inputs.begin(), given.inputs.end(), [](const auto& i) { return i.name.empty(); }))
        for (GivenInput& input : given.inputs) input.name.clear();
}

void read_all(const fs::path& from, const DeclaredValues& declared, Given& given) {
    if (fs::is_directory(from))
        fs::exists(from / "in_0.npy") ? read_numbered(from, given) : read_test_data_set(from, declared, given);
    else if (from.extension() == ".safetensors")
        for (auto& [name, tensor] : load_safetensors(from)) given.inputs.push_back({name, from.string(), tensor});
    else if (!fs::exists(from))
        throw Error({from.string(), {}}, "No such file or directory");
    else
        throw Error({from.string(), {}}, "--inputs takes a folder or a safetensors file",
                    "one tensor is given with --input NAME=FILE");
    if (!given.expected.empty()) given.expected_from = from.string();
}

}  // namespace

std::pair<std::string, std::string> split_assignment(const std::string& word, const char* option, const char* form) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
        throw invalid_value(word, option, std::string("expected ") + form);
    return {word.substr(0, equals), word.substr(equals + 1)};
}

Given read_given(const InputOptions& options, const DeclaredValues& declared) {
    Given given;
    if (options.data_set) read_all(*options.data_set, declared, given);
    for (const std::string& word : options.inputs) {
        const auto [name, file] = split_assignment(word, "--input", "NAME=FILE");
        for (const GivenInput& other : given.inputs)
            if (other.name == name) throw Error("--input: '" + name + "' is given twice");
        given.inputs.push_back({name, file, load_tensor(file, name)});
    }
    return given;
}

Tensor load_tensor(const fs::path& path, const std::string& name) {
    const std::string extension = path.extension().string();
    if (extension == ".npy") return load_npy(path);
    if (extension != ".safetensors") return load_tensor_proto(path).tensor;
    const std::map<std::string, Tensor> tensors = load_safetensors(path);
    if (const auto found = tensors.find(name); found != tensors.end()) return found->second;
    if (tensors.size() == 1) return tensors.begin()->second;
    std::vector<std::string> names;
    for (const auto& [key, tensor] : tensors) names.push_back(key);
    throw Error({path.string(), {}}, "it has no tensor '" + name + "', but " + (names.empty() ? "none" : join(names)));
}

}  // namespace whittle::cli
