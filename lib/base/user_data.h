// Where the user's own data lie: https://specifications.freedesktop.org/basedir-spec
#pragma once

#include <filesystem>

namespace whittle {

/// whittle in $XDG_DATA_HOME, or in ~/.local/share, as the scripts have it that install something there.
std::filesystem::path user_data_folder();

}  // namespace whittle
