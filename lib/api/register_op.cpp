#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/register_op.h>

#include <algorithm>

#include "api/call.h"
#include "api/op_kernel.h"
#include "base/error.h"
#include "base/words.h"
#include "graph/schema.h"
#include "graph/text.h"
#include "ops/core/custom.h"
#include "ops/core/memory.h"
#include "tensor/reach.h"

namespace whittle::api::detail {

/// An operation as the program declared it, and as graphs have it.
struct DeclaredOp {
    std::string text;  ///< of the schema
    Schema schema;
    OpSignature signature;
    OpKernel kernel, fake, backward;
    std::vector<std::size_t> written = {};  ///< parameters
    std::vector<std::size_t> given = {};    ///< results that are no parameter which is written
    std::string target = {};                ///< of the op in graphs, which gives `given`, then what is `written`
    std::string functional = {};            ///< its schema
};

namespace {

constexpr std::size_t kTensor = op_position<Tensor>();

/// "(Tensor, float) -> 1 tensor"
std::string types(const OpSignature& signature) {
    const std::string kinds = join(signature.kinds, [](std::size_t kind) { return type_of(kind); });
    return "(" + kinds + ") -> " + plural(signature.results, "tensor");
}

/// As type_of() spells it.
std::string alternative(const Param& param) {
    if (param.type == ParamType::int_list && !param.optional) return "int[]";
    return type_name(param);
}

/// "my::op.overload" -> "my.op.overload".
std::string target_of(const Schema& schema, const std::string& text) {
    const std::size_t colons = schema.name.find("::");
    if (colons == std::string::npos)
        throw schema_error(1, "'" + schema.name + "'", "NAMESPACE::NAME, for example my::scale,", text);
    const std::string name = schema.name.substr(colons + 2);
    return schema.name.substr(0, colons) + "." + name + (name.find('.') == std::string::npos ? ".default" : "");
}

void check_params(const DeclaredOp& op, const SchemaColumns& columns) {
    const std::vector<Param>& params = op.schema.params;
    const std::vector<std::size_t>& kinds = op.signature.kinds;
    if (params.size() != kinds.size())
        throw schema_error(columns.params.empty() ? op.schema.name.size() + 2 : columns.params.front(),
                           plural(params.size(), "parameter"),
                           std::to_string(kinds.size()) + " (the number of parameters of the function)", op.text);
    for (std::size_t i = 0; i < params.size(); ++i) {
        const std::string type = type_of(kinds[i]);
        if (alternative(params[i]) != type)
            throw schema_error(columns.params[i], "'" + type_name(params[i]) + " " + params[i].name + "'",
                               type + " (the type of this parameter in the function)", op.text);
        if (params[i].mutates && type != "Tensor")
            throw schema_error(columns.params[i], "a parameter of type " + type + " that the op writes to", "a Tensor",
                               op.text);
    }
}

/// A result is new, or the parameter that is written and of the same alias set.
void check_returns(DeclaredOp& op, const SchemaColumns& columns) {
    const std::vector<Return>& returns = op.schema.returns;
    if (returns.size() != op.signature.results)
        throw schema_error(columns.returns.empty() ? op.text.size() : columns.returns.front(),
                           plural(returns.size(), "result"),
                           std::to_string(op.signature.results) + " (the number of results of the function)", op.text);
    for (std::size_t i = 0; i < op.schema.params.size(); ++i)
        if (op.schema.params[i].mutates) op.written.push_back(i);
    for (std::size_t i = 0; i < returns.size(); ++i) {
        if (returns[i].list)
            throw schema_error(columns.returns[i], "a list of results", "a Tensor for each result", op.text);
        if (returns[i].alias.empty())
            op.given.push_back(i);
        else if (std::ranges::none_of(op.written,
                                      [&](std::size_t p) { return op.schema.params[p].alias == returns[i].alias; }))
            throw schema_error(columns.returns[i], "a result that is a view of a parameter",
                               "a new Tensor, or the alias set of a parameter that the op writes to", op.text);
    }
    if (op.given.empty() && op.written.empty())
        throw schema_error(op.text.find("->") + 1, "an op that has no result and writes to no parameter",
                           "at least one result or written parameter", op.text);
}

/// "(Tensor, Tensor)"
std::string tensors(std::size_t count) {
    std::string text = "(";
    for (std::size_t i = 0; i < count; ++i) text += i ? ", Tensor" : "Tensor";
    return text + ")";
}

/// Of what graphs have: nothing is written.
std::string functional_schema(const DeclaredOp& op) {
    std::string text = op.target.substr(op.target.find('.') + 1) + "(";
    bool keyword_only = false;
    for (const Param& param : op.schema.params) {
        if (text.back() != '(') text += ", ";
        if (param.keyword_only && !std::exchange(keyword_only, true)) text += "*, ";
        text += type_name(param) + " " + param.name;
        if (param.default_value) text += "=" + print(Graph(), *param.default_value);
    }
    return text + ") -> " + tensors(op.given.size() + op.written.size());
}

/// Graphs' texts escape what the schema's notation cannot.
void check_defaults(const DeclaredOp& op, const SchemaColumns& columns) {
    for (std::size_t i = 0; i < op.schema.params.size(); ++i) {
        const std::optional<Arg>& value = op.schema.params[i].default_value;
        const auto* text = value ? std::get_if<std::string>(&value->value) : nullptr;
        if (text && print(Graph(), *value) != '"' + *text + '"')
            throw schema_error(columns.params[i], "a default with quotes or backslashes",
                               "a default without quotes and backslashes", op.text);
    }
}

std::vector<whittle::Tensor> chosen(const std::vector<whittle::Tensor>& results, const std::vector<std::size_t>& of) {
    std::vector<whittle::Tensor> values;
    for (const std::size_t i : of) values.push_back(results.at(i).with_requires_grad(false));
    return values;
}

Tensor zeros_of(const ValueMeta& meta) { return wrap(laid_out(whittle::Tensor(meta.dtype, meta.sizes), meta.strides)); }

std::vector<ValueMeta> inferred(const DeclaredOp& op, const Arguments<ValueMeta>& arguments) {
    const std::vector<OpValue> zeros = values_of<ValueMeta>(arguments, op.signature.kinds, zeros_of);
    std::vector<ValueMeta> metas;
    for (const whittle::Tensor& result : chosen(run_kernel(op.fake ? op.fake : op.kernel, zeros, op.target), op.given))
        metas.push_back(ValueMeta::of(result));
    for (const std::size_t i : op.written) metas.push_back(arguments.tensor(op.schema.params[i].name));
    for (ValueMeta& meta : metas) meta.requires_grad = false;
    return metas;
}

/// The results and what is written, which is written to copies.
std::vector<whittle::Tensor> computed(const DeclaredOp& op, const Arguments<whittle::Tensor>& arguments) {
    const auto lent = [](const whittle::Tensor& tensor) { return wrap(tensor.with_requires_grad(false)); };
    std::vector<OpValue> values = values_of<whittle::Tensor>(arguments, op.signature.kinds, lent);
    std::vector<whittle::Tensor> copies;
    for (const std::size_t i : op.written) {
        copies.push_back(own_copy(arguments.tensor(op.schema.params[i].name)).with_requires_grad(false));
        values[i] = wrap(copies.back());
    }
    std::vector<whittle::Tensor> results = chosen(run_kernel(op.kernel, values, op.target), op.given);
    for (const whittle::Tensor& result : results)
        for (std::size_t i = 0; i < copies.size(); ++i)
            if (result.storage() == copies[i].storage())
                throw Error(op.target + ": found a result that shares memory with operand '" +
                                op.schema.params[op.written[i]].name +
                                "', expected a result with memory of its own, as the schema declares",
                            "return a clone() of the operand");
    results.insert(results.end(), copies.begin(), copies.end());
    return results;
}

// ---- Gradients

std::string backward_of(const DeclaredOp& op) { return op.target + "_backward"; }

/// Whether backward gives a gradient for it.
bool has_gradient(const Param& param) { return param.type == ParamType::tensor; }

std::size_t gradient_count(const DeclaredOp& op) {
    return static_cast<std::size_t>(std::ranges::count_if(op.schema.params, has_gradient));
}

std::string backward_schema(const DeclaredOp& op) {
    const std::string target = backward_of(op);
    std::string text = target.substr(target.find('.') + 1) + "(";
    for (const std::size_t i : op.given) text += "Tensor grad_of_result_" + std::to_string(i) + ", ";
    for (const Param& param : op.schema.params) text += type_name(param) + " " + param.name + ", ";
    text.resize(text.size() - 2);
    return text + ") -> " + tensors(gradient_count(op));
}

ValueMeta gradient_meta(const ValueMeta& operand) { return ValueMeta::contiguous(operand.dtype, operand.sizes); }
ValueMeta gradient_meta(const whittle::Tensor& operand) { return gradient_meta(ValueMeta::of(operand)); }

/// As the parameters are; where one is none, of nothing.
template <class T>
std::vector<ValueMeta> gradient_metas(const DeclaredOp& op, const Arguments<T>& arguments) {
    std::vector<ValueMeta> metas;
    for (const Param& param : op.schema.params) {
        if (!has_gradient(param)) continue;
        const std::optional<T> operand = arguments.optional_tensor(param.name);
        metas.push_back(operand ? gradient_meta(*operand) : ValueMeta::contiguous(DType::f32, {0}));
    }
    return metas;
}

/// What backward returns; what it leaves undefined is zero.
std::vector<whittle::Tensor> gradients(const DeclaredOp& op, const std::vector<std::size_t>& kinds,
                                       const Arguments<whittle::Tensor>& arguments) {
    const std::vector<ValueMeta> metas = gradient_metas(op, arguments);
    const OpKernel defined = [&](const std::vector<OpValue>& values) {
        TensorList results = op.backward(values);
        for (std::size_t i = 0; i < results.size(); ++i)
            if (!results[i].defined()) results[i] = zeros_of(metas.at(i));
        return results;
    };
    const auto lent = [](const whittle::Tensor& tensor) { return wrap(tensor.with_requires_grad(false)); };
    std::vector<whittle::Tensor> results =
        run_kernel(defined, values_of<whittle::Tensor>(arguments, kinds, lent), backward_of(op));
    for (std::size_t i = 0; i < results.size(); ++i) {
        results[i] = results[i].with_requires_grad(false).contiguous();
        if (const ValueMeta got = ValueMeta::of(results[i]); got.sizes != metas[i].sizes || got.dtype != metas[i].dtype)
            throw Error(backward_of(op) + ": gradient " + std::to_string(i) + " is " + print(got) + ", expected " +
                        print(metas[i]));
    }
    return results;
}

Arg argument_of(const Arguments<V>& arguments, const Param& param) {
    if (!arguments.has(param.name)) return {};
    switch (param.type) {
        case ParamType::tensor:
            return arg(arguments.tensor(param.name));
        case ParamType::tensor_list:
            return args_list(arguments.tensors(param.name));
        case ParamType::integer:
            return arguments.integer(param.name);
        case ParamType::number:
            return arguments.number(param.name);
        case ParamType::boolean:
            return arguments.boolean(param.name);
        case ParamType::text:
            return arguments.text(param.name);
        case ParamType::scalar:
            return arguments.scalar(param.name);
        case ParamType::dtype:
            return *arguments.dtype(param.name);
        case ParamType::int_list:
            return Arg::ints(arguments.integers(param.name));
        case ParamType::float_list: {
            const std::vector<double> numbers = arguments.numbers(param.name);
            return ArgList(numbers.begin(), numbers.end());
        }
        case ParamType::bool_list:
        case ParamType::text_list:
        case ParamType::graph:
            break;
    }
    WHITTLE_CHECK(false, "parameter '" + param.name + "' has a type that no function of an op takes");
    return {};
}

void add_gradient(const DeclaredOp& op, Gradients& call) {
    ArgList args;
    for (std::size_t i = 0; i < op.given.size(); ++i) args.push_back(call.grad(i));
    for (const Param& param : op.schema.params) args.push_back(argument_of(call, param));
    GraphBuilder& builder = call.builder();
    const Vs results = gradient_count(op) == 1 ? Vs{builder.call(backward_of(op), std::move(args))}
                                               : builder.call_multi(backward_of(op), std::move(args));
    std::size_t next = 0;
    for (const Param& param : op.schema.params)
        if (has_gradient(param)) call.set(param.name, results.at(next++));
}

void register_backward(const std::shared_ptr<const DeclaredOp>& op, const std::vector<std::size_t>& kinds) {
    whittle::register_op(
        {.target = backward_of(*op),
         .schema = backward_schema(*op),
         .infer = [op](const Arguments<ValueMeta>& arguments) { return gradient_metas(*op, arguments); },
         .eval = [op, kinds](const Arguments<whittle::Tensor>& a) { return gradients(*op, kinds, a); },
         .left_to_reference = true});
}

/// Registered is what the operation is now.
std::shared_ptr<const DeclaredOp> register_now(const DeclaredOp& op) {
    const auto now = std::make_shared<const DeclaredOp>(op);
    CustomOp custom{.target = op.target,
                    .schema = op.functional,
                    .infer = [now](const Arguments<ValueMeta>& arguments) { return inferred(*now, arguments); },
                    .eval = [now](const Arguments<whittle::Tensor>& arguments) { return computed(*now, arguments); },
                    .left_to_reference = true};
    if (op.backward) custom.grad = [now](Gradients& call) { add_gradient(*now, call); };
    whittle::register_op(std::move(custom));
    return now;
}

}  // namespace

std::shared_ptr<DeclaredOp> declare_op(const std::string& schema, const OpSignature& signature, OpKernel kernel) {
    const auto op = std::make_shared<DeclaredOp>();
    op->text = schema;
    op->schema = Schema::parse(schema);
    op->signature = signature;
    op->kernel = std::move(kernel);
    op->target = target_of(op->schema, schema);
    const SchemaColumns columns = SchemaColumns::of(schema);
    check_params(*op, columns);
    check_returns(*op, columns);
    if (!op->written.empty()) op->target += "_functional";
    check_defaults(*op, columns);
    op->functional = functional_schema(*op);
    register_now(*op);
    return op;
}

void declare_fake(DeclaredOp& op, const OpSignature& signature, OpKernel fake) {
    if (signature.kinds != op.signature.kinds || signature.results != op.signature.results)
        throw Error("register_fake: found a function of the type " + types(signature) + ", expected " +
                    types(op.signature) + ", the type in the schema \"" + op.text + "\"");
    op.fake = std::move(fake);
    register_now(op);
}

void declare_autograd(DeclaredOp& op, const OpSignature& signature, OpKernel backward) {
    if (!op.written.empty())
        throw Error("register_autograd: found the schema \"" + op.text +
                    "\" of an operation that writes to a parameter, expected an operation that writes to no parameter");
    OpSignature expected{std::vector<std::size_t>(op.given.size(), kTensor), gradient_count(op)};
    expected.kinds.insert(expected.kinds.end(), op.signature.kinds.begin(), op.signature.kinds.end());
    if (signature.kinds != expected.kinds || signature.results != expected.results)
        throw Error("register_autograd: found a function of the type " + types(signature) + ", expected " +
                    types(expected) +
                    ": the parameters are the gradient of each result, and then the parameters in the schema \"" +
                    op.text + "\"");
    op.backward = std::move(backward);
    register_backward(register_now(op), signature.kinds);
}

TensorList call_op(const DeclaredOp& op, const std::vector<OpValue>& arguments, void* pc) {
    const TensorList results = call_op(op.target.c_str(), arguments, pc);
    const auto argument = [&](std::size_t i) { return std::get<Tensor>(arguments.at(i)); };
    for (std::size_t i = 0; i < op.written.size(); ++i)
        call_in_place("aten.copy_.default", pc, argument(op.written[i]), results.at(op.given.size() + i));
    TensorList returned;
    std::size_t next = 0;
    for (const Return& each : op.schema.returns) {
        if (each.alias.empty()) {
            returned.push_back(results.at(next++));
            continue;
        }
        const auto of =
            std::ranges::find(op.written, each.alias, [&](std::size_t i) { return op.schema.params[i].alias; });
        returned.push_back(argument(*of));
    }
    return returned;
}

}  // namespace whittle::api::detail
