#include "graph/stack_json.h"

#include <limits>

#include "graph/json_text.h"

namespace whittle {
namespace {

using Json = Document::Json;

int place(const Document& document, const Json& value) {
    const std::int64_t wide = document.integer(value);
    if (wide < 0 || wide > std::numeric_limits<int>::max()) document.fail(value, "a line or column");
    return static_cast<int>(wide);
}

StackFrame read_frame(const Document& document, const Json& value) {
    document.only_members(value, {"file", "line", "column", "function", "text"});
    StackFrame frame;
    frame.file = document.text(document.member(value, "file"));
    frame.line = place(document, document.member(value, "line"));
    if (const Json* column = document.find(value, "column")) frame.column = place(document, *column);
    if (const Json* function = document.find(value, "function")) frame.function = document.text(*function);
    if (const Json* text = document.find(value, "text")) frame.text = document.text(*text);
    return frame;
}

std::string frame_to_json(const StackFrame& frame) {
    std::string text = "{\"file\": " + json_text(frame.file) + ", \"line\": " + std::to_string(frame.line);
    if (frame.column) text += ", \"column\": " + std::to_string(frame.column);
    if (!frame.function.empty()) text += ", \"function\": " + json_text(frame.function);
    if (!frame.text.empty()) text += ", \"text\": " + json_text(frame.text);
    return text + "}";
}

}  // namespace

std::string stack_to_json(const std::vector<StackFrame>& stack) {
    std::string text = "[";
    for (const StackFrame& frame : stack) text += (text.size() > 1 ? ", " : "") + frame_to_json(frame);
    return text + "]";
}

std::vector<StackFrame> read_stack(const Document& document, const Json& value) {
    std::vector<StackFrame> stack;
    for (const Json& entry : document.list(value)) stack.push_back(read_frame(document, entry));
    return stack;
}

}  // namespace whittle
