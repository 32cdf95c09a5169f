#include "backends/libtorch/module_call.h"

#include <ATen/core/function_schema.h>

#include <set>

#include "backends/libtorch/memory.h"
#include "base/error.h"
#include "base/words.h"
#include "graph/graph.h"
#include "graph/text.h"

namespace whittle::aten {
namespace {

class Caller {
  public:
    Caller(const torch::jit::Module& module, const std::map<std::string, Tensor>& given)
        : schema_(method_of(module).function().getSchema()), given_(given) {}

    /// forward()'s arguments behind self. Throws Error for those that are not given, or not as they should be.
    std::vector<c10::IValue> arguments() {
        std::vector<c10::IValue> values;
        const std::vector<c10::Argument>& parameters = schema_.arguments();
        for (std::size_t i = 1; i < parameters.size(); ++i) {
            const Tensor* const tensor = find(parameters[i].name(), i - 1);
            if (tensor)
                values.push_back(value_of(*tensor, parameters[i]));
            else if (parameters[i].default_value())
                values.push_back(*parameters[i].default_value());
            else
                throw Error("found no value for the parameter '" + declaration(parameters[i]) + "' of forward()",
                            "pass --input " + parameters[i].name() + "=" + form_of(parameters[i]));
        }
        for (const auto& [name, tensor] : given_)
            if (!used_.count(name))
                throw Error("forward() has no parameter for the input " + (name[0] == '#' ? name : "'" + name + "'"),
                            signature());
        return values;
    }

  private:
    static torch::jit::Method method_of(const torch::jit::Module& module) {
        if (const auto method = module.find_method("forward")) return *method;
        const std::string names =
            join(module.get_methods(), [](const torch::jit::Method& method) { return method.name(); });
        throw Error("the module has no method forward()",
                    names.empty() ? "" : "capture a program that calls another method of the module: " + names);
    }

    static std::string declaration(const c10::Argument& parameter) {
        return parameter.type()->annotation_str() + " " + parameter.name();
    }

    static std::string form_of(const c10::Argument& parameter) {
        return parameter.type()->isSubtypeOf(*c10::NumberType::get()) ? "NUMBER"
                                                                      : "FILE, or 'f32[2, 3]' for random numbers";
    }

    std::string signature() const {
        std::string text;
        for (std::size_t i = 1; i < schema_.arguments().size(); ++i)
            text += (text.empty() ? "" : ", ") + declaration(schema_.arguments()[i]);
        return "use the parameters of the module's method: forward(" + text + ")";
    }

    const Tensor* find(const std::string& name, std::size_t place) {
        for (const std::string& key : {name, "#" + std::to_string(place)})
            if (const auto found = given_.find(key); found != given_.end()) {
                used_.insert(found->first);
                return &found->second;
            }
        return nullptr;
    }

    c10::IValue value_of(const Tensor& given, const c10::Argument& parameter) {
        c10::TypePtr type = parameter.type();
        if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
        const at::Tensor tensor = memory_.lend(given);
        if (type->kind() == c10::TypeKind::TensorType) return tensor.clone();  // forward() may write to it
        const bool number = tensor.numel() == 1;
        if (type->kind() == c10::TypeKind::IntType && number && !tensor.is_floating_point())
            return tensor.item().toLong();
        if (type->kind() == c10::TypeKind::FloatType && number) return tensor.item().toDouble();
        if (type->kind() == c10::TypeKind::BoolType && number) return tensor.item().toBool();
        if (type->kind() == c10::TypeKind::NumberType && number) return tensor.item();
        const bool unknown = type->kind() != c10::TypeKind::IntType && type->kind() != c10::TypeKind::FloatType &&
                             type->kind() != c10::TypeKind::BoolType && type->kind() != c10::TypeKind::NumberType;
        if (unknown)
            throw Error("the parameter '" + declaration(parameter) + "' of forward() is neither a tensor nor a number",
                        "capture a program that loads the module and calls forward()");
        throw Error("the parameter '" + declaration(parameter) + "' of forward() does not accept " +
                        print(ValueMeta::of(given)),
                    "pass a tensor; for a number, pass a tensor of one element");
    }

    const c10::FunctionSchema& schema_;
    const std::map<std::string, Tensor>& given_;
    std::set<std::string> used_;
    Memory memory_;
};

}  // namespace

std::vector<c10::IValue> arguments_of_forward(const torch::jit::Module& module,
                                              const std::map<std::string, Tensor>& given) {
    return Caller(module, given).arguments();
}

std::string first_line(const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    return text.substr(0, text.find('\n'));
}

}  // namespace whittle::aten
