// What graphs, records, indices and reports have in common, in JSON: tensors, dtypes, stacks, accuracies and failures
// (formats/fields.h).
#pragma once

#include "formats/fields.h"
#include "formats/sidecar.h"
#include "formats/tensor_json.h"
#include "graph/failure.h"
#include "graph/graph.h"
#include "graph/placement.h"

namespace whittle {

inline constexpr FileFormat kGraphFormat{
    "whittle.graph",
    1,
    5,
    "Whittle graph, version 1",
    "An ordered list of nodes in the form of torch.fx. Tensors of more than a few elements are in the safetensors file "
    "beside the JSON, keyed by their content hash (XXH3-128 of dtype, sizes and element bytes).",
    true};

/// By its name.
template <>
struct Form<DType> {
    static void write(JsonWriter& out, DType dtype, Plain);
    static DType read(const JsonReader& reader, const Json& value, Plain);
    static Json schema(SchemaMaker& maker, Plain);
};

/// As formats/tensor_json.h has it.
template <>
struct Form<Tensor> {
    static void write(JsonWriter& out, const Tensor& tensor, Plain);
    static Tensor read(const JsonReader& reader, const Json& value, Plain);
    static Json schema(SchemaMaker& maker, Plain);
};

/// Writes a file and the tensors of its members beside it (formats/sidecar.h).
template <class T>
void save_members(const std::filesystem::path& path, const FileFormat& format, const T& object, TensorWriter tensors) {
    JsonWriter out(JsonWriter::Begin::in_members, &tensors);
    write_members(out, object);
    const std::string members = out.take();
    save_with_tensors(path, tensors.sidecar(),
                      [&](const std::string& sidecar) { return file_text(format, members, sidecar); });
}

/// An entry of a user's stack. Source text is only shown: what is not UTF-8 in it is replaced.
template <>
struct Fields<StackFrame> {
    static constexpr const char* kName = "frame";
    static void visit(auto& field) {
        field("file", &StackFrame::file, "");
        field("line", &StackFrame::line, "", Count{});
        field.maybe("column", &StackFrame::column, "", Count{});
        field.maybe("function", &StackFrame::function, "");
        field.maybe("text", &StackFrame::text, "The source line.");
    }
};

template <>
struct Fields<Placement> {
    static constexpr const char *kName = "placement",
                                *kMeaning =
                                    "Device, layout and element type of a value that no backend supports, in "
                                    "LibTorch's terms. For layout Unknown, neither dtype nor sizes are known.";
    static void visit(auto& field) {
        field.maybe("device", &Placement::device, "The device; cpu if absent.");
        field.maybe("layout", &Placement::layout, "The layout; Strided if absent.");
        field.maybe(
            "elements", &Placement::elements,
            "The element type, if dtype cannot express this type (dtype is then f32): quint8, string, i4. For layout "
            "Unknown: the known part of the type, such as sequence(f32).");
    }
};

template <>
struct Choices<Accuracy::Mode> {
    static constexpr Accuracy::Mode all[] = {Accuracy::Mode::close, Accuracy::Mode::fp64, Accuracy::Mode::strict,
                                             Accuracy::Mode::exact};
};
template <>
struct Fields<Tolerance> {
    static void visit(auto& field) {
        field("rtol", &Tolerance::rtol, "");
        field("atol", &Tolerance::atol, "");
        field("ulp", &Tolerance::ulp, "");
    }
};
template <>
struct Form<std::map<DType, Tolerance>> {
    static void write(JsonWriter& out, const std::map<DType, Tolerance>& tolerances, Plain);
    static std::map<DType, Tolerance> read(const JsonReader& reader, const Json& value, Plain);
    static Json schema(SchemaMaker& maker, Plain);
};
template <>
struct Fields<Accuracy> {
    static void visit(auto& field) {
        field("mode", &Accuracy::mode, "");
        field.maybe("multiplier", &Accuracy::multiplier,
                    "For fp64: the allowed error, as a multiple of the reference's error.", Count{});
        field.maybe("tolerances", &Accuracy::tolerances, "Tolerances by dtype, if not the default ones.");
    }
};

template <>
struct Fields<Rate> {
    static void visit(auto& field) {
        field("failed", &Rate::failed, "", Count{});
        field("runs", &Rate::runs, "", Count{});
    }
};
template <>
struct Fields<Signature> {
    static void visit(auto& field) {
        field("kind", &Signature::kind, "", OneOf{" exception mismatch crash timeout out_of_memory slow check"});
        field("stage", &Signature::stage, "", OneOf{" compile run"});
        field("detail", &Signature::detail, "");
        field.maybe("part", &Signature::part, "Present if the failure is in the gradients.", OneOf{"backward"});
        field.maybe("rate", &Signature::rate, "For a flaky failure: the numbers of failed runs and of all runs.");
    }
};
template <>
struct Fields<Culprit> {
    static void visit(auto& field) {
        field("component", &Culprit::component, "", OneOf{"schedule switch lowering gradient pass compiler"});
        field.maybe("directive", &Culprit::directive, "");
        field.maybe("together", &Culprit::together, "");
        field.maybe("op", &Culprit::op, "");
        field.maybe("application", &Culprit::application,
                    "For a pass: the first bad application, as the compiler names it. Since 1.5.");
        field.maybe("partner", &Culprit::partner,
                    "For a pass: another pass without which this pass causes no failure.");
        field.maybe("minimized_only", &Culprit::minimized_only,
                    "Whether the original model still fails with the culprit switched off. Since 1.4.");
        field.maybe("dependents", &Culprit::dependents,
                    "The directives that depend on the culprit, and are switched off with it. Since 1.5.");
    }
};
template <>
struct Fields<Pace> {
    static void visit(auto& field) {
        field("factor", &Pace::factor,
              "The graph fails if it takes more than this many times as long as on the backend to compare with.");
        field.maybe("than", &Pace::than,
                    "The backend to compare with. If absent: the failure's backend, without optimization.");
        field.maybe("options", &Pace::options, "The options of this backend.");
    }
};
template <>
struct Fields<Failure> {
    static constexpr const char *kName = "failure", *kMeaning = "How a minimized graph fails.";
    static constexpr bool kLines = true;
    static void visit(auto& field) {
        field("backend", &Failure::backend,
              "The backend; empty if a script or command decided whether the graph fails.");
        field.maybe("version", &Failure::version, "The version of the backend's compiler, if it reports one.");
        field.maybe("options", &Failure::options, "");
        field.maybe("command", &Failure::command, "", OneLine{});
        field.maybe("polarity", &Failure::polarity, "", OneOf{"test test-must-fail check"});
        field("signature", &Failure::signature, "");
        field.lately("message", &Failure::message, "The message of the first run.");
        field.lately("reference", &Failure::reference, "");
        field.maybe("accuracy", &Failure::accuracy, "How results are compared, if not in the default way.");
        field.maybe("slower", &Failure::slower,
                    "For a graph that takes too long: the backend to compare its time with. Since 1.5.");
        field.maybe("culprit", &Failure::culprit, "The culprit, found by switching parts of the compiler off.");
        field.maybe("releases", &Failure::releases, "Which installed releases of the compiler fail, and which do not.");
        field.maybe("python", &Failure::python, "The Python interpreter that ran the traced program.");
        field.lately("inputs", &Failure::inputs, "The inputs, one per placeholder.");
    }
};

}  // namespace whittle
