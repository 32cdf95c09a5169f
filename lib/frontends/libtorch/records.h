// The records of an event file, each as a struct with one list of its members: what the recorder writes, the reader and
// the fingerprints read, and the tests make up. A comment says what stands behind the members: a value, or values with
// their number, a u16, before them. Shared by all, so it needs neither LibTorch nor the rest of Whittle.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/libtorch/events.h"

namespace whittle::libtorch::records {

struct Thread {
    static constexpr auto kKind = RecordKind::thread;
    std::uint64_t number = 0;  ///< LibTorch's
    bool main = false;
    static void fields(auto& self, auto&& field) { field(self.number), field(self.main); }
};

/// An executable segment.
struct Mapping {
    static constexpr auto kKind = RecordKind::mapping;
    std::uint64_t low = 0, high = 0, base = 0;
    std::string_view path = {};
    static void fields(auto& self, auto&& field) {
        field(self.low), field(self.high), field(self.base), field(self.path);
    }
};

struct OpDefinition {
    static constexpr auto kKind = RecordKind::op_def;
    std::uint32_t op = 0;
    std::uint8_t flags = 0;                                  ///< OpFlags
    std::string_view name = {}, overload = {}, schema = {};  ///< "aten::add", "Tensor"
    static void fields(auto& self, auto&& field) {
        field(self.op), field(self.flags), field(self.name), field(self.overload), field(self.schema);
    }
};

struct StackDefinition {
    static constexpr auto kKind = RecordKind::stack_def;
    std::uint32_t stack = 0;
    std::vector<std::uint64_t> pcs = {};  ///< return addresses and numbers of places, innermost first
    static void fields(auto& self, auto&& field) { field(self.stack), field(self.pcs); }
};

/// Behind it the arguments.
struct OpBegin {
    static constexpr auto kKind = RecordKind::op_begin;
    std::uint32_t op = 0, depth = 0;
    std::uint32_t stack = 0;                     ///< 0: none
    std::uint8_t untouched = 0, unmoved = 0xff;  ///< see Event
    OpScope scope = OpScope::function;
    bool grad_mode = false;
    std::int64_t sequence = -1;  ///< autograd's number, or -1
    std::uint64_t forward_thread = 0;
    static void fields(auto& self, auto&& field) {
        field(self.op), field(self.depth), field(self.stack), field(self.untouched), field(self.unmoved);
        field(self.scope), field(self.grad_mode), field(self.sequence), field(self.forward_thread);
    }
};

/// Behind it the results, none where the op threw, and with kWithTimes u64 nanoseconds.
struct OpEnd {
    static constexpr auto kKind = RecordKind::op_end;
    std::uint32_t op = 0, depth = 0;
    static void fields(auto& self, auto&& field) { field(self.op), field(self.depth); }
};

struct Io {
    static constexpr auto kKind = RecordKind::io;
    std::uint32_t stack = 0;
    std::string_view function = {};  ///< that was called
    static void fields(auto& self, auto&& field) { field(self.stack), field(self.function); }
};

/// Behind it the tensor.
struct DataPointer {
    static constexpr auto kKind = RecordKind::data_ptr;
    std::uint32_t stack = 0;
    std::string_view how = {};  ///< "data_ptr<float>()"
    static void fields(auto& self, auto&& field) { field(self.stack), field(self.how); }
};

/// LibTorch prints a tensor, which is behind it; the ops up to PrintEnd are the printing's.
struct PrintBegin {
    static constexpr auto kKind = RecordKind::print_begin;
    std::uint32_t stack = 0;
    static void fields(auto& self, auto&& field) { field(self.stack); }
};
struct PrintEnd {
    static constexpr auto kKind = RecordKind::print_end;
    static void fields(auto&, auto&&) {}
};

struct Name {
    static constexpr auto kKind = RecordKind::name;
    std::uint64_t tensor = 0;
    NameKind kind = NameKind::parameter;
    std::uint64_t root = 0;                 ///< the module at the root
    std::string_view type = {}, path = {};  ///< that module's type, the qualified name
    static void fields(auto& self, auto&& field) {
        field(self.tensor), field(self.kind), field(self.root), field(self.type), field(self.path);
    }
};

/// Behind it the tensor, and then u64 n, byte[n]: its elements in row-major order.
struct Snapshot {
    static constexpr auto kKind = RecordKind::snapshot;
    static void fields(auto&, auto&&) {}
};

struct FromBlob {
    static constexpr auto kKind = RecordKind::from_blob;
    std::uint32_t stack = 0;
    static void fields(auto& self, auto&& field) { field(self.stack); }
};

/// Something that the capture could not see or do.
struct Note {
    static constexpr auto kKind = RecordKind::note;
    std::string_view text = {};
    static void fields(auto& self, auto&& field) { field(self.text); }
};

struct Module {
    static constexpr auto kKind = RecordKind::module;
    std::uint64_t root = 0, module = 0;     ///< the module at the root, itself
    std::string_view type = {}, path = {};  ///< its own type, its qualified name ("": the root)
    static void fields(auto& self, auto&& field) {
        field(self.root), field(self.module), field(self.type), field(self.path);
    }
};

/// Behind it a tensor whose elements changed since an op or a read, and no op changed them.
struct UnseenWrite {
    static constexpr auto kKind = RecordKind::unseen_write;
    static void fields(auto&, auto&&) {}
};

/// A function that was compiled by `trace cc` begins, by its qualified name.
struct ProbeEnter {
    static constexpr auto kKind = RecordKind::probe_enter;
    std::string_view function = {};
    static void fields(auto& self, auto&& field) { field(self.function); }
};

/// Behind it the tensor.
struct ProbeName {
    static constexpr auto kKind = RecordKind::probe_name;
    bool parameter = false;     ///< else a variable
    std::int64_t element = -1;  ///< position in a list, or -1
    std::string_view name = {};
    static void fields(auto& self, auto&& field) { field(self.parameter), field(self.element), field(self.name); }
};

struct ProbeLeave {
    static constexpr auto kKind = RecordKind::probe_leave;
    static void fields(auto&, auto&&) {}
};

/// A parameter that is no tensor; behind it what it is.
struct ProbeValue {
    static constexpr auto kKind = RecordKind::probe_value;
    std::string_view name = {};
    static void fields(auto& self, auto&& field) { field(self.name); }
};

struct ProbeBranch {
    static constexpr auto kKind = RecordKind::probe_branch;
    std::uint32_t line = 0, column = 0;
    std::int64_t outcome = 0;
    BranchKind kind = BranchKind::taken;
    std::string_view file = {}, condition = {};
    static void fields(auto& self, auto&& field) {
        field(self.line), field(self.column), field(self.outcome), field(self.kind), field(self.file);
        field(self.condition);
    }
};

/// Nobody holds the tensor any more. Of the functions on the stack of the thread's last op that are looked at, counted
/// from the outermost as Event::untouched does: how many those are, and how many still waited for what they had called.
struct Release {
    static constexpr auto kKind = RecordKind::release;
    std::uint64_t tensor = 0;
    std::uint8_t looked_at = 0, waiting = 0;
    static void fields(auto& self, auto&& field) { field(self.tensor), field(self.looked_at), field(self.waiting); }
};

struct SourcePlace {
    static constexpr auto kKind = RecordKind::source_place;
    std::uint64_t number = 0;
    Language language = Language::python;
    bool entry = false;      ///< the interpreter was entered there
    bool resumable = false;  ///< of a generator or coroutine, whose call is left and entered again
    std::uint32_t line = 0;
    std::uint64_t module = 0;                              ///< that is called there, or 0
    std::string_view file = {}, function = {}, text = {};  ///< text: of the line, "" where only the file has it
    static void fields(auto& self, auto&& field) {
        field(self.number), field(self.language), field(self.entry), field(self.resumable), field(self.line);
        field(self.module), field(self.file), field(self.function), field(self.text);
    }
};

/// A local variable of that function of Python has the tensor.
struct Variable {
    static constexpr auto kKind = RecordKind::variable;
    std::uint64_t tensor = 0;
    std::string_view function = {}, name = {};
    static void fields(auto& self, auto&& field) { field(self.tensor), field(self.function), field(self.name); }
};

/// Where the parent forked this process; so many of the stack's outermost entries are those of what the process does,
/// too.
struct ForkedAt {
    static constexpr auto kKind = RecordKind::forked_at;
    std::uint32_t stack = 0, inherited = 0;
    static void fields(auto& self, auto&& field) { field(self.stack), field(self.inherited); }
};

/// An op that was called there got the number behind it, and a local variable of that function of Python had it.
struct Number {
    static constexpr auto kKind = RecordKind::number;
    std::uint32_t stack = 0;
    std::string_view function = {}, name = {};
    static void fields(auto& self, auto&& field) { field(self.stack), field(self.function), field(self.name); }
};

/// A folder of Python's with code that is not the program's.
struct LibraryFolder {
    static constexpr auto kKind = RecordKind::library_folder;
    std::uint8_t kind = 0;  ///< LibraryFolder::Kind
    std::string_view path = {};
    static void fields(auto& self, auto&& field) { field(self.kind), field(self.path); }
};

/// The calls that the operations of this thread belong to from here on: of each frame of Python's on their stacks,
/// outermost first, the number of its call, or 0 where that is not known.
struct Calls {
    static constexpr auto kKind = RecordKind::calls;
    std::vector<std::uint64_t> numbers = {};
    static void fields(auto& self, auto&& field) { field(self.numbers); }
};

/// The program threw an exception there, of that type, since the last op of the thread, and caught it. The other
/// members are as those of Release.
struct Raised {
    static constexpr auto kKind = RecordKind::raised;
    std::uint32_t stack = 0;
    std::uint8_t looked_at = 0, waiting = 0;
    std::string_view name = {};
    static void fields(auto& self, auto&& field) {
        field(self.stack), field(self.looked_at), field(self.waiting), field(self.name);
    }
};

/// What rows of hashes are of (capture/hashes.h). Behind it the arguments of the first that had it, none where they are
/// those of another form, and its results.
struct Form {
    static constexpr auto kKind = RecordKind::form;
    std::uint32_t form = 0;
    std::uint8_t kind = 0;                    ///< RowKind
    std::uint32_t op = 0, stack = 0;          ///< of an operation; 0: none
    std::uint32_t under = 0;                  ///< the op of the node of a backward pass that called it, 0: none
    std::uint32_t operands = 0, results = 0;  ///< how many its rows have
    std::uint32_t arguments_of = 0;           ///< the form that has its arguments; 0: itself
    static void fields(auto& self, auto&& field) {
        field(self.form), field(self.kind), field(self.op), field(self.stack), field(self.under);
        field(self.operands), field(self.results), field(self.arguments_of);
    }
};

}  // namespace whittle::libtorch::records
