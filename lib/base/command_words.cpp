#include "base/command_words.h"

#include <algorithm>
#include <sstream>

#include "base/words.h"

namespace whittle {

namespace {

constexpr std::string_view kUmbrella = "whittle";

bool by_whittle = false;  // set once, in main()

}  // namespace

std::string installed_name(const std::string& tool) { return WHITTLE_PROGRAM_PREFIX + tool; }

std::vector<std::string> program_words(const std::string& tool, std::vector<std::string> arguments) {
    std::vector<std::string> words;
    std::istringstream named(tool);
    for (std::string word; named >> word;) words.push_back(word);
    if (by_whittle && words.at(0) != kUmbrella)
        words.insert(words.begin(), std::string(kUmbrella));
    else if (words.at(0) != kUmbrella)
        words[0] = installed_name(words[0]);
    words.insert(words.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
    return words;
}

std::string program_called(const std::string& tool) { return join(program_words(tool), " "); }

std::string called_by_whittle(const std::string& tool) { return std::string(kUmbrella) + " " + tool; }

void remember_call(std::string_view argv0) {
    by_whittle = argv0.starts_with(called_by_whittle("")) || argv0.substr(argv0.rfind('/') + 1) == kUmbrella;
}

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
