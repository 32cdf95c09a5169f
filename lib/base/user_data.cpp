#include "base/user_data.h"

#include <cstdlib>

namespace whittle {

std::filesystem::path user_data_folder() {
    namespace fs = std::filesystem;
    const char *data = std::getenv("XDG_DATA_HOME"), *home = std::getenv("HOME");
    return (data && *data ? fs::path(data) : fs::path(home ? home : "/") / ".local" / "share") / "whittle";
}

}  // namespace whittle
