#include "api/debug_trace.h"

#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "printers/cpp_source.h"
#include "record/full_code.h"
#include "text/language.h"

namespace whittle::api {

void log_full_code(const std::filesystem::path& folder, const std::string& records) {
    try {
        for (const FullCode::Function& function : full_code(folder, records).functions)
            log_artifact(LogArtifact::full_code, function.frame, function.text);
    } catch (const std::exception& error) {  // the program goes on
        log_warning(LogChannel::capture, std::string("cannot write the debug file full_code: ") + error.what());
    }
}

namespace {

constexpr const char* kBeside = "std::filesystem::path(__FILE__).parent_path() / \"trace\"";

/// The trace into another folder: its files are replaced, never written in place, so that links will do.
void share(const std::filesystem::path& from, const std::filesystem::path& to) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const auto all = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
    fs::copy(from, to, all | fs::copy_options::create_hard_links, failed);
    if (failed) fs::copy(from, to, all);  // on another device
}

}  // namespace

void log_full_code(const std::filesystem::path& folder) {
    const std::string beside = debug_subfolder(LogArtifact::full_code, "trace");
    if (beside.empty()) return log_full_code(folder, language::cpp.quoted(std::filesystem::absolute(folder).string()));
    try {
        share(folder, beside);  // which may be gone when the code is built
    } catch (const std::exception& error) {
        return log_warning(LogChannel::capture, std::string("cannot write the debug file full_code: ") + error.what());
    }
    log_full_code(beside, kBeside);
}

std::unique_ptr<DebugTrace> DebugTrace::begin() {
    const std::string folder = debug_subfolder(LogArtifact::full_code, "trace");
    if (folder.empty()) return nullptr;
    try {
        return std::unique_ptr<DebugTrace>(new DebugTrace(folder));
    } catch (const Error& error) {
        log_warning(LogChannel::capture, std::string("cannot write the debug file full_code: ") + error.what());
        return nullptr;
    }
}

void DebugTrace::write_code() {
    if (std::exchange(written_, true) || !trace_.is_own() || trace_.index().records.empty()) return;
    if (trace_.write_now()) log_full_code(folder_, kBeside);
}

}  // namespace whittle::api
