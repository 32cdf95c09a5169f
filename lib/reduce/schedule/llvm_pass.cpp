#include "reduce/schedule/llvm_pass.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"

namespace whittle::reduce {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kRan = "BISECT: running pass (", kSkipped = "BISECT: NOT running pass (";
constexpr std::string_view kFunction = " on function (";

/// A line of the bisection; number 0: another line.
LlvmPass pass_of(const std::string& line) {
    LlvmPass pass;
    const std::size_t begin = line.starts_with(kRan)       ? kRan.size()
                              : line.starts_with(kSkipped) ? kSkipped.size()
                                                           : std::string::npos;
    const std::size_t end = begin == std::string::npos ? begin : line.find(") ", begin);
    if (end == std::string::npos) return pass;
    pass.number = std::atoll(line.substr(begin, end - begin).c_str());
    pass.name = line.substr(end + 2);
    const std::size_t function = pass.name.rfind(kFunction);
    if (function != std::string::npos && pass.name.ends_with(')'))
        pass.function =
            pass.name.substr(function + kFunction.size(), pass.name.size() - function - kFunction.size() - 1);
    return pass;
}

/// The first one from the number on that names a function.
LlvmPass next_of_function(const std::string& printed, std::int64_t number) {
    std::istringstream in(printed);
    for (std::string line; std::getline(in, line);)
        if (LlvmPass pass = pass_of(line); pass.number >= number && !pass.function.empty()) return pass;
    return {};
}

/// Where LLVM's llc may be.
std::vector<std::string> llc_programs() {
    std::vector<std::string> all;
    if (const auto found = program_path("llc")) all.push_back(found->string());
    std::set<std::string> others;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib", ignored))
        if (const fs::path llc = entry.path() / "bin" / "llc";
            entry.path().filename().string().starts_with("llvm-") && fs::exists(llc, ignored))
            others.insert(llc.string());
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

std::vector<std::string> llc_command(const std::string& program, std::int64_t limit, const std::string& file,
                                     const std::string& output) {
    return {program, "-O3", "-relocation-model=pic", "-opt-bisect-limit=" + std::to_string(limit), file, "-o", output};
}

constexpr std::int64_t kAllPasses = std::int64_t(1) << 24;
constexpr std::chrono::seconds kLimit{60};

ProcessResult run_llc(const std::string& program, const fs::path& module) {
    constexpr std::size_t kMostPrinted = std::size_t(64) << 20;
    return run_process(llc_command(program, kAllPasses, module.string(), "/dev/null"),
                       {.timeout = kLimit, .output_limit = kMostPrinted});
}

/// The last pass that ran.
LlvmPass last_pass(const std::string& printed) {
    LlvmPass last;
    std::istringstream in(printed);
    for (std::string line; std::getline(in, line);)
        if (LlvmPass pass = pass_of(line); pass.number && line.starts_with(kRan)) last = std::move(pass);
    return last;
}

/// What the pass is called for each function and loop.
std::string pass_kind(const LlvmPass& pass) { return pass.name.substr(0, pass.name.rfind(" on ")); }

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// A script that ends with status 0 where llc fails in a pass of this kind. It keeps the module then: llvm-reduce
/// writes none where its time is over.
std::string failing_script(const std::string& llc, const std::string& kind, const fs::path& kept) {
    const std::string run =
        replaced(shell_quote(llc_command(llc, kAllPasses, "MODULE", "/dev/null")), "MODULE", "\"$1\"");
    return "#!/bin/sh\nprinted=$(timeout 10 " + run +
           " 2>&1) && exit 1\n"
           "[ $? != 124 ] || exit 1\n"
           "last=$(printf '%s\\n' \"$printed\" | sed -n 's/^BISECT: running pass ([0-9]*) //p' | tail -n 1)\n"
           "[ \"${last% on *}\" = " +
           shell_quote({kind}) + " ] && cp \"$1\" " + shell_quote({kept.string()}) + "\n";
}

/// Makes the module smaller as long as llc fails in the pass. `ran`: llc, on the module.
void reduce_module(const std::string& llc, const ProcessResult& ran, const fs::path& module, LlvmPass& pass) {
    if (ran.good() || ran.timed_out || pass_kind(last_pass(ran.err)) != pass_kind(pass)) {
        pass.not_reduced =
            "llc does not fail in the pass; only a run of the program shows whether the code of llc is right";
        return;
    }
    const fs::path reducer = fs::canonical(*program_path(llc)).parent_path() / "llvm-reduce";
    if (!fs::exists(reducer)) {
        pass.not_reduced = "llvm-reduce is not installed: there is no " + reducer.string();
        return;
    }
    const fs::path script = module.parent_path() / "fails.sh", kept = module.parent_path() / "kept.ll";
    write_file(script, failing_script(llc, pass_kind(pass), kept));
    fs::permissions(script, fs::perms::owner_all);
    const ProcessResult reduced = run_process({reducer.string(), "--test=" + script.string(), module.string()},
                                              {.folder = module.parent_path(), .timeout = kLimit});
    const std::string smaller = fs::exists(kept) ? read_file(kept) : "";
    if (smaller.empty() || lines_of(smaller) >= lines_of(pass.module)) {
        pass.not_reduced = "llvm-reduce " + (reduced.good() ? "found no smaller module" : ending_of(reduced));
        return;
    }
    pass.lines_before = lines_of(pass.module);
    pass.module = smaller;
    pass.number_in_llc = last_pass(run_llc(llc, kept).err).number;
}

/// Looks for an llc that has the same passes.
void find_llc(const std::string& printed, LlvmPass& pass) {
    const TempDir folder("whittle-llc");
    const fs::path module = folder.path() / "module.ll";
    write_file(module, pass.module);
    for (const std::string& program : llc_programs()) {
        const ProcessResult ran = run_llc(program, module);
        const auto number = number_among(printed, ran.err, pass);
        if (!number) continue;
        pass.number_in_llc = *number;
        reduce_module(program, ran, module, pass);
        pass.llc = llc_command(program, pass.number_in_llc, "{}", "after.s");
        return;
    }
}

}  // namespace

LlvmPass pass_numbered(const std::string& printed, std::int64_t number) {
    std::istringstream in(printed);
    for (std::string line; std::getline(in, line);) {
        LlvmPass pass = pass_of(line);
        if (pass.number != number) continue;
        if (pass.function.empty()) pass.function = next_of_function(printed, number).function;
        return pass;
    }
    return {.number = number};
}

std::optional<std::int64_t> number_among(const std::string& printed, const std::string& by_others,
                                         const LlvmPass& pass) {
    const LlvmPass named = next_of_function(printed, pass.number);  // a loop has no name
    std::istringstream in(by_others);
    for (std::string line; named.number && std::getline(in, line);) {
        const LlvmPass other = pass_of(line);
        if (other.number == 0 || other.name != named.name) continue;
        const std::int64_t number = other.number - (named.number - pass.number);
        if (number > 0 && pass_numbered(by_others, number).name == pass.name) return number;
    }
    return std::nullopt;
}

std::string first_module(const std::string& printed) {
    const std::size_t begin = printed.find("\n; ModuleID = ");
    if (begin == std::string::npos) return {};
    std::size_t end = std::string::npos;
    for (const std::string_view mark : {"\n*** IR Dump", "\n# *** IR Dump", "\nBISECT: "})
        end = std::min(end, printed.find(mark, begin));
    return printed.substr(begin + 1, end == std::string::npos ? end : end - begin);
}

LlvmPass find_pass(const std::string& printed, std::int64_t number,
                   const std::function<std::string(const std::string& options)>& print) {
    LlvmPass pass = pass_numbered(printed, number);
    if (pass.function.empty()) return pass;
    pass.module = first_module(print("-print-before-all -print-module-scope -filter-print-funcs=" + pass.function));
    if (!pass.module.empty()) find_llc(printed, pass);
    return pass;
}

}  // namespace whittle::reduce
