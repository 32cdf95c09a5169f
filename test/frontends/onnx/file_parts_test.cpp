// Files made of some nodes of an ONNX file are what ONNX reads, whatever their values are.
#include "frontends/onnx/file_parts.h"

#include <onnx/checker.h>

#include "base/files.h"
#include "models.h"

using namespace whittle;
using namespace whittle::test;

namespace {

/// The model on disk.
struct Written {
    explicit Written(const std::string& graph) : file(folder.path() / "model.onnx") {
        write_file(file, model(graph, 16).SerializeAsString());
    }
    TempDir folder;
    std::filesystem::path file;
};

std::vector<std::string> names(const std::vector<OnnxFile::Value>& values) {
    std::vector<std::string> result;
    for (const OnnxFile::Value& value : values) result.push_back(value.name);
    return result;
}

}  // namespace

TEST_CASE("what a part reads of the other nodes is an input of its type, also a string or a sequence") {
    const Written whole(
        "g (string[2] s, float[2] x) => (int64 n, string[N] u) {"
        "  t = StringNormalizer(s)  u = Identity(t)  q = SequenceConstruct(x, x)  n = SequenceLength(q) }");
    const FileParts parts(whole.file);
    REQUIRE(parts.count() == 4);
    CHECK(parts.text(0) == "t = StringNormalizer(s)");
    const std::filesystem::path made = whole.folder.path() / "part.onnx";
    const OnnxFile file = parts.write({1, 3}, made);
    CHECK(names(file.inputs) == std::vector<std::string>{"t", "q"});
    CHECK(names(file.outputs) == std::vector<std::string>{"u", "n"});
    CHECK_FALSE(file.inputs[0].meta);  // no tensor of numbers
    onnx::ModelProto read;
    REQUIRE(read.ParseFromString(read_file(made)));
    onnx::checker::check_model(read);
    CHECK(read.graph().input(0).type().tensor_type().elem_type() == onnx::TensorProto::STRING);
    CHECK(read.graph().input(1).type().has_sequence_type());
    CHECK(names(parts.write({2}, made).inputs) == std::vector<std::string>{"x"});
}

TEST_CASE("a node that reads a value of unknown type goes with the node that makes it") {
    const Written whole("g (float[2] x) => (float[2] y) { a = Relu(x)  z = UnknownOp(a)  w = Abs(z)  y = Neg(w) }");
    const FileParts parts(whole.file);
    CHECK(parts.legal({0, 1, 2, 3}) == std::vector<int>{0, 1, 2, 3});
    CHECK(parts.legal({2, 3}).empty());  // nobody says what z is, nor w, which is made of it
    CHECK(parts.legal({1, 2}) == std::vector<int>{1, 2});
}

TEST_CASE("nodes between values that are known elsewhere make parts, whose outputs are those values") {
    // What a compiler may make of (a = Relu(x), b = Conv(a), c = Neg(b), y = Add(c, a)), in a layout of its own.
    const Written whole(
        "g (float[2] x) => (float[2] y) { a = Relu(x)  t = Pack(a)  u = FusedConvNeg(t)  c = Unpack(u)  y = Add(c, a) "
        "}");
    FileParts parts(whole.file);
    const auto known = [](const std::string& value) { return value == "a" || value == "c" || value == "y"; };
    CHECK(parts.between(known) == std::vector<std::vector<int>>{{0}, {1, 2, 3}, {4}});
    CHECK(parts.between([](const std::string&) { return false; }) == std::vector<std::vector<int>>{{0, 1, 2, 3, 4}});
    // Two values that one node reads.
    CHECK(parts.between([](const std::string& value) { return value == "c"; }) ==
          std::vector<std::vector<int>>{{0, 1, 2, 3, 4}});
    parts.know("c", ValueMeta::contiguous(DType::f32, {2}));
    CHECK(parts.op(2) == "FusedConvNeg");
    const std::filesystem::path made = whole.folder.path() / "part.onnx";
    const OnnxFile file = parts.write({1, 2, 3}, made, known);
    CHECK(names(file.inputs) == std::vector<std::string>{"a"});
    CHECK(names(file.outputs) == std::vector<std::string>{"c"});
    REQUIRE(file.outputs[0].meta);
    CHECK(file.outputs[0].meta->sizes == Sizes{2});
    CHECK(names(parts.write({0, 1}, made, known).outputs) == std::vector<std::string>{"a"});
}
