#include "trace/frame_record.h"

#include <algorithm>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "formats/shared_fields.h"
#include "graph/text.h"
#include "trace/names.h"

namespace whittle {
namespace fs = std::filesystem;

/// By its id.
template <>
struct Form<capture::BreakKind> {
    static void write(JsonWriter& out, capture::BreakKind kind, Plain) {
        out.text(std::string(capture::info(kind).id));
    }
    static capture::BreakKind read(const JsonReader& reader, const Json& value, Plain) {
        const capture::BreakInfo* info = capture::find_break(reader.in.text(value));
        if (!info)
            reader.in.fail(value,
                           "the id of a kind of break, as listed by " + program_called("explain") + " break all");
        return info->kind;
    }
    static Json schema(SchemaMaker&, Plain) { return {{"type", "string"}, {"pattern", "^WB[0-9]{4}$"}}; }
};

template <>
struct Fields<capture::GraphBreak> {
    static void visit(auto& field) {
        field("id", &capture::GraphBreak::kind, "The id of the kind of break (explain break all).");
        field("reason", &capture::GraphBreak::reason, "");
        field.maybe("op", &capture::GraphBreak::op, "");
        field.maybe("stack", &capture::GraphBreak::stack, "The user's stack, innermost frame first.");
    }
};

namespace {

constexpr FileFormat kFrameRecordFormat{
    "whittle.frame_record",
    1,
    0,
    "Whittle frame record, version 1",
    "The events of a frame during capture, and what capture made of them. Written when capture fails, whether or not a "
    "graph was finished; replay runs capture on the events again. Data only, never code.",
    true};

struct EventFile {
    static constexpr const char* kName = "event";
    std::string event = {};
    std::optional<Tensor> value = {};
    std::optional<std::string> error = {};
    std::vector<StackFrame> stack = {};

    static void fields(auto& field) {
        field("event", &EventFile::event, "A line of the graph in text form: %x = placeholder[\"L['x']\"] : f32[2].");
        field.maybe("value", &EventFile::value, "");
        field.maybe("error", &EventFile::error, "The error with which capture failed at this call.");
        field.maybe("stack", &EventFile::stack, "The user's stack, innermost frame first.");
    }
};

struct CapturedFile {
    [[maybe_unused]] static constexpr bool kLines = true;
    std::vector<std::string> graph = {}, guards = {};
    std::string break_id = {};
    std::vector<Tensor> outputs = {};

    static void fields(auto& field) {
        field("graph", &CapturedFile::graph, "The graph in text form, line by line; empty if there is none.");
        field("guards", &CapturedFile::guards, "");
        field.maybe("break", &CapturedFile::break_id, "The id of the kind of break.", Matching{"^WB[0-9]{4}$"});
        field("outputs", &CapturedFile::outputs, "The outputs, if the graph ran.");
    }
};

struct SegmentFile {
    static constexpr const char* kName = "segment";
    [[maybe_unused]] static constexpr bool kLines = true;
    std::string graph = {};
    bool keeps_all = false;
    std::vector<EventFile> events = {};
    std::vector<std::string> live = {};
    std::optional<capture::GraphBreak> ended_by = {};
    CapturedFile captured = {};

    static void fields(auto& field) {
        field("graph", &SegmentFile::graph, "The name of the graph.");
        field.maybe("keeps_all", &SegmentFile::keeps_all, "Whether calls are kept even if their results are unused.");
        field("events", &SegmentFile::events, "Inputs and calls in the order in which the frame issued them.");
        field("live", &SegmentFile::live, "Names of the values that were live at the end.", OneLine{});
        field.maybe("break", &SegmentFile::ended_by,
                    "The graph break that ended the graph; absent if the frame ended.");
        field("captured", &SegmentFile::captured, "The graph that capture made of the events.");
    }
};

struct FrameRecordFile {
    [[maybe_unused]] static constexpr bool kLines = true;
    std::string name = {}, frame = {}, error = {};
    std::vector<SegmentFile> segments = {};

    static void fields(auto& field) {
        field("name", &FrameRecordFile::name, "");
        field("frame", &FrameRecordFile::frame, "");
        field.maybe("error", &FrameRecordFile::error,
                    "The error that ended the frame if it did not return and no call failed.");
        field("segments", &FrameRecordFile::segments, "One per graph, in program order.");
    }
};

std::vector<std::string> split_lines(const std::string& text) {
    std::vector<std::string> result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        result.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

// --- Writing ---

EventFile event_of(const FrameSegment& segment, const Node& node) {
    return {.event = print(segment.events, node), .stack = node.stack};
}

std::vector<EventFile> events_of(const FrameSegment& segment) {
    std::vector<EventFile> events;
    std::size_t next_input = 0, next_failed = 0;
    const auto add_failed = [&](std::size_t position) {
        for (; next_failed < segment.failed.size() && segment.failed[next_failed].before <= position; ++next_failed) {
            events.push_back(event_of(segment, segment.failed[next_failed].call));
            events.back().error = segment.failed[next_failed].error;
        }
    };
    for (std::size_t i = 0; i < segment.events.nodes.size(); ++i) {
        add_failed(i);
        const Node& node = segment.events.nodes[i];
        events.push_back(event_of(segment, node));
        if (node.kind == NodeKind::placeholder) events.back().value = segment.inputs.at(next_input++);
        if (node.kind == NodeKind::get_attr) events.back().value = segment.events.attributes.at(node.target);
    }
    add_failed(segment.events.nodes.size());
    return events;
}

SegmentFile file_of(const FrameSegment& segment) {
    return {.graph = segment.events.name,
            .keeps_all = segment.keeps_all,
            .events = events_of(segment),
            .live = segment.live,
            .ended_by = segment.ended_by,
            .captured = {.graph = split_lines(segment.graph),
                         .guards = segment.guards,
                         .break_id = segment.break_id,
                         .outputs = segment.outputs}};
}

// --- Reading ---

/// The lines of one segment as a graph; `at` is the segment in the document.
class SegmentReader {
  public:
    SegmentReader(const Document& in, const Json& at) : in_(in), at_(at) {}

    FrameSegment read(SegmentFile& file) const {
        FrameSegment segment{.keeps_all = file.keeps_all,
                             .live = std::move(file.live),
                             .ended_by = std::move(file.ended_by),
                             .guards = std::move(file.captured.guards),
                             .break_id = std::move(file.captured.break_id),
                             .outputs = std::move(file.captured.outputs)};
        for (const std::string& line : file.captured.graph) segment.graph += line + "\n";
        std::string text;
        std::vector<std::size_t> issued;
        for (std::size_t i = 0; i < file.events.size(); ++i) {
            const EventFile& event = file.events[i];
            if (event.error) {
                const Graph known = parsed(at_["events"][i], text + event.event + "\n", issued.size() + 1);
                segment.failed.push_back({issued.size(), known.nodes.back(), *event.error});
                segment.failed.back().call.stack = event.stack;
                continue;
            }
            text += event.event + "\n";
            issued.push_back(i);
        }
        Graph known = parsed(at_["events"], text, issued.size());
        for (std::size_t i = 0; i < issued.size(); ++i)
            add(segment, file.events[issued[i]], at_["events"][issued[i]], std::move(known.nodes[i]));
        segment.events.name = file.graph;
        for (std::size_t i = 0; i < segment.live.size(); ++i)
            if (!segment.events.find(segment.live[i])) in_.fail(at_["live"][i], "the name of an event above");
        return segment;
    }

  private:
    /// One node per line.
    Graph parsed(const Json& at, const std::string& nodes, std::size_t count) const {
        try {
            Graph graph = parse("graph events {\n" + nodes + "}\n");
            if (graph.nodes.size() == count) return graph;
        } catch (const Error& error) {
            in_.fail(at, "inputs and calls: " + std::string(error.what()));
        }
        in_.fail(at, "one input or call in each event");
    }

    void add(FrameSegment& segment, const EventFile& event, const Json& at, Node node) const {
        node.stack = event.stack;
        if (node.kind != NodeKind::call) {
            const Json& value = in_.member(at, "value");  // throws where there is none
            if (event.value->dtype() != node.meta().dtype || event.value->sizes() != node.meta().sizes)
                in_.fail_found(value, print(ValueMeta::of(*event.value)), print(node.meta()));
            if (node.kind == NodeKind::placeholder)
                segment.inputs.push_back(*event.value);
            else
                segment.events.attributes.insert_or_assign(node.target, *event.value);
        }
        segment.events.nodes.push_back(std::move(node));
    }

    const Document& in_;
    const Json& at_;
};

}  // namespace

bool failed(const FrameRecord& record) {
    const auto has_failed = [](const FrameSegment& segment) { return !segment.failed.empty(); };
    return !record.error.empty() || std::ranges::any_of(record.segments, has_failed);
}

std::string first_error(const FrameRecord& record) {
    for (const FrameSegment& segment : record.segments)
        if (!segment.failed.empty()) return segment.failed.front().error;
    return record.error;
}

fs::path save_frame_record(const fs::path& folder, const FrameRecord& record) {
    const fs::path path = folder / "records" / (file_name(record.name) + ".json");
    FrameRecordFile file{.name = record.name, .frame = record.frame, .error = record.error};
    for (const FrameSegment& segment : record.segments) file.segments.push_back(file_of(segment));
    save_members(path, kFrameRecordFormat, file, TensorWriter());
    return path;
}

FrameRecord load_frame_record(const fs::path& path) {
    Document in(read_file(path), path.string());
    TensorReader tensors(in);
    FrameRecordFile file;
    read_file_members(in, kFrameRecordFormat, &tensors, file);
    FrameRecord record{.name = std::move(file.name), .frame = std::move(file.frame), .error = std::move(file.error)};
    for (std::size_t i = 0; i < file.segments.size(); ++i)
        record.segments.push_back(SegmentReader(in, in.root()["segments"][i]).read(file.segments[i]));
    return record;
}

nlohmann::ordered_json frame_record_schema() { return file_schema<FrameRecordFile>(kFrameRecordFormat); }

bool is_frame_record(const fs::path& file) { return format_of_json(file) == kFrameRecordFormat.name; }

}  // namespace whittle
