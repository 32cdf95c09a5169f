#include "reduce/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "graph/json_text.h"

namespace whittle::reduce {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char* kFormat = "whittle.journal";

json to_json(const std::string& key, const Observation& seen) {
    return {
        {"candidate", key},
        {"failed", seen.failed},
        {"unresolved", seen.unresolved},
        {"signature", {as_utf8(seen.signature.kind), as_utf8(seen.signature.stage), as_utf8(seen.signature.detail)}},
        {"message", as_utf8(seen.message)}};
}

Observation from_json(const json& line) {
    const json& signature = line.at("signature");
    return {line.at("failed"),
            line.at("unresolved"),
            {signature.at(0), signature.at(1), signature.at(2)},
            line.at("message"),
            true};
}

}  // namespace

JournalingOracle::JournalingOracle(Oracle& oracle, fs::path file, const std::string& identity, bool resume)
    : oracle_(oracle), file_(std::move(file)) {
    if (resume && fs::exists(file_)) {
        read(identity);
        return;
    }
    if (resume) log_warning("reduce", file_.string() + ": no journal to go on from, starting anew");
    header_ = json{{"format", kFormat}, {"version", "1.0"}, {"identity", identity}}.dump() + '\n';
}

void JournalingOracle::read(const std::string& identity) {
    const std::string text = read_file(file_);
    std::size_t start = 0, number = 0, whole = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
        ++number;
        try {
            const json line = json::parse(text.substr(start, end - start));
            if (number > 1) {
                known_[line.at("candidate")].push_back(from_json(line));
            } else if (line.at("format") != kFormat || line.at("identity") != identity) {
                throw Error({file_.string(), {}},
                            "found the journal of another search, expected the same model, inputs and oracle",
                            "leave out --resume to start anew");
            }
        } catch (const json::exception& error) {
            throw Error({file_.string(), "line " + std::to_string(number)},
                        std::string("found no line of a journal: ") + error.what(), "leave out --resume to start anew");
        }
        start = whole = end + 1;
    }
    if (number == 0)
        throw Error({file_.string(), {}}, "found no line, expected a journal", "leave out --resume to start anew");
    if (whole < text.size()) fs::resize_file(file_, whole);  // the kill came in the middle of a line
    for (auto& [candidate, answers] : known_) std::reverse(answers.begin(), answers.end());
}

Observation JournalingOracle::observe(const Candidate& candidate) {
    if (const auto known = known_.find(candidate.identity); known != known_.end() && !known->second.empty()) {
        Observation seen = std::move(known->second.back());
        known->second.pop_back();
        ++replayed_;
        return seen;
    }
    Observation seen = oracle_.observe(candidate);
    append(to_json(candidate.identity, seen).dump() + '\n');
    return seen;
}

bool JournalingOracle::prefetch(const Candidate& candidate) {
    const auto known = known_.find(candidate.identity);
    return (known != known_.end() && !known->second.empty()) || oracle_.prefetch(candidate);
}

/// One write: other processes, and we after a kill, see the whole line or a part of the last one.
void JournalingOracle::append(const std::string& line) {
    if (!header_.empty()) write_file(file_, std::exchange(header_, {}));
    const int file = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    const int error = errno;
    if (file >= 0) ::close(file);
    if (!written) throw Error({file_.string(), {}}, std::string("cannot write it: ") + std::strerror(error));
}

void JournalingOracle::remove() {
    std::error_code ignored;
    fs::remove(file_, ignored);
}

}  // namespace whittle::reduce
