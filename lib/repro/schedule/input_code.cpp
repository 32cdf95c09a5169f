#include "repro/schedule/pipeline_code.h"

#include "base/error.h"
#include "base/words.h"
#include "tensor/npy.h"

namespace whittle::repro {

using halide_program::CapturedPipeline;
using halide_program::Image;
using halide_program::Node;
using halide_program::Parameter;

namespace {

constexpr std::int64_t kMostInProgram = 256;  // elements of a recorded input

std::int64_t elements_of(const Image& image) {
    std::int64_t count = 1;
    for (const auto& dimension : image.dimensions) count *= dimension[1];
    return count;
}

/// Interleaved images have their channels, the third dimension, innermost.
bool is_interleaved(const Image& image) {
    return image.dimensions.size() == 3 && image.dimensions[2][2] == 1 && image.dimensions[0][2] != 1 &&
           image.dimensions[2][1] > 1;
}

/// "(at[0] * 7 + at[1] * 13) % 16": other values beside each other in each dimension.
std::string made_up(const Image& image) {
    constexpr int kFactors[] = {7, 13, 3, 5};
    std::vector<std::string> terms;
    for (std::size_t i = 0; i < image.dimensions.size(); ++i)
        terms.push_back("at[" + std::to_string(i) + "] * " + std::to_string(kFactors[i % std::size(kFactors)]));
    const std::string modulus = image.type == "uint1" ? "2" : "16";
    return terms.empty() ? "1" : "(" + join(terms, " + ") + ") % " + modulus;
}

class Inputs {
  public:
    Inputs(InputValues values, const InputFiles& from, std::vector<PipelineCode::File>& files)
        : values_(values), from_(from), files_(files) {}

    /// `name` is an ImageParam or a Buffer.
    std::string image(const Image& image, const std::string& name) {
        const std::string type = cpp_type(image.type), buffer = image.parameter ? name + "_data" : name;
        std::string text = filled(image, buffer, type);
        std::string moved;
        for (const auto& dimension : image.dimensions)
            moved += (moved.empty() ? "" : ", ") + std::to_string(dimension[0]);
        if (moved.find_first_not_of("0, ") != std::string::npos) text += "    " + buffer + ".set_min(" + moved + ");\n";
        if (!image.parameter) return text;
        return text + "    ImageParam " + name + "(" + halide_type(image.type) + ", " +
               std::to_string(image.dimensions.size()) + ", \"" + name + "\");\n    " + name + ".set(" + buffer +
               ");\n";
    }

  private:
    std::string declared(const Image& image, const std::string& buffer, const std::string& type,
                         const std::string& data) const {
        std::string sizes;
        for (const auto& dimension : image.dimensions)
            sizes += (sizes.empty() ? "" : ", ") + std::to_string(dimension[1]);
        if (image.dimensions.empty())
            return "    Buffer<" + type + "> " + buffer + " = Buffer<" + type + ">::make_scalar(" + data + ");\n";
        if (is_interleaved(image))
            return "    Buffer<" + type + "> " + buffer + " = Buffer<" + type + ">::make_interleaved(" + sizes + ");\n";
        return "    Buffer<" + type + "> " + buffer + "(" + (data.empty() ? "" : data + ", ") + sizes + ");\n";
    }

    std::string each(const std::string& buffer, const std::string& statement, const std::string& before = {}) const {
        return before + "    " + buffer + ".for_each_element([&](const int *at) { " + buffer + "(at) = " + statement +
               "; });\n";
    }

    std::string filled(const Image& image, const std::string& buffer, const std::string& type) {
        if (values_ == InputValues::ones) return declared(image, buffer, type, "") + "    " + buffer + ".fill(1);\n";
        if (values_ == InputValues::made_up || image.file.empty())
            return declared(image, buffer, type, "") + each(buffer, type + "(" + made_up(image) + ")");
        const std::filesystem::path file = from_.folder / image.file;
        if (elements_of(image) > kMostInProgram || is_interleaved(image) || image.dimensions.empty() ||
            image.type.find("float16") != std::string::npos)
            return read_from_file(image, buffer, type, file);
        return "    static " + type + " " + buffer + "_values[] = {" + values_of(image, file) + "};\n" +
               declared(image, buffer, type, buffer + "_values");
    }

    /// In the order of the buffer's memory. Unsigned integers are signed ones in the file.
    static std::string values_of(const Image& image, const std::filesystem::path& file) {
        const Tensor tensor = load_npy(file);
        const bool is_unsigned = image.type.starts_with("uint") && image.type != "uint8" && image.type != "uint1";
        std::vector<std::string> words;
        for (std::int64_t i = 0; i < tensor.numel(); ++i) {
            const std::string value = language::cpp.element(tensor, i);
            words.push_back(is_unsigned && value.starts_with('-') ? cpp_type(image.type) + "(" + value + ")" : value);
        }
        return join(words);
    }

    std::string read_from_file(const Image& image, const std::string& buffer, const std::string& type,
                               const std::filesystem::path& file) {
        files_.push_back({from_.stem + "_" + buffer + ".npy", file});
        const std::string stream = buffer + "_file";
        const std::string element = buffer + "(at)";
        // The header of a version 1 file says how long it is. The innermost dimension comes last: in Halide's order.
        return declared(image, buffer, type, "") + "    FILE *" + stream + " = fopen(\"" + files_.back().name +
               "\", \"rb\");\n    unsigned char " + buffer + "_header[10];\n    if (!" + stream + " || fread(" +
               buffer + "_header, 10, 1, " + stream + ") != 1) abort();\n    fseek(" + stream + ", 10 + " + buffer +
               "_header[8] + 256 * " + buffer + "_header[9], SEEK_SET);\n    " + buffer +
               ".for_each_element([&](const int *at) { if (fread(&" + element + ", sizeof(" + type + "), 1, " + stream +
               ") != 1) abort(); });\n    fclose(" + stream + ");\n";
    }

    const InputValues values_;
    const InputFiles& from_;
    std::vector<PipelineCode::File>& files_;
};

}  // namespace

std::string inputs_code(const CapturedPipeline& pipeline, const std::set<std::string>& used, ProgramNames& names,
                        InputValues values, const InputFiles& from, std::vector<PipelineCode::File>& files) {
    std::string text;
    Inputs inputs(values, from, files);
    Expressions expressions(pipeline, names);
    for (const Image& image : pipeline.images)
        if (used.contains(image.name)) text += inputs.image(image, names.of("input", image.name));
    for (const Parameter& parameter : pipeline.parameters) {
        if (!used.contains(parameter.name)) continue;
        const std::string name = names.of("input", parameter.name), type = cpp_type(parameter.type);
        const Node& value = pipeline.nodes.at(static_cast<std::size_t>(parameter.value));
        text += "    Param<" + type + "> " + name + "(\"" + name + "\");\n    " + name + ".set(" + type + "(" +
                value.value + "));\n";
    }
    return text;
}

}  // namespace whittle::repro
