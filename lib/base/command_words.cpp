#include "base/command_words.h"

#include <algorithm>

namespace whittle {

std::vector<std::string> with_option(std::vector<std::string> command, const std::string& option) {
    const auto own = std::find(command.begin(), command.end(), "--");
    if (std::find(command.begin(), own, option) == own) command.insert(own, option);
    return command;
}

}  // namespace whittle
