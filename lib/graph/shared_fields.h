// What graphs, records, indices and reports have in common, in JSON: tensors, dtypes, stacks, accuracies and failures
// (graph/fields.h).
#pragma once

#include "graph/failure.h"
#include "graph/fields.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "graph/sidecar.h"
#include "graph/tensor_json.h"

namespace whittle {

inline constexpr FileFormat kGraphFormat{
    "whittle.graph",
    1,
    4,
    "Whittle graph, version 1",
    "An ordered list of nodes in torch.fx's form. Tensors above a few elements are in the safetensors file beside the "
    "JSON, keyed by their content hash (XXH3-128 of dtype, sizes and element bytes).",
    true};

/// By its name.
template <>
struct Form<DType> {
    static void write(JsonWriter& out, DType dtype, Plain);
    static DType read(const JsonReader& reader, const Json& value, Plain);
    static Json schema(SchemaMaker& maker, Plain);
};

/// As graph/tensor_json.h has it.
template <>
struct Form<Tensor> {
    static void write(JsonWriter& out, const Tensor& tensor, Plain);
    static Tensor read(const JsonReader& reader, const Json& value, Plain);
    static Json schema(SchemaMaker& maker, Plain);
};

/// Writes a file and the tensors of its members beside it (graph/sidecar.h).
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
                                    "Where and as what a value lies that no backend computes with, in LibTorch's "
                                    "words. Layout Unknown: neither dtype nor sizes are known.";
    static void visit(auto& field) {
        field.maybe("device", &Placement::device, "cpu when absent.");
        field.maybe("layout", &Placement::layout, "Strided when absent.");
        field.maybe("elements", &Placement::elements,
                    "Their type, where dtype (f32, then) has none: quint8, string, i4. Of layout Unknown what is known "
                    "of the type: sequence(f32).");
    }
};

template <>
struct Choices<Accuracy::Mode> {
    static constexpr Accuracy::Mode all[] = {Accuracy::Mode::close, Accuracy::Mode::fp64, Accuracy::Mode::strict};
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
        field.maybe("multiplier", &Accuracy::multiplier, "fp64: the error may be so many times the reference's own.",
                    Count{});
        field.maybe("tolerances", &Accuracy::tolerances, "By dtype, where they are not the usual ones.");
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
        field("kind", &Signature::kind, "", OneOf{" exception mismatch crash timeout out_of_memory check"});
        field("stage", &Signature::stage, "", OneOf{" compile run"});
        field("detail", &Signature::detail, "");
        field.maybe("part", &Signature::part, "Where it fails at gradients.", OneOf{"backward"});
        field.maybe("rate", &Signature::rate, "Where it fails in some runs only: of how many it failed in how many.");
    }
};
template <>
struct Fields<Culprit> {
    static void visit(auto& field) {
        field("component", &Culprit::component, "", OneOf{"schedule switch lowering gradient pass compiler"});
        field.maybe("directive", &Culprit::directive, "");
        field.maybe("together", &Culprit::together, "");
        field.maybe("op", &Culprit::op, "");
        field.maybe("partner", &Culprit::partner, "Of a pass: another one without which it does no harm.");
        field.maybe("minimized_only", &Culprit::minimized_only,
                    "With it switched off, the model that was given fails all the same. Since 1.4.");
    }
};
template <>
struct Fields<Failure> {
    static constexpr const char *kName = "failure", *kMeaning = "How a minimized graph fails.";
    static constexpr bool kLines = true;
    static void visit(auto& field) {
        field("backend", &Failure::backend, "Empty when a command was the oracle.");
        field.maybe("version", &Failure::version, "Of the backend's compiler, where it says.");
        field.maybe("options", &Failure::options, "");
        field.maybe("command", &Failure::command, "", OneLine{});
        field.maybe("polarity", &Failure::polarity, "", OneOf{"test test-must-fail check"});
        field("signature", &Failure::signature, "");
        field.lately("message", &Failure::message, "The first run's own words.");
        field.lately("reference", &Failure::reference, "");
        field.maybe("accuracy", &Failure::accuracy, "How results are judged, where it is not the usual way.");
        field.maybe("culprit", &Failure::culprit,
                    "What is to blame, as far as switching parts of the compiler off could tell.");
        field.maybe("releases", &Failure::releases,
                    "Since which release of the compiler it fails, of those that were installed.");
        field.lately("inputs", &Failure::inputs, "One per placeholder.");
    }
};

}  // namespace whittle
