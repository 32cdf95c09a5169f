#include "api/debug_trace.h"

#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "explain/full_code.h"

namespace whittle::api {

void log_full_code(const std::filesystem::path& folder, const std::string& records) {
    try {
        for (const explain::FullCodeTexts::Function& function : explain::full_code_texts(folder, records).functions)
            log_artifact(LogArtifact::full_code, function.frame, function.text);
    } catch (const std::exception& error) {  // the program goes on
        log_warning(LogChannel::capture, std::string("there will be no full_code: ") + error.what());
    }
}

std::unique_ptr<DebugTrace> DebugTrace::begin() {
    const std::string folder = debug_subfolder(LogArtifact::full_code, "trace");
    if (folder.empty()) return nullptr;
    try {
        return std::unique_ptr<DebugTrace>(new DebugTrace(folder));
    } catch (const Error& error) {
        log_warning(LogChannel::capture, std::string("there will be no full_code: ") + error.what());
        return nullptr;
    }
}

void DebugTrace::write_code() {
    if (std::exchange(written_, true) || !trace_.is_own() || trace_.index().records.empty()) return;
    if (trace_.write_now()) log_full_code(folder_, "std::filesystem::path(__FILE__).parent_path() / \"trace\"");
}

}  // namespace whittle::api
