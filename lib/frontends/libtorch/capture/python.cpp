// The thread that runs an op waits in it, so its own frames, code objects and strings can be read without the GIL,
// which ops release more often than not. Taking the GIL instead can deadlock: its holder may wait for a lock of ours.
#include "frontends/libtorch/capture/python.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

Api api;
bool knows_scopes = true;
bool knows_flags = true;
bool knows_variables = true;

namespace {

constexpr std::size_t kDeepest = 1000;

/// Owners of frames from here on: frames that stand for the interpreter's C function.
constexpr char kOwnedByInterpreter = 3;

std::atomic<const char*> call_codes[2];  ///< of torch.nn.Module's _call_impl and its wrapper, once seen

std::uint64_t place_key(const Frame& frame) {
    std::uint64_t key = hash(reinterpret_cast<std::uintptr_t>(frame.code), static_cast<std::uint64_t>(frame.offset));
    key = hash(key, reinterpret_cast<std::uintptr_t>(at<const char*>(frame.code, layout->lines)));
    return hash(key, reinterpret_cast<std::uintptr_t>(frame.module) + (frame.entry ? 1 : 0));
}

/// Whether frames of this code call modules; found by name, the first time.
bool calls_module(const char* code) { return code == call_codes[0] || code == call_codes[1]; }
bool find_module_call(const std::string& file, const std::string& name, const char* code) {
    const std::string own = name.substr(name.rfind('.') + 1);
    if (!std::string_view(file).ends_with(kModuleFile) || (own != kModuleCall && own != kWrappedModuleCall))
        return false;
    return call_codes[own == kWrappedModuleCall].exchange(code) != code;
}

/// The code is a generator's or a coroutine's.
bool is_resumable(const char* code) {
    constexpr int kGenerator = 0x20, kCoroutine = 0x80, kAsyncGenerator = 0x200;
    return knows_flags && (at<int>(code, layout->flags) & (kGenerator | kCoroutine | kAsyncGenerator)) != 0;
}

/// Defines the place in the file, once per thread; its number.
std::uint64_t place_of(Thread& thread, const Frame& frame) {
    const auto [entry, fresh] = thread.places.try_emplace(place_key(frame), 0);
    if (!fresh) return entry->second;
    entry->second = kSourcePlace | state.next_place.fetch_add(1);
    RecordBuffer& record = thread.definition;
    const std::string file = text_of(at<const char*>(frame.code, layout->file)),
                      function = text_of(at<const char*>(frame.code, layout->name));
    const int line = std::max(api.PyCode_Addr2Line(frame.code, frame.offset), 0);
    record.start(records::SourcePlace{.number = entry->second,
                                      .language = Language::python,
                                      .entry = frame.entry,
                                      .resumable = is_resumable(frame.code),
                                      .line = static_cast<std::uint32_t>(line),
                                      .module = reinterpret_cast<std::uintptr_t>(frame.module),
                                      .file = file,
                                      .function = function,
                                      .text = ""});
    commit(thread, record);
    return entry->second;
}

void read_frames(const void* thread, std::vector<Frame>& found, bool with_modules = true) {
    found.clear();
    const char* frame = thread ? at<const char*>(thread, layout->top) : nullptr;
    if (layout->cframe >= 0 && frame) frame = at<const char*>(frame, layout->cframe);
    for (; frame && found.size() < kDeepest; frame = at<const char*>(frame, layout->back)) {
        if (layout->owner >= 0 && frame[layout->owner] >= kOwnedByInterpreter) {
            if (!found.empty()) found.back().entry = true;
            continue;
        }
        const char* const code = held(frame, layout->code);
        const auto offset =
            layout->bytes < 0 ? at<int>(frame, layout->instruction) * layout->scale
                              : static_cast<int>(at<const char*>(frame, layout->instruction) - (code + layout->bytes));
        const char* const module = with_modules && calls_module(code) ? in_cell(held(frame, layout->local)) : nullptr;
        const bool entry = layout->entry >= 0 ? frame[layout->entry] != 0 : layout->owner < 0;
        found.push_back({frame, code, module, offset, entry});
    }
    if (!found.empty()) found.back().entry = true;
}

/// The names of the code's variables are where the layout says. With the GIL.
bool variables_hold(const char* code) {
    const Object told = api.PyObject_GetAttrString(const_cast<char*>(code), "co_varnames");
    const char* const names = at<const char*>(code, layout->variables);
    const long count = told ? size_of_tuple(told) : 0;
    bool good = told && size_of_tuple(names) >= count;
    for (int i = 0; good && i < count; ++i) {
        const Object name = api.PyTuple_GetItem(told, i);
        good = name && text_of(static_cast<const char*>(name)) ==
                           text_of(at<const char*>(names, layout->items + i * static_cast<int>(sizeof name)));
    }
    if (told) api.Py_DecRef(told);
    return good;
}

/// A frame's globals, and what moves an iterator on, are where the layout says. With the GIL.
bool locals_hold(Object frame, const char* found) {
    const auto globals_of = reinterpret_cast<Object (*)(Object)>(::dlsym(RTLD_DEFAULT, "PyFrame_GetGlobals"));
    const auto slot_of = reinterpret_cast<void* (*)(const void*, int)>(::dlsym(RTLD_DEFAULT, "PyType_GetSlot"));
    const void* const iterator = ::dlsym(RTLD_DEFAULT, "PyRangeIter_Type");
    constexpr int kIterNext = 63;  // of CPython's stable ABI
    if (layout->globals < 0 || !globals_of || !slot_of || !iterator) return false;
    const Object globals = globals_of(frame);
    const bool good = globals && globals == at<Object>(found, layout->globals) &&
                      slot_of(iterator, kIterNext) == at<void*>(iterator, kTypeNext);
    if (globals) api.Py_DecRef(globals);
    return good;
}

/// The code's flags are where the layout says. With the GIL.
bool flags_hold(const char* code) {
    const Object told = api.PyObject_GetAttrString(const_cast<char*>(code), "co_flags");
    const bool good = told && api.PyLong_AsLong(told) == at<int>(code, layout->flags);
    if (told) api.Py_DecRef(told);
    return good;
}

/// The number of the code's first line is read as Python tells it. With the GIL.
bool numbers_hold(const char* code) {
    const Object line = api.PyObject_GetAttrString(const_cast<char*>(code), "co_firstlineno");
    const std::optional<Number> read = line ? number_of(line) : std::nullopt;
    const bool good = read && *read == Number{static_cast<std::int64_t>(api.PyLong_AsLong(line))};
    if (line) api.Py_DecRef(line);
    return good;
}

/// What the layout tells of this thread's frames is what the public functions tell. With the GIL.
bool layout_holds() {
    const std::vector<Frame> found = frames_of_thread(api.PyGILState_GetThisThreadState());
    bool good = !found.empty();
    Object frame = api.PyEval_GetFrame();
    if (frame) api.Py_IncRef(frame);
    std::size_t i = 0;
    for (; frame && i < found.size() && good; ++i) {
        const Object code = api.PyFrame_GetCode(frame), back = api.PyFrame_GetBack(frame);
        const Object file = api.PyObject_GetAttrString(code, "co_filename");
        const char* const text = file ? api.PyUnicode_AsUTF8(file) : nullptr;
        good = code == found[i].code && text && text_of(static_cast<const char*>(file)) == text &&
               api.PyFrame_GetLineNumber(frame) == api.PyCode_Addr2Line(code, found[i].offset);
        if (good) {
            knows_flags = knows_flags && flags_hold(found[i].code);
            knows_variables = knows_variables && variables_hold(found[i].code);
            knows_numbers = knows_numbers && numbers_hold(found[i].code);
            knows_scopes = knows_scopes && locals_hold(frame, found[i].address);
        }
        if (file) api.Py_DecRef(file);
        api.Py_DecRef(code);
        api.Py_DecRef(frame);
        frame = back;
    }
    good = good && (found.size() == kDeepest || (i == found.size() && !frame));
    if (frame) api.Py_DecRef(frame);
    return good;
}

}  // namespace

const char* in_cell(const char* object) {
    constexpr int kContents = 16;
    const bool cell = object && api.PyCell_Type && type_of(const_cast<char*>(object)) == api.PyCell_Type;
    return cell ? at<const char*>(object, kContents) : object;
}

std::string text_of(const char* string) {
    const auto state = at<unsigned>(string, 32), width = (state >> 2) & 7;
    const char* const data = string + ((state >> 6) & 1 ? layout->ascii : layout->compact);
    std::string text;
    for (long i = 0; i < at<long>(string, 16); ++i) {
        const unsigned c = width == 1   ? static_cast<unsigned char>(data[i])
                           : width == 2 ? at<std::uint16_t>(data, static_cast<int>(2 * i))
                                        : at<std::uint32_t>(data, static_cast<int>(4 * i));
        const unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        text += static_cast<char>(more ? (0xf0u << (3 - more)) | (c >> (6 * more)) : c);
        for (unsigned k = more; k-- > 0;) text += static_cast<char>(0x80 | ((c >> (6 * k)) & 0x3f));
    }
    return text;
}

void note(Thread& thread, const std::string& text) {
    thread.record.start(records::Note{.text = text});
    commit(thread, thread.record);
}

std::vector<Frame> frames_of_thread(const void* thread) {
    std::vector<Frame> found;
    read_frames(thread, found);
    return found;
}

/// Where an environment's packages are found, which the program of the process does not tell: a link leads to it.
static void tell_interpreter() {
    const Object executable = api.PySys_GetObject("executable");
    if (!executable) return;
    if (const char* const path = api.PyUnicode_AsUTF8(executable))
        state.recorder.name_interpreter(path);
    else  // it is None
        api.PyErr_Clear();
}

void start(Thread& thread) {
    if (!api.find() || !api.Py_IsInitialized() || !api.PyGILState_GetThisThreadState()) return;
    const std::string version = std::string(api.Py_GetVersion()).substr(0, std::strcspn(api.Py_GetVersion(), " +"));
    const int gil = api.PyGILState_Ensure();
    tell_interpreter();
    find_library_folders();
    write_library_folders(thread);
    const bool known = find_layout(version);
    if (known && !layout_holds()) layout = nullptr;
    if (layout) find_evaluation();
    const bool hashes = state.recorder.with_hashes();  // which need neither names nor calls
    if (layout && !hashes) start_names();
    if (layout) watch_output(thread);
    if (layout && !hashes) start_calls(thread);
    watch_end();
    api.PyGILState_Release(gil);
    if (!layout)
        note(thread, "the program runs in Python " + version + ", whose stack frames " +
                         (known ? "differ from the stack frames of other builds of this version"
                                : "Whittle cannot read (expected Python 3.9 to 3.14 with the GIL)") +
                         ": operations are attributed to the interpreter's own functions");
}

bool on() { return layout != nullptr; }

void frames(std::vector<Frame>& found, std::uint64_t& key) {
    found.clear();
    if (!layout || !api.Py_IsInitialized()) return;
    read_frames(api.PyGILState_GetThisThreadState(), found);
    for (const Frame& frame : found) key = hash(key, place_key(frame));
}

void plain_frames(std::vector<Frame>& found) {
    found.clear();
    if (layout && api.Py_IsInitialized()) read_frames(api.PyGILState_GetThisThreadState(), found, false);
}

bool learn(const std::vector<Frame>& frames) {
    bool found = false, unnamed = false;
    for (const Frame& frame : frames) {
        const std::string file = text_of(at<const char*>(frame.code, layout->file));
        if (!calls_module(frame.code))
            found |= find_module_call(file, text_of(at<const char*>(frame.code, layout->name)), frame.code);
        unnamed |= frame.module && is_unnamed(frame.module);
    }
    if (found || unnamed || has_unwatched_call(frames) || !watches_reads()) want_names();
    return found;
}

std::vector<std::uint64_t> merge(Thread& thread, const std::vector<StackSlot>& native,
                                 const std::vector<Frame>& frames) {
    const auto entries = std::count_if(frames.begin(), frames.end(), [](const Frame& frame) { return frame.entry; });
    const auto runs =
        std::count_if(native.begin(), native.end(), [](const StackSlot& slot) { return evaluates(slot.pc); });
    std::vector<std::uint64_t> pcs;
    auto next = frames.begin();
    for (const StackSlot& slot : native) {
        if (!is_interpreter(slot.pc)) {
            pcs.push_back(slot.pc);
            continue;
        }
        // Where the two do not tell the same, all frames stand where the interpreter was first left.
        if (entries == runs && !evaluates(slot.pc)) continue;
        for (bool last = false; next != frames.end() && !last; ++next) {
            pcs.push_back(place_of(thread, *next));
            last = entries == runs && next->entry;
        }
    }
    for (; next != frames.end(); ++next) pcs.push_back(place_of(thread, *next));
    return pcs;
}

}  // namespace whittle::libtorch::python
