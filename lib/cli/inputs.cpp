#include "cli/inputs.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"
#include "cli/usage.h"
#include "frontends/pt2/archive.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "ops/core/layout.h"
#include "tensor/npy.h"
#include "tensor/random.h"
#include "tensor/safetensors.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

/// NAME.npy, or NAME.safetensors of one tensor, which has the types that NumPy lacks; nothing where there is neither.
std::optional<fs::path> file_of(const fs::path& folder, const std::string& name) {
    for (const char* extension : {".npy", ".safetensors"})
        if (const fs::path file = folder / (name + extension); fs::exists(file)) return file;
    return std::nullopt;
}

/// PREFIX0.npy, PREFIX1.npy … as long as they exist.
std::vector<Tensor> load_numbered(const fs::path& folder, const std::string& prefix) {
    std::vector<Tensor> tensors;
    for (;;) {
        const std::string name = prefix + std::to_string(tensors.size());
        const std::optional<fs::path> file = file_of(folder, name);
        if (!file) return tensors;
        tensors.push_back(load_tensor(*file, name));
    }
}

/// in_0.npy, in_1.npy … and, when they are known, out_0.npy … and NAME.npy of buffers that the program writes.
void read_numbered(const fs::path& folder, Given& given) {
    for (Tensor& tensor : load_numbered(folder, "in_"))
        given.inputs.push_back({"", folder.string(), std::move(tensor)});
    given.expected = load_numbered(folder, "out_");
    given.folder = folder;
}

/// A folder of the ONNX backend tests' layout.
void read_test_data_set(const fs::path& folder, const DeclaredValues& declared, Given& given) {
    TestDataSet set = load_test_data_set(folder, declared);
    given.lengths = std::move(set.lengths);
    for (NamedTensor& input : set.inputs)
        given.inputs.push_back({input.name, folder.string(), std::move(input.tensor), std::move(input.opaque)});
    for (NamedTensor& output : set.outputs) given.expected.push_back(std::move(output.tensor));
    // One tensor without a name: all go by position, as the files are numbered.
    if (std::ranges::any_of(given.inputs, [](const auto& i) { return i.name.empty(); }))
        for (GivenInput& input : given.inputs) input.name.clear();
}

/// The arrays of a file that numpy.savez() or savez_compressed() wrote: a zip archive of NAME.npy.
std::map<std::string, Tensor> load_npz(const fs::path& path) {
    const pt2::Archive archive(path);
    std::map<std::string, Tensor> arrays;
    for (const std::string& entry : archive.entries()) {
        const std::string file = path.string() + ": " + entry;
        if (!entry.ends_with(".npy")) throw Error({file, {}}, "found an entry that is not an array, expected NAME.npy");
        const std::shared_ptr<Storage> bytes = archive.bytes(entry);
        arrays.emplace(entry.substr(0, entry.size() - 4), read_npy(bytes->bytes(), bytes, file));
    }
    return arrays;
}

/// Of a file of tensors by name; nothing for another file.
std::optional<std::map<std::string, Tensor>> load_named(const fs::path& path) {
    if (path.extension() == ".safetensors") return load_safetensors(path);
    if (path.extension() == ".npz") return load_npz(path);
    return std::nullopt;
}

constexpr const char* kOneTensor = "to give one input, use --input NAME=FILE";

void read_all(const fs::path& from, const DeclaredValues& declared, Given& given) {
    if (fs::is_directory(from))
        file_of(from, "in_0") ? read_numbered(from, given) : read_test_data_set(from, declared, given);
    else if (!fs::exists(from))
        throw Error({from.string(), {}}, "No such file or directory", kOneTensor);
    else if (const auto tensors = load_named(from))
        for (const auto& [name, tensor] : *tensors) given.inputs.push_back({name, from.string(), tensor});
    else
        throw Error({from.string(), {}}, "--input without NAME= takes a folder, or a safetensors or .npz file",
                    kOneTensor);
    if (!given.expected.empty()) given.expected_from = from.string();
}

/// "f32[2, 3]"; nothing for a text of another form.
std::optional<ValueMeta> described_tensor(const std::string& text) {
    const auto open = text.find('[');
    const std::optional<DType> dtype = dtype_from_name(text.substr(0, open));
    if (open == std::string::npos || !text.ends_with(']') || !dtype) return std::nullopt;
    ValueMeta meta{.dtype = *dtype};
    for (const std::string& word : split(text.substr(open + 1, text.size() - open - 2), ',')) {
        const auto size = number_of<std::int64_t>(trimmed(word));
        if (!size || *size < 0) return std::nullopt;
        meta.sizes.push_back(*size);
    }
    return meta;
}

/// "3", "0.5", "true": a tensor without dimensions, i64, f64 or bool.
std::optional<Tensor> number_in(const std::string& text) {
    if (const auto integer = number_of<std::int64_t>(text)) return Tensor::of(Scalar(*integer), DType::i64);
    if (const auto real = number_of<double>(text)) return Tensor::of(Scalar(*real), DType::f64);
    if (text == "true" || text == "false") return Tensor::of(Scalar(text == "true"), DType::boolean);
    return std::nullopt;
}

}  // namespace

std::pair<std::string, std::string> split_assignment(const std::string& word, const char* option, const char* form) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
        throw invalid_value(word, option, std::string("expected ") + form);
    return {word.substr(0, equals), word.substr(equals + 1)};
}

std::optional<fs::path> InputOptions::data_set() const {
    std::optional<fs::path> found;
    for (const std::string& word : inputs) {
        if (word.find('=') != std::string::npos && !fs::exists(word)) continue;
        if (found)
            throw Error("--input: '" + found->string() + "' and '" + word +
                        "' each give all inputs, expected at most one file or folder with all inputs");
        found = word;
    }
    return found;
}

InputOptions InputOptions::completed(const fs::path& model) const {
    InputOptions all = *this;
    if (given() || seed || !dims.empty()) return all;
    if (const std::optional<fs::path> values = values_beside(model)) all.inputs.push_back(values->string());
    return all;
}

std::vector<std::string> InputOptions::words() const {
    std::vector<std::string> words;
    const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
    for (const std::string& input : inputs) add("--input", input);
    if (seed) add("--seed", std::to_string(*seed));
    for (const std::string& dim : dims) add("--dim", dim);
    return words;
}

Given read_given(const InputOptions& options, const DeclaredValues& declared) {
    Given given;
    Random random(static_cast<std::uint64_t>(options.seed.value_or(0)));
    const std::optional<fs::path> data_set = options.data_set();
    if (data_set) read_all(*data_set, declared, given);
    for (const std::string& word : options.inputs) {
        if (word == data_set) continue;
        const auto [name, file] = split_assignment(word, "--input", "NAME=FILE");
        for (const GivenInput& other : given.inputs)
            if (other.name == name) throw Error("--input: the input '" + name + "' is given twice");
        const bool is_file = fs::is_regular_file(file);
        if (const std::optional<ValueMeta> meta = described_tensor(file); meta && !is_file)
            given.inputs.push_back({name, file, random_tensor(meta->dtype, meta->sizes, random)});
        else if (std::optional<Tensor> number = number_in(file); number && !is_file)
            given.inputs.push_back({name, file, std::move(*number)});
        else if (!is_file && file.find('[') != std::string::npos && !fs::exists(file))
            throw invalid_value(file, "--input", "expected a file, a number, or DTYPE[SIZES] such as f32[2, 3]");
        else
            given.inputs.push_back({name, file, load_tensor(file, name)});
    }
    return given;
}

std::string source_name(const Node& placeholder) {
    return placeholder.target.empty() ? placeholder.name : placeholder.target;
}

namespace {

/// The names a user may call the placeholder by: the model's own, or the node's.
bool is_called(const Node& placeholder, const std::string& name) {
    return placeholder.target == name || placeholder.name == name;
}

void check_fits(const GivenInput& input, const Node& placeholder) {
    const ValueMeta &want = placeholder.meta(), found = input.meta();
    if (found.dtype != want.dtype || found.sizes != want.sizes || found.placement != want.placement)
        throw Error({input.from, {}}, "found " + print(found) + " for the input '" + source_name(placeholder) +
                                          "', expected " + print(want) + ", the type of this input in the model");
}

/// The given values by placeholder, null where none was given. Throws Error for one that does not fit or that the
/// graph has no input for.
std::vector<const GivenInput*> match(const LoadedFrame& frame, const Given& given) {
    const std::vector<NodeId> placeholders = frame.graph.placeholders();
    std::vector<const GivenInput*> matched(placeholders.size());
    std::vector<std::string> names;
    for (const NodeId id : placeholders) names.push_back(source_name(frame.graph.node({id})));
    for (std::size_t k = 0; k < given.inputs.size(); ++k) {
        const GivenInput& input = given.inputs[k];
        std::size_t i = input.name.empty() ? k : 0;
        if (!input.name.empty())
            while (i < placeholders.size() && !is_called(frame.graph.node({placeholders[i]}), input.name)) ++i;
        if (i >= placeholders.size())
            throw Error({input.from, {}},
                        input.name.empty()
                            ? "found " + plural(given.inputs.size(), "input") + " in the file or folder, expected " +
                                  std::to_string(placeholders.size()) + ", the number of inputs of the model"
                            : "the model has no input '" + input.name + "'; its inputs are " + join(names),
                        did_you_mean(input.name, names));
        check_fits(input, frame.graph.node({placeholders[i]}));
        matched[i] = &input;
    }
    return matched;
}

}  // namespace

void fill_inputs(LoadedFrame& frame, const ModelOptions& options, const Given& given) {
    const std::vector<const GivenInput*> matched = match(frame, given);
    if (!options.need_inputs) return;
    const std::vector<NodeId> placeholders = frame.graph.placeholders();
    const std::vector<Tensor> recorded = std::move(frame.inputs);
    frame.inputs.clear();
    Random random(static_cast<std::uint64_t>(options.inputs.seed.value_or(0)));
    bool made = false;
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
        const ValueMeta& meta = frame.graph.node({placeholders[i]}).meta();
        // Drawn whether used or not: giving one input does not change what the seed makes of the others.
        const bool draw = recorded.empty();
        // What is none of numbers is not made up: nobody runs such a graph.
        Tensor drawn = !draw            ? recorded.at(i)
                       : meta.placement ? Tensor(DType::u8, {0})
                                        : random_tensor(meta.dtype, meta.sizes, random);
        Tensor value = matched[i] ? matched[i]->tensor : std::move(drawn);
        // The calls of a captured graph have the strides that those of the program's inputs led to.
        const bool is_new = !meta.placement && (draw || matched[i]);
        frame.inputs.push_back(is_new ? laid_out_as(std::move(value), meta) : std::move(value));
        made |= draw && !matched[i];
    }
    if (!given.inputs.empty()) frame.inputs_from = given.inputs.front().from;
    if (made)
        frame.inputs_from +=
            (frame.inputs_from.empty() ? "seed " : " and seed ") + std::to_string(options.inputs.seed.value_or(0));
}

namespace {

/// What the program writes, behind what it returns.
void expect_updates(LoadedFrame& frame, const Given& given) {
    std::vector<Tensor> computed;
    for (std::size_t i = 0; i < frame.updates.size(); ++i) {
        const std::string& name = frame.updates[i];
        if (const auto file = given.folder ? file_of(*given.folder, name) : std::nullopt) {
            frame.expected.push_back(load_tensor(*file, name));
            continue;
        }
        if (computed.empty()) {
            seed_random_ops(0);
            computed = evaluate(frame.graph, frame.inputs);
        }
        frame.expected.push_back(computed.at(frame.expected.size()));
    }
}

}  // namespace

void set_expected(LoadedFrame& frame, const ModelOptions& options, const Given& given) {
    if (given.inputs.empty() && given.expected.empty()) return;  // all inputs of a data set may be constants here
    frame.expected = given.expected;                             // recorded outputs do not belong to other inputs
    frame.expected_from = given.expected_from;
    const std::size_t outputs = frame.graph.outputs().size();
    const bool returned = !frame.updates.empty() && frame.expected.size() + frame.updates.size() == outputs;
    if (returned && !frame.expected.empty()) {
        if (options.need_inputs) return expect_updates(frame, given);
        frame.expected.clear();  // nobody runs the graph
    }
    if (!frame.expected.empty() && frame.expected.size() != outputs)
        throw Error({given.expected_from, {}}, "found " + plural(frame.expected.size(), "output") +
                                                   " in the file or folder, expected " + std::to_string(outputs) +
                                                   ", the number of outputs of the model");
}

Tensor load_tensor(const fs::path& path, const std::string& name) {
    const std::string extension = path.extension().string();
    if (extension == ".npy") return load_npy(path);
    const auto tensors = load_named(path);
    if (!tensors) return load_tensor_proto(path).tensor;
    if (const auto found = tensors->find(name); found != tensors->end()) return found->second;
    if (tensors->size() == 1) return tensors->begin()->second;
    std::vector<std::string> names;
    for (const auto& [key, tensor] : *tensors) names.push_back(key);
    throw Error({path.string(), {}},
                "found no tensor '" + name + "' in the file; its tensors: " + (names.empty() ? "none" : join(names)));
}

}  // namespace whittle::cli
