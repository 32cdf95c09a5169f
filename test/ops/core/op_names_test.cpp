// Which op a call is, is asked of the registry and of ops/aten/capture.h: no other source tells ops apart by name.
// Sources that issue calls name them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "ops/aten/capture.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

namespace fs = std::filesystem;

bool names_op(const std::string& literal) {
    return literal.starts_with("aten::") || Registry::instance().find(literal) ||
           capture_role(literal) != CaptureRole::call;
}

/// A list may well hold a word that is an op's name, too, or the target of a call to be issued. "equal" is a word of
/// guards as well, "index" one of expressions, "item" one of Python programs, and "aten::" the namespace alone.
bool names_capture(const std::string& literal) {
    if (literal == "aten::" || literal == "equal" || literal == "index" || literal == "item") return false;
    return literal.starts_with("aten::") || capture_role(literal) != CaptureRole::call;
}

/// The names of ops that the line compares with, or lists: what it would take to tell ops apart.
std::vector<std::string> told_apart(std::string line) {
    static const std::regex comment("(//|/\\*|^ *\\*).*");
    line = std::regex_replace(line, comment, "");
    static const std::regex compared("([!=]=|[{,]|_with\\(|contains\\(|case) *\"([^\"]*)\"");
    std::vector<std::string> names;
    for (std::sregex_iterator match(line.begin(), line.end(), compared), end; match != end; ++match) {
        const std::string literal = (*match)[2];
        // A list may well hold a word that is an op's name, too, or the target of a call to be issued.
        const bool listed = (*match)[1] == "{" || (*match)[1] == ",";
        if (listed ? names_capture(literal) : names_op(literal)) names.push_back(literal);
    }
    return names;
}

}  // namespace

TEST_CASE("names that tell ops apart are found", "[ops]") {
    CHECK(told_apart("if (node.target == \"aten.relu.default\") return;").size() == 1);
    CHECK(told_apart("if (op.name != \"aten::some_op_of_the_future\")").size() == 1);
    CHECK(told_apart("constexpr std::string_view kOps[] = {\"nonzero\", \"masked_select\"};").size() == 2);
    CHECK(told_apart("target.starts_with(\"onnx.Resize\")").size() == 1);
    CHECK(told_apart("builder.call(\"aten.relu.default\", {x});").empty());
    CHECK(told_apart("target.starts_with(\"aten.\")  // == \"aten.relu.default\"").empty());
}

TEST_CASE("only lib/ops tells ops apart by name", "[ops]") {
    const fs::path root = WHITTLE_SOURCE_DIR;
    std::string found;
    int read = 0;
    for (const char* folder : {"lib", "tools"})
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path file = fs::relative(entry.path(), root);
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
            if (file.generic_string().starts_with("lib/ops/")) continue;
            ++read;
            std::ifstream in(entry.path());
            int number = 0;
            for (std::string line; std::getline(in, line);) {
                ++number;
                if (line.find('"') == std::string::npos) continue;
                for (const std::string& name : told_apart(line))
                    found += file.string() + ':' + std::to_string(number) + ": \"" + name + "\"\n";
            }
        }
    CHECK(read > 100);
    CHECK(found == "");
}

TEST_CASE("autograd's own ops are told from those that it differentiates", "[ops]") {
    for (const char* own : {"aten.add.Tensor", "aten.ones_like.default", "aten.sum.dim_IntList"}) {
        CHECK(is_of_autograd(own));
        CHECK(Registry::instance().find(own));
    }
    CHECK_FALSE(is_of_autograd("aten.add.Scalar"));
    CHECK_FALSE(is_of_autograd("aten.threshold_backward.default"));
}

}  // namespace whittle
