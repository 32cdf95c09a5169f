#include "reduce/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "formats/json_text.h"

namespace whittle::reduce {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char* kFormat = "whittle.journal";

json to_json(const std::string& key, const Observation& seen) {
    return {{"candidate", key},
            {"failed", seen.failed},
            {"unresolved", seen.unresolved},
            {"signature",
             {as_utf8(seen.signature.kind), as_utf8(seen.signature.stage), as_utf8(seen.signature.detail),
              as_utf8(seen.signature.part)}},
            {"message", as_utf8(seen.message)},
            {"marginal", seen.marginal}};
}

Observation from_json(const json& line) {
    const json& signature = line.at("signature");
    return {.failed = line.at("failed"),
            .unresolved = line.at("unresolved"),
            .signature = {signature.at(0), signature.at(1), signature.at(2), signature.at(3)},
            .message = line.at("message"),
            .marginal = line.value("marginal", false),
            .replayed = true};
}

}  // namespace

Journal::Journal(fs::path file, const std::string& identity, bool resume) : file_(std::move(file)) {
    open_locked();
    std::error_code ignored;
    const bool empty = fs::file_size(file_, ignored) == 0;  // made by us, or by one that was killed before an answer
    header_ = json{{"format", kFormat}, {"version", "2.0"}, {"identity", identity}}.dump() + '\n';
    if (resume && !empty) {
        read(identity);
        header_.clear();
    } else if (resume) {
        log_warning(LogChannel::reduce, file_.string() + ": no journal to resume from; starting a new search");
    }
}

Journal::~Journal() {
    std::error_code ignored;
    if (!header_.empty() && fs::file_size(file_, ignored) == 0) remove();  // nothing was answered
}

/// Opens the file, or makes it, and locks it.
void Journal::open_locked() {
    const auto fail = [&](const char* doing) {
        throw Error({file_.string(), {}}, std::string("cannot ") + doing + ": " + std::strerror(errno));
    };
    std::error_code ignored;
    if (file_.has_parent_path()) fs::create_directories(file_.parent_path(), ignored);
    for (;;) {
        descriptor_ = Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
        if (!descriptor_.open()) fail("open the journal");
        if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK)
                throw Error({file_.string(), {}}, "another run of minify is writing this journal",
                            "wait until the other run ends, or choose another output file with -o");
            log_warning(LogChannel::reduce, file_.string() + ": cannot lock the journal (" + std::strerror(errno) +
                                                "): make sure that no other run of minify has the same -o");
            return;
        }
        struct stat ours {
        }, there{};
        if (::fstat(descriptor_.get(), &ours) != 0) fail("read the journal");
        if (::stat(file_.c_str(), &there) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev) return;
        // Its last owner has removed it in between.
    }
}

void Journal::read(const std::string& identity) {
    const std::string text = read_file(file_);
    std::size_t start = 0, number = 0, whole = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
        ++number;
        try {
            const json line = json::parse(text.substr(start, end - start));
            if (number > 1) {
                known_[line.at("candidate")].push_back(from_json(line));
            } else if (line.at("format") != kFormat || line.at("identity") != identity) {
                throw Error(
                    {file_.string(), {}},
                    "found the journal of a search with another model, other inputs, or another backend or command",
                    "leave out --resume to start a new search");
            }
        } catch (const json::exception& error) {
            throw Error({file_.string(), "line " + std::to_string(number)},
                        std::string("found no journal of minify: ") + error.what(),
                        "leave out --resume to start a new search");
        }
        start = whole = end + 1;
    }
    if (number == 0)
        throw Error({file_.string(), {}}, "found an empty file, expected a journal",
                    "leave out --resume to start a new search");
    if (whole < text.size()) fs::resize_file(file_, whole);  // the kill came in the middle of a line
    for (auto& [candidate, answers] : known_) std::ranges::reverse(answers);
}

bool Journal::has(const std::string& candidate) const {
    const auto known = known_.find(candidate);
    return known != known_.end() && !known->second.empty();
}

std::optional<Observation> Journal::take(const std::string& candidate) {
    if (!has(candidate)) return std::nullopt;
    std::vector<Observation>& answers = known_.at(candidate);
    const Observation seen = std::move(answers.back());
    answers.pop_back();
    ++replayed_;
    return seen;
}

/// One write: other processes, and we after a kill, see the whole line or a part of the last one.
void Journal::add(const std::string& candidate, const Observation& seen) {
    const bool first = !header_.empty();
    const std::string text = std::exchange(header_, {}) + to_json(candidate, seen).dump() + '\n';
    const bool written = (!first || ::ftruncate(descriptor_.get(), 0) == 0) &&
                         ::write(descriptor_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!written) throw Error({file_.string(), {}}, std::string("cannot write the journal: ") + std::strerror(errno));
}

void Journal::remove() {
    std::error_code ignored;
    fs::remove(file_, ignored);
}

}  // namespace whittle::reduce
