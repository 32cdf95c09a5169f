#include "frontends/libtorch/symbolizer.h"

#include <algorithm>
#include <filesystem>

#include "frontends/libtorch/launch.h"
#include "frontends/libtorch/library_code.h"
#include "frontends/libtorch/python_code.h"
#include "symbolize/symbolizer.h"
#include "symbolize/text.h"

namespace whittle::libtorch {

struct Symbolizer::Impl {
    explicit Impl(std::span<const Mapping> mapped) : mappings(mapped.begin(), mapped.end()), library(mapped) {}

    bool is_users_library(const std::string& module) const {
        return !library.has_module(module) && module.find("/libwhittle_capture") == std::string::npos;
    }

    std::vector<Mapping> mappings;
    LibraryCode library;
    std::map<std::uint64_t, SourcePlace> interpreted;
    std::vector<LibraryFolder> python_libraries;
    bool runs_python = false;
    std::string program;
    std::unique_ptr<LineSymbolizer> symbolizer = make_symbolizer();
    std::map<std::uint64_t, std::vector<CodePlace>> places;
    SourceTexts sources;
};

Symbolizer::Symbolizer(const EventFile& file) : impl_(std::make_unique<Impl>(file.mappings)) {
    impl_->interpreted = file.places;
    impl_->python_libraries = file.python_libraries;
    impl_->runs_python = file.runs_python;
    if (!file.mappings.empty()) impl_->program = file.mappings.front().path;  // the loader's list starts with it
    // What interprets the program, or runs a module for us, is not what the user wrote.
    program_has_lines_ = file.runs_python || is_torchscript_runner(impl_->program);
    std::ranges::sort(impl_->mappings, {}, &Mapping::low);
}

Symbolizer::~Symbolizer() = default;

const std::vector<CodePlace>& Symbolizer::places(std::uint64_t return_address) {
    const auto [entry, fresh] = impl_->places.try_emplace(return_address);
    std::vector<CodePlace>& result = entry->second;
    if (!fresh) return result;
    if (const auto known = impl_->interpreted.find(return_address); known != impl_->interpreted.end()) {
        const SourcePlace& place = known->second;
        result.push_back({.function = place.function,
                          .file = place.file,
                          .line = place.line,
                          .module = {},
                          .address = return_address,
                          .called_module = place.module,
                          .interpreted = true,
                          .torchscript = place.language == Language::torchscript,
                          .resumable = place.resumable,
                          .text = place.text,
                          .user = impl_->runs_python ? is_users_python(place.file, impl_->python_libraries)
                                                     : place.entry || !is_torch_python(place.file)});
        return result;
    }
    const std::uint64_t pc = return_address - 1;
    auto mapping = std::ranges::upper_bound(impl_->mappings, pc, {}, &Mapping::low);
    CodePlace nowhere{.function = {}, .file = {}, .module = {}, .address = return_address};
    if (mapping == impl_->mappings.begin() || pc >= (--mapping)->high) {
        result.push_back(nowhere);
        return result;
    }
    nowhere.module = mapping->path;
    nowhere.offset = return_address - mapping->base;
    nowhere.in_program = mapping->path == impl_->program;
    const std::vector<LineInfo> lines = impl_->symbolizer->look_up(mapping->path, pc - mapping->base);
    // Of a Python program the interpreter and the packages' libraries are not the user's.
    nowhere.user = !impl_->runs_python ? nowhere.in_program || impl_->is_users_library(nowhere.module)
                                       : impl_->is_users_library(nowhere.module) &&
                                             is_users_python(nowhere.module, impl_->python_libraries);
    for (const LineInfo& info : lines) {
        CodePlace place = nowhere;
        place.function = without_parameters(info.function);
        if (!info.file.empty()) place.file = std::filesystem::path(info.file).lexically_normal().string();
        place.line = info.line;
        place.column = info.column;
        place.start_line = info.start_line;
        place.constructor = info.constructor;
        place.resumable = info.resumable;
        place.inlined = &info != &lines.back();
        // Libraries may have debug information too, and their headers' functions are inlined into the user's.
        place.user = nowhere.user && !impl_->library.has_source(place.file);
        if (place.in_program && !place.file.empty()) program_has_lines_ = true;
        result.push_back(std::move(place));
    }
    if (result.empty()) result.push_back(nowhere);
    return result;
}

bool Symbolizer::is_ours(const CodePlace& place) const {
    return place.in_program && is_torchscript_runner(impl_->program);
}

std::string Symbolizer::source_text(const std::string& file, int line) { return impl_->sources.line(file, line); }

namespace {

/// "void train<float>" -> "train<float>": the symbol of a template says what it returns.
std::string without_return_type(const std::string& function) {
    int depth = 0;
    for (std::size_t i = function.size(); i-- > 0;) {
        const char c = function[i];
        if (c == '>' || c == ')' || c == '}') ++depth;
        if (c == '<' || c == '(' || c == '{') --depth;
        if (c != ' ' || depth != 0) continue;
        const bool is_operator = function.rfind("operator", i) != std::string::npos;  // "X::operator bool"
        return is_operator || i + 1 == function.size() ? function : function.substr(i + 1);
    }
    return function;
}

}  // namespace

std::string name_by_place(std::string function, const std::string& file, int start_line) {
    constexpr std::string_view kCall = "operator()";
    function = without_anonymous(std::move(function));
    if (function.find('<') != std::string::npos && !function.ends_with(kCall)) return without_return_type(function);
    if (!function.ends_with(kCall)) return function;
    std::string scope = function.substr(0, function.size() - kCall.size());
    bool lambda = scope.empty();  // short names are all that debug information has of some
    for (const char* mark : {"{lambda", "'lambda", "$_"})
        if (const auto at = scope.find(mark); at != std::string::npos) {
            scope.resize(at);
            lambda = true;
        }
    if (!lambda) return function;
    if (scope.ends_with("::")) scope = without_parameters(scope.substr(0, scope.size() - 2)) + "::";
    const std::string name = std::filesystem::path(file).filename().string();
    return scope +
           (start_line ? "{lambda at " + name + ":" + std::to_string(start_line) + "}" : "{lambda in " + name + "}");
}

}  // namespace whittle::libtorch
