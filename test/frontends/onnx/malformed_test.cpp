// Models that must be refused, each with the words that say why.
#include <sys/stat.h>

#include "base/files.h"
#include "models.h"

namespace whittle {
namespace {

using Catch::Contains;
using test::load_error;
using test::model;

const char* const kRelu = "g (float[2] x) => (float[2] y) { y = Relu(x) }";

struct Case {
    std::string what, message;
    onnx::ModelProto model;
};

onnx::ModelProto changed(onnx::ModelProto model, void (*change)(onnx::ModelProto&)) {
    change(model);
    return model;
}

/// A constant of one attribute instead of the Relu.
onnx::ModelProto with_initializer(void (*change)(onnx::TensorProto&)) {
    onnx::ModelProto result = model("g (float[2] x) => (float[2] y) { y = Add(x, w) }");
    onnx::TensorProto& proto = *result.mutable_graph()->add_initializer();
    proto.set_name("w");
    proto.set_data_type(onnx::TensorProto::FLOAT);
    proto.add_dims(2);
    proto.set_raw_data(std::string(8, '\0'));
    change(proto);
    return result;
}

std::vector<Case> cases() {
    using M = onnx::ModelProto;
    return {
        {"no version", "found ir_version 0", changed(model(kRelu), [](M& m) { m.clear_ir_version(); })},
        {"no graph", "found no graph", changed(model(kRelu), [](M& m) { m.clear_graph(); })},
        {"no opset", "found no opset, expected opset 1 to 24 of ai.onnx",
         changed(model(kRelu), [](M& m) { m.clear_opset_import(); })},
        {"old opset", "found opset 0 of ai.onnx, expected opset 1 to 24 of ai.onnx", model(kRelu, 0)},
        {"an op that changed since an old opset",
         "node #0 (PRelu) with output 'y': found PRelu at opset 6 of ai.onnx, an op whose meaning changed in opset 7",
         model("g (float[2] x, float[2] s) => (float[2] y) { y = PRelu(x, s) }", 6)},
        {"operands aligned by an axis, of ranks that are not declared",
         "found Add at opset 6 of ai.onnx, an op whose meaning changed in opset 7",
         model("g (float[2,3] x, float[2] b) => (float[2,3] y) { a = Neg(x) y = Add<broadcast = 1, axis = 0>(a, b) }",
               6)},
        {"operands that an axis does not align",
         "found Add at opset 6 of ai.onnx, an op whose meaning changed in opset 7",
         model("g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add<broadcast = 1, axis = 2>(x, b) }", 6)},
        {"new opset", "found opset 25 of ai.onnx, expected opset 1 to 24 of ai.onnx", model(kRelu, 25)},
        {"complex operands", "onnx.Relu is not defined for c64",
         model("g (complex64[2] x) => (complex64[2] y) { y = Relu(x) }")},
        {"complex operands of more than one", "onnx.Add is not defined for c128",
         model("g (complex128[2] x) => (complex128[2] y) { y = Add(x, x) }")},
        {"two opsets", "found two versions of the domain",
         changed(model(kRelu), [](M& m) { m.add_opset_import()->set_version(12); })},
        {"a function twice", "function 'f': found two definitions",
         changed(model(kRelu),
                 [](M& m) {
                     m.add_functions()->set_name("f");
                     m.add_functions()->set_name("f");
                 })},
        {"a function that calls itself", "the function 'Relu' calls itself",
         changed(model(kRelu),
                 [](M& m) {
                     onnx::FunctionProto& function = *m.add_functions();
                     function.set_name("Relu");
                     function.add_input("a");
                     function.add_output("b");
                     onnx::NodeProto& node = *function.add_node();
                     node.set_op_type("Relu");
                     node.add_input("a");
                     node.add_output("b");
                 })},
        {"a call of a function with too much",
         "found 2 inputs and 1 outputs of the function 'Relu', expected at most 1",
         changed(model("g (float[2] x) => (float[2] y) { y = Relu(x, x) }"),
                 [](M& m) {
                     onnx::FunctionProto& function = *m.add_functions();
                     function.set_name("Relu");
                     function.add_input("a");
                     function.add_output("a");
                 })},
        {"a function of another opset", "but Softmax has another meaning at the model's opset 13",
         changed(model("g (float[2] x) => (float[2] y) { y = f(x) }"),
                 [](M& m) {
                     onnx::FunctionProto& function = *m.add_functions();
                     function.set_name("f");
                     function.add_input("a");
                     function.add_output("b");
                     function.add_opset_import()->set_version(11);
                     onnx::NodeProto& node = *function.add_node();
                     node.set_op_type("Softmax");
                     node.add_input("a");
                     node.add_output("b");
                 })},
        {"unknown op", "node 'n' (Frobnicate): found the unknown op onnx.Frobnicate (opset 13 of ai.onnx)",
         changed(model("g (float[2] x) => (float[2] y) { y = Frobnicate(x) }"),
                 [](M& m) { m.mutable_graph()->mutable_node(0)->set_name("n"); })},
        {"op without a definition", "Whittle does not support the op onnx.Multinomial yet",
         model("g (float[2,2] x) => (int32[2,1] y) { y = Multinomial(x) }")},
        {"op of a later opset", "the op onnx.HardSwish is not part of the standard (opset 13 of ai.onnx)",
         model("g (float[2] x) => (float[2] y) { y = HardSwish(x) }", 13)},
        {"domain", "which the model does not import", model("g (float[2] x) => (float[2] y) { y = com.example.F(x) }")},
        {"op name", "expected only letters, digits and '_'",
         changed(model(kRelu), [](M& m) { m.mutable_graph()->mutable_node(0)->set_op_type("a b("); })},
        {"unknown attribute", "found the unknown attribute 'alpha'",
         model("g (float[2] x) => (float[2] y) { y = Relu<alpha = 1.0>(x) }")},
        {"attribute type", "found attribute 'axis' of type FLOAT, expected INT",
         model("g (float[2] x) => (float[2] y) { y = Softmax<axis = 1.0>(x) }")},
        {"attribute of another opset", "found the unknown attribute 'axes'",
         model("g (float[1,2] x) => (float[2] y) { y = Squeeze<axes = [0]>(x) }", 13)},
        {"missing attribute", "found no attribute 'kernel_shape'",
         model("g (float[1,1,4] x) => (float[1,1,4] y) { y = MaxPool(x) }")},
        {"inputs", "found 2 inputs, expected 1", model("g (float[2] x) => (float[2] y) { y = Relu(x, x) }")},
        {"types", "found input 1 of type i64, expected f32",
         model("g (float[2] x, int64[2] z) => (float[2] y) { y = Add(x, z) }")},
        {"sizes", "node #0 (Add) with output 'y'",
         model("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }")},
        {"computed shape", "the operand 'shape' is computed at run time, expected a constant",
         model("g (float[2] x, int64[1] s) => (float[2] y) { y = Reshape(x, s) }")},
        {"undefined value", "reads the value 'nowhere'", model("g (float[2] x) => (float[2] y) { y = Relu(nowhere) }")},
        {"undefined output", "output 'z'",
         changed(model(kRelu), [](M& m) { m.mutable_graph()->mutable_output(0)->set_name("z"); })},
        {"defined twice", "found two definitions of the output 'y'",
         model("g (float[2] x) => (float[2] y) { y = Relu(x) y = Relu(x) }")},
        {"cycle", "expected a graph without cycles",
         model("g (float[2] x) => (float[2] y) { y = Add(x, z) z = Relu(y) }")},
        {"input twice", "found two inputs named 'x'",
         changed(model(kRelu), [](M& m) { *m.mutable_graph()->add_input() = m.graph().input(0); })},
        {"no tensor", "found elements that are not dense tensors",
         changed(model(kRelu),
                 [](M& m) { m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type(); })},
        {"strings", "found strings as the input 'x', expected numbers",
         changed(model(kRelu),
                 [](M& m) {
                     m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
                         onnx::TensorProto::STRING);
                 })},
        {"huge input", "input 'x'", model("g (float[4294967296, 4294967296] x) => (float[2] y) { y = Relu(x) }")},
        {"name", "expected UTF-8 text without control characters",
         changed(model(kRelu), [](M& m) { m.mutable_graph()->mutable_node(0)->set_name("a\xff"); })},
        {"sparse", "found a sparse tensor",
         changed(model(kRelu), [](M& m) { m.mutable_graph()->add_sparse_initializer(); })},
        {"petabyte", "initializer 'w': found 8 bytes of data, expected 1125899906842624",
         with_initializer([](onnx::TensorProto& t) { t.set_dims(0, std::int64_t{1} << 48); })},
        {"petabyte made while running", "found the shape",
         model("g (float[2] x) => (float[2] y) <int64[2] s = {1073741824, 1073741824}> { y = Reshape(x, s) }")},
        {"outside", "expected a tensor with all data inside the model file", with_initializer([](onnx::TensorProto& t) {
             t.clear_raw_data();
             t.set_data_location(onnx::TensorProto::EXTERNAL);
         })},
    };
}

TEST_CASE("malformed models are refused in one line that says why", "[onnx]") {
    for (const Case& c : cases()) {
        INFO(c.what);
        const std::string error = load_error(c.model);
        CHECK_THAT(error, Contains("test.onnx") && Contains(c.message));
        CHECK(error.find('\n') == std::string::npos);
    }
}

TEST_CASE("truncated and garbage models are refused or still models", "[onnx]") {
    const std::string whole = model(kRelu).SerializeAsString();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::string part = whole.substr(0, length);
        CHECK_THROWS_AS(load_onnx_bytes(test::bytes_of(part), "part.onnx", {}, {}), Error);
    }
    CHECK_THROWS_AS(load_onnx_bytes(test::bytes_of("garbage in, garbage out"), "g.onnx", {}, {}), Error);
}

/// The model's external data as `entries` say, in a folder with a file data.bin of 16 bytes.
std::string external_error(const std::vector<std::pair<std::string, std::string>>& entries) {
    const TempDir outer;
    const auto folder = outer.path() / "model";
    write_file(folder / "data.bin", std::string(16, '\0'));
    write_file(outer.path() / "secret.bin", std::string(16, '\0'));
    std::filesystem::create_symlink("../secret.bin", folder / "link.bin");
    ::mkfifo((folder / "pipe.bin").c_str(), 0600);
    onnx::ModelProto m = with_initializer([](onnx::TensorProto& t) {
        t.clear_raw_data();
        t.set_data_location(onnx::TensorProto::EXTERNAL);
    });
    for (const auto& [key, value] : entries) {
        onnx::StringStringEntryProto& entry = *m.mutable_graph()->mutable_initializer(0)->add_external_data();
        entry.set_key(key);
        entry.set_value(value);
    }
    write_file(folder / "model.onnx", m.SerializeAsString());
    return test::error_of([&] { load_onnx(folder / "model.onnx"); });
}

TEST_CASE("external data is mapped from the model's folder and nowhere else", "[onnx]") {
    CHECK(external_error({{"location", "data.bin"}}) == "");
    CHECK(external_error({{"location", "./data.bin"}, {"offset", "8"}, {"length", "8"}}) == "");
    CHECK(external_error({{"location", "data.bin"}, {"offset", "3"}}) == "");  // not aligned: copied
    CHECK_THAT(external_error({}), Contains("initializer 'w': found external data at ''"));
    CHECK_THAT(external_error({{"location", "../secret.bin"}}), Contains("expected a file in the model's folder"));
    CHECK_THAT(external_error({{"location", "a/../../secret.bin"}}), Contains("expected a file in the model's folder"));
    CHECK_THAT(external_error({{"location", "/etc/passwd"}}), Contains("expected a file in the model's folder"));
    CHECK_THAT(external_error({{"location", "link.bin"}}),
               Contains("which is a link to a file outside the model's folder"));
    CHECK_THAT(external_error({{"location", "pipe.bin"}}), Contains("not a regular file"));
    CHECK_THAT(external_error({{"location", "."}}), Contains("expected a file in the model's folder"));
    CHECK_THAT(external_error({{"location", "none.bin"}}), Contains("'none.bin'"));
    CHECK_THAT(external_error({{"location", "data.bin"}, {"offset", "9"}}),
               Contains("expected 8 bytes of data from offset 9"));
    CHECK_THAT(external_error({{"location", "data.bin"}, {"offset", "-1"}}),
               Contains("found external data with offset"));
    CHECK_THAT(external_error({{"location", "data.bin"}, {"offset", "99999999999999999999"}}), Contains("offset"));
    CHECK_THAT(external_error({{"location", "data.bin"}, {"length", "4"}}), Contains("length 4, expected 8"));
}

}  // namespace
}  // namespace whittle
