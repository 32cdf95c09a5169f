// The zip archives that torch.export.save() and numpy.savez() write: entries by name, read and checked whole. Data
// only: nothing in them is ever run.
// https://pytorch.org/docs/stable/export/pt2_archive.html
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace whittle::pt2 {

class Archive {
  public:
    /// Throws Error for a file that is no zip archive, or one that no program has written: with more entries than
    /// kMostEntries, or entries that grow beyond what compression does.
    explicit Archive(const std::filesystem::path& file);
    /// An archive in an archive: `entry` of `outer`.
    Archive(const Archive& outer, const std::string& entry);
    ~Archive();
    Archive(const Archive&) = delete;

    const std::string& file() const { return file_; }
    bool has(const std::string& entry) const { return entries_.contains(entry); }
    /// In order of name.
    std::vector<std::string> entries() const;
    /// The bytes of an entry, whose checksum is right. Throws Error naming it when it is not there or damaged.
    std::string text(const std::string& entry) const;
    std::shared_ptr<Storage> bytes(const std::string& entry) const;

    static constexpr std::uint64_t kMostEntries = 1'000'000;

  private:
    struct Entry {
        std::uint64_t index, size;
    };
    const Entry& find(const std::string& entry) const;
    void read(const std::string& name, const Entry& entry, std::byte* to) const;

    void list();

    struct Handle;
    std::string file_;
    std::unique_ptr<Handle> handle_;
    std::map<std::string, Entry> entries_;
};

}  // namespace whittle::pt2
