// The event file that the capture library writes while a LibTorch program runs, and that read_events() reads back.
// Shared by both sides, so it needs neither LibTorch nor the rest of Whittle.
//
//   file   = FileHeader, chunk*              native byte order: written and read on one machine
//   chunk  = ChunkHeader, record*            one thread's; mapped while it is written, so that a crash loses nothing
//          | ChunkHeader, ReusedHeader, record*  …; when it is full its records move to a chunk behind all others, and
//          it
//                                            is written anew: touching memory for the first time takes long
//   record = RecordHeader, payload           RecordHeader::order puts the records of all threads in one order
//   value  = ValueTag, payload               an argument or result of an op, an IValue
//   pc     = u64                             a return address, or the number of a source_place
//
// A payload is the members of a struct of records.h, and what stands behind them: packed without padding. A text, and a
// list of numbers, is a u32 length and its bytes or numbers.
#pragma once

#include <cstdint>

struct whittle_probe_file;
struct whittle_probe_value;

namespace whittle::libtorch {

inline constexpr char kFileMagic[8] = {'W', 'H', 'T', 'L', 'C', 'A', 'P', '\n'};
inline constexpr std::uint32_t kFileVersion = 8, kFileHeaderSize = 4096, kChunkMagic = 0x4b484357,
                               kReusedMagic = 0x52484357;

struct FileHeader {
    char magic[8];
    std::uint32_t version, header_size;
    std::uint64_t pid;
    std::uint64_t flags;     ///< FileFlags
    std::uint64_t finished;  ///< 1 once the program came to its end; 0: it was killed, or left by _exit
    std::uint64_t cut;       ///< CutReason
    std::uint64_t missed;    ///< ops that the program called after the cut, or after main
    // Other processes. Children have this page, too, and count in it as long as they have no file of their own.
    std::uint64_t forks;        ///< children that the program forked
    std::uint64_t child_ops;    ///< ops that they called and that are in no file
    std::uint64_t child_execs;  ///< programs that they executed in their place
    std::uint64_t spawned;      ///< programs that this one started: posix_spawn, system, popen
    char other_program[256];    ///< the first of all those, cut to fit
    char replaced_by[256];      ///< the program that this one executed in its place, or ""
    // How it ended, when by a call: written here because that needs no memory, which a signal handler may not ask for.
    char end_function[64];  ///< "_exit", "abort", "exit", "execv" …; "" when main returned, or by a signal
    std::uint32_t end_thread, end_depth;
    std::uint64_t end_pcs[128];  ///< the stack, innermost first
    std::uint64_t left_out;      ///< tensors whose elements were not written, for want of room
    std::uint64_t lost;      ///< records that could not be made: no memory, or a tensor that does not tell what it is
    std::uint64_t parent;    ///< the process that made this one
    std::uint64_t forked;    ///< 1: the parent's program, which goes on here
    std::uint64_t taken;     ///< of the first file: bytes of all files of the capture
    char command_line[256];  ///< its arguments, separated by blanks, cut to fit
    std::uint64_t began;     ///< nanoseconds of a clock that all processes share: it was forked, or began to record
    char interpreter[512];   ///< of a Python program: its sys.executable; "" where that is longer
    std::uint64_t traced;    ///< ops that a compiler ran on tensors without memory, to learn what the program does
};
static_assert(sizeof(FileHeader) <= kFileHeaderSize);
enum FileFlags : std::uint64_t {
    kWithData = 1,
    kWithTimes = 2,
    kWithHashes = 4,  ///< in the place of the operations: see capture/hashes.h
    kWithRing = 8,    ///< of what happened the last alone, in the ring file
    kUntilNan = 16,   ///< up to the first operation whose result has a NaN
};
enum CutReason : std::uint64_t {
    kNotCut = 0,
    kCutSize = 1,
    kCutTime = 2,
    kCutDisk = 3,
    kCutError = 4,
    kCutReading = 5,  ///< in no file: who read it was to stop early
    kCutNan = 6,
};

struct ChunkHeader {
    std::uint32_t magic, thread;  ///< threads are numbered from 0 in order of their first event
    std::uint64_t size;           ///< of the chunk with this header
    std::uint64_t used;           ///< bytes of complete records
};
/// Of a chunk with kReusedMagic.
struct ReusedHeader {
    std::uint64_t emptied;  ///< twice as often as its records moved; odd while `used` is set back
};

/// The ring file of a process, beside its event file (kWithRing): records of what happened, the last ones alone. What
/// those refer to is in the event file.
///
///   ring  = RingHeader, up to kRingHeaderSize, entry*   `capacity` bytes of entries; each is in one piece
///   entry = RingEntry, record                           padded to a multiple of kRingAlignment
///
/// Entries are counted by their bytes from the first ever: the one at position p begins at byte p % capacity. Those
/// from `begin` to `end` are whole at any moment, so a process may be killed at any moment.
inline constexpr char kRingSuffix[] = ".ring";  ///< after the name of the event file
inline constexpr char kRingMagic[8] = {'W', 'H', 'T', 'L', 'R', 'N', 'G', '\n'};
inline constexpr std::uint64_t kRingHeaderSize = 4096, kRingAlignment = 16;
struct RingHeader {
    char magic[8];
    std::uint64_t capacity, begin, end;
};
struct RingEntry {
    std::uint64_t size;  ///< with this header and the padding
    std::uint32_t thread, unused;
};
inline constexpr std::uint32_t kRingFiller = UINT32_MAX;  ///< in the place of a thread: the next entry is at byte 0
/// A record takes a part of the capacity at most, and elements of operands that are no further back than a part are not
/// written again. So an operation in the later half has its operands in the ring, too.
inline constexpr std::uint64_t kRingParts = 4;

struct RecordHeader {
    std::uint32_t size;  ///< with this header
    std::uint32_t kind;  ///< RecordKind
    std::uint64_t order;
};

/// What a record is about: records.h has its members.
enum class RecordKind : std::uint32_t {
    thread = 1,
    mapping = 2,
    op_def = 3,
    stack_def = 4,
    op_begin = 5,
    op_end = 6,
    io = 7,
    data_ptr = 8,
    print_begin = 9,
    print_end = 10,
    name = 11,
    snapshot = 12,
    from_blob = 13,
    note = 14,
    module = 15,
    unseen_write = 16,
    probe_enter = 17,
    probe_name = 18,
    probe_leave = 19,
    probe_value = 20,
    probe_branch = 21,
    release = 22,
    source_place = 23,
    variable = 24,
    forked_at = 25,
    number = 26,
    library_folder = 27,
    calls = 28,
    form = 29,
    raised = 30,
};
/// Numbers of places that an interpreter runs have this bit, which no address of a program has.
inline constexpr std::uint64_t kSourcePlace = std::uint64_t{1} << 63;
enum class Language : std::uint8_t { python = 0, torchscript = 1 };

enum OpFlags : std::uint8_t {
    kHasSchema = 1,
    kComposite = 2,        ///< has a CompositeImplicitAutograd kernel: calls other ops, adds none of its own
    kReturnsOnlyHost = 4,  ///< it has results, and none is a tensor
    kHasFunctional = 16,   ///< it writes to its first argument, and has a form that gives the result instead
    kCasts = 8,            ///< autocast casts its arguments, then calls it again: that call is the one that computes
};
enum class OpScope : std::uint8_t { function = 0, backward = 1, user = 2 };
enum class NameKind : std::uint8_t { parameter = 1, buffer = 2 };
enum class BranchKind : std::uint8_t { taken = 0, selected = 1 };  ///< a condition, what a switch selects by

enum class ValueTag : std::uint8_t {
    none = 0,
    undefined = 1,  ///< a tensor that is undefined
    tensor = 2,     ///< TensorRecord, i64 sizes[rank], i64 strides[rank], text layout and text device if it is sparse
                    ///< or elsewhere, u64 bits of its number if wrapped
    integer = 3,    ///< i64
    real = 4,       ///< double
    boolean = 5,    ///< u8
    text = 6,       ///< text
    list = 7,       ///< u32 n, value[n]; tuples too
    other = 8       ///< text: what it is
};

enum TensorFlags : std::uint8_t {
    kRequiresGrad = 1,
    kLeaf = 2,
    kWrappedNumber = 4,  ///< a host number that ATen made a 0-d tensor of
    kPlain = 8,          ///< on the CPU, strided, neither conjugate nor negated by a flag nor quantized nor sparse
    kHasStorage = 16,
    // Why a tensor is not plain; none of these: it is conjugate or negative by a flag.
    kSparse = 32,  ///< of any layout but strided
    kQuantized = 64,
    kElsewhere = 128,  ///< on another device
};

#pragma pack(push, 1)
struct TensorRecord {
    std::uint64_t id;       ///< of the TensorImpl; never used again for another
    std::uint64_t storage;  ///< of the StorageImpl
    std::int64_t offset;    ///< in elements
    std::uint32_t version;  ///< autograd's version counter: in-place ops increase it
    std::int8_t dtype;      ///< c10::ScalarType
    std::uint8_t flags;     ///< TensorFlags
    std::uint8_t rank;
};
#pragma pack(pop)

/// The event files of one capture: BASE, BASE.1, BASE.2 …, a process each, in the order in which those had LibTorch,
/// which is chance for children that are forked one after the other: FileHeader::began is not.
/// What more processes do is counted, a byte each in BASE.others: one of OtherProcess.
inline constexpr int kMostProcesses = 64;
enum OtherProcess : char { kTooMany = '.', kOtherTorch = 'o' };

/// What a program does with processes.
enum class ProcessEvent {
    forked,        ///< told by the parent
    started,       ///< another program, beside itself
    replaces,      ///< itself by another program
    not_replaced,  ///< that failed
};

/// What the stub calls when the capture library is active. C calling convention, plain pointers: the stub knows no type
/// of LibTorch.
using PrintFunction = void* (*)(void* stream, const void* tensor, long width);
using FusedFunction = void (*)(const void* kernel, void* stack);
struct Hooks {
    void (*module_made)(void* module);
    void (*registered)(void* module, const void* tensor, const char* name, int is_buffer);
    void (*data_ptr)(const void* tensor, const char* how, void* caller);  ///< how: "data_ptr<float>()"
    void (*python_read)(const void* tensor, const char* how);             ///< how: "numpy()"
    void (*io)(const char* function, const void* stream, void* caller);   ///< stream: a std::ostream, or null
    void* (*print)(PrintFunction next, void* stream, const void* tensor, long width);  ///< calls next, at::print itself
    void (*from_blob)(void* caller);
    void (*fused)(FusedFunction next, const void* kernel, void* stack);  ///< calls next: a kernel of TorchScript's runs
    void (*released)(const void* tensor);                                ///< a TensorImpl that nobody holds any more
    void (*thrown)(const void* type, void* caller);                      ///< type: a std::type_info
    void (*caught)();                                                    ///< whatever was thrown last
    void (*ends)(const char* function);                                  ///< the program ends by this function
    void (*process)(ProcessEvent event, const char* program);            ///< program: a path or a command, or null
    void (*probe_enter)(const char* function);
    void (*probe_name)(const void* tensor, const char* name, long long element, int is_parameter);
    void (*probe_leave)();
    void (*probe_value)(const whittle_probe_value* value);
    void (*probe_branch)(const whittle_probe_file* file, unsigned site, long long outcome);
};

/// The entry point of the capture library, "whittle_capture_start". `flags`: FileFlags. `only`: the number of the one
/// operation with a kernel that is captured, from 1 in the order in which they begin; the program ends after it. 0: all
/// are. Returns 0, or -1 when nothing is captured. `base` names the files of the capture, `file` is this process's.
using StartFunction = int (*)(Hooks* hooks, const char* base, const char* file, std::uint64_t max_bytes,
                              double max_seconds, int flags, std::uint64_t only);

// From the programs to the stub, all removed from the environment before main:
inline constexpr char kFileVariable[] = "WHITTLE_CAPTURE_FILE";  ///< event files to write; + ".status", ".libraries"
inline constexpr char kPreloadVariable[] = "WHITTLE_CAPTURE_PRELOAD";  ///< the user's LD_PRELOAD, if any
inline constexpr char kLimitsVariable[] = "WHITTLE_CAPTURE_LIMITS";    ///< "BYTES MILLISECONDS FLAGS ONLY"

}  // namespace whittle::libtorch
