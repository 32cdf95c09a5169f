// Exported programs of a few nodes, as the tests write them.
#pragma once

#include <string>
#include <vector>

#include "archives.h"
#include "base/files.h"
#include "frontends/pt2/load.h"
#include "ops/core/interpreter.h"

namespace whittle::pt2::programs {

inline std::string tensor(const std::string& name) { return R"({"as_tensor": {"name": ")" + name + R"("}})"; }

/// An argument that goes by position.
inline std::string argument(const std::string& name, const std::string& value) {
    return R"({"name": ")" + name + R"(", "kind": 1, "arg": )" + value + "}";
}

inline std::string node(const std::string& target, const std::string& inputs, const std::string& outputs) {
    return R"({"target": "torch.ops.)" + target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs + "]}";
}

/// `values`: stated beside x, and what else the graph says behind them.
inline std::string graph(const std::string& inputs, const std::string& nodes, const std::string& outputs,
                         const std::string& values = "") {
    return R"({"inputs": [)" + inputs + R"(], "nodes": [)" + nodes + R"(], "outputs": [)" + outputs +
           R"(], "tensor_values": {
               "x": {"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7},
               "low": {"dtype": 13, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7})" +
           (values.empty() ? "" : ", " + values) + "}}";
}

inline std::string nested(const std::string& name, const std::string& body) {
    return R"({"as_graph": {"name": ")" + name + R"(", "graph": )" + body + "}}";
}

/// A program of one input f32[3], "x", and a buffer f32[2], "w" in the graph. `values`: stated beside x; `inputs`:
/// further specs, each behind a comma.
inline LoadedProgram load_program(const std::string& nodes, const std::string& output_specs,
                                  const std::string& values = "", const LoadOptions& options = {},
                                  const std::string& inputs = "") {
    const float weights[] = {10, 100};
    const TempDir folder;
    write_archive(
        folder.path() / "m.pt2",
        {{"m/archive_format", "pt2"},
         {"m/data/weights/model_weights_config.json",
          R"({"config": {"w": {"path_name": "w0", "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}],
              "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}}})"},
         {"m/data/weights/w0", std::string(reinterpret_cast<const char*>(weights), sizeof weights)},
         {"m/models/model.json",
          R"({"schema_version": {"major": 8, "minor": 14}, "graph_module": {"graph": )" + graph("", nodes, "", values) +
              R"(, "signature": {"input_specs": [{"buffer": {"arg": {"name": "w"}, "buffer_name": "w"}},
                  {"user_input": {"arg": )" +
              tensor("x") + "}}" + inputs + R"(], "output_specs": [)" + output_specs + "]}}}"}});
    return load_pt2(folder.path() / "m.pt2", options);
}

inline std::string returned(const std::string& name) { return R"({"user_output": {"arg": )" + tensor(name) + "}}"; }

inline std::vector<std::vector<double>> results(const LoadedProgram& program) {
    const Tensor x = Tensor::of<float>({1, 2, 3});
    std::vector<std::vector<double>> values;
    for (const Tensor& result : evaluate(program.graph, {&x, 1})) values.push_back(result.values<double>());
    return values;
}

inline const std::string kDouble =
    node("aten.add.Tensor", argument("self", tensor("v")) + "," + argument("other", tensor("v")), tensor("twice"));
inline const std::string kNegate = node("aten.neg.default", argument("self", tensor("v")), tensor("minus"));

inline const std::string kStated = R"({"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7})";
/// An argument that is the number n, and what a graph says of it behind the values that it states.
inline const std::string kNumber = R"({"as_sym_int": {"as_name": "n"}})";
inline std::string stating_number(const std::string& number) {
    return R"("stated": )" + kStated + R"(}, "sym_int_values": {"n": )" + number;
}
inline const std::string kTimesNumber =
    node("aten.mul.Scalar", argument("self", tensor("x")) + "," + argument("other", kNumber), tensor("y"));

}  // namespace whittle::pt2::programs
