#include "frontends/libtorch/ring_reader.h"

#include <algorithm>
#include <cstring>

#include "frontends/libtorch/records.h"

namespace whittle::libtorch {

namespace {

struct Entry {
    std::uint64_t position = 0;
    std::uint32_t thread = 0;
    std::size_t at = 0;  ///< of the record in the file
    RecordKind kind = RecordKind::note;
    // Of an op_begin.
    std::uint32_t depth = 0;
    bool called_by_program = false;  ///< it has the place where that was
    bool computes = false;           ///< it has a kernel
};

RingHeader read_ring_header(Cursor& in) {
    const auto header = in.get<RingHeader>();
    if (std::memcmp(header.magic, kRingMagic, sizeof kRingMagic) != 0)
        in.fail("found a file of another kind", "expected the ring file of a LibTorch capture");
    in.take(kRingHeaderSize - sizeof header);
    if (header.capacity == 0 || header.capacity != in.left() || header.begin > header.end ||
        header.end - header.begin > header.capacity)
        in.fail("found entries from " + std::to_string(header.begin) + " to " + std::to_string(header.end) +
                    " in a ring of " + std::to_string(header.capacity) + " bytes",
                "expected at most the " + std::to_string(in.left()) + " bytes of the file");
    return header;
}

void look_at_begin(Cursor record, const EventFile& file, Entry& entry) {
    const auto begin = record.record<records::OpBegin>();
    const auto op = file.ops.find(begin.op);
    entry.depth = begin.depth;
    entry.called_by_program = begin.stack != 0;
    entry.computes = begin.scope == OpScope::function && op != file.ops.end() && (op->second.flags & kHasSchema) &&
                     !(op->second.flags & kComposite);
}

std::vector<Entry> entries_of(const Cursor& ring, const RingHeader& header, const EventFile& file) {
    std::vector<Entry> entries;
    for (std::uint64_t position = header.begin; position < header.end;) {
        Cursor in = ring.from(ring.at() + position % header.capacity);
        const auto head = in.get<RingEntry>();
        if (head.size < sizeof head || head.size > header.end - position || head.size - sizeof head > in.left())
            in.fail("found an entry of " + std::to_string(head.size) + " bytes",
                    "expected at most " + std::to_string(header.end - position) + " bytes");
        Entry entry{.position = position, .thread = head.thread, .at = in.at()};
        position += head.size;
        if (head.thread == kRingFiller) continue;
        const auto record = in.get<RecordHeader>();
        if (record.size < sizeof record || record.size > head.size - sizeof head)
            in.fail("found a record of " + std::to_string(record.size) + " bytes",
                    "expected at most " + std::to_string(head.size - sizeof head) + " bytes");
        entry.kind = static_cast<RecordKind>(record.kind);
        if (entry.kind == RecordKind::op_begin) look_at_begin(in.part(record.size - sizeof record), file, entry);
        entries.push_back(entry);
    }
    return entries;
}

/// What happens at a moment is only of use with what happens then.
bool is_for_later(RecordKind kind) {
    return kind == RecordKind::snapshot || kind == RecordKind::variable || kind == RecordKind::number ||
           kind == RecordKind::calls || kind == RecordKind::release;
}

}  // namespace

std::map<std::uint32_t, std::vector<std::size_t>> read_ring(Cursor in, std::size_t most, EventFile& file) {
    const RingHeader header = read_ring_header(in);
    const std::vector<Entry> entries = entries_of(in, header, file);
    // Before that, elements may be gone.
    const std::uint64_t whole = header.begin ? header.begin + 2 * (header.capacity / kRingParts) : 0;
    const auto earliest = std::ranges::lower_bound(entries, whole, {}, &Entry::position);
    LastOperations last{.asked = most, .bytes = header.capacity};
    auto first = entries.end();
    for (auto entry = entries.end(); entry != earliest && last.found < most;)
        if ((--entry)->computes) {
            first = entry;
            ++last.found;
        }
    last.full = last.found < most && header.begin > 0;
    // What encloses it has the place where the program called it.
    const auto encloses = [](const Entry& entry, const Entry& inner) {
        return entry.kind == RecordKind::op_begin && entry.thread == inner.thread && entry.depth < inner.depth;
    };
    for (auto entry = first; entry != earliest && first != entries.end() && !first->called_by_program;)
        if (encloses(*--entry, *first)) first = entry;
    std::map<std::uint32_t, std::vector<std::size_t>> records;
    for (auto entry = entries.begin(); entry != entries.end(); ++entry)
        if (entry >= first || is_for_later(entry->kind)) records[entry->thread].push_back(entry->at);
    file.last = last;
    return records;
}

}  // namespace whittle::libtorch
