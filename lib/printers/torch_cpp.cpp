#include "printers/torch_cpp.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/program_text.h"
#include "base/words.h"
#include "printers/short_program.h"
#include "tensor/reach.h"
#include "tensor/scalars.h"
#include "text/language.h"

namespace whittle::printers {
namespace {

using language::torch_cpp;

/// As arguments of torch::tensor(), which wants one type of all elements.
std::string elements_of(const Tensor& contiguous) {
    const std::string elements = torch_cpp.elements(contiguous);
    const auto is_long = [](const Scalar& value) { return !std::in_range<std::int32_t>(value.to_integer()); };
    const bool mixed = contiguous.dtype() == DType::i64 && std::ranges::any_of(scalars_of(contiguous), is_long);
    return (mixed ? "std::vector<int64_t>{" : "{") + elements + "}";
}

std::string size_comparison(const ShortRequest& request, const Tensor& right, const std::string& value) {
    const std::string expected = torch_cpp.sizes(right.sizes());
    const std::string got = request.given_expected ? "torch::zeros(" + expected + ")" : value;
    return "    if (" + got + ".sizes() != at::IntArrayRef(" + expected + ")) {\n        printf(\"sizes %s, expected " +
           to_string(right.sizes()) + "\\n\", c10::str(" + got + ".sizes()).c_str());\n        return 1;\n    }\n";
}

std::string dtype_comparison(const ShortRequest& request, const Tensor& right, const std::string& value) {
    const std::string expected = torch_cpp.type(right.dtype());
    const std::string got = request.given_expected ? "torch::zeros(1, " + expected + ")" : value;
    return "    if (" + got + ".scalar_type() != " + expected +
           ") {\n        printf(\"%s, expected %s\\n\", toString(" + got + ".scalar_type()), toString(" + expected +
           "));\n        return 1;\n    }\n";
}

}  // namespace

std::string torch_definition(const std::string& name, const Tensor& tensor) {
    if (const Tensor once = unexpanded(tensor); once.sizes() != tensor.sizes())
        return torch_definition(name, once) + "    " + name + " = " + name + ".expand(" +
               torch_cpp.sizes(tensor.sizes()) + ");\n";
    const std::string dtype = tensor.dtype() == DType::f32 ? "" : ", " + torch_cpp.type(tensor.dtype());
    const Tensor contiguous = tensor.contiguous();
    std::string made;
    if (tensor.numel() > 1 && all_alike(contiguous)) {
        made = "torch::full(" + torch_cpp.sizes(tensor.sizes()) + ", " + torch_cpp.element(contiguous, 0) + dtype + ")";
    } else {
        made = "torch::tensor(" + elements_of(contiguous) + dtype + ")";
        if (tensor.sizes() != Sizes{tensor.numel()}) made += ".reshape(" + torch_cpp.sizes(tensor.sizes()) + ")";
    }
    if (tensor.strides() == contiguous_strides(tensor.sizes()))
        return "    torch::Tensor " + name + " = " + made + ";\n";
    const std::int64_t extent = tensor.numel() ? reach(tensor.sizes(), tensor.strides())->count() : 0;
    if (extent != tensor.numel())  // between its elements there is no memory that nobody wrote
        return "    torch::Tensor " + name + " = torch::zeros({" + std::to_string(extent) + "}" + dtype +
               ").as_strided(" + torch_cpp.sizes(tensor.sizes()) + ", " + torch_cpp.sizes(tensor.strides()) +
               ");\n    " + name + ".copy_(" + made + ");\n";
    return "    torch::Tensor " + name + " = torch::empty_strided(" + torch_cpp.sizes(tensor.sizes()) + ", " +
           torch_cpp.sizes(tensor.strides()) + dtype + ");\n    " + name + ".copy_(" + made + ");\n";
}

std::string torch_comparison(const ShortRequest& request, std::size_t output, const std::string& value,
                             const std::string& right) {
    const Tensor& expected = request.expected[output];
    if (wrong_sizes(request)) return size_comparison(request, expected, value);
    if (wrong_dtype(request)) return dtype_comparison(request, expected, value);
    const auto wrong = first_wrong(request);
    const Tolerance tolerance = request.graph.failure->accuracy.tolerance(expected.dtype());
    const std::string got = request.given_expected ? right : value;
    const std::string element = std::to_string(wrong && wrong->output == output ? wrong->element : 0);
    const DType dtype = expected.dtype();
    const std::string type = is_floating(dtype) ? "double" : dtype == DType::boolean ? "bool" : "int64_t";
    const DType read = is_floating(dtype) ? DType::f64 : dtype == DType::boolean ? dtype : DType::i64;
    const auto at = [&](const std::string& name) {
        return printed_element(read, name + ".flatten()[" + element + "].item<" + type + ">()");
    };
    const PrintedElement seen = at(got), wanted = at(right);
    return torch_definition(right, expected.contiguous()) + "    if (!torch::allclose(" + got + ", " + right + ", " +
           short_number(tolerance.rtol) + ", " + short_number(tolerance.atol) +
           ", /*equal_nan=*/true)) {\n        printf(\"element " + element + ": " + seen.format + ", expected " +
           wanted.format + "\\n\", " + seen.argument + ",\n               " + wanted.argument +
           ");\n        return 1;\n    }\n";
}

std::string torch_package_program(const ShortRequest& request, const Graph& graph, const std::string& about,
                                  const std::string& build, bool has_control) {
    const Failure& failure = *request.graph.failure;
    const auto wrong = first_wrong(request);
    std::size_t output = wrong ? wrong->output : 0;
    if (const auto sizes = wrong_sizes(request)) output = *sizes;
    if (const auto dtype = wrong_dtype(request)) output = *dtype;
    std::map<std::string, std::string> values = {
        {"HEADER", about},
        {"BUILD", build},
        {"PARAMETERS", has_control ? "int argc, char **" : ""},
        {"PACKAGE", has_control ? "argc > 1 ? \"control.pt2\" : \"package.pt2\"" : "\"package.pt2\""},
        {"OUTPUT", std::to_string(output)},
        {"COMPARE", failure.signature.kind == "mismatch" ? torch_comparison(request, output, "y", "expected") : ""}};
    std::vector<std::string> names;
    for (const NodeId id : graph.placeholders()) {
        values["INPUTS"] += torch_definition(graph.node({id}).name, failure.inputs.at(names.size()));
        names.push_back(graph.node({id}).name);
    }
    values["ARGUMENTS"] = join(names);
    const bool exception = failure.signature.kind == "exception";
    values["TRY"] = exception ? " try" : "";
    values["CATCH"] =
        exception ? " catch (const std::exception &e) {\n    printf(\"%s\\n\", e.what());\n    return 1;\n}" : "";
    values["INCLUDES"] = standard_includes(values["INPUTS"] + values["COMPARE"] + values["CATCH"] + "printf");
    return fill_template("repro_aoti.cpp", values);
}

}  // namespace whittle::printers
