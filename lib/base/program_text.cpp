#include "base/program_text.h"

#include "base/error.h"

namespace whittle {

std::string fill_template(std::string_view name, const std::map<std::string, std::string>& values) {
    for (const ProgramTemplate& entry : program_templates()) {
        if (entry.name != name) continue;
        std::string out;
        std::string_view rest = entry.text;
        for (std::size_t at; (at = rest.find('@')) != std::string_view::npos;) {
            const std::size_t end = rest.find('@', at + 1);
            WHITTLE_CHECK(end != std::string_view::npos, "unpaired @ in template " + std::string(name));
            const auto value = values.find(std::string(rest.substr(at + 1, end - at - 1)));
            WHITTLE_CHECK(value != values.end(), "no value for " + std::string(rest.substr(at, end - at + 1)));
            out.append(rest.substr(0, at)).append(value->second);
            rest.remove_prefix(end + 1);
        }
        return out.append(rest);
    }
    report_bug("known template", __FILE__, __LINE__, std::string(name));
}

std::string chomped(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace whittle
