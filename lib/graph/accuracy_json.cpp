#include "graph/accuracy_json.h"

#include "graph/json_text.h"

namespace whittle {

std::string accuracy_json(const Accuracy& accuracy) {
    if (accuracy == Accuracy{}) return "";
    std::string text = "{\"mode\": \"" + std::string(name(accuracy.mode)) + '"';
    if (accuracy.multiplier != Accuracy{}.multiplier) text += ", \"multiplier\": " + json_number(accuracy.multiplier);
    std::string tolerances;
    for (const auto& [dtype, own] : accuracy.tolerances)
        tolerances += (tolerances.empty() ? "\"" : ", \"") + std::string(name(dtype)) +
                      "\": {\"rtol\": " + json_number(own.rtol) + ", \"atol\": " + json_number(own.atol) +
                      ", \"ulp\": " + json_number(own.ulp) + "}";
    if (!tolerances.empty()) text += ", \"tolerances\": {" + tolerances + "}";
    return text + "}";
}

Accuracy read_accuracy(const Document& in, const Document::Json& value) {
    in.only_members(value, {"mode", "multiplier", "tolerances"});
    Accuracy accuracy;
    const Document::Json& mode = in.member(value, "mode");
    if (const auto known = accuracy_mode_from_name(in.text(mode)))
        accuracy.mode = *known;
    else
        in.fail(mode, "close, fp64 or strict");
    if (const auto* multiplier = in.find(value, "multiplier")) accuracy.multiplier = in.number(*multiplier);
    const auto* tolerances = in.find(value, "tolerances");
    if (!tolerances) return accuracy;
    for (const auto& [key, own] : in.object(*tolerances).items()) {
        const auto dtype = dtype_from_name(key);
        if (!dtype) in.fail_found(own, "dtype '" + key + "'", dtype_names());
        in.only_members(own, {"rtol", "atol", "ulp"});
        accuracy.tolerances[*dtype] = {in.number(in.member(own, "rtol")), in.number(in.member(own, "atol")),
                                       in.number(in.member(own, "ulp"))};
    }
    return accuracy;
}

}  // namespace whittle
