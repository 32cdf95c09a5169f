#include "cli/messages.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {

namespace {

/// One line, whatever the message holds: a path may contain a line break, a compiler's words many.
std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return text;
}

struct Style {
    const char *begin, *end;
};

Style style(const Tool& tool, const char* begin) {
    return tool.shared().color_err ? Style{begin, "\033[0m"} : Style{"", ""};
}

void print_line(const Tool& tool, const char* kind, const char* color, std::string_view text) {
    const Style paint = style(tool, color);
    std::fprintf(stderr, "%s: %s%s:%s %s\n", tool.called().c_str(), paint.begin, kind, paint.end,
                 one_line(std::string(text)).c_str());
}

nlohmann::json to_json(const Error& error) {
    nlohmann::json json = {{"message", error.message()}};
    if (!error.hint().empty()) json["hint"] = error.hint();
    if (!error.where().file.empty()) json["file"] = error.where().file;
    if (!error.where().position.empty()) json["position"] = error.where().position;
    return {{"error", std::move(json)}};
}

}  // namespace

void report_error(const Tool& tool, const Error& error) {
    if (tool.shared().log_elsewhere) log_error(LogChannel::cli, error.what());
    print_line(tool, "error", "\033[1;31m", Error(error.where(), error.message()).what());
    if (!error.hint().empty()) {
        const Style paint = style(tool, "\033[1;36m");
        std::fprintf(stderr, "%shint:%s %s\n", paint.begin, paint.end, one_line(error.hint()).c_str());
    }
}

void print_error(const Tool& tool, const Error& error) {
    report_error(tool, error);
    if (!tool.shared().json) return;
    print_json(to_json(error));
    std::fflush(stdout);
}

void warn(const Tool& tool, std::string_view text) {
    if (!tool.shared().quiet) print_line(tool, "warning", "\033[1;33m", text);
}

void note(const Tool& tool, std::string_view text) {
    if (!tool.shared().quiet) print_line(tool, "note", "\033[1;36m", text);
}

}  // namespace whittle::cli
