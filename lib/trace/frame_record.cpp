#include "trace/frame_record.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "graph/document.h"
#include "graph/json.h"
#include "graph/json_text.h"
#include "graph/sidecar.h"
#include "graph/stack_json.h"
#include "graph/tensor_json.h"
#include "graph/text.h"
#include "trace/names.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using Json = Document::Json;

constexpr std::string_view kFormat = "whittle.frame_record";

template <class List, class Text>
std::string lines(const List& list, const std::string& indent, Text&& text_of) {
    std::string text = "[";
    for (const auto& entry : list) text += (text.size() > 1 ? ",\n" : "\n") + indent + "  " + text_of(entry);
    return text + (list.empty() ? "]" : "\n" + indent + "]");
}

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

std::string event_text(const FrameSegment& segment, const Node& node, std::size_t& next_input, TensorWriter& tensors) {
    std::string text = "{\"event\": " + json_text(print(segment.events, node));
    if (node.kind == NodeKind::placeholder) text += ", \"value\": " + tensors.json(segment.inputs.at(next_input++));
    if (node.kind == NodeKind::get_attr)
        text += ", \"value\": " + tensors.json(segment.events.attributes.at(node.target));
    if (!node.stack.empty()) text += ", \"stack\": " + stack_to_json(node.stack);
    return text + "}";
}

std::vector<std::string> event_texts(const FrameSegment& segment, TensorWriter& tensors) {
    std::vector<std::string> events;
    std::size_t next_input = 0, next_failed = 0;
    const auto add_failed = [&](std::size_t position) {
        for (; next_failed < segment.failed.size() && segment.failed[next_failed].before <= position; ++next_failed) {
            const FailedCall& failed = segment.failed[next_failed];
            events.push_back("{\"event\": " + json_text(print(segment.events, failed.call)) +
                             ", \"error\": " + json_text(failed.error) +
                             (failed.call.stack.empty() ? "" : ", \"stack\": " + stack_to_json(failed.call.stack)) +
                             "}");
        }
    };
    for (std::size_t i = 0; i < segment.events.nodes.size(); ++i) {
        add_failed(i);
        events.push_back(event_text(segment, segment.events.nodes[i], next_input, tensors));
    }
    add_failed(segment.events.nodes.size());
    return events;
}

std::string break_text(const capture::GraphBreak& why) {
    std::string text =
        "{\"id\": " + json_text(std::string(capture::info(why.kind).id)) + ", \"reason\": " + json_text(why.reason);
    if (!why.op.empty()) text += ", \"op\": " + json_text(why.op);
    if (!why.stack.empty()) text += ", \"stack\": " + stack_to_json(why.stack);
    return text + "}";
}

std::string segment_text(const FrameSegment& segment, TensorWriter& tensors) {
    const std::string indent = "      ";
    std::string text = "{\n" + indent + "\"graph\": " + json_text(segment.events.name);
    const auto member = [&](const char* key, const std::string& value) {
        text += ",\n" + indent + "\"" + key + "\": " + value;
    };
    if (segment.keeps_all) member("keeps_all", "true");
    const auto as_it_is = [](const std::string& line) { return line; };
    member("events", lines(event_texts(segment, tensors), indent, as_it_is));
    std::string live;
    for (const std::string& name : segment.live) live += (live.empty() ? "" : ", ") + json_text(name);
    member("live", "[" + live + "]");
    if (segment.ended_by) member("break", break_text(*segment.ended_by));
    std::string captured = "{\n" + indent +
                           "  \"graph\": " + lines(split_lines(segment.graph), indent + "  ", json_text) + ",\n" +
                           indent + "  \"guards\": " + lines(segment.guards, indent + "  ", json_text);
    if (!segment.break_id.empty()) captured += ",\n" + indent + "  \"break\": " + json_text(segment.break_id);
    captured += ",\n" + indent + "  \"outputs\": " + lines(segment.outputs, indent + "  ", [&](const Tensor& t) {
                    return tensors.json(t);
                });
    member("captured", captured + "\n" + indent + "}");
    return text + "\n    }";
}

// --- Reading ---

/// The lines of one segment as a graph.
class SegmentReader {
  public:
    SegmentReader(const Document& in, TensorReader& tensors) : in_(in), tensors_(tensors) {}

    FrameSegment read(const Json& value) {
        in_.only_members(value, {"graph", "keeps_all", "events", "live", "break", "captured"});
        FrameSegment segment;
        const std::string name = in_.text(in_.member(value, "graph"));
        if (const Json* all = in_.find(value, "keeps_all")) segment.keeps_all = in_.boolean(*all);
        const Json& events = in_.list(in_.member(value, "events"));
        std::string text;
        std::vector<const Json*> issued;
        for (const Json& event : events) {
            in_.only_members(event, {"event", "value", "error", "stack"});
            const std::string line = in_.text(in_.member(event, "event")) + "\n";
            if (const Json* error = in_.find(event, "error")) {
                const Graph known = parsed(event, text + line, issued.size() + 1);
                segment.failed.push_back({issued.size(), known.nodes.back(), in_.text(*error)});
                if (const Json* stack = in_.find(event, "stack"))
                    segment.failed.back().call.stack = read_stack(in_, *stack);
                continue;
            }
            text += line;
            issued.push_back(&event);
        }
        Graph known = parsed(events, text, issued.size());
        for (std::size_t i = 0; i < issued.size(); ++i) add(segment, *issued[i], std::move(known.nodes[i]));
        segment.events.name = name;
        for (const Json& live : in_.list(in_.member(value, "live"))) {
            segment.live.push_back(in_.text(live));
            if (!segment.events.find(segment.live.back())) in_.fail(live, "the name of an event above");
        }
        if (const Json* why = in_.find(value, "break")) segment.ended_by = read_break(*why);
        read_captured(in_.member(value, "captured"), segment);
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

    void add(FrameSegment& segment, const Json& event, Node node) {
        if (const Json* stack = in_.find(event, "stack")) node.stack = read_stack(in_, *stack);
        if (node.kind != NodeKind::call) {
            const Json& value = in_.member(event, "value");
            Tensor tensor = tensors_.read(value);
            if (tensor.dtype() != node.meta().dtype || tensor.sizes() != node.meta().sizes)
                in_.fail_found(value, print(ValueMeta::of(tensor)), print(node.meta()));
            if (node.kind == NodeKind::placeholder)
                segment.inputs.push_back(std::move(tensor));
            else
                segment.events.attributes.insert_or_assign(node.target, std::move(tensor));
        }
        segment.events.nodes.push_back(std::move(node));
    }

    capture::GraphBreak read_break(const Json& value) const {
        in_.only_members(value, {"id", "reason", "op", "stack"});
        const Json& id = in_.member(value, "id");
        const capture::BreakInfo* info = capture::find_break(in_.text(id));
        if (!info) in_.fail(id, "the id of a kind of break (explain --break all)");
        capture::GraphBreak why{.kind = info->kind, .reason = in_.text(in_.member(value, "reason"))};
        if (const Json* op = in_.find(value, "op")) why.op = in_.text(*op);
        if (const Json* stack = in_.find(value, "stack")) why.stack = read_stack(in_, *stack);
        return why;
    }

    void read_captured(const Json& value, FrameSegment& segment) {
        in_.only_members(value, {"graph", "guards", "break", "outputs"});
        for (const Json& line : in_.list(in_.member(value, "graph"))) segment.graph += in_.text(line) + "\n";
        for (const Json& guard : in_.list(in_.member(value, "guards"))) segment.guards.push_back(in_.text(guard));
        if (const Json* id = in_.find(value, "break")) segment.break_id = in_.text(*id);
        for (const Json& output : in_.list(in_.member(value, "outputs")))
            segment.outputs.push_back(tensors_.read(output));
    }

    const Document& in_;
    TensorReader& tensors_;
};

}  // namespace

bool failed(const FrameRecord& record) {
    const auto has_failed = [](const FrameSegment& segment) { return !segment.failed.empty(); };
    return !record.error.empty() || std::any_of(record.segments.begin(), record.segments.end(), has_failed);
}

fs::path save_frame_record(const fs::path& folder, const FrameRecord& record) {
    const fs::path path = folder / "records" / (file_name(record.name) + ".json");
    TensorWriter tensors;
    const std::string segments =
        lines(record.segments, "  ", [&](const FrameSegment& segment) { return segment_text(segment, tensors); });
    save_with_tensors(path, tensors.sidecar(), [&](const std::string& sidecar) {
        std::string text = "{\n  \"format\": " + json_text(std::string(kFormat)) + ",\n  \"version\": \"" +
                           std::to_string(kFrameRecordFormatMajor) + "." + std::to_string(kFrameRecordFormatMinor) +
                           "\"";
        if (!tensors.sidecar().empty()) text += ",\n  \"tensors\": " + json_text(sidecar);
        text += ",\n  \"name\": " + json_text(record.name) + ",\n  \"frame\": " + json_text(record.frame);
        if (!record.error.empty()) text += ",\n  \"error\": " + json_text(record.error);
        return text + ",\n  \"segments\": " + segments + "\n}\n";
    });
    return path;
}

FrameRecord load_frame_record(const fs::path& file) {
    Document in(read_file(file), file.string());
    in.require_format(kFormat, kFrameRecordFormatMajor, kFrameRecordFormatMinor);
    const Json& root = in.root();
    in.only_members(root, {"format", "version", "tensors", "name", "frame", "error", "segments"});
    FrameRecord record{.name = in.text(in.member(root, "name")), .frame = in.text(in.member(root, "frame"))};
    if (const Json* error = in.find(root, "error")) record.error = in.text(*error);
    TensorReader tensors(in);
    for (const Json& segment : in.list(in.member(root, "segments")))
        record.segments.push_back(SegmentReader(in, tensors).read(segment));
    return record;
}

bool is_frame_record(const fs::path& file) { return format_of_json(file) == kFormat; }

}  // namespace whittle
