#include "report/text_parts.h"

#include <algorithm>
#include <span>

#include "base/words.h"

namespace whittle::report {

std::string table(const std::vector<Row>& rows, const TableForm& form) {
    std::vector<std::size_t> widths(rows[0].size());
    for (const Row& row : std::span(rows).subspan(1))
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    const std::size_t shown = form.most ? 1 + whittle::shown_of(rows.size() - 1, form.most) : rows.size();
    std::string text;
    for (const Row& row : std::span(rows).first(shown)) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (!widths[c]) continue;
            const std::size_t width = std::max(widths[c], rows[0][c].size());
            line += "  " + (c < form.right ? pad_left(row[c], width) : pad_right(row[c], width));
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += shortened(line, form.columns) + "\n";
    }
    return text + rest_text(2, rows.size(), shown);
}

std::string line_of(const std::vector<StackFrame>& stack) {
    return stack.empty() ? "" : stack.front().file + ":" + std::to_string(stack.front().line);
}

std::string whole_text(const Outcome& outcome) {
    return "whole graph: " + std::string(name(outcome.kind)) + (outcome.failed() ? ": " + outcome.message : "") + "\n";
}

std::size_t shown_of(std::size_t all, std::size_t most, const TextOptions& options) {
    return options.verbose ? all : whittle::shown_of(all, most);
}

std::string rest_text(std::size_t blanks, std::size_t all, std::size_t shown) {
    if (shown == all) return {};
    return std::string(blanks, ' ') + "and " + std::to_string(all - shown) + " more (--verbose lists all)\n";
}

std::string reason_text(int number, const std::string& heading, const std::vector<std::string>& places,
                        std::string_view hint, const TextOptions& options) {
    constexpr std::size_t kPlaces = 3;
    std::string text = '\n' + std::to_string(number) + ". " + heading + "\n";
    const std::size_t shown = shown_of(places.size(), kPlaces, options);
    for (std::size_t i = 0; i < shown; ++i) text += places[i];
    text += rest_text(3, places.size(), shown);
    if (!hint.empty()) text.append("   hint: ").append(hint) += "\n";
    return text;
}

}  // namespace whittle::report
