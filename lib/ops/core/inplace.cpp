#include "ops/core/inplace.h"

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

}  // namespace whittle
