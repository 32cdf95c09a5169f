#include "frontends/libtorch/hashes.h"

#include <algorithm>

#include "base/number_text.h"
#include "base/words.h"
#include "frontends/libtorch/capture/row_file.h"
#include "frontends/libtorch/notes.h"
#include "frontends/libtorch/stack_reader.h"

namespace whittle::libtorch {
namespace {

HashedValue value_of(const EventValue& value) {
    if (const TensorRef* tensor = value.tensor())
        return {.type = tensor->dtype ? std::string(name(*tensor->dtype)) : "tensor",
                .sizes = tensor->sizes,
                .hashed = tensor->has(kPlain)};
    if (std::holds_alternative<std::int64_t>(value.value)) return {.type = "int"};
    if (std::holds_alternative<double>(value.value)) return {.type = "float"};
    return {.type = std::holds_alternative<bool>(value.value) ? "bool" : "number"};
}

bool is_number(const EventValue& value) {
    return std::holds_alternative<std::int64_t>(value.value) || std::holds_alternative<double>(value.value) ||
           std::holds_alternative<bool>(value.value);
}

/// The recorder counts them as results, in this order.
void collect_results(const EventValue& value, std::vector<HashedValue>& results) {
    if (const auto* list = value.list())
        for (const EventValue& element : *list) collect_results(element, results);
    else if (value.tensor() || is_number(value))
        results.push_back(value_of(value));
}

/// A number that is an operand is named by its type: it is another one in other rows.
std::string text_of(const EventValue& value) {
    if (const auto* list = value.list()) {
        std::vector<std::string> elements;
        for (const EventValue& element : *list) elements.push_back(text_of(element));
        return "[" + join(elements) + "]";
    }
    if (value.tensor()) return value_of(value).text();
    if (const auto* integer = std::get_if<std::int64_t>(&value.value))
        return is_form_number(*integer) ? std::to_string(*integer) : "int";
    if (const auto* real = std::get_if<double>(&value.value))
        return is_form_number(*real) ? shortest_real(*real) : "float";
    if (const auto* truth = std::get_if<bool>(&value.value)) return *truth ? "true" : "false";
    if (const auto* text = std::get_if<std::string>(&value.value)) return '"' + *text + '"';
    if (const auto* opaque = std::get_if<EventValue::Opaque>(&value.value)) return opaque->what;
    return "none";
}

constexpr std::string_view kKinds[] = {"operation", "value", "read"};

class FormReader {
  public:
    explicit FormReader(const EventFile& file) : file_(file), symbolizer_(file), stacks_(file, symbolizer_, {}) {}

    HashedProcess read() {
        process_.command = file_.process.command_line;
        process_.finished = file_.finished;
        if (file_.cut != kNotCut)
            process_.notes.push_back(std::string("the recording was stopped ") + reason_of(file_.cut));
        if (file_.lost) process_.notes.push_back(plural(file_.lost, "operation") + " could not be recorded");
        for (const auto& [number, form] : file_.forms) {
            if (number != process_.forms.size() + 1) break;  // the program was killed before it wrote the form
            process_.forms.push_back(read(form));
        }
        return std::move(process_);
    }

  private:
    HashForm read(const RowForm& form) {
        HashForm result{.kind = std::string(kKinds[std::min<std::size_t>(form.kind, std::size(kKinds) - 1)]),
                        .thread = form.thread,
                        .operands = form.operands};
        if (form.op) result.op = file_.ops.at(form.op).target();
        if (form.under) result.under = file_.ops.at(form.under).name;
        if (form.stack) result.stack = stack(form.stack);
        const auto described = file_.forms.find(form.arguments_of);
        std::vector<std::string> arguments;
        for (const EventValue& argument : described == file_.forms.end() ? form.arguments : described->second.arguments)
            arguments.push_back(text_of(argument));
        result.arguments = join(arguments);
        for (const EventValue& value : form.values) collect_results(value, result.results);
        return result;
    }

    std::int64_t stack(std::uint32_t number) {
        const auto [known, fresh] = known_.try_emplace(number, 0);
        if (!fresh) return known->second;
        const std::vector<StackFrame>& user = stacks_.info(number).user;
        const auto same = std::ranges::find(process_.stacks, user);
        known->second = same - process_.stacks.begin();
        if (same == process_.stacks.end()) process_.stacks.push_back(user);
        return known->second;
    }

    const EventFile& file_;
    Symbolizer symbolizer_;
    StackReader stacks_;
    HashedProcess process_;
    std::map<std::uint32_t, std::int64_t> known_;
};

}  // namespace

std::filesystem::path rows_beside(const std::filesystem::path& events) {
    const std::filesystem::path rows = events.string() + kRowsSuffix;
    return std::filesystem::exists(rows) ? rows : std::filesystem::path();
}

HashedProcess hashed_process(const EventFile& file) { return FormReader(file).read(); }

}  // namespace whittle::libtorch
