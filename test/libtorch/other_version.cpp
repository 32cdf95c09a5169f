// Makes a program's LibTorch say that it is of another version: OTHER_VERSION.
#include <cstdlib>
#include <map>
#include <string>

namespace caffe2 {
const std::map<std::string, std::string>& GetBuildOptions();
const std::map<std::string, std::string>& GetBuildOptions() {
    static const std::map<std::string, std::string> options = {{"TORCH_VERSION", std::getenv("OTHER_VERSION")}};
    return options;
}
}  // namespace caffe2
