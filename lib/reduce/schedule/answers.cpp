#include "reduce/schedule/answers.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace whittle::reduce {

ScheduleAnswers::ScheduleAnswers(std::filesystem::path file, std::string failure, std::size_t repeat, bool resume)
    : file_(std::move(file)), failure_(std::move(failure)), repeat_(repeat) {
    if (file_.empty()) return;
    if (!resume) {
        std::filesystem::remove(file_);
        return;
    }
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);) {
        const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);  // the last one may be cut short
        if (json.is_discarded() || json["failure"] != failure_ || json["repeat"] != repeat_) continue;
        known_[json["left_out"]] = {static_cast<TestResult>(json["result"].get<int>()), json["fallen"]};
    }
}

std::optional<ScheduleAnswer> ScheduleAnswers::find(const Keys& left_out) const {
    const auto found = known_.find(left_out);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void ScheduleAnswers::add(const Keys& left_out, const ScheduleAnswer& answer) {
    if (file_.empty()) return;
    const nlohmann::json json{{"failure", failure_},
                              {"repeat", repeat_},
                              {"left_out", left_out},
                              {"result", static_cast<int>(answer.result)},
                              {"fallen", answer.fallen}};
    std::ofstream out(file_, std::ios::app);
    if (!(out << json.dump() << "\n" << std::flush)) throw Error({file_.string(), {}}, "cannot write the file");
}

}  // namespace whittle::reduce
