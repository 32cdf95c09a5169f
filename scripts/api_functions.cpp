// Writes the part of the API that follows from the registry: one C++ function per ATen op (an overload per ATen
// overload), and a method where its first operand is called self. scripts/update api-functions runs it.
//   api_functions FOLDER    writes generated_{methods.h,functions.h,functions.cpp} into FOLDER
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "base/error.h"
#include "ops/core/registry.h"
#include "printers/api_spelling.h"

namespace {

using namespace whittle;

/// Written by hand in tensor.h.
const std::set<std::string> kHandWrittenMethods = {"index", "index_put_", "equal", "allclose", "item"};
const std::set<std::string> kHandWrittenFunctions = {"scalar_tensor"};
/// Declared here, defined in batch_norm.cpp.
const std::set<std::string> kHandWrittenDefinitions = {"batch_norm", "instance_norm", "native_batch_norm"};
const std::set<std::string> kKeywords = {"and", "or", "not", "xor"};

/// Of all forms that could be derived, those that ATen has.
const std::set<std::string> kInPlace = {"abs",
                                        "acos",
                                        "acosh",
                                        "add",
                                        "addcdiv",
                                        "addcmul",
                                        "addmm",
                                        "addmv",
                                        "asin",
                                        "asinh",
                                        "atan",
                                        "atan2",
                                        "atanh",
                                        "baddbmm",
                                        "bernoulli",
                                        "bitwise_and",
                                        "bitwise_not",
                                        "bitwise_or",
                                        "bitwise_xor",
                                        "ceil",
                                        "celu",
                                        "clamp",
                                        "clamp_max",
                                        "clamp_min",
                                        "copy",
                                        "copysign",
                                        "cos",
                                        "cosh",
                                        "cumprod",
                                        "cumsum",
                                        "div",
                                        "elu",
                                        "eq",
                                        "erf",
                                        "erfc",
                                        "erfinv",
                                        "exp",
                                        "exp2",
                                        "expm1",
                                        "fill",
                                        "floor",
                                        "floor_divide",
                                        "fmod",
                                        "frac",
                                        "ge",
                                        "gelu",
                                        "gt",
                                        "hardsigmoid",
                                        "hardswish",
                                        "hardtanh",
                                        "heaviside",
                                        "hypot",
                                        "index_add",
                                        "index_put",
                                        "le",
                                        "leaky_relu",
                                        "lerp",
                                        "log",
                                        "log10",
                                        "log1p",
                                        "log2",
                                        "logical_and",
                                        "logical_not",
                                        "logical_or",
                                        "logical_xor",
                                        "logit",
                                        "lt",
                                        "masked_fill",
                                        "mish",
                                        "mul",
                                        "nan_to_num",
                                        "ne",
                                        "neg",
                                        "pow",
                                        "reciprocal",
                                        "relu",
                                        "relu6",
                                        "remainder",
                                        "round",
                                        "rsqrt",
                                        "scatter",
                                        "scatter_add",
                                        "scatter_reduce",
                                        "selu",
                                        "sgn",
                                        "sigmoid",
                                        "sign",
                                        "silu",
                                        "sin",
                                        "sinc",
                                        "sinh",
                                        "sqrt",
                                        "square",
                                        "sub",
                                        "tan",
                                        "tanh",
                                        "threshold",
                                        "tril",
                                        "triu",
                                        "trunc",
                                        "xlogy",
                                        "zero"};

struct Parameter {
    Param param;
    std::string type = {}, default_value = {};  ///< C++; no default: empty
    bool by_keyword = false;                    ///< passed on by name
    std::string passed = {};                    ///< as this; empty: as it is
};

struct Function {
    std::string name = {}, target = {}, return_type = {};
    std::vector<Parameter> parameters = {};
    bool method = false;
};

std::string literal(const Param& param, const Arg& arg) {
    if (arg.is_none()) {
        if (param.type == ParamType::tensor) return "OptionalTensor()";
        return "std::nullopt";
    }
    if (const auto* i = std::get_if<std::int64_t>(&arg.value)) {
        if (param.type == ParamType::number) return std::to_string(*i) + ".0";
        return std::to_string(*i);
    }
    if (const auto* d = std::get_if<double>(&arg.value)) return printers::cpp_number(*d);
    if (const auto* b = std::get_if<bool>(&arg.value)) return *b ? "true" : "false";
    if (const auto* s = std::get_if<std::string>(&arg.value)) return "\"" + *s + "\"";
    if (const auto* t = std::get_if<DType>(&arg.value)) return printers::api_dtype(*t);
    if (const ArgList* list = arg.list()) {
        std::string text;
        for (const Arg& element : *list) text += (text.empty() ? "" : ", ") + literal(param, element);
        return "IntList{" + text + "}";
    }
    throw Error("no literal for a default of " + param.name);
}

/// The C++ type of a parameter; empty when the API has none for it.
std::string cpp_type(const Param& param) {
    const auto optional = [&](const std::string& type) {
        return param.optional ? "std::optional<" + type + ">" : type;
    };
    switch (param.type) {
        case ParamType::tensor:
            return param.optional ? "const OptionalTensor&" : "const Tensor&";
        case ParamType::tensor_list:
            return param.optional ? "const std::vector<OptionalTensor>&" : "const TensorList&";
        case ParamType::integer:
            return optional("std::int64_t");
        case ParamType::number:
            return optional("double");
        case ParamType::boolean:
            return optional("bool");
        case ParamType::scalar:
            return param.optional ? "const std::optional<Scalar>&" : "const Scalar&";
        case ParamType::text:
            return param.optional ? "const std::optional<std::string>&" : "const std::string&";
        case ParamType::dtype:
            return optional("ScalarType");
        case ParamType::int_list:
            return "const IntList&";
        case ParamType::float_list:
            return "const FloatList&";
        case ParamType::bool_list:
            return "const std::vector<bool>&";
        default:
            return "";
    }
}

std::string return_type(const Schema& schema) {
    if (schema.returns.size() == 1) return schema.returns[0].list ? "TensorList" : "Tensor";
    std::string text;
    for (const Return& r : schema.returns) {
        if (r.list) return "";
        text += text.empty() ? "Tensor" : ", Tensor";
    }
    return schema.returns.empty() ? "" : "std::tuple<" + text + ">";
}

bool fill(const RegisteredOp& op, Function& function) {
    bool skipped_positional = false;
    for (const Param& param : op.schema.params) {
        if (printers::api_leaves_out(param)) {
            if (!param.default_value) return false;
            skipped_positional |= !param.keyword_only;
            continue;
        }
        Parameter parameter{
            .param = param, .type = cpp_type(param), .by_keyword = param.keyword_only || skipped_positional};
        if (parameter.type.empty()) return false;
        if (param.default_value) parameter.default_value = literal(param, *param.default_value);
        function.parameters.push_back(parameter);
    }
    // C++ wants defaults last.
    bool required_after = false;
    for (std::size_t i = function.parameters.size(); i-- > 0;) {
        if (required_after) function.parameters[i].default_value.clear();
        required_after |= function.parameters[i].default_value.empty();
    }
    function.return_type = return_type(op.schema);
    function.method = !function.parameters.empty() && function.parameters[0].param.name == "self" &&
                      function.parameters[0].type == "const Tensor&";
    return !function.return_type.empty();
}

std::vector<Function> functions() {
    std::vector<Function> all;
    for (const RegisteredOp& op : Registry::instance().all()) {
        const std::string target(op.name);
        if (!target.starts_with("aten.")) continue;
        Function function{.target = target};
        function.name = target.substr(5, target.find('.', 5) - 5);
        if (kKeywords.contains(function.name) || !fill(op, function)) {
            std::cerr << "no function for " << target << "\n";
            continue;
        }
        all.push_back(std::move(function));
    }
    return all;
}

/// An integer or nothing beside an overload with a list of integers at its place: a number alone would be either's, so
/// it has an overload of its own.
void add_integer_overloads(std::vector<Function>& all) {
    std::vector<Function> added;
    for (const Function& f : all) {
        if (f.parameters.empty() || f.parameters.back().type != "std::optional<std::int64_t>") continue;
        const std::size_t at = f.parameters.size() - 1;
        const bool beside_list = std::ranges::any_of(all, [&](const Function& other) {
            return other.name == f.name && other.parameters.size() > at &&
                   other.parameters[at].type == "const IntList&";
        });
        if (!beside_list) continue;
        added.push_back(f);
        added.back().parameters.back().type = "std::int64_t";
        added.back().parameters.back().default_value.clear();
    }
    all.insert(all.end(), added.begin(), added.end());
}

std::size_t required(const Function& f) {
    std::size_t count = 0;
    while (count < f.parameters.size() && f.parameters[count].default_value.empty()) ++count;
    return count;
}

/// Two overloads that take the same required arguments would be ambiguous: all but the first (ATen's default, else the
/// one with fewest parameters) require more.
void disambiguate(std::vector<Function>& all) {
    std::map<std::string, std::vector<Function*>> by_name;
    for (Function& f : all) by_name[f.name].push_back(&f);
    for (auto& [name, overloads] : by_name) {
        std::stable_sort(overloads.begin(), overloads.end(), [](const Function* a, const Function* b) {
            const auto rank = [](const Function* f) {
                return std::pair(!f->target.ends_with(".default"), f->parameters.size());
            };
            return rank(a) < rank(b);
        });
        std::set<std::string> taken;
        for (Function* f : overloads) {
            const auto key = [&] {
                std::string text;
                for (std::size_t i = 0; i < required(*f); ++i) text += f->parameters[i].type + ";";
                return text;
            };
            while (taken.contains(key())) {
                const std::size_t next = required(*f);
                if (next == f->parameters.size()) {
                    std::cerr << "ambiguous: " << f->target << "\n";
                    f->name.clear();
                    break;
                }
                f->parameters[next].default_value.clear();
            }
            taken.insert(key());
        }
    }
    std::erase_if(all, [](const Function& f) { return f.name.empty(); });
}

/// var(0) is a dimension, where C++ would rather make 0 a bool than a list. As LibTorch has it for int.
void add_dimensions(std::vector<Function>& all) {
    std::vector<Function> more;
    for (const Function& flag : all) {
        if (flag.parameters.size() < 2 || flag.parameters[1].type != "bool") continue;
        for (const Function& list : all) {
            if (list.name != flag.name || required(list) != 2 || list.parameters[1].type != "const IntList&") continue;
            for (const char* type : {"int", "std::int64_t"}) {
                Function one = list;
                one.parameters.resize(2);
                one.parameters[1].type = type;
                one.parameters[1].passed = "IntList(" + one.parameters[1].param.name + ")";
                more.push_back(std::move(one));
            }
        }
    }
    all.insert(all.end(), more.begin(), more.end());
}

std::string declaration(const Function& f, bool method, bool with_defaults, const std::string& scope) {
    std::string text = f.return_type + " " + scope + f.name + "(";
    for (std::size_t i = method ? 1 : 0; i < f.parameters.size(); ++i) {
        const Parameter& p = f.parameters[i];
        if (i > (method ? 1u : 0u)) text += ", ";
        text += p.type + " " + p.param.name;
        if (with_defaults && !p.default_value.empty()) text += " = " + p.default_value;
    }
    return text + ")" + (method ? " const" : "");
}

/// The op of the function's arguments, or those of the method on `*this`, issued where the user called it.
std::string body(const Function& f, bool method, const std::string& issue) {
    std::string text = " { return " + issue + "(\"" + f.target + "\", __builtin_return_address(0)";
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
        const Parameter& p = f.parameters[i];
        const std::string value = method && i == 0 ? "*this" : p.passed.empty() ? p.param.name : p.passed;
        text += ", " + (p.by_keyword ? "keyword(\"" + p.param.name + "\", " + value + ")" : value);
    }
    return text + "); }\n";
}

/// "aten.add.Tensor" -> "aten.add_.Tensor".
std::string in_place_target(const Function& f) { return "aten." + f.name + "_" + f.target.substr(f.target.rfind('.')); }
bool has_in_place(const Function& f) {
    return f.method && kInPlace.contains(f.name) && Registry::instance().in_place(in_place_target(f));
}
std::string in_place_declaration(const Function& f, bool with_defaults, const std::string& scope) {
    Function form = f;
    form.name += "_";
    form.return_type = "Tensor";
    return declaration(form, true, with_defaults, scope);
}
std::string in_place_body(const Function& f) {
    Function form = f;
    form.target = in_place_target(f);
    return body(form, true, "call_in_place");
}

bool hand_written(const Function& f, bool method) {
    return (method ? kHandWrittenMethods : kHandWrittenFunctions).contains(f.name);
}

void write(const std::string& folder, const std::string& file, const std::string& text) {
    std::ofstream out(folder + "/" + file);
    out << text;
    if (!out.flush()) throw Error({folder + "/" + file, {}}, "cannot write it");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: api_functions FOLDER\n";
        return 2;
    }
    const std::string origin = "// Generated from the registry by scripts/update api-functions; do not edit.\n";
    std::vector<Function> all = functions();
    add_integer_overloads(all);
    disambiguate(all);
    add_dimensions(all);
    std::string methods = origin + "// Methods of whittle::Tensor: included inside the class.\n// clang-format off\n";
    std::string header = origin +
                         "// ATen's operations as functions, one overload per ATen overload.\n#ifndef "
                         "WHITTLE_API_GENERATED_FUNCTIONS_H\n#define WHITTLE_API_GENERATED_FUNCTIONS_H\n\n#include "
                         "<whittle/api/tensor.h>\n\n// clang-format off\nWHITTLE_API_BEGIN\n\n";
    std::string source = origin +
                         "// clang-format off\n#define WHITTLE_API_IMPLEMENTATION\n#include "
                         "\"api/call.h\"\n\nnamespace whittle::api {\n\n";
    for (const Function& f : all) {
        if (!hand_written(f, false)) {
            header += "WHITTLE_API_CALL " + declaration(f, false, true, "") + ";\n";
            if (!kHandWrittenDefinitions.contains(f.name))
                source += declaration(f, false, false, "") + body(f, false, "call<" + f.return_type + ">");
        }
        if (f.method && !hand_written(f, true)) {
            methods += "    WHITTLE_API_CALL " + declaration(f, true, true, "") + ";\n";
            source += declaration(f, true, false, "Tensor::") + body(f, true, "call<" + f.return_type + ">");
        }
        if (has_in_place(f) && !kHandWrittenMethods.contains(f.name + "_")) {
            methods += "    WHITTLE_API_CALL " + in_place_declaration(f, true, "") + ";\n";
            source += in_place_declaration(f, false, "Tensor::") + in_place_body(f);
        }
    }
    methods += "// clang-format on\n";
    header += "\nWHITTLE_API_END\n// clang-format on\n\n#endif\n";
    source += "\n}  // namespace whittle::api\n";
    try {
        write(argv[1], "generated_methods.h", methods);
        write(argv[1], "generated_functions.h", header);
        write(argv[1], "generated_functions.cpp", source);
    } catch (const Error& error) {
        std::cerr << "api_functions: error: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
