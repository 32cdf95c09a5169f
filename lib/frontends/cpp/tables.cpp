#include "frontends/cpp/tables.h"

#include <cstdio>

#include "frontends/cpp/description.h"
#include "probe/probe.h"

namespace whittle::cpp {
namespace {

std::string range_initializer(const Range& r) {
    return '{' + std::to_string(r.line) + "," + std::to_string(r.column) + "," + std::to_string(r.end_line) + "," +
           std::to_string(r.end_column) + "}";
}

/// "static const TYPE NAME[] = {…};", or nothing for an empty table; and how to refer to it.
struct Table {
    std::string definition, reference = "nullptr";
    std::size_t count = 0;

    template <class Items, class Print>
    Table(const char* type, const char* name, const Items& items, Print print) : count(items.size()) {
        if (items.empty()) return;
        reference = name;
        definition = std::string("static const ") + type + " " + name + "[] = {\n";
        for (const auto& item : items) definition += "{" + print(item) + "},\n";
        definition += "};\n";
    }
};

/// The description in its section: rows of text, since compilers limit literals; what pads a row is no part of it.
std::string description_array(StaticTables tables, const std::string& path) {
    constexpr std::size_t kRow = 4095;
    tables.analysis.file = path;
    const std::string text = description(tables) + "\n";
    std::string array = "static const char whittle_probe_description_[][4096] WHITTLE_PROBE_DESCRIPTION = {\n";
    for (std::size_t at = 0; at < text.size(); at += kRow) array += cpp_literal(text.substr(at, kRow)) + ",\n";
    return array + "};\n";
}

unsigned kind_number(SiteKind kind) {
    switch (kind) {
        case SiteKind::statement:
            return WHITTLE_PROBE_STATEMENT;
        case SiteKind::branch:
            return WHITTLE_PROBE_BRANCH;
        case SiteKind::effect:
            return WHITTLE_PROBE_EFFECT;
    }
    return 0;
}

}  // namespace

std::string cpp_literal(const std::string& text) {
    std::string literal = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\' || c == '?') literal += '\\';
        if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7f) {
            char escaped[5];
            std::snprintf(escaped, sizeof escaped, "\\%03o", static_cast<unsigned char>(c));
            literal += escaped;
        } else {
            literal += c;
        }
    }
    return literal + "\"";
}

std::string probed_file(const Probed& probed, const std::string& path, const std::string& probe_header) {
    const Table functions("whittle_probe_function", "whittle_probe_functions_", probed.analysis.functions,
                          [](const Function& f) { return cpp_literal(f.name) + "," + range_initializer(f.range); });
    const Table sites("whittle_probe_site", "whittle_probe_sites_", probed.sites, [](const Site& s) {
        return std::to_string(kind_number(s.kind)) + "," + std::to_string(s.function) + "," +
               range_initializer(s.range) + "," + cpp_literal(s.text) + "," + cpp_literal(s.what);
    });
    const Table predictions("whittle_probe_prediction", "whittle_probe_predictions_", probed.analysis.predictions,
                            [](const Prediction& p) {
                                return cpp_literal(std::string(name(p.kind))) + "," + std::to_string(p.function) + "," +
                                       (p.possible ? "1," : "0,") + range_initializer(p.range) + "," +
                                       cpp_literal(p.text) + "," + cpp_literal(p.reason);
                            });
    const std::string description = description_array({probed.analysis, probed.sites}, path);
    std::string text = "#include \"" + probe_header + "\"\n";  // a header's name has no escapes
    text += functions.definition + sites.definition + predictions.definition + description;
    text += "static const whittle_probe_file whittle_probe_file_ = {" + std::to_string(WHITTLE_PROBE_VERSION) + "," +
            cpp_literal(path);
    for (const Table* table : {&functions, &sites, &predictions}) text += ',' + std::to_string(table->count);
    for (const Table* table : {&functions, &sites, &predictions}) text += "," + table->reference;
    text += "};\n#line 1 " + cpp_literal(probed.analysis.file) + "\n";
    const bool marked = probed.text.starts_with("\xEF\xBB\xBF");  // a byte order mark is one only at the very beginning
    return text + (marked ? probed.text.substr(3) : probed.text);
}

}  // namespace whittle::cpp
