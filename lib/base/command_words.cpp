#include "base/command_words.h"

#include <algorithm>

namespace whittle {

std::string program_called(const std::string& tool) { return std::string(WHITTLE_PROGRAM_PREFIX) + tool; }

std::vector<std::string> with_option(std::vector<std::string> command, const std::string& option,
                                     std::optional<std::size_t> own_words) {
    const std::string name = option.substr(0, option.find('='));
    const auto has_name = [&](const std::string& word) { return word == name || word.starts_with(name + "="); };
    const auto all =
        command.begin() + static_cast<std::ptrdiff_t>(std::min(own_words.value_or(command.size()), command.size()));
    const auto own = std::find(command.begin(), all, "--");
    const auto place = std::find_if(command.begin(), own, has_name);
    if (place == own) {
        command.insert(own, option);
        return command;
    }
    *place = option;
    command.erase(std::remove_if(place + 1, own, has_name), own);
    return command;
}

}  // namespace whittle
