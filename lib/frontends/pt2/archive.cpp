#include "frontends/pt2/archive.h"

#include <zip.h>

#include <cstring>

#include "base/error.h"

namespace whittle::pt2 {

struct Archive::Handle {
    zip_t* zip = nullptr;
    std::shared_ptr<Storage> bytes = {};  ///< of an archive in memory
    ~Handle() {
        if (zip) zip_discard(zip);
    }
};

namespace {

// What deflate achieves at most is 1032 to 1.
constexpr std::uint64_t kMostGrowth = 1032;

std::string words_of(int code) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string words = zip_error_strerror(&error);
    zip_error_fini(&error);
    return words;
}

}  // namespace

Archive::Archive(const std::filesystem::path& file) : file_(file.string()), handle_(std::make_unique<Handle>()) {
    int code = 0;
    handle_->zip = zip_open(file_.c_str(), ZIP_RDONLY, &code);
    if (!handle_->zip) throw Error({file_, {}}, "the file is not a readable zip archive: " + words_of(code));
    list();
}

Archive::Archive(const Archive& outer, const std::string& entry)
    : file_(outer.file() + ": " + entry), handle_(std::make_unique<Handle>()) {
    handle_->bytes = outer.bytes(entry);
    const std::span<const std::byte> bytes = handle_->bytes->bytes();
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    if (source) handle_->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (source && !handle_->zip) zip_source_free(source);
    const std::string words = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (!handle_->zip) throw Error({file_, {}}, "the file is not a readable zip archive: " + words);
    list();
}

void Archive::list() {
    const auto count = static_cast<std::uint64_t>(zip_get_num_entries(handle_->zip, 0));
    if (count > kMostEntries)
        throw Error({file_, {}},
                    "found " + std::to_string(count) + " entries, expected at most " + std::to_string(kMostEntries));
    for (std::uint64_t i = 0; i < count; ++i) {
        zip_stat_t stat;
        if (zip_stat_index(handle_->zip, i, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_NAME))
            throw Error({file_, "entry " + std::to_string(i)}, zip_strerror(handle_->zip));
        if (stat.size / kMostGrowth > stat.comp_size)
            throw Error({file_, stat.name}, "found " + std::to_string(stat.size) + " bytes of data in " +
                                                std::to_string(stat.comp_size) +
                                                " compressed bytes, expected at most " +
                                                std::to_string(kMostGrowth * stat.comp_size) + " bytes of data");
        if (!entries_.emplace(stat.name, Entry{i, stat.size}).second)
            throw Error({file_, stat.name}, "found two entries with the same name, expected unique names");
    }
}

Archive::~Archive() = default;

std::vector<std::string> Archive::entries() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
}

const Archive::Entry& Archive::find(const std::string& entry) const {
    const auto found = entries_.find(entry);
    if (found == entries_.end()) throw Error({file_, {}}, "found no entry '" + entry + "' in the archive");
    return found->second;
}

void Archive::read(const std::string& name, const Entry& entry, std::byte* to) const {
    zip_file_t* opened = zip_fopen_index(handle_->zip, entry.index, 0);
    if (!opened) throw Error({file_, name}, zip_strerror(handle_->zip));
    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> in(opened, zip_fclose);
    std::uint64_t done = 0;
    while (done < entry.size) {
        const zip_int64_t got = zip_fread(opened, to + done, entry.size - done);
        if (got <= 0) throw Error({file_, name}, std::string("the entry is damaged: ") + zip_file_strerror(opened));
        done += static_cast<std::uint64_t>(got);
    }
    std::byte more;
    if (zip_fread(opened, &more, 1) != 0)  // where the checksum is compared
        throw Error({file_, name}, std::string("the entry is damaged: ") + zip_file_strerror(opened));
}

std::string Archive::text(const std::string& entry) const {
    const Entry& found = find(entry);
    Storage::check_size(found.size);
    std::string text(found.size, '\0');
    read(entry, found, reinterpret_cast<std::byte*>(text.data()));
    return text;
}

std::shared_ptr<Storage> Archive::bytes(const std::string& entry) const {
    const Entry& found = find(entry);
    auto storage = Storage::allocate(found.size);
    read(entry, found, const_cast<std::byte*>(storage->bytes().data()));
    return storage;
}

}  // namespace whittle::pt2
