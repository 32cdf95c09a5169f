#include "ops/core/inplace.h"

#include "base/error.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

bool has_in_place_form(const RegisteredOp& op) {
    const Schema& schema = op.schema;
    if (!op.name.starts_with("aten.") || schema.params.empty() || schema.returns.size() != 1) return false;
    const Param& self = schema.params.front();
    return self.type == ParamType::tensor && !self.optional && !schema.returns.front().list &&
           schema.returns.front().alias.empty();
}

/// "aten.add.Tensor" -> "aten.add_.Tensor".
std::string in_place_name(std::string_view functional) {
    const std::size_t overload = functional.rfind('.');
    return std::string(functional.substr(0, overload)) + "_" + std::string(functional.substr(overload));
}

}  // namespace

std::map<std::string, InPlaceForm, std::less<>> in_place_forms(std::span<const RegisteredOp> ops) {
    std::map<std::string, InPlaceForm, std::less<>> forms;
    for (const RegisteredOp& op : ops) {
        if (!has_in_place_form(op)) continue;
        InPlaceForm form{std::string(op.name), op.schema};
        const std::string target = in_place_name(op.name);
        form.schema.name = target.substr(target.find('.') + 1);
        form.schema.params.front().name = "self";
        form.schema.params.front().alias = 'a';
        form.schema.params.front().mutates = true;
        form.schema.returns.front().alias = 'a';
        forms.emplace(target, std::move(form));
    }
    for (const OtherName& row : other_names()) {
        const auto found = forms.find("aten." + std::string(row.of));
        if (found == forms.end()) continue;
        InPlaceForm form = found->second;
        form.schema.name = row.name;
        forms.emplace("aten." + form.schema.name, std::move(form));
    }
    return forms;
}

namespace {

std::optional<OutVariant> written_by(const RegisteredOp& op, const Node& call) {
    const std::vector<Return>& returns = op.schema.returns;
    if (returns.size() > call.kwargs.size() || returns.front().list || !returns.front().alias.empty()) return {};
    OutVariant variant{call, {}};
    Node& functional = variant.functional;
    functional.target = op.name;
    const auto first = functional.kwargs.end() - static_cast<std::ptrdiff_t>(returns.size());
    for (auto out = first; out != functional.kwargs.end(); ++out) {
        if (op.schema.param(out->first) || !out->second.node()) return {};
        variant.outs.push_back(out->second);
    }
    functional.kwargs.erase(first, functional.kwargs.end());
    try {
        bind_arguments(op.schema, functional);
        return variant;
    } catch (const Error&) {  // another overload
        return {};
    }
}

}  // namespace

std::optional<OutVariant> out_variant(const Node& call) {
    const std::string_view base = std::string_view(call.target).substr(0, call.target.rfind('.') + 1);
    for (const RegisteredOp& op : Registry::instance().all())
        if (op.name.starts_with(base))
            if (std::optional<OutVariant> variant = written_by(op, call)) return variant;
    return {};
}

}  // namespace whittle
