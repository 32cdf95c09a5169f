#include "frontends/libtorch/record_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontends/libtorch/records.h"
#include "frontends/libtorch/value_reader.h"

namespace whittle::libtorch {

namespace {

void define(const records::OpDefinition& told, EventFile& file) {
    file.ops[told.op] = {.name = std::string(told.name),
                         .overload = std::string(told.overload),
                         .schema = std::string(told.schema),
                         .flags = told.flags,
                         .writes = told.schema.find('!') != std::string_view::npos};
}

void define(const records::SourcePlace& told, EventFile& file) {
    file.places[told.number] = {.language = told.language,
                                .entry = told.entry,
                                .resumable = told.resumable,
                                .module = told.module,
                                .line = static_cast<int>(std::min<std::uint32_t>(told.line, 1u << 30)),
                                .file = std::string(told.file),
                                .function = std::string(told.function),
                                .text = std::string(told.text)};
    file.runs_python |= told.language == Language::python;
}

void read_snapshot(Cursor& in, EventFile& file, Event& event) {
    EventValue value = read_value(in);
    if (!value.tensor()) in.fail("found a snapshot of a value that is not a tensor", "expected a snapshot of a tensor");
    Snapshot snapshot{.order = event.order, .tensor = *value.tensor(), .bytes = {}};
    const auto size = in.get<std::uint64_t>();
    snapshot.bytes = in.take(size);
    if (snapshot.tensor.dtype &&
        static_cast<std::uint64_t>(element_count(snapshot.tensor.sizes)) * size_of(*snapshot.tensor.dtype) != size)
        in.fail("found a snapshot of " + std::to_string(size) + " bytes",
                "expected the number of bytes of a tensor of sizes " + to_string(snapshot.tensor.sizes));
    event.snapshot = file.snapshots.size();
    file.snapshots.push_back(std::move(snapshot));
}

void read_op_begin(Cursor& in, Event& event) {
    const auto begin = in.record<records::OpBegin>();
    event.op = begin.op;
    event.depth = begin.depth;
    event.stack = begin.stack;
    event.untouched = begin.untouched;
    event.unmoved = begin.unmoved;
    event.scope = begin.scope;
    event.grad_mode = begin.grad_mode;
    event.sequence = begin.sequence;
    event.forward_thread = begin.forward_thread;
    event.values = read_values(in);
}

void read_op_end(Cursor& in, Event& event, bool with_times) {
    const auto end = in.record<records::OpEnd>();
    event.op = end.op;
    event.depth = end.depth;
    event.values = read_values(in);
    if (with_times) event.nanoseconds = in.get<std::uint64_t>();
}

void read_probe_branch(Cursor& in, Event& event) {
    const auto branch = in.record<records::ProbeBranch>();
    event.line = branch.line;
    event.column = branch.column;
    event.sequence = branch.outcome;
    event.selects = branch.kind == BranchKind::selected;
    event.values.push_back({std::string(branch.file)});
    event.text = branch.condition;
}

}  // namespace

bool read_definition(Cursor& in, const RecordHeader& header, std::uint32_t thread, EventFile& file) {
    switch (static_cast<RecordKind>(header.kind)) {
        case RecordKind::thread: {
            const auto told = in.record<records::Thread>();
            file.threads[thread] = {.number = told.number, .main = told.main};
            return true;
        }
        case RecordKind::mapping: {
            const auto told = in.record<records::Mapping>();
            file.mappings.push_back(
                {.low = told.low, .high = told.high, .base = told.base, .path = std::string(told.path)});
            return true;
        }
        case RecordKind::op_def:
            define(in.record<records::OpDefinition>(), file);
            return true;
        case RecordKind::stack_def: {
            auto told = in.record<records::StackDefinition>();
            file.stacks[told.stack] = std::move(told.pcs);
            return true;
        }
        case RecordKind::form: {
            const auto told = in.record<records::Form>();
            RowForm& form = file.forms[told.form];
            form = {.kind = told.kind,
                    .op = told.op,
                    .stack = told.stack,
                    .under = told.under,
                    .thread = thread,
                    .operands = told.operands,
                    .results = told.results,
                    .arguments_of = told.arguments_of};
            form.arguments = read_values(in);
            form.values = read_values(in);
            return true;
        }
        case RecordKind::name: {
            const auto told = in.record<records::Name>();
            file.names.push_back({.order = header.order,
                                  .tensor = told.tensor,
                                  .root = told.root,
                                  .kind = told.kind,
                                  .type = std::string(told.type),
                                  .path = std::string(told.path)});
            return true;
        }
        case RecordKind::source_place:
            define(in.record<records::SourcePlace>(), file);
            return true;
        case RecordKind::library_folder: {
            const auto told = in.record<records::LibraryFolder>();
            file.python_libraries.push_back(
                {.kind = static_cast<LibraryFolder::Kind>(told.kind), .path = std::string(told.path)});
            return true;
        }
        case RecordKind::forked_at: {
            const auto told = in.record<records::ForkedAt>();
            file.process.forked_at = told.stack;
            file.process.inherited = told.inherited;
            return true;
        }
        case RecordKind::variable: {
            const auto told = in.record<records::Variable>();
            file.variables.push_back({.tensor = told.tensor,
                                      .order = header.order,
                                      .function = file.words.number(std::string(told.function)),
                                      .name = file.words.number(std::string(told.name))});
            return true;
        }
        case RecordKind::number: {
            const auto told = in.record<records::Number>();
            file.numbers[told.stack].push_back({.number = read_value(in),
                                                .function = file.words.number(std::string(told.function)),
                                                .name = file.words.number(std::string(told.name))});
            return true;
        }
        case RecordKind::module: {
            const auto told = in.record<records::Module>();
            file.modules.push_back({.root = told.root,
                                    .module = told.module,
                                    .type = std::string(told.type),
                                    .path = std::string(told.path)});
            return true;
        }
        default:
            return false;
    }
}

void read_happening(Cursor& in, const RecordHeader& header, std::uint32_t thread, std::int64_t times, EventFile& file) {
    Event event;
    event.order = header.order;
    event.thread = thread;
    event.times = times;
    event.kind = static_cast<RecordKind>(header.kind);
    switch (event.kind) {
        case RecordKind::op_begin:
            read_op_begin(in, event);
            break;
        case RecordKind::op_end:
            read_op_end(in, event, file.with_times);
            break;
        case RecordKind::io: {
            const auto io = in.record<records::Io>();
            event.stack = io.stack;
            event.text = io.function;
            break;
        }
        case RecordKind::data_ptr: {
            const auto pointer = in.record<records::DataPointer>();
            event.stack = pointer.stack;
            event.text = pointer.how;
            event.values.push_back(read_value(in));
            break;
        }
        case RecordKind::print_begin:
            event.stack = in.record<records::PrintBegin>().stack;
            event.values.push_back(read_value(in));
            break;
        case RecordKind::from_blob:
            event.stack = in.record<records::FromBlob>().stack;
            break;
        case RecordKind::raised: {
            const auto raised = in.record<records::Raised>();
            event.stack = raised.stack;
            event.text = raised.name;
            event.untouched = raised.waiting < raised.looked_at ? raised.waiting : 0xff;
            break;
        }
        case RecordKind::probe_enter:
            event.text = in.record<records::ProbeEnter>().function;
            break;
        case RecordKind::probe_name: {
            const auto name = in.record<records::ProbeName>();
            event.depth = name.parameter;
            event.sequence = name.element;
            event.text = name.name;
            event.values.push_back(read_value(in));
            break;
        }
        case RecordKind::probe_value:
            event.text = in.record<records::ProbeValue>().name;
            event.values.push_back(read_value(in));
            break;
        case RecordKind::probe_branch:
            read_probe_branch(in, event);
            break;
        case RecordKind::probe_leave:
        case RecordKind::print_end:
            break;
        case RecordKind::note:
            event.text = in.record<records::Note>().text;
            break;
        case RecordKind::snapshot:
            read_snapshot(in, file, event);
            break;
        case RecordKind::release: {
            const auto told = in.record<records::Release>();
            file.released.try_emplace(
                told.tensor,
                Released{
                    .order = header.order, .thread = thread, .looked_at = told.looked_at, .waiting = told.waiting});
            return;
        }
        case RecordKind::unseen_write:
            event.values.push_back(read_value(in));
            file.unseen_writes.push_back(std::move(event));
            return;
        default:
            in.fail("found a record of kind " + std::to_string(header.kind), "expected a kind from 1 to 30");
    }
    file.events.push_back(std::move(event));
}

}  // namespace whittle::libtorch
