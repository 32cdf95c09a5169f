#include "frontends/libtorch/reader.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "frontends/libtorch/fingerprint.h"
#include "frontends/libtorch/record_reader.h"
#include "frontends/libtorch/records.h"
#include "frontends/libtorch/ring_reader.h"
#include "frontends/libtorch/unfinished.h"

namespace whittle::libtorch {
namespace {

/// One name per tensor, and no name for tensors of different modules. The name from the outermost module is the best:
/// parents are known only after their children, and a child may be called alone later. Of two, the last. Names without
/// a root are last resorts.
void settle_names(std::vector<TensorName>& names) {
    const auto depth = [](const TensorName* name) { return name->root ? std::ranges::count(name->path, '.') : -1; };
    std::map<std::uint64_t, TensorName*> best;
    for (TensorName& name : names) {
        TensorName*& known = best[name.tensor];
        // Of two in one module the first, as named_parameters() has it.
        if (!known || (name.root && name.root != known->root && depth(&name) >= depth(known))) known = &name;
    }
    // Whose name it is: the module at the root, or where that is not known, the one that registered it.
    const auto owner = [](const TensorName& name) { return std::pair(name.root, name.root ? "" : name.type); };
    std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> owners;  // by path
    std::vector<TensorName> settled;
    for (const TensorName& name : names) {
        if (best[name.tensor] != &name) continue;
        settled.push_back(name);
        auto& same = owners[name.path];
        const auto known = std::ranges::find(same, owner(name));
        const auto number = known - same.begin();
        if (known == same.end()) same.push_back(owner(name));
        if (number) settled.back().path = "module_" + std::to_string(number) + "." + name.path;
    }
    names = std::move(settled);
}

/// What happened in one thread, in the order of its records.
struct ThreadRecords {
    explicit ThreadRecords(const EventFile& file, RepeatLimits limits)
        : fingerprints([&file](std::uint32_t op) {
              const auto known = file.ops.find(op);
              return known == file.ops.end() ? nullptr : &known->second;
          }),
          folder(limits) {}

    Fingerprints fingerprints;
    RepeatFolder folder;
};
using Threads = std::map<std::uint32_t, ThreadRecords>;

RecordHeader read_header(Cursor& in) {
    const auto header = in.get<RecordHeader>();
    if (header.size < sizeof header || header.size - sizeof header > in.left())
        in.fail("found a record of " + std::to_string(header.size) + " bytes",
                "expected 16 to " + std::to_string(in.left() + sizeof header) + " bytes");
    return header;
}

/// Of who has to come to an end.
class Allowance {
  public:
    explicit Allowance(const ReadLimits& limits)
        : records_(limits.most_records), limited_(limits.seconds < std::numeric_limits<double>::infinity()) {
        if (limited_)
            end_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
    }
    /// `kept`: how many more records than before.
    void spend(std::ptrdiff_t kept) {
        constexpr std::uint32_t kGlance = 1024;  // records between looks at the clock
        kept_ += kept;
        over_ = over_ || (kept_ > 0 && static_cast<std::size_t>(kept_) >= records_) ||
                (limited_ && ++seen_ % kGlance == 0 && Clock::now() > end_);
    }
    bool over() const { return over_; }

  private:
    using Clock = std::chrono::steady_clock;
    std::size_t records_;
    bool limited_, over_ = false;
    Clock::time_point end_ = Clock::now();
    std::ptrdiff_t kept_ = 0;
    std::uint32_t seen_ = 0;
};

void read_chunk(Cursor in, std::uint32_t thread, ThreadRecords& records, EventFile& file, Allowance& allowance) {
    while (in.left() > 0 && !allowance.over()) {
        const std::size_t at = in.at();
        const RecordHeader header = read_header(in);
        Cursor record = in.part(header.size - sizeof header);
        if (read_definition(record, header, thread, file)) continue;
        const std::uint64_t hash = records.fingerprints.of(static_cast<RecordKind>(header.kind), record);
        const auto before = static_cast<std::ptrdiff_t>(records.folder.kept().size());
        records.folder.add(at, hash, records.fingerprints.looks());
        allowance.spend(static_cast<std::ptrdiff_t>(records.folder.kept().size()) - before);
    }
}

struct Chunk {
    std::uint32_t thread = 0;
    Cursor records;
    std::uint64_t order = 0;  ///< of the first
};

/// Those that have records, each thread's in order. Records that moved to another chunk and are still in the first, for
/// that is when the program was killed, are read once.
std::vector<Chunk> chunks_of(Cursor in) {
    std::vector<Chunk> chunks;
    while (in.left() > 0) {
        const auto head = in.get<ChunkHeader>();
        if (head.magic == 0) break;  // the program was killed before the chunk had its header
        const std::uint64_t heads = sizeof head + (head.magic == kReusedMagic ? sizeof(ReusedHeader) : 0);
        if (head.magic != kChunkMagic && head.magic != kReusedMagic)
            in.fail("found bytes that do not begin a chunk", "expected the header of a chunk");
        const std::uint64_t room = in.left();
        if (head.size < heads || head.size - sizeof head > room || head.used > head.size - heads)
            in.fail(
                "found a chunk of " + std::to_string(head.size) + " bytes with " + std::to_string(head.used) + " used",
                "expected at most " + std::to_string(room + sizeof head) +
                    " bytes, and no more used bytes than fit after the header");
        Cursor content = in.part(head.size - sizeof head);
        content.take(heads - sizeof head);
        Chunk chunk{.thread = head.thread, .records = content.part(head.used)};
        if (head.used == 0) continue;
        Cursor first = chunk.records;
        chunk.order = read_header(first).order;
        chunks.push_back(std::move(chunk));
    }
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> sorted;  // by first record
    for (std::size_t i = 0; i < chunks.size(); ++i) sorted.try_emplace({chunks[i].order, chunks[i].thread}, i);
    std::vector<Chunk> all;
    for (const auto& [first, i] : sorted) all.push_back(chunks[i]);
    return all;
}

void read_happenings(const Threads& threads, const Cursor& whole, EventFile& file) {
    for (const auto& [thread, records] : threads) {
        std::uint64_t last = 0;
        std::shared_ptr<const std::vector<std::uint64_t>> calls;
        for (const KeptRecord& kept : records.folder.kept()) {
            Cursor in = whole.from(kept.at);
            const RecordHeader header = read_header(in);
            if (kept.after_gap) {
                file.gaps[thread].push_back({last, header.order});
                calls.reset();
            }
            last = header.order;
            Cursor record = in.part(header.size - sizeof header);
            if (static_cast<RecordKind>(header.kind) == RecordKind::calls) {
                calls = std::make_shared<const std::vector<std::uint64_t>>(record.record<records::Calls>().numbers);
                continue;
            }
            const std::size_t before = file.events.size();
            read_happening(record, header, thread, kept.times, file);
            if (file.events.size() > before) file.events.back().calls = calls;
        }
    }
}

bool lacks_op(const EventFile& file, const Event& event) {
    const bool is_op = event.kind == RecordKind::op_begin || event.kind == RecordKind::op_end;
    return is_op && !file.ops.contains(event.op);
}

/// What was defined beyond the end of what was read is unknown.
void leave_out_undefined(EventFile& file) {
    std::erase_if(file.events, [&](const Event& event) { return lacks_op(file, event); });
    for (Event& event : file.events)
        if (!file.stacks.contains(event.stack)) event.stack = 0;
}

/// Every op and stack that an event names is defined.
void check_references(const EventFile& file) {
    for (const Event& event : file.events) {
        if (lacks_op(file, event))
            throw Error({file.path.string(), {}}, "found an event with the op number " + std::to_string(event.op) +
                                                      ", expected the number of an op that the file defines");
        if (event.stack && !file.stacks.contains(event.stack))
            throw Error({file.path.string(), {}}, "found an event with the stack number " +
                                                      std::to_string(event.stack) +
                                                      ", expected the number of a stack that the file defines");
    }
}

template <std::size_t kSize>
std::string text(const char (&chars)[kSize]) {
    return std::string(chars, ::strnlen(chars, kSize));
}

ProcessIdentity identity_of(const FileHeader& header) {
    return {.number = header.pid,
            .parent = header.parent,
            .forked = header.forked == 1,
            .command_line = text(header.command_line),
            .interpreter = text(header.interpreter)};
}

/// What the header tells of the program's end and of its children.
void read_ending(const FileHeader& header, EventFile& file) {
    file.missed = header.missed;
    file.left_out = header.left_out;
    file.lost = header.lost;
    file.traced = header.traced;
    file.processes = {.forks = header.forks,
                      .child_ops = header.child_ops,
                      .child_execs = header.child_execs,
                      .started = header.spawned,
                      .first = text(header.other_program)};
    file.process = identity_of(header);
    const std::string function = text(header.end_function);
    if (function.empty()) return;
    file.end = {.function = function, .thread = header.end_thread, .replaced_by = text(header.replaced_by)};
    std::vector<std::uint64_t>& stack = file.stacks[kEndStack];
    for (const std::uint64_t pc : header.end_pcs)
        if (pc) stack.push_back(pc);
}

/// What happened last, of a process that recorded it in a ring. None of it repeats often enough to be left out.
void read_last(const std::string& path, std::size_t most, EventFile& file) {
    if (!std::filesystem::exists(path)) return;  // the disk was full
    file.ring = EventMemory::open(path);
    const auto bytes = file.ring->bytes();
    const Cursor in(path, bytes, 0, bytes.size());
    Threads threads;
    std::uint64_t number = 0;
    for (const auto& [thread, records] : read_ring(in, most, file)) {
        ThreadRecords& kept = threads.try_emplace(thread, file, RepeatLimits()).first->second;
        for (const std::size_t at : records) {
            Cursor record = in.from(at);
            const RecordHeader header = read_header(record);
            Cursor content = record.part(header.size - sizeof header);
            if (!read_definition(content, header, thread, file)) kept.folder.add(at, ++number, false);
        }
    }
    read_happenings(threads, in, file);
}

}  // namespace

ProcessIdentity read_identity(const std::filesystem::path& path) {
    FileHeader header{};
    std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
    return identity_of(header);
}

EventFile read_events(const std::filesystem::path& path, const ReadLimits& limits) {
    EventFile file;
    file.path = path;
    file.file = EventMemory::open(path);
    const auto bytes = file.file->bytes();
    const std::string name = path.string();
    Cursor in(name, bytes, 0, bytes.size());
    FileHeader header{};
    constexpr std::size_t kFirstPart = offsetof(FileHeader, missed);  // a shorter header has nothing to tell beyond it
    std::memcpy(&header, in.take(kFirstPart).data(), kFirstPart);
    if (std::memcmp(header.magic, kFileMagic, sizeof kFileMagic) != 0)
        throw Error({name, "byte 0"}, "found a file of another kind, expected an event file of a LibTorch capture");
    if (header.version != kFileVersion || header.header_size < kFirstPart)
        throw Error({name, "byte 8"}, "found an event file of version " + std::to_string(header.version) +
                                          ", expected " + std::to_string(kFileVersion));
    file.finished = header.finished == 1;
    file.with_data = header.flags & kWithData;
    file.with_times = header.flags & kWithTimes;
    const bool with_ring = header.flags & kWithRing;
    file.cut = static_cast<CutReason>(header.cut);
    const auto rest = in.take(std::min<std::size_t>(header.header_size, sizeof header) - kFirstPart);
    std::memcpy(reinterpret_cast<char*>(&header) + kFirstPart, rest.data(), rest.size());
    read_ending(header, file);
    in.take(header.header_size - kFirstPart - rest.size());
    Threads threads;
    Allowance allowance(limits);
    for (const Chunk& chunk : chunks_of(in)) {
        if (allowance.over()) break;
        ThreadRecords& records = threads.try_emplace(chunk.thread, file, limits.repeats).first->second;
        read_chunk(chunk.records, chunk.thread, records, file, allowance);
    }
    if (allowance.over()) file.cut = kCutReading;
    read_happenings(threads, Cursor(name, bytes, 0, bytes.size()), file);
    if (with_ring) read_last(path.string() + kRingSuffix, limits.last, file);
    std::ranges::sort(file.events, {}, &Event::order);
    std::ranges::sort(file.unseen_writes, {}, &Event::order);
    std::ranges::sort(file.names, {}, &TensorName::order);
    settle_names(file.names);
    std::ranges::sort(file.variables);
    if (file.cut == kCutReading) leave_out_undefined(file);
    check_references(file);
    if (file.last) end_unfinished(file);
    return file;
}

}  // namespace whittle::libtorch
