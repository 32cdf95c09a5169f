// read_events(): the event file of a captured LibTorch program, checked and in the order in which things happened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontends/libtorch/event_memory.h"
#include "frontends/libtorch/events.h"
#include "frontends/libtorch/python_code.h"
#include "frontends/libtorch/repeats.h"
#include "graph/placement.h"
#include "tensor/tensor.h"

namespace whittle::libtorch {

/// A tensor as an op saw it.
struct TensorRef {
    std::uint64_t id = 0, storage = 0;
    std::int64_t offset = 0;
    std::uint32_t version = 0;
    std::optional<DType> dtype = {};  ///< none: a type Whittle does not have (quantized, complex32)
    std::uint8_t flags = 0;           ///< TensorFlags
    Sizes sizes = {};
    Strides strides = {};
    std::optional<Scalar> number = {};     ///< of a wrapped number
    const Placement* placement = nullptr;  ///< of one that Whittle does not compute with: it is in graphs all the same

    bool has(TensorFlags flag) const { return flags & flag; }
    /// Why no graph can have it: "a tensor with the conjugate or negative bit, which Whittle does not support"; ""
    /// when one can.
    std::string obstacle() const;
};

/// They show the same elements of the same memory.
inline bool same_place(const TensorRef& a, const TensorRef& b) {
    return a.storage == b.storage && a.offset == b.offset && a.sizes == b.sizes && a.strides == b.strides &&
           a.dtype == b.dtype;
}

/// An argument or a result.
struct EventValue {
    /// none, undefined tensor (monostate too, see `undefined`), tensor, host values, list; Opaque is named only.
    struct Opaque {
        std::string what;
    };
    std::variant<std::monostate, TensorRef, std::int64_t, double, bool, std::string, std::vector<EventValue>, Opaque>
        value = {};
    bool undefined = false;

    const TensorRef* tensor() const { return std::get_if<TensorRef>(&value); }
    const std::vector<EventValue>* list() const { return std::get_if<std::vector<EventValue>>(&value); }
};
/// Calls f(TensorRef) for every tensor in it, in order.
template <class F>
void for_each_tensor(const EventValue& value, F&& f) {
    if (const TensorRef* tensor = value.tensor()) f(*tensor);
    if (const auto* list = value.list())
        for (const EventValue& element : *list) for_each_tensor(element, f);
}

struct OpName {
    std::string name, overload, schema;  ///< "aten::add", "Tensor"
    std::uint8_t flags = 0;              ///< OpFlags
    bool writes = false;                 ///< to an argument, as the schema says
    /// "aten.add.Tensor", as Whittle's registry spells it; a scope keeps its name.
    std::string target() const;
};

struct Event {
    std::uint64_t order = 0;
    std::uint32_t thread = 0;
    RecordKind kind = RecordKind::note;
    std::int64_t times = 1;  ///< that it happened, with what was left out (RepeatFolder)
    std::uint32_t op = 0, depth = 0, stack = 0;
    /// op_begin: what went on since the thread's last one, among the functions on its stack, counted from the outermost
    /// (where Python runs, its own only). So many have everything as it was; no more than so many have not gone on, as
    /// far as can be told, which is for the outermost ones only. raised: so many waited for what they had called.
    std::uint8_t untouched = 0, unmoved = 0xff;
    std::uint32_t line = 0, column = 0;  ///< probe_branch
    bool selects = false;                ///< probe_branch: of a switch
    OpScope scope = OpScope::function;
    bool grad_mode = false;
    std::int64_t sequence = -1;  ///< probe_branch: the outcome
    std::uint64_t forward_thread = 0;
    std::vector<EventValue> values = {};  ///< arguments, results, or what it is about; probe_branch: the file
    std::string text = {};     ///< io: the function; data_ptr: how it was asked for; note; probes: name or condition
    std::size_t snapshot = 0;  ///< position in EventFile::snapshots
    std::uint64_t nanoseconds = 0;  ///< op_end: that the op took, where times were wanted
    /// The calls that it belongs to: see records::Calls. Null: none is known.
    std::shared_ptr<const std::vector<std::uint64_t>> calls = {};
};

struct Mapping {
    std::uint64_t low = 0, high = 0, base = 0;
    std::string path;
};

/// A line of Python or TorchScript on a stack, among return addresses.
struct SourcePlace {
    Language language = Language::python;
    bool entry = false;        ///< it was called from outside, by what is not of that language
    bool resumable = false;    ///< of a generator or coroutine of Python's
    std::uint64_t module = 0;  ///< the module that is called there, 0: none is
    int line = 0;
    std::string file, function;  ///< as Python has them: "/home/me/train.py", "Net.forward"
    std::string text;            ///< of the line, "" where only the file has it
};

struct TensorName {
    std::uint64_t order = 0, tensor = 0, root = 0;  ///< root 0: only its own module is known
    NameKind kind = NameKind::parameter;
    std::string type, path;
};

/// A local variable of Python that had the tensor; texts by their numbers in EventFile::words.
struct VariableName {
    std::uint64_t tensor = 0, order = 0;
    std::uint32_t function = 0, name = 0;
    auto operator<=>(const VariableName&) const = default;
};

/// A local variable of Python that had a number when an op got that number there; texts as above.
struct NumberName {
    EventValue number;
    std::uint32_t function = 0, name = 0;
};

/// What rows of hashes are of: see records::Form.
struct RowForm {
    std::uint8_t kind = 0;                       ///< RowKind
    std::uint32_t op = 0, stack = 0, under = 0;  ///< 0: none
    std::uint32_t thread = 0, operands = 0, results = 0, arguments_of = 0;
    std::vector<EventValue> arguments = {}, values = {};  ///< of the first that had it; its results
};

/// In order of registration within a root.
struct ModuleName {
    std::uint64_t root = 0, module = 0;
    std::string type, path;  ///< "torch::nn::ReLUImpl", "features.2"
};

struct Snapshot {
    std::uint64_t order = 0;
    TensorRef tensor;
    std::span<const std::byte> bytes;
};

/// Texts, each once.
class Words {
  public:
    std::uint32_t number(const std::string& text);
    const std::string& text(std::uint32_t number) const { return texts_.at(number); }

  private:
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<std::string> texts_;
};

struct ThreadInfo {
    std::uint64_t number = 0;  ///< LibTorch's
    bool main = false;
};

/// The stack of EventFile::end, among EventFile::stacks.
inline constexpr std::uint32_t kEndStack = 0xffffffff;

/// The call by which the program ended, if one did and main did not just return.
struct ProgramEnd {
    std::string function;      ///< "_exit", "abort", "std::terminate", "exit", "execv" …
    std::uint32_t thread = 0;  ///< that called it; one that issued no events has no number of ours
    std::string replaced_by;   ///< of exec: the other program
};

/// What the program did with other processes.
struct OtherProcesses {
    std::uint64_t forks = 0;                     ///< its children
    std::uint64_t child_ops = 0;                 ///< ops that those called and that are in no file
    std::uint64_t child_execs = 0, started = 0;  ///< programs executed by children, and by posix_spawn, system, popen
    std::string first;                           ///< the first of those programs
};

/// Which process an event file is of.
struct ProcessIdentity {
    std::uint64_t number = 0, parent = 0;  ///< the system's
    bool forked = false;                   ///< the parent's program, which goes on here
    std::string command_line;
    std::string interpreter = {};  ///< of Python, by its path
    std::uint32_t forked_at = 0;   ///< the stack on which the parent did that, 0: not known
    std::size_t inherited = 0;     ///< so many of its outermost entries are on stacks here, too
};

/// What a ring file had of a run: its last operations, of which a number was asked for.
struct LastOperations {
    std::size_t asked = 0, found = 0;
    std::uint64_t bytes = 0;  ///< of the ring
    bool full = false;        ///< there were more, which it had no room for
};

/// Nobody held a tensor any more; see records::Release.
struct Released {
    std::uint64_t order = 0;  ///< before this event
    std::uint32_t thread = 0;
    std::uint8_t looked_at = 0, waiting = 0;
};

/// Between these two events of a thread, iterations of a loop were left out.
struct Gap {
    std::uint64_t before = 0, after = 0;
};

struct EventFile {
    std::filesystem::path path;
    bool finished = false, with_data = false, with_times = false;
    CutReason cut = kNotCut;
    std::uint64_t missed = 0;    ///< ops called after the cut
    std::uint64_t left_out = 0;  ///< tensors whose elements were not written, for want of room
    std::uint64_t lost = 0;      ///< records that could not be made
    std::uint64_t traced = 0;    ///< ops that a compiler ran while it traced the program
    std::optional<ProgramEnd> end;
    ProcessIdentity process;
    OtherProcesses processes;
    std::map<std::uint32_t, OpName> ops;
    std::map<std::uint32_t, std::vector<std::uint64_t>> stacks;  ///< return addresses and source places
    std::map<std::uint64_t, SourcePlace> places;                 ///< by their numbers, which stacks have
    bool runs_python = false;                                    ///< some of them are Python's
    std::vector<LibraryFolder> python_libraries;                 ///< where its interpreter has code of no user
    std::vector<Mapping> mappings;
    std::map<std::uint32_t, ThreadInfo> threads;
    std::map<std::uint32_t, RowForm> forms;  ///< where hashes were recorded
    std::vector<TensorName> names;
    std::vector<ModuleName> modules;
    std::vector<VariableName> variables;                       ///< ascending
    std::map<std::uint32_t, std::vector<NumberName>> numbers;  ///< by stack
    Words words;
    std::vector<Snapshot> snapshots;
    std::vector<Event> unseen_writes;                      ///< ascending
    std::unordered_map<std::uint64_t, Released> released;  ///< by tensor; others were held to the end
    std::map<std::uint32_t, std::vector<Gap>> gaps;        ///< by thread, ascending
    std::vector<Event> events;  ///< op_begin, op_end, io, data_ptr, print_*, from_blob, snapshot, note, probe_*
    std::optional<LastOperations> last;       ///< where only those were recorded
    std::optional<std::uint64_t> unfinished;  ///< the beginning of an operation that end_unfinished() ended
    std::shared_ptr<const EventMemory> file, ring;

    const OpName& op(const Event& event) const { return ops.at(event.op); }
    /// Where Python calls what turns a tensor into text, on a stack inside that; 0: it is not.
    std::uint64_t printing_place(std::uint32_t stack) const;
    /// The variable of that function that had the tensor last before the event `order`; null: none had.
    const std::string* variable_of(std::uint64_t tensor, std::string_view function, std::uint64_t order) const;
    /// The elements, copied; contiguous.
    Tensor tensor(const Snapshot& snapshot) const;
};

struct ReadLimits {
    RepeatLimits repeats = {};
    std::size_t most_records = std::numeric_limits<std::size_t>::max();  ///< that are kept
    double seconds = std::numeric_limits<double>::infinity();
    std::size_t last = 0;  ///< operations with a kernel that are wanted of a ring file
};

/// What the head of an event file tells.
ProcessIdentity read_identity(const std::filesystem::path& path);

/// Throws Error with the byte offset for a file that is no event file, or is damaged. The unwritten end of a program
/// that was killed is no damage. What is beyond the limits is left out: EventFile::cut is kCutReading then.
EventFile read_events(const std::filesystem::path& path, const ReadLimits& limits = {});

}  // namespace whittle::libtorch
