#include "ops/core/custom.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "base/error.h"
#include "ops/core/memory.h"

namespace whittle {
namespace {

struct Entry {
    std::string target, schema;
    CustomOp functions;
    OpDef def;
    RegisteredOp op;
};

struct Table {
    std::shared_mutex mutex;
    std::map<std::string, std::unique_ptr<Entry>, std::less<>> by_target;
    std::map<const Schema*, const Entry*> by_schema;
};

Table& table() {
    static Table* const table = new Table;  // outlives the program's own globals
    return *table;
}

/// What was registered under the schema that a call's arguments are bound to.
CustomOp functions_of(const Schema& schema) {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    return all.by_schema.at(&schema)->functions;
}

/// Nobody knows what a library does to memory that it does not declare.
std::vector<Tensor> eval_on_copies(const Arguments<Tensor>& a) {
    std::set<NodeId> declared;
    for (std::size_t i = 0; i < a.bound().size(); ++i)
        if (const NodeRef* ref = a.bound()[i].node(); ref && !a.schema().params[i].alias.empty())
            declared.insert(ref->id);
    std::map<NodeId, Tensor> copies;
    const auto given = [&](NodeRef operand) {
        const Tensor value = a.value(operand);
        if (declared.contains(operand.id)) return value;
        return copies.try_emplace(operand.id, own_copy(value)).first->second;
    };
    return functions_of(a.schema()).eval(Arguments<Tensor>(a.schema(), &a.bound(), given));
}

bool is_name(std::string_view text) { return !text.empty() && identifier(text) == text; }

bool has_parts(std::string_view target) {
    std::size_t parts = 1;
    for (std::size_t dot; (dot = target.find('.')) != std::string_view::npos; target.remove_prefix(dot + 1), ++parts)
        if (!is_name(target.substr(0, dot))) return false;
    return is_name(target) && (parts == 2 || parts == 3);
}

void check_target(const std::string& target) {
    const std::string dialect = target.substr(0, target.find('.'));
    if (!has_parts(target))
        throw Error("found the op name '" + target + "', expected NAMESPACE.NAME, for example mylib.scale");
    for (const RegisteredOp& op : Registry::instance().all())
        if (op.name.substr(0, op.name.find('.')) == dialect)
            throw Error("found the op name '" + target + "', expected a namespace other than " + dialect +
                        ", which holds built-in ops");
}

}  // namespace

const RegisteredOp& register_op(CustomOp op) {
    check_target(op.target);
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    std::unique_ptr<Entry>& entry = all.by_target[op.target];
    if (entry && entry->schema != op.schema)
        throw Error("op " + op.target + ": found the schema " + op.schema + ", expected " + entry->schema +
                    ", the schema that the op was registered with");
    if (!entry) {
        entry = std::make_unique<Entry>();
        entry->target = op.target;
        entry->schema = op.schema;
        entry->def = {
            .doc = "an op that the program defines",
            .schema = entry->schema,
            .infer = [](const Arguments<ValueMeta>& a) { return functions_of(a.schema()).infer(a); },
            .eval = op.library.empty() ? [](const Arguments<Tensor>& a) { return functions_of(a.schema()).eval(a); }
                                       : eval_on_copies,
        };
        entry->op = {&entry->def, Schema::parse(entry->schema), entry->schema, entry->target};
        all.by_schema[&entry->op.schema] = entry.get();
    }
    entry->functions = std::move(op);
    entry->def.grad = entry->functions.grad
                          ? GradientRule([](Gradients& call) { functions_of(call.schema()).grad(call); })
                          : GradientRule();
    return entry->op;
}

const RegisteredOp* custom_op(std::string_view target) {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    const auto found = all.by_target.find(target);
    return found == all.by_target.end() ? nullptr : &found->second->op;
}

std::vector<Tensor> run_custom(const RegisteredOp& op, const Arguments<Tensor>& arguments) {
    return functions_of(op.schema).eval(arguments);
}

bool left_to_reference(std::string_view target) {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    const auto found = all.by_target.find(target);
    return found != all.by_target.end() && found->second->functions.left_to_reference;
}

std::string op_library(std::string_view target) {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    const auto found = all.by_target.find(target);
    return found == all.by_target.end() ? "" : found->second->functions.library;
}

std::vector<std::string> op_libraries() {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    std::set<std::string> files;
    for (const auto& [target, entry] : all.by_target)
        if (!entry->functions.library.empty()) files.insert(entry->functions.library);
    return {files.begin(), files.end()};
}

}  // namespace whittle
