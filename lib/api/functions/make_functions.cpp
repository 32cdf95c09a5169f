// Writes the part of the API that follows from the registry: one C++ function per ATen op (an overload per ATen
// overload), and a method where its first operand is called self.
//   make_functions FOLDER    writes FOLDER/{methods.h,functions.h,functions.cpp}
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "ops/core/registry.h"
#include "printers/api_spelling.h"
#include "text/language.h"

namespace {

using namespace whittle;
using language::cpp;

using Names = std::set<std::string>;

Names words(const char* text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

/// Written by hand in tensor.h.
const Names kHandWrittenMethods = words("index index_put_ equal allclose item");
const Names kHandWrittenFunctions = words("scalar_tensor");
/// Declared here, defined in batch_norm.cpp.
const Names kHandWrittenDefinitions = words("batch_norm instance_norm native_batch_norm");
/// Of all in-place forms that could be derived, those that ATen has.
const Names kInPlace = words(R"(
    abs absolute acos acosh add addcdiv addcmul addmm addmv arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin
    asinh atan atan2 atanh baddbmm bernoulli bitwise_and bitwise_not bitwise_or bitwise_xor ceil celu clamp clamp_max
    clamp_min clip copy copysign cos cosh cumprod cumsum div divide elu eq erf erfc erfinv exp exp2 expm1 fill fix floor
    floor_divide fmod frac ge gelu greater greater_equal gt hardsigmoid hardswish hardtanh heaviside hypot index_add
    index_put le leaky_relu lerp less less_equal log log10 log1p log2 logical_and logical_not logical_or logical_xor
    logit lt masked_fill mish mul multiply nan_to_num ne neg negative not_equal pow reciprocal relu relu6 remainder round
    rsqrt scatter scatter_add scatter_reduce selu sgn sigmoid sign silu sin sinc sinh sqrt square sub subtract tan tanh
    threshold tril triu true_divide trunc xlogy zero)");

struct Parameter {
    std::string name = {}, type = {}, fallback = {};  ///< C++; no default: empty
    std::string passed = {};                          ///< passed on as this
};

struct Function {
    std::string name = {}, target = {}, return_type = {};
    std::vector<Parameter> parameters = {};
    bool in_place = false;

    bool is_method() const {
        return !parameters.empty() && parameters[0].name == "self" && parameters[0].type == "const Tensor&";
    }
    /// How many parameters have no default; they come first.
    std::size_t required() const {
        const auto has_fallback = [](const Parameter& p) { return !p.fallback.empty(); };
        return std::ranges::find_if(parameters, has_fallback) - parameters.begin();
    }
};

std::string literal(const Param& param, const Arg& arg) {
    if (arg.is_none()) return param.type == ParamType::tensor ? "OptionalTensor()" : "std::nullopt";
    if (const auto* i = std::get_if<std::int64_t>(&arg.value))
        return cpp.integer(*i) + (param.type == ParamType::number ? ".0" : "");
    if (const auto* d = std::get_if<double>(&arg.value)) return language::api_cpp.number(*d);
    if (const auto* b = std::get_if<bool>(&arg.value)) return cpp.boolean(*b);
    if (const auto* s = std::get_if<std::string>(&arg.value)) return cpp.quoted(*s);
    if (const auto* t = std::get_if<DType>(&arg.value)) return language::api_cpp.type(*t);
    if (const ArgList* list = arg.list())
        return "IntList{" + join(*list, [&](const Arg& element) { return literal(param, element); }) + "}";
    throw Error("the default of '" + param.name + "': found a value that no C++ literal expresses");
}

std::string cpp_type(const Param& param) {
    const auto value = [&](const std::string& type) { return param.optional ? "std::optional<" + type + ">" : type; };
    const auto reference = [](const std::string& type) { return "const " + type + "&"; };
    switch (param.type) {
        case ParamType::tensor:
            return reference(param.optional ? "OptionalTensor" : "Tensor");
        case ParamType::tensor_list:
            return reference(param.optional ? "std::vector<OptionalTensor>" : "TensorList");
        case ParamType::integer:
            return value("std::int64_t");
        case ParamType::number:
            return value("double");
        case ParamType::boolean:
            return value("bool");
        case ParamType::scalar:
            return reference(value("Scalar"));
        case ParamType::text:
            return reference(value("std::string"));
        case ParamType::dtype:
            return value("ScalarType");
        case ParamType::int_list:
            return reference("IntList");
        case ParamType::float_list:
            return reference("FloatList");
        case ParamType::bool_list:
            return reference("std::vector<bool>");
        default:
            throw Error("the parameter '" + param.name + "': found a type that the API does not have");
    }
}

std::string return_type(const std::vector<Return>& returns) {
    if (returns.size() == 1) return returns[0].list ? "TensorList" : "Tensor";
    std::string text;
    for (const Return& r : returns) {
        if (r.list)
            throw Error("the results: found a list beside other results, expected a single list or only tensors");
        text += text.empty() ? "Tensor" : ", Tensor";
    }
    if (text.empty()) throw Error("found no results, expected at least one");
    return "std::tuple<" + text + ">";
}

Function function_of(const RegisteredOp& op) {
    Function function{.name = op.name.substr(5, op.name.find('.', 5) - 5), .target = op.name};
    bool by_keyword = false;
    for (const Param& param : op.schema.params) {
        by_keyword |= param.keyword_only;
        if (printers::api_leaves_out(param)) {
            by_keyword = true;
            continue;
        }
        function.parameters.push_back(
            {.name = param.name,
             .type = cpp_type(param),
             .fallback = param.default_value ? literal(param, *param.default_value) : "",
             .passed = by_keyword ? "keyword(\"" + param.name + "\", " + param.name + ")" : param.name});
    }
    // C++ wants defaults last.
    bool required_after = false;
    for (std::size_t i = function.parameters.size(); i-- > 0;) {
        if (required_after) function.parameters[i].fallback.clear();
        required_after |= function.parameters[i].fallback.empty();
    }
    function.return_type = return_type(op.schema.returns);
    return function;
}

/// The API has neither devices nor layouts: an op that must be told one has another overload. A tensor of the API stays
/// what it is.
bool is_function(const RegisteredOp& op) {
    return op.name.starts_with("aten.") && !op.replaces_operand() &&
           std::ranges::none_of(op.schema.params, [](const Param& param) {
               return printers::api_leaves_out(param) && !param.default_value;
           });
}

std::vector<Function> functions() {
    std::vector<Function> all;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!is_function(op)) continue;
        try {
            all.push_back(function_of(op));
        } catch (Error& error) {
            error.locate({op.name, {}});
            throw;
        }
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
        added.back().parameters.back().fallback.clear();
    }
    all.insert(all.end(), added.begin(), added.end());
}

/// Two overloads that take the same required arguments would be ambiguous: all but the first (ATen's default, else the
/// one with fewest parameters) require more.
void disambiguate(std::vector<Function>& all) {
    std::map<std::string, std::vector<Function*>> by_name;
    for (Function& f : all) by_name[f.name].push_back(&f);
    for (auto& [name, overloads] : by_name) {
        std::ranges::stable_sort(overloads, {}, [](const Function* f) {
            return std::pair(!f->target.ends_with(".default"), f->parameters.size());
        });
        std::set<std::string> taken;
        for (Function* f : overloads) {
            const auto key = [&] {
                std::string text;
                for (std::size_t i = 0; i < f->required(); ++i) text += f->parameters[i].type + ";";
                return text;
            };
            while (!taken.insert(key()).second) {
                const std::size_t next = f->required();
                if (next == f->parameters.size())
                    throw Error({f->target, {}}, "found two ops whose C++ functions have the same parameters");
                f->parameters[next].fallback.clear();
            }
        }
    }
}

/// var(0) is a dimension, where C++ would rather make 0 a bool than a list. As LibTorch has it for int.
void add_dimensions(std::vector<Function>& all) {
    std::vector<Function> more;
    for (const Function& flag : all) {
        if (flag.parameters.size() < 2 || flag.parameters[1].type != "bool") continue;
        for (const Function& list : all) {
            if (list.name != flag.name || list.required() != 2 || list.parameters[1].type != "const IntList&") continue;
            for (const char* type : {"int", "std::int64_t"}) {
                Function one = list;
                one.parameters.resize(2);
                one.parameters[1].type = type;
                one.parameters[1].passed = "IntList(" + one.parameters[1].name + ")";
                more.push_back(std::move(one));
            }
        }
    }
    all.insert(all.end(), more.begin(), more.end());
}

/// "aten.add.Tensor" -> "aten.add_.Tensor".
Function in_place_form(Function f) {
    f.target.insert(f.target.rfind('.'), "_");
    f.name += "_";
    f.return_type = "Tensor";
    f.in_place = true;
    return f;
}

/// As a declaration, or as a definition begins.
std::string signature(const Function& f, bool method, bool definition) {
    std::string list;
    for (std::size_t i = method; i < f.parameters.size(); ++i) {
        const Parameter& p = f.parameters[i];
        list += (list.empty() ? "" : ", ") + p.type + " " + p.name;
        if (!definition && !p.fallback.empty()) list += " = " + p.fallback;
    }
    return f.return_type + (method && definition ? " Tensor::" : " ") + f.name + "(" + list + ")" +
           (method ? " const" : "");
}

/// The op of the function's arguments, or those of the method on `*this`, issued where the user called it.
std::string definition(const Function& f, bool method) {
    std::string text = signature(f, method, true) + " { return " +
                       (f.in_place ? "call_in_place" : "call<" + f.return_type + ">") + "(\"" + f.target +
                       "\", __builtin_return_address(0)" + (method ? ", *this" : "");
    for (std::size_t i = method; i < f.parameters.size(); ++i) text += ", " + f.parameters[i].passed;
    return text + "); }\n";
}

/// A file that is what it should be keeps its time: what includes it is not compiled again.
void write(const std::filesystem::path& path, const std::string& text) {
    if (!std::filesystem::exists(path) || read_file(path) != text) write_file(path, text);
}

void run(const std::filesystem::path& folder) {
    std::vector<Function> all = functions();
    add_integer_overloads(all);
    disambiguate(all);
    add_dimensions(all);
    const std::string note = "// Made of the registry by make_functions.\n";
    std::string methods = note + "// Methods of whittle::Tensor: included inside the class.\n";
    std::string header = note +
                         "// ATen's operations as functions, one overload per ATen overload.\n"
                         "#ifndef WHITTLE_ATEN_FUNCTIONS_H\n#define WHITTLE_ATEN_FUNCTIONS_H\n\n"
                         "#include <whittle/api/tensor.h>\n\nWHITTLE_API_BEGIN\n\n";
    std::string source = note +
                         "#define WHITTLE_API_IMPLEMENTATION\n#include \"api/call.h\"\n\n"
                         "namespace whittle::api {\n\n";
    const auto add_method = [&](const Function& f) {
        if (kHandWrittenMethods.contains(f.name)) return;
        methods += "    WHITTLE_API_CALL " + signature(f, true, false) + ";\n";
        source += definition(f, true);
    };
    for (const Function& f : all) {
        if (!kHandWrittenFunctions.contains(f.name)) {
            header += "WHITTLE_API_CALL " + signature(f, false, false) + ";\n";
            if (!kHandWrittenDefinitions.contains(f.name)) source += definition(f, false);
        }
        if (!f.is_method()) continue;
        add_method(f);
        const Function form = in_place_form(f);
        if (kInPlace.contains(f.name) && Registry::instance().in_place(form.target)) add_method(form);
    }
    write(folder / "methods.h", methods);
    write(folder / "functions.h", header + "\nWHITTLE_API_END\n\n#endif\n");
    write(folder / "functions.cpp", source + "\n}  // namespace whittle::api\n");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 2) throw Error("expected one argument: make_functions FOLDER");
        run(argv[1]);
        return 0;
    } catch (const Error& error) {
        std::cerr << "make_functions: error: " << error.what() << "\n";
        return 1;
    }
}
