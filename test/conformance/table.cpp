#include "table.h"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace whittle::conformance {
namespace {

struct Row {
    std::set<std::string> models;
    std::map<std::string, std::map<Verdict, int>> verdicts;  ///< by backend
    std::size_t calls = 0, told = 0, helped = 0, kernels = 0;

    void add(const Report& report) {
        models.insert(report.model);
        ++verdicts[report.backend][report.judged.verdict];
        calls += report.judged.calls;
        told += report.judged.told;
        helped += report.judged.helped;
        kernels += report.judged.kernels;
    }
};

void print_row(std::ostream& out, const std::string& name, const Row& row, const std::set<std::string>& backends) {
    out << std::left << std::setw(44) << name << std::right << std::setw(7) << row.models.size();
    for (const std::string& backend : backends)
        for (const Verdict verdict : kVerdicts) {
            const auto counts = row.verdicts.find(backend);
            const auto count = counts == row.verdicts.end()       ? 0
                               : counts->second.contains(verdict) ? counts->second.at(verdict)
                                                                  : 0;
            out << std::setw(verdict == Verdict::pass ? 9 : 7) << (count ? std::to_string(count) : ".");
        }
    out << std::setw(9) << row.calls << std::setw(7) << row.told << std::setw(8) << row.helped << std::setw(9)
        << row.kernels << "\n";
}

}  // namespace

std::string to_line(const Report& report) {
    const Judged& judged = report.judged;
    return nlohmann::json{{"model", report.model},     {"backend", report.backend},
                          {"ops", report.ops},         {"verdict", name(judged.verdict)},
                          {"message", judged.message}, {"calls", judged.calls},
                          {"told", judged.told},       {"helped", judged.helped},
                          {"kernels", judged.kernels}}
        .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

Report report_from_line(const std::string& line) {
    try {
        const nlohmann::json json = nlohmann::json::parse(line);
        const auto* verdict =
            std::ranges::find(kVerdicts, json.at("verdict").get<std::string>(), [](Verdict v) { return name(v); });
        if (verdict == std::end(kVerdicts)) throw Error("found the verdict " + json.at("verdict").dump());
        return {.model = json.at("model"),
                .backend = json.at("backend"),
                .ops = json.at("ops"),
                .judged = {.verdict = *verdict,
                           .message = json.at("message"),
                           .calls = json.at("calls"),
                           .told = json.at("told"),
                           .helped = json.at("helped"),
                           .kernels = json.at("kernels")}};
    } catch (const nlohmann::json::exception& error) {
        throw Error("found no report of a model: " + std::string(error.what()));
    }
}

void print_table(std::ostream& out, const std::vector<Report>& reports) {
    std::map<std::string, Row> rows;
    std::set<std::string> backends;
    Row all;
    for (const Report& report : reports) {
        backends.insert(report.backend);
        for (const std::string& op : report.ops) rows[op].add(report);
        all.add(report);
    }
    out << std::left << std::setw(44) << "" << std::right << std::setw(7) << "";
    for (const std::string& backend : backends) out << "  " << std::left << std::setw(42) << backend << std::right;
    out << "\n" << std::left << std::setw(44) << "op" << std::right << std::setw(7) << "models";
    for (std::size_t i = 0; i < backends.size(); ++i)
        for (const Verdict verdict : kVerdicts)
            out << std::setw(verdict == Verdict::pass ? 9 : 7)
                << (verdict == Verdict::unsupported ? "unsup." : name(verdict));
    out << std::setw(9) << "calls" << std::setw(7) << "told" << std::setw(8) << "helped" << std::setw(9) << "kernels"
        << "\n";
    for (const auto& [op, row] : rows) print_row(out, op, row, backends);
    print_row(out, "all", all, backends);
}

}  // namespace whittle::conformance
