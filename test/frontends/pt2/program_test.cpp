// Graphs of exported programs: what is written, nested graphs, lists of results.
#include <catch2/catch.hpp>

#include "archives.h"
#include "base/error.h"
#include "base/files.h"
#include "frontends/pt2/load.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "trace/load.h"

using namespace whittle;
using namespace whittle::pt2;

namespace {

std::string tensor(const std::string& name) { return R"({"as_tensor": {"name": ")" + name + R"("}})"; }

/// An argument that goes by position.
std::string argument(const std::string& name, const std::string& value) {
    return R"({"name": ")" + name + R"(", "kind": 1, "arg": )" + value + "}";
}

std::string node(const std::string& target, const std::string& inputs, const std::string& outputs) {
    return R"({"target": "torch.ops.)" + target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs + "]}";
}

/// `values`: stated beside x, and what else the graph says behind them.
std::string graph(const std::string& inputs, const std::string& nodes, const std::string& outputs,
                  const std::string& values = "") {
    return R"({"inputs": [)" + inputs + R"(], "nodes": [)" + nodes + R"(], "outputs": [)" + outputs +
           R"(], "tensor_values": {
               "x": {"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7},
               "low": {"dtype": 13, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7})" +
           (values.empty() ? "" : ", " + values) + "}}";
}

std::string nested(const std::string& name, const std::string& body) {
    return R"({"as_graph": {"name": ")" + name + R"(", "graph": )" + body + "}}";
}

/// A program of one input f32[3], "x", and a buffer f32[2], "w" in the graph. `values`: stated beside x; `inputs`:
/// further specs, each behind a comma.
LoadedProgram load_program(const std::string& nodes, const std::string& output_specs, const std::string& values = "",
                           const LoadOptions& options = {}, const std::string& inputs = "") {
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

std::string returned(const std::string& name) { return R"({"user_output": {"arg": )" + tensor(name) + "}}"; }

std::vector<std::vector<double>> results(const LoadedProgram& program) {
    const Tensor x = Tensor::of<float>({1, 2, 3});
    std::vector<std::vector<double>> values;
    for (const Tensor& result : evaluate(program.graph, {&x, 1})) values.push_back(result.values<double>());
    return values;
}

const std::string kDouble =
    node("aten.add.Tensor", argument("self", tensor("v")) + "," + argument("other", tensor("v")), tensor("twice"));
const std::string kNegate = node("aten.neg.default", argument("self", tensor("v")), tensor("minus"));

}  // namespace

TEST_CASE("what a program leaves in a buffer is a further output, behind its own") {
    const LoadedProgram loaded =
        load_program(node("aten.neg.default", argument("self", tensor("w")), tensor("new_w")) + "," +
                         node("aten.relu.default", argument("self", tensor("x")), tensor("y")),
                     R"({"buffer_mutation": {"arg": {"name": "new_w"}, "buffer_name": "w"}},)" + returned("y"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{1, 2, 3}, {-10, -100}});
    CHECK(loaded.user_outputs == 1);
    CHECK(loaded.updates == std::vector<std::string>{"w"});
}

namespace {

const std::string kStated = R"({"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7})";
/// An argument that is the number n, and what a graph says of it behind the values that it states.
const std::string kNumber = R"({"as_sym_int": {"as_name": "n"}})";
std::string stating_number(const std::string& number) {
    return R"("stated": )" + kStated + R"(}, "sym_int_values": {"n": )" + number;
}
const std::string kTimesNumber =
    node("aten.mul.Scalar", argument("self", tensor("x")) + "," + argument("other", kNumber), tensor("y"));

}  // namespace

TEST_CASE("an op that the registry does not know is an opaque call with what the file states") {
    const LoadedProgram loaded = load_program(
        node("mylib.pair.default", argument("x", tensor("x")) + "," + argument("times", R"({"as_int": 2})"),
             tensor("a") + R"(, {"as_none": true}, )" + tensor("b")) +
            "," + node("aten.neg.default", argument("self", tensor("b")), tensor("y")),
        returned("y") + "," + returned("a"), R"("a": )" + kStated + R"(, "b": )" + kStated);
    const Node& call = *loaded.graph.find("a");
    CHECK(call.target == "mylib.pair.default");
    CHECK(call.args.at(1) == Arg(2));
    REQUIRE(call.results.size() == 3);
    CHECK(call.results[2].sizes == Sizes{3});
    const auto read = [&](NodeId node) { return value_of(loaded.graph, {node}).index; };
    CHECK(read(loaded.graph.find("y")->args.at(0).node()->id) == 2);
    CHECK(read(loaded.graph.outputs().at(1)) == 0);
    // What returns nothing may write to its tensors.
    const LoadedProgram writing =
        load_program(node("mylib.bump.default", argument("x", tensor("x")), ""), returned("x"));
    const ValueRef left = value_of(writing.graph, {writing.graph.outputs().at(0)});
    CHECK(left.index == 1);
    CHECK(writing.graph.node({left.node}).target == "higher_order.auto_functionalized");
    CHECK(writing.graph.node({left.node}).args.at(0) == Arg("torch.ops.mylib.bump.default"));
}

TEST_CASE("a number that an unknown op gives is what the file says") {
    const auto counted = [](const std::string& number, const LoadOptions& options = {}) {
        return load_program(node("mylib.count.default", argument("x", tensor("x")), kNumber) + "," + kTimesNumber,
                            returned("y"), stating_number(number), options);
    };
    const std::string open = R"json({"as_expr": {"expr_str": "Symbol('u0', integer=True)"}})json";
    CHECK(results(counted(R"({"as_int": 4})")) == std::vector<std::vector<double>>{{4, 8, 12}});
    CHECK_THROWS_WITH(counted(open),
                      Catch::Contains("node 0 (torch.ops.mylib.count.default)") &&
                          Catch::Contains("set the size with --dim NAME=SIZE, where NAME is the symbol of the size"));
}

TEST_CASE("where() and repeat_interleave() of tensors are parts whose sizes the given values decide") {
    const std::string open = R"json({"dtype": 5, "sizes": [{"as_expr": {"expr_str": "Symbol('u0', integer=True)"}}],
        "strides": [{"as_int": 1}], "layout": 7})json";
    const LoadOptions options{.values = [](const Graph&) { return std::vector{Tensor::of<float>({1, 2, 3})}; }};
    const LoadedProgram loaded = load_program(
        node("aten.where.default", argument("condition", tensor("x")), R"({"as_tensors": [{"name": "at"}]})") + "," +
            node("aten.repeat_interleave.self_Tensor",
                 argument("self", tensor("x")) + "," + argument("repeats", tensor("at")) + "," +
                     argument("dim", R"({"as_int": 0})"),
                 tensor("y")),
        returned("at") + "," + returned("y"), R"("at": )" + open, options);
    CHECK(loaded.data_sizes == std::vector<std::string>{"u0=3"});
    CHECK(results(loaded) == std::vector<std::vector<double>>{{0, 1, 2}, {2, 3, 3}});
}

TEST_CASE("elements that Whittle only keeps are opaque, and calls of them are what the file states") {
    const auto cast = [](const std::string& from, int code, const std::string& to) {
        return node("aten.to.dtype",
                    argument("self", tensor(from)) + "," +
                        argument("dtype", R"({"as_scalar_type": )" + std::to_string(code) + "}"),
                    tensor(to));
    };
    std::string narrow = kStated;
    narrow.replace(narrow.find('7'), 1, "31");
    const LoadedProgram loaded = load_program(cast("x", 31, "a") + "," + cast("a", 7, "y"), returned("y"),
                                              R"("a": )" + narrow + R"(, "y": )" + kStated);
    const Node& call = *loaded.graph.find("a");
    CHECK(unusual_type(call.meta()) == "f8_e4m3fnuz[3]");
    CHECK(call.args.at(1) == Arg("f8_e4m3fnuz"));
    CHECK(loaded.graph.find("y")->meta().dtype == DType::f32);
    CHECK(!loaded.graph.find("y")->meta().placement);
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
}

TEST_CASE("sparse tensors are kept as the file states them, and calls of them are opaque") {
    std::string sparse = kStated;
    sparse.replace(sparse.rfind('7'), 1, "2");
    const LoadedProgram loaded =
        load_program(node("aten.to_sparse_csr.default", argument("self", tensor("x")), tensor("a")) + "," +
                         node("aten.neg.default", argument("self", tensor("a")), tensor("b")) + "," +
                         node("aten.to_dense.default", argument("self", tensor("b")), tensor("y")),
                     returned("y"), R"("a": )" + sparse + R"(, "b": )" + sparse + R"(, "y": )" + kStated);
    for (const char* name : {"a", "b"}) {
        const ValueMeta& meta = loaded.graph.find(name)->meta();
        REQUIRE(meta.placement);
        CHECK(meta.placement->text() == "a sparse tensor (CSR)");
        CHECK(meta.sizes == Sizes{3});
    }
    CHECK(!loaded.graph.find("y")->meta().placement);
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
    CHECK(misplaced_value(loaded.graph) == "%a, a sparse tensor (CSR)");
}

TEST_CASE("a weight of elements that Whittle only keeps is the bytes of the file") {
    const TempDir folder;
    write_archive(folder.path() / "m.pt2",
                  {{"m/archive_format", "pt2"},
                   {"m/data/weights/model_weights_config.json",
                    R"({"config": {"w": {"path_name": "w0", "tensor_meta": {"dtype": 33, "sizes": [{"as_int": 2}],
              "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}}})"},
                   {"m/data/weights/w0", "\x7f\x80"},
                   {"m/models/model.json",
                    R"({"schema_version": {"major": 8, "minor": 14}, "graph_module": {"graph": )" + graph("", "", "") +
                        R"(, "signature": {"input_specs": [{"buffer": {"arg": {"name": "w"}, "buffer_name": "w"}}],
                  "output_specs": [)" +
                        returned("w") + "]}}}"}});
    const LoadedProgram loaded = load_pt2(folder.path() / "m.pt2", {});
    CHECK(unusual_type(loaded.graph.find("w")->meta()) == "f8_e8m0[2]");
    CHECK(same_bits(loaded.graph.attributes.at("w"), Tensor::of<std::uint8_t>({0x7f, 0x80})));
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
}

TEST_CASE("an op of lists of tensors is the op of one tensor for each") {
    const auto tensors = [](const std::string& names) { return R"({"as_tensors": [)" + names + "]}"; };
    const auto name = [](const std::string& name) { return R"({"name": ")" + name + R"("})"; };
    const std::string both = tensors(name("x") + "," + name("w"));
    const LoadedProgram loaded = load_program(
        node("aten._foreach_mul.ScalarList",
             argument("self", both) + "," + argument("scalars", R"({"as_floats": [2.0, 3.0]})"),
             tensors(name("a") + "," + name("b"))) +
            "," +
            node("aten._foreach_addcmul_.Scalar",
                 argument("self", tensors(name("a"))) + "," + argument("tensor1", tensors(name("x"))) + "," +
                     argument("tensor2", tensors(name("x"))) + "," + argument("value", R"({"as_float": 10.0})"),
                 "") +
            "," +
            node("aten._foreach_maximum.Scalar",
                 argument("self", tensors(name("b"))) + "," + argument("scalar", R"({"as_float": 31.0})"),
                 tensors(name("c"))),
        returned("a") + "," + returned("b") + "," + returned("c"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{12, 44, 96}, {30, 300}, {31, 300}});
    for (const NodeId id : loaded.graph.calls())
        CHECK(loaded.graph.node({id}).target.find("_foreach_") == std::string::npos);
}

TEST_CASE("a higher-order op that Whittle does not run is an opaque call with its nested graphs") {
    // The file says bf16, as under autocast: it is believed.
    const std::string narrow = R"({"dtype": 13, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7})";
    const std::string twice =
        node("aten.add.Tensor", argument("self", tensor("x")) + "," + argument("other", tensor("x")), tensor("twice"));
    const LoadedProgram loaded = load_program(
        node("higher_order.flex_attention",
             argument("", tensor("x")) + "," +
                 argument("", nested("score", graph(tensor("x"), twice, tensor("twice"), R"("twice": )" + narrow))) +
                 "," + argument("", R"({"as_operator": "torch.ops.aten.add.Tensor"})"),
             tensor("y")),
        returned("y"), R"("y": )" + kStated);
    const Node& call = *loaded.graph.find("y");
    CHECK(call.target == "higher_order.flex_attention");
    CHECK(call.args.at(1) == Arg(GraphRef{"score"}));
    CHECK(call.args.at(2) == Arg("torch.ops.aten.add.Tensor"));
    CHECK(loaded.graph.subgraphs.at("score")->find("twice")->meta().dtype == DType::bf16);
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
}

TEST_CASE("a checkpoint runs its graph on the operands, whatever its options say") {
    const LoadedProgram loaded = load_program(
        node("higher_order.tag_activation_checkpoint",
             argument("", nested("inner", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                 argument("", tensor("x")) + R"(, {"name": "use_reentrant", "kind": 2, "arg": {"as_bool": false}})",
             tensor("y")),
        returned("y"));
    CHECK(loaded.graph.subgraphs.empty());
    CHECK(results(loaded) == std::vector<std::vector<double>>{{2, 4, 6}});
}

TEST_CASE("tokens, objects and numbers among the inputs are no inputs of the graph") {
    const std::string more =
        R"(, {"token": {"arg": {"name": "t"}}}, {"constant_input": {"name": "mode", "value": {"as_string": "mul"}}},
            {"custom_obj": {"arg": {"name": "o", "class_fqn": "lib.Queue"}, "custom_obj_name": "queue"}},
            {"user_input": {"arg": )" +
        kNumber + "}}";
    const auto load = [&](const LoadOptions& options) {
        return load_program(kTimesNumber, R"({"token": {"arg": {"name": "t2"}}}, )" + returned("y"),
                            stating_number(R"json({"as_expr": {"expr_str": "Symbol('s3', integer=True)",
                                "hint": {"as_int": 7}}})json"),
                            options, more);
    };
    CHECK(load({}).graph.placeholders().size() == 1);
    CHECK(load({}).assumed_dims == std::vector<std::string>{"s3=7"});
    CHECK(results(load({})) == std::vector<std::vector<double>>{{7, 14, 21}});
    CHECK(results(load({.dims = {{"s3", 2}}})) == std::vector<std::vector<double>>{{2, 4, 6}});
}

TEST_CASE("a mask among index tensors is the positions that the values given choose") {
    const Tensor x = Tensor::of<float>({1, 2, 3});
    const LoadedProgram loaded = load_program(
        node("aten.gt.Scalar", argument("self", tensor("x")) + "," + argument("other", R"({"as_int": 1})"),
             tensor("mask")) +
            "," +
            node("aten.index.Tensor",
                 argument("self", tensor("x")) + "," + argument("indices", R"({"as_tensors": [{"name": "mask"}]})"),
                 tensor("chosen")),
        returned("chosen"),
        R"json("chosen": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('u0', integer=True)"}}],
            "strides": [{"as_int": 1}], "layout": 7})json",
        {.values = [&](const Graph&) { return std::vector<Tensor>{x}; }});
    CHECK(results(loaded) == std::vector<std::vector<double>>{{2, 3}});
    CHECK(loaded.data_sizes == std::vector<std::string>{"u0=2"});
}

TEST_CASE("batch norm in training is read with its writes to the running statistics") {
    const std::string row = R"({"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 2}],
        "strides": [{"as_int": 2}, {"as_int": 1}], "layout": 7})";
    const std::string none = R"({"as_none": true})";
    const LoadedProgram loaded = load_program(
        node("aten.reshape.default", argument("self", tensor("w")) + "," + argument("shape", R"({"as_ints": [1, 2]})"),
             tensor("row")) +
            "," +
            node("aten.expand.default",
                 argument("self", tensor("row")) + "," + argument("size", R"({"as_ints": [2, 2]})"), tensor("batch")) +
            "," +
            node("aten.batch_norm.default",
                 argument("input", tensor("batch")) + "," + argument("weight", none) + "," + argument("bias", none) +
                     "," + argument("running_mean", tensor("w")) + "," + argument("running_var", tensor("w")) + "," +
                     argument("training", R"({"as_bool": true})") + "," + argument("momentum", R"({"as_float": 0.5})") +
                     "," + argument("eps", R"({"as_float": 1e-5})") + "," +
                     argument("cudnn_enabled", R"({"as_bool": true})"),
                 tensor("y")),
        returned("y"), R"("y": )" + row);
    std::vector<std::string> updates;
    const Graph function = checked_graph(loaded.graph, "m.pt2", {}, &updates);
    CHECK(updates == std::vector<std::string>{"w"});
    CHECK(function.outputs().size() == 2);
}

TEST_CASE("cond is a call with two nested graphs") {
    const std::string positive =
        node("aten.sum.default", argument("self", tensor("x")), tensor("sum")) + "," +
        node("aten.gt.Scalar", argument("self", tensor("sum")) + "," + argument("other", R"({"as_int": 0})"),
             tensor("positive"));
    const auto cond = [&](const std::string& pred) {
        return node("higher_order.cond",
                    argument("", tensor(pred)) + "," +
                        argument("", nested("yes", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                        argument("", nested("no", graph(tensor("v"), kNegate, tensor("minus")))) + "," +
                        argument("", R"({"as_tensors": [{"name": "x"}]})"),
                    R"({"as_tensors": [{"name": "chosen"}]})");
    };
    CHECK(results(load_program(positive + "," + cond("positive"), returned("chosen"))) ==
          std::vector<std::vector<double>>{{2, 4, 6}});
    const std::string no = node("aten.logical_not.default", argument("self", tensor("positive")), tensor("not"));
    CHECK(results(load_program(positive + "," + no + "," + cond("not"), returned("chosen"))) ==
          std::vector<std::vector<double>>{{-1, -2, -3}});
}

TEST_CASE("while_loop repeats its graph, and map runs it on slices") {
    const std::string below =
        node("aten.sum.default", argument("self", tensor("v")), tensor("s")) + "," +
        node("aten.lt.Scalar", argument("self", tensor("s")) + "," + argument("other", R"({"as_int": 40})"),
             tensor("go"));
    CHECK(results(load_program(
              node("higher_order.while_loop",
                   argument("", nested("until", graph(tensor("v"), below, tensor("go")))) + "," +
                       argument("", nested("step", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                       argument("", R"({"as_tensors": [{"name": "x"}]})") + "," + argument("", R"({"as_tensors": []})"),
                   R"({"as_tensors": [{"name": "end"}]})"),
              returned("end"))) == std::vector<std::vector<double>>{{8, 16, 24}});
    CHECK(results(load_program(
              node("higher_order.map_impl",
                   argument("", nested("body", graph(tensor("v"), kNegate, tensor("minus")))) + "," +
                       argument("", R"({"as_tensors": [{"name": "x"}]})") + "," + argument("", R"({"as_tensors": []})"),
                   R"({"as_tensors": [{"name": "mapped"}]})"),
              returned("mapped"))) == std::vector<std::vector<double>>{{-1, -2, -3}});
}

TEST_CASE("scan hands values on from slice to slice") {
    // carried + slice, twice that as what is kept of each
    const std::string step =
        node("aten.add.Tensor", argument("self", tensor("c")) + "," + argument("other", tensor("v")), tensor("next")) +
        "," +
        node("aten.mul.Tensor", argument("self", tensor("next")) + "," + argument("other", tensor("f")),
             tensor("kept"));
    const std::string first = node("aten.select.int",
                                   argument("self", tensor("x")) + "," + argument("dim", R"({"as_int": 0})") + "," +
                                       argument("index", R"({"as_int": 2})"),
                                   tensor("start"));
    const std::string start = argument("", R"({"as_tensors": [{"name": "start"}]})");
    // `older`: what PyTorch 2.6 has in front of the operands of all slices.
    const auto scan = [&](const std::string& older, const std::string& values = "") {
        return load_program(
            first + "," +
                node("higher_order.scan",
                     argument("", nested("body", graph(tensor("c") + "," + tensor("v") + "," + tensor("f"), step,
                                                       tensor("next") + "," + tensor("kept"), values))) +
                         "," + start + "," + argument("", R"({"as_tensors": [{"name": "x"}]})") + "," + older + start,
                     R"({"as_tensors": [{"name": "last"}, {"name": "all"}]})"),
            returned("last") + "," + returned("all"), values);
    };
    const auto direction = [&](const char* reverse) {
        return argument("", R"({"as_int": 0})") + "," + argument("", reverse) + ",";
    };
    const std::vector<std::vector<double>> expected{{9}, {12, 18, 27}};
    CHECK(results(scan("")) == expected);
    CHECK(results(scan(direction(R"({"as_bool": false})"))) == expected);
    // From the last slice to the first it is an opaque call.
    std::string values = R"("all": )" + kStated;
    for (const char* scalar : {"c", "v", "f", "next", "kept", "last"})
        values += ", \"" + std::string(scalar) + R"(": {"dtype": 7, "sizes": [], "strides": [], "layout": 7})";
    const LoadedProgram reversed = scan(direction(R"({"as_bool": true})"), values);
    CHECK(reversed.graph.find("last")->target == "torch.ops.higher_order.scan");
    CHECK(reversed.graph.find("last")->args.at(4) == Arg(true));
    CHECK_NOTHROW(checked_graph(reversed.graph, "m.pt2"));
    CHECK(reversed.graph.find("last")->args.at(0) == Arg(GraphRef{"body"}));
}

TEST_CASE("what only sets the grad mode is written out") {
    const LoadedProgram loaded =
        load_program(node("higher_order.wrap_with_set_grad_enabled",
                          argument("", R"({"as_bool": false})") + "," +
                              argument("", nested("inner", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                              argument("", tensor("x")),
                          tensor("y")),
                     returned("y"));
    CHECK(loaded.graph.subgraphs.empty());
    CHECK(results(loaded) == std::vector<std::vector<double>>{{2, 4, 6}});
}

namespace {

std::string integer(int value) { return R"({"as_int": )" + std::to_string(value) + "}"; }

/// A call that is no op: "torch._C._set_grad_enabled".
std::string marker(const std::string& target, const std::string& inputs, const std::string& outputs) {
    return R"({"target": ")" + target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs + "]}";
}
std::string vmap(const std::string& name, const std::string& inputs, const std::string& outputs) {
    return marker("torch._functorch.predispatch." + name, inputs, outputs);
}
std::string add_dim(const std::string& from, int level, const std::string& to) {
    return vmap("_add_batch_dim",
                argument("", tensor(from)) + "," + argument("", integer(0)) + "," + argument("", integer(level)),
                tensor(to));
}
std::string remove_dim(const std::string& from, int level, int size, const std::string& to) {
    return vmap("_remove_batch_dim",
                argument("", tensor(from)) + "," + argument("", integer(level)) + "," + argument("", integer(size)) +
                    "," + argument("", integer(0)),
                tensor(to));
}

}  // namespace

TEST_CASE("vmap's hidden dimensions are the first ones of what is computed") {
    const std::string begin = vmap("lazy_load_decompositions", "", "") + "," +
                              vmap("_vmap_increment_nesting", argument("", integer(3)), "") + ",";
    const std::string sum =
        node("aten.add.Tensor", argument("self", tensor("a")) + "," + argument("other", tensor("b")), tensor("sum"));
    const std::string end = "," + remove_dim("sum", 2, 3, "inner") + "," + vmap("_vmap_decrement_nesting", "", "") +
                            "," + remove_dim("inner", 1, 3, "all");
    const LoadedProgram sums =
        load_program(begin + add_dim("x", 1, "a") + "," + add_dim("x", 2, "b") + "," + sum + end, returned("all"));
    CHECK(results(sums) == std::vector<std::vector<double>>{{2, 3, 4, 3, 4, 5, 4, 5, 6}});

    // What does not vary is repeated.
    const LoadedProgram repeated = load_program(
        add_dim("x", 1, "a") + "," + remove_dim("a", 2, 2, "inner") + "," + remove_dim("inner", 1, 3, "all"),
        returned("all"));
    CHECK(results(repeated) == std::vector<std::vector<double>>{{1, 1, 2, 2, 3, 3}});

    // Positions that vary, of a tensor that does not, and of one that does.
    const std::string positions = node("aten.arange.default", argument("end", integer(2)), tensor("p"));
    const auto indexed = [](const std::string& from, const std::string& at) {
        return node("aten.index.Tensor",
                    argument("self", tensor(from)) + "," +
                        argument("indices", R"({"as_optional_tensors": [{"as_tensor": {"name": ")" + at + R"("}}]})"),
                    tensor("read"));
    };
    CHECK(results(load_program(
              positions + "," + add_dim("p", 1, "q") + "," + indexed("x", "q") + "," + remove_dim("read", 1, 2, "all"),
              returned("all"))) == std::vector<std::vector<double>>{{1, 2}});
    const std::string table =
        node("aten.outer.default", argument("self", tensor("w")) + "," + argument("vec2", tensor("x")), tensor("t"));
    CHECK(results(load_program(table + "," + positions + "," + add_dim("t", 1, "row") + "," + add_dim("p", 1, "q") +
                                   "," + indexed("row", "q") + "," + remove_dim("read", 1, 2, "all"),
                               returned("all"))) == std::vector<std::vector<double>>{{10, 200}});

    // Other ops run for each slice, of one dimension or of two.
    CHECK(results(load_program(table + "," + add_dim("t", 1, "row") + "," +
                                   node("aten.sum.default", argument("self", tensor("row")), tensor("read")) + "," +
                                   remove_dim("read", 1, 2, "all"),
                               returned("all"))) == std::vector<std::vector<double>>{{60, 600}});
    const std::string dot =
        node("aten.dot.default", argument("self", tensor("a")) + "," + argument("tensor", tensor("b")), tensor("read"));
    CHECK(results(load_program(table + "," + add_dim("t", 1, "a") + "," + add_dim("t", 2, "b") + "," + dot + "," +
                                   remove_dim("read", 2, 2, "inner") + "," + remove_dim("inner", 1, 2, "all"),
                               returned("all"))) == std::vector<std::vector<double>>{{1400, 14000, 14000, 140000}});
    CHECK_THROWS_WITH(load_program(table + "," + add_dim("t", 1, "row") + "," +
                                       node("aten.aminmax.default", argument("self", tensor("row")), tensor("read")),
                                   returned("read")),
                      Catch::Contains("found aten.aminmax.default with several results inside vmap"));
}

TEST_CASE("an in-place view replaces its operand, and an out variant writes into its argument") {
    const std::string unsqueezed =
        node("aten.neg.default", argument("self", tensor("x")), tensor("n")) + "," +
        node("aten.unsqueeze_.default", argument("self", tensor("n")) + "," + argument("dim", integer(0)), tensor("u"));
    const LoadedProgram view = load_program(unsqueezed, returned("n"));
    CHECK(view.graph.node(NodeRef{view.graph.outputs().at(0)}).meta().sizes == Sizes{1, 3});
    CHECK(print(view.graph).find("unsqueeze_") == std::string::npos);

    const std::string zeros = node("aten.zeros_like.default", argument("self", tensor("x")), tensor("z"));
    const std::string out = R"({"name": "out", "kind": 2, "arg": )" + tensor("z") + "}";
    const std::string sum = node(
        "aten.add.out", argument("self", tensor("x")) + "," + argument("other", tensor("x")) + "," + out, tensor("s"));
    CHECK(results(load_program(zeros + "," + sum, returned("z") + "," + returned("s"))) ==
          std::vector<std::vector<double>>{{2, 4, 6}, {2, 4, 6}});
}

TEST_CASE("grad modes say nothing, and autocast converts what the file says that it does") {
    const std::string grad = marker("torch._C._set_grad_enabled", argument("", R"({"as_bool": false})"), "");
    const auto enter = [](const std::string& enabled) {
        return marker("torch.amp.autocast_mode._enter_autocast",
                      argument("", R"({"as_string": "cpu"})") + "," + argument("", R"({"as_scalar_type": 13})") + "," +
                          argument("", R"({"as_bool": )" + enabled + "}"),
                      "");
    };
    const std::string leave = marker("torch.amp.autocast_mode._exit_autocast", "", "");
    const std::string product =
        node("aten.mul.Tensor", argument("self", tensor("x")) + "," + argument("other", tensor("x")), tensor("low"));
    const LoadedProgram loaded =
        load_program(grad + "," + enter("true") + "," + product + "," + leave, returned("low"));
    CHECK(loaded.graph.node(NodeRef{loaded.graph.outputs().at(0)}).meta().dtype == DType::bf16);
    CHECK(results(loaded) == std::vector<std::vector<double>>{{1, 4, 9}});
    CHECK_THROWS_WITH(load_program(enter("false") + "," + product + "," + leave, returned("low")),
                      Catch::Contains("but the file declares"));
    CHECK_THROWS_WITH(load_program(leave, returned("x")), Catch::Contains("never began"));
}

TEST_CASE("lists of results and numbers among the outputs") {
    const LoadedProgram loaded = load_program(
        node("aten.split.Tensor", argument("self", tensor("x")) + "," + argument("split_size", R"({"as_int": 2})"),
             R"({"as_tensors": [{"name": "front"}, {"name": "back"}]})"),
        returned("back") + R"(,{"user_output": {"arg": {"as_int": 7}}},)" + returned("front"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{3}, {1, 2}});
}

TEST_CASE("what a program asserts of its sizes is checked") {
    const auto asserting = [](const std::string& most) {
        return node("aten.sym_size.int", argument("self", tensor("x")) + "," + argument("dim", R"({"as_int": 0})"),
                    R"({"as_sym_int": {"as_name": "n"}})") +
               "," + R"({"target": "_operator.le", "inputs": [)" +
               argument("a", R"({"as_sym_int": {"as_name": "n"}})") + "," +
               argument("b", R"({"as_int": )" + most + "}") +
               R"(], "outputs": [{"as_sym_bool": {"as_name": "small"}}]},)" +
               node("aten._assert_scalar.default",
                    argument("self", R"({"as_sym_bool": {"as_name": "small"}})") + "," +
                        argument("assert_msg", R"({"as_string": "at most )" + most + R"( rows"})"),
                    "");
    };
    CHECK(results(load_program(asserting("3"), returned("x"))) == std::vector<std::vector<double>>{{1, 2, 3}});
    CHECK_THROWS_WITH(load_program(asserting("2"), returned("x")),
                      Catch::Contains("node 2 (torch.ops.aten._assert_scalar.default): an assertion of the program "
                                      "fails for the sizes of the inputs") &&
                          Catch::Contains("at most 2 rows"));
}

TEST_CASE("nested graphs have a limit of depth") {
    std::string body = graph(tensor("v"), kNegate, tensor("minus"));
    for (int i = 0; i < 70; ++i)
        body = graph(tensor("v"),
                     node("higher_order.wrap_with_set_grad_enabled",
                          argument("", R"({"as_bool": true})") + "," + argument("", nested("g", body)) + "," +
                              argument("", tensor("v")),
                          tensor("minus")),
                     tensor("minus"));
    CHECK_THROWS_WITH(load_program(node("higher_order.wrap_with_set_grad_enabled",
                                        argument("", R"({"as_bool": true})") + "," + argument("", nested("g", body)) +
                                            "," + argument("", tensor("x")),
                                        tensor("y")),
                                   returned("y")),
                      Catch::Contains("deep"));
}

TEST_CASE("what a program asserts of a value is a node, which is asked when the graph runs") {
    const std::string assertion =
        node("aten.sum.default", argument("self", tensor("x")), tensor("sum")) + "," +
        node("aten.lt.Scalar", argument("self", tensor("sum")) + "," + argument("other", R"({"as_int": 7})"),
             tensor("below")) +
        "," +
        node("aten._assert_async.msg",
             argument("self", tensor("below")) + "," + argument("assert_msg", R"({"as_string": "below 7"})"), "") +
        "," + node("aten.relu.default", argument("self", tensor("x")), tensor("y"));
    const LoadedProgram loaded = load_program(assertion, returned("y"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{1, 2, 3}});
    const Tensor more = Tensor::of<float>({1, 2, 4});
    CHECK_THROWS_WITH(evaluate(loaded.graph, {&more, 1}),
                      Catch::Contains("_assert_async") && Catch::Contains("below 7: found false"));
}
