#include "frontends/cpp/command.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"

namespace whittle::cpp {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

/// Options that take the next word.
const std::set<std::string_view> kWithArgument = {"-o"sv,
                                                  "-MF"sv,
                                                  "-MT"sv,
                                                  "-MQ"sv,
                                                  "-MJ"sv,
                                                  "-I"sv,
                                                  "-isystem"sv,
                                                  "-iquote"sv,
                                                  "-idirafter"sv,
                                                  "-iprefix"sv,
                                                  "-isysroot"sv,
                                                  "-iwithprefix"sv,
                                                  "-include"sv,
                                                  "-imacros"sv,
                                                  "-D"sv,
                                                  "-U"sv,
                                                  "-x"sv,
                                                  "-Xclang"sv,
                                                  "-Xpreprocessor"sv,
                                                  "-Xassembler"sv,
                                                  "-Xlinker"sv,
                                                  "-target"sv,
                                                  "--target"sv,
                                                  "--param"sv,
                                                  "-aux-info"sv,
                                                  "-arch"sv,
                                                  "-L"sv,
                                                  "-l"sv,
                                                  "-T"sv,
                                                  "-u"sv,
                                                  "-z"sv,
                                                  "-B"sv,
                                                  "-imultilib"sv,
                                                  "-dumpbase"sv,
                                                  "-dumpdir"sv,
                                                  "-dumpbase-ext"sv,
                                                  "-include-pch"sv,
                                                  "-mllvm"sv,
                                                  "--sysroot"sv,
                                                  "-wrapper"sv,
                                                  "-specs"sv};

/// Kept for Clang with their next word.
const std::set<std::string_view> kParsingWithArgument = {
    "-I"sv,       "-isystem"sv, "-iquote"sv, "-idirafter"sv, "-iprefix"sv, "-isysroot"sv, "-iwithprefix"sv,
    "-imacros"sv, "-D"sv,       "-U"sv,      "-x"sv,         "-target"sv,  "--target"sv,  "--sysroot"sv};

/// Kept when a word is one of these.
const std::set<std::string_view> kParsing = {"-ansi"sv,
                                             "-pthread"sv,
                                             "-undef"sv,
                                             "-nostdinc"sv,
                                             "-nostdinc++"sv,
                                             "-nobuiltininc"sv,
                                             "-m32"sv,
                                             "-m64"sv,
                                             "-mx32"sv,
                                             "-fexceptions"sv,
                                             "-fno-exceptions"sv,
                                             "-frtti"sv,
                                             "-fno-rtti"sv,
                                             "-fopenmp"sv,
                                             "-fopenmp-simd"sv,
                                             "-fchar8_t"sv,
                                             "-fno-char8_t"sv,
                                             "-fsigned-char"sv,
                                             "-funsigned-char"sv,
                                             "-fno-signed-char"sv,
                                             "-fno-unsigned-char"sv,
                                             "-fshort-wchar"sv,
                                             "-fshort-enums"sv,
                                             "-fms-extensions"sv,
                                             "-fsized-deallocation"sv,
                                             "-fno-sized-deallocation"sv,
                                             "-faligned-new"sv,
                                             "-fno-aligned-new"sv,
                                             "-fno-operator-names"sv,
                                             "-fno-gnu-keywords"sv,
                                             "-ffast-math"sv,
                                             "-ffreestanding"sv,
                                             "-fhosted"sv,
                                             "-fPIC"sv,
                                             "-fpic"sv,
                                             "-fPIE"sv,
                                             "-fpie"sv,
                                             "-fblocks"sv,
                                             "-fwrapv"sv};

/// Kept when a word begins with one of these.
constexpr std::string_view kParsingPrefixes[] = {"-I",
                                                 "-isystem",
                                                 "-iquote",
                                                 "-idirafter",
                                                 "-isysroot",
                                                 "-imacros",
                                                 "-D",
                                                 "-U",
                                                 "-std=",
                                                 "--std=",
                                                 "-stdlib=",
                                                 "--sysroot=",
                                                 "--gcc-toolchain=",
                                                 "--target=",
                                                 "-ftemplate-depth",
                                                 "-fconstexpr-depth=",
                                                 "-march=",
                                                 "-mcpu=",
                                                 "-mtune=",
                                                 "-mavx",
                                                 "-msse",
                                                 "-mssse",
                                                 "-mfma",
                                                 "-mf16c",
                                                 "-mbmi",
                                                 "-mpopcnt",
                                                 "-mlzcnt",
                                                 "-maes",
                                                 "-O",
                                                 "-fno-builtin"};

bool is_source(const std::string& word) {
    static const std::set<std::string> extensions = {".cpp", ".cc", ".cxx", ".c++", ".C", ".cp", ".CPP"};
    return extensions.contains(fs::path(word).extension().string());
}

bool is_launcher(const std::string& word) {
    const std::string name = fs::path(word).filename();
    return name == "ccache" || name == "sccache" || name == "distcc" || name == "icecc" || name == "buildcache" ||
           name == "env" || (name.find('=') != std::string::npos && !word.starts_with("-"));
}

bool is_clang(const std::string& compiler) {
    return fs::path(compiler).filename().string().find("clang") != std::string::npos;
}

void expand(std::span<const std::string> words, int depth, Words& result) {
    for (const std::string& word : words) {
        if (word.size() > 1 && word.front() == '@' && depth < 8 && fs::is_regular_file(word.substr(1)))
            expand(shell_split(read_file(word.substr(1))), depth + 1, result);
        else
            result.push_back(word);
    }
}

/// What a command does instead of compiling one file to an object, by one of its words.
const char* other_purpose(const std::string& word) {
    if (word == "-E") return "only preprocesses";
    if (word == "-M" || word == "-MM") return "only lists the included files";
    if (word == "-fsyntax-only") return "only checks the syntax";
    if (word == "-emit-pch" || word == "-xc++-header" || word == "c++-header" || word == "-emit-module" ||
        word == "--precompile")
        return "precompiles a header";
    if (word == "-" || word == "-###" || word == "--version" || word == "-v" || word.starts_with("-print-") ||
        word == "-dumpversion" || word == "-dumpmachine")
        return "queries the compiler";
    return nullptr;
}

/// The depfile that -MD names after the output, or else after the source.
std::string default_depfile(const Command& command) {
    if (!command.output.empty()) return fs::path(command.output).replace_extension(".d");
    return fs::path(command.words[command.source]).filename().replace_extension(".d");
}

}  // namespace

Command parse_command(std::span<const std::string> words) {
    Command command;
    expand(words, 0, command.words);
    if (command.words.empty())
        throw Error("found no compiler, expected COMPILER ARGS…",
                    "name the compiler, for example " + program_called("trace") + " cc -- g++ -c file.cpp");
    const Words& all = command.words;
    while (command.compiler + 1 < all.size() && is_launcher(all[command.compiler])) ++command.compiler;
    bool object = false, depends = false, other_language = false;
    std::size_t sources = 0;
    for (std::size_t i = command.compiler + 1; i < all.size(); ++i) {
        const std::string& word = all[i];
        if (const char* purpose = other_purpose(word); purpose && command.other.empty()) command.other = purpose;
        if (word == "-c" || word == "-S") object = true;
        if (word == "-MD" || word == "-MMD") depends = true;
        if (word.starts_with("-save-temps"))
            command.refused = "-save-temps would keep files under the name of a temporary file";
        if (kWithArgument.contains(word) && i + 1 < all.size()) {
            const std::string& argument = all[++i];
            if (word == "-o") command.output = argument;
            if (word == "-MF") command.depfile = argument;
            if (word == "-x") other_language = argument != "c++" && argument != "none";
            if (word == "-x" && argument == "c++-header" && command.other.empty())
                command.other = "precompiles a header";
            if (word == "-Xclang")
                if (const char* purpose = other_purpose(argument); purpose && command.other.empty())
                    command.other = purpose;
            continue;
        }
        if (word.starts_with("-MF") && word.size() > 3) command.depfile = word.substr(3);
        if (word.starts_with("-o") && word.size() > 2) command.output = word.substr(2);
        if (word.starts_with("-x") && word.size() > 2) other_language = word != "-xc++";
        if (word.starts_with("-") || !(is_source(word) || all[i - 1] == "-xc++")) continue;
        command.source = i;
        ++sources;
    }
    if (!depends)
        command.depfile.clear();
    else if (command.depfile.empty() && sources == 1)
        command.depfile = default_depfile(command);
    if (command.other.empty() && !object && sources == 0) command.other = "links";
    if (command.other.empty() && (sources == 0 || other_language)) command.other = "compiles no C++";
    if (command.other.empty() && sources > 1) command.refused = "the command compiles several files at once";
    if (!command.other.empty()) command.source = 0;
    return command;
}

std::vector<std::string> clang_flags(std::span<const std::string> words) {
    const bool has_compiler = !words.empty() && !words.front().starts_with("-") && !is_source(words.front());
    Words flags;
    bool standard = false;
    for (std::size_t i = has_compiler ? 1 : 0; i < words.size(); ++i) {
        std::string word = words[i];
        const bool paired = kWithArgument.contains(word) && i + 1 < words.size();
        if (word == "-include" && paired) {
            // As cc1's own option: the driver would look for a precompiled header, which may be GCC's.
            for (const std::string& part : {"-Xclang"s, "-include"s, "-Xclang"s, words[i + 1]}) flags.push_back(part);
        } else if (word == "-Xclang" && paired && words[i + 1] == "-include" && i + 3 < words.size()) {
            for (const std::string& part : {"-Xclang"s, "-include"s, "-Xclang"s, words[i + 3]}) flags.push_back(part);
            i += 2;
        } else if (word == "-Xclang" && paired && words[i + 1] == "-include-pch") {
            i += 2;  // made by some other compiler or with other options
        } else if (kParsingWithArgument.contains(word) && paired) {
            flags.push_back(word), flags.push_back(words[i + 1]);
        } else if (word.starts_with("-Wp,-D") || word.starts_with("-Wp,-U")) {
            flags.push_back(word.substr(4));
        } else if (!paired && (kParsing.contains(word) ||
                               std::any_of(std::begin(kParsingPrefixes), std::end(kParsingPrefixes),
                                           [&](std::string_view prefix) { return word.starts_with(prefix); }))) {
            if (word.starts_with("-std=") || word.starts_with("--std=")) {
                standard = true;
                for (const auto& [newer, known] :
                     {std::pair("++23"sv, "++2b"sv), std::pair("++26"sv, "++2b"sv), std::pair("++2c"sv, "++2b"sv)})
                    if (word.ends_with(newer)) word.replace(word.size() - newer.size(), newer.size(), known);
            }
            flags.push_back(word);
        }
        if (paired) ++i;
    }
    // What GCC 11 and later default to; Clang 14 itself defaults to C++14.
    const bool clang = has_compiler && is_clang(words.front());
    if (!standard && !clang) flags.push_back("-std=gnu++17");
    return flags;
}

std::vector<std::string> without_side_outputs(const Command& command, const std::string& output) {
    Words words;
    for (std::size_t i = 0; i < command.words.size(); ++i) {
        const std::string& word = command.words[i];
        if (i > command.compiler) {
            if (word == "-o" || word == "-MF" || word == "-MT" || word == "-MQ" || word == "-MJ") {
                ++i;
                continue;
            }
            if (word == "-MD" || word == "-MMD" || word == "-MP" || word == "-MG" || word == "-gsplit-dwarf" ||
                word == "--coverage" || word == "-ftest-coverage" || word == "-fstack-usage" ||
                (word.starts_with("-o") && word.size() > 2) || word.starts_with("-MF"))
                continue;
        }
        words.push_back(word);
    }
    words.push_back("-o"), words.push_back(output);
    return words;
}

std::string make_quoted(const std::string& file) {
    std::string quoted;
    for (const char c : file) {
        if (c == ' ' || c == '\t' || c == '#') quoted += '\\';
        if (c == '$') quoted += '$';
        quoted += c;
    }
    return quoted;
}

}  // namespace whittle::cpp
