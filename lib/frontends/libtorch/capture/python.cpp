// The thread that runs an op waits in it, so its own frames, code objects and strings can be read without the GIL,
// which ops release more often than not. Taking the GIL instead can deadlock: its holder may wait for a lock of ours.
#include "frontends/libtorch/capture/python.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

Api api;
const Layout* layout = nullptr;
bool knows_slots = true;
bool knows_variables = true;

namespace {

constexpr std::size_t kDeepest = 1000;

// By CPython's own struct definitions (Include/cpython, Include/internal), on 64-bit machines; start() compares what
// they tell with what the public functions tell.
constexpr Layout kLayouts[] = {{.minor = 9,
                                .top = 24,
                                .cframe = -1,
                                .code = 32,
                                .back = 24,
                                .instruction = 104,
                                .local = 360,
                                .owner = -1,
                                .entry = -1,
                                .file = 104,
                                .name = 112,
                                .lines = 120,
                                .bytes = -1,
                                .scale = 1,
                                .locals = 28,
                                .variables = 72,
                                .ascii = 48,
                                .compact = 72},
                               {.minor = 10,
                                .top = 24,
                                .cframe = -1,
                                .code = 32,
                                .back = 24,
                                .instruction = 96,
                                .local = 352,
                                .owner = -1,
                                .entry = -1,
                                .file = 104,
                                .name = 112,
                                .lines = 120,
                                .bytes = -1,
                                .scale = 2,
                                .locals = 28,
                                .variables = 72,
                                .ascii = 48,
                                .compact = 72},
                               {.minor = 11,
                                .top = 56,
                                .cframe = 8,
                                .code = 32,
                                .back = 48,
                                .instruction = 56,
                                .local = 72,
                                .owner = -1,
                                .entry = 68,
                                .file = 112,
                                .name = 128,
                                .lines = 136,
                                .bytes = 184,
                                .scale = 1,
                                .locals = 80,
                                .variables = 96,
                                .ascii = 48,
                                .compact = 72,
                                .globals = 8,
                                .names = 24,
                                .depth = 64,
                                .slots = 76,
                                .version = 24},
                               {.minor = 12,
                                .top = 56,
                                .cframe = 0,
                                .code = 0,
                                .back = 8,
                                .instruction = 56,
                                .local = 72,
                                .owner = 70,
                                .entry = -1,
                                .file = 112,
                                .name = 128,
                                .lines = 136,
                                .bytes = 192,
                                .scale = 1,
                                .locals = 80,
                                .variables = 96,
                                .ascii = 40,
                                .compact = 56,
                                .globals = 24,
                                .names = 40,
                                .depth = 64,
                                .slots = 72,
                                .version = 24},
                               {.minor = 13,
                                .top = 72,
                                .cframe = -1,
                                .code = 0,
                                .back = 8,
                                .instruction = 56,
                                .local = 72,
                                .owner = 70,
                                .entry = -1,
                                .file = 112,
                                .name = 128,
                                .lines = 136,
                                .bytes = 200,
                                .scale = 1,
                                .locals = 80,
                                .variables = 96,
                                .ascii = 40,
                                .compact = 56,
                                .globals = 24,
                                .names = 40,
                                .depth = 64,
                                .slots = 72}};
constexpr char kOwnedByCStack = 3;  ///< the owner of a frame that stands for the interpreter's C function

/// Code of the interpreter, and of its function that runs frames.
struct Range {
    std::uintptr_t low = 0, high = 0;
    bool contains(std::uintptr_t pc) const { return pc > low && pc <= high; }
};
Range interpreter, evaluation;

std::atomic<const char*> call_codes[2];  ///< of torch.nn.Module's _call_impl and its wrapper, once seen

std::uint64_t place_key(const Frame& frame) {
    std::uint64_t key = hash(reinterpret_cast<std::uintptr_t>(frame.code), static_cast<std::uint64_t>(frame.offset));
    key = hash(key, reinterpret_cast<std::uintptr_t>(at<const char*>(frame.code, layout->lines)));
    return hash(key, reinterpret_cast<std::uintptr_t>(frame.module) + (frame.entry ? 1 : 0));
}

/// Whether frames of this code call modules; found by name, the first time.
bool calls_module(const char* code) { return code == call_codes[0] || code == call_codes[1]; }
bool find_module_call(const std::string& file, const std::string& name, const char* code) {
    constexpr std::string_view kFile = "torch/nn/modules/module.py";
    if (file.size() < kFile.size() || file.compare(file.size() - kFile.size(), kFile.size(), kFile) != 0) return false;
    const std::string own = name.substr(name.rfind('.') + 1);
    if (own != "_call_impl" && own != "_wrapped_call_impl") return false;
    return call_codes[own == "_wrapped_call_impl"].exchange(code) != code;
}

/// Defines the place in the file, once per thread; its number.
std::uint64_t place_of(Thread& thread, const Frame& frame) {
    const auto [entry, fresh] = thread.places.try_emplace(place_key(frame), 0);
    if (!fresh) return entry->second;
    entry->second = kSourcePlace | state.next_place.fetch_add(1);
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::source_place);
    record.put(entry->second);
    record.put(Language::python);
    record.put(static_cast<std::uint8_t>(frame.entry));
    record.put(static_cast<std::uint32_t>(std::max(api.PyCode_Addr2Line(frame.code, frame.offset), 0)));
    record.put(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(frame.module)));
    record.put_text(text_of(at<const char*>(frame.code, layout->file)));
    record.put_text(text_of(at<const char*>(frame.code, layout->name)));
    record.put_text("");
    commit(thread, record);
    return entry->second;
}

/// What a variable is: one that an inner function uses, too, lies in a cell, which is another one in each call.
const char* in_cell(const char* object) {
    constexpr int kContents = 16;
    const bool cell = object && api.PyCell_Type && type_of(const_cast<char*>(object)) == api.PyCell_Type;
    return cell ? at<const char*>(object, kContents) : object;
}

void read_frames(const void* thread, std::vector<Frame>& found) {
    found.clear();
    const char* frame = thread ? at<const char*>(thread, layout->top) : nullptr;
    if (layout->cframe >= 0 && frame) frame = at<const char*>(frame, layout->cframe);
    for (; frame && found.size() < kDeepest; frame = at<const char*>(frame, layout->back)) {
        if (layout->owner >= 0 && frame[layout->owner] == kOwnedByCStack) {
            if (!found.empty()) found.back().entry = true;
            continue;
        }
        const char* const code = at<const char*>(frame, layout->code);
        const auto offset =
            layout->bytes < 0 ? at<int>(frame, layout->instruction) * layout->scale
                              : static_cast<int>(at<const char*>(frame, layout->instruction) - (code + layout->bytes));
        const char* const module = calls_module(code) ? in_cell(at<const char*>(frame, layout->local)) : nullptr;
        const bool entry = layout->entry >= 0 ? frame[layout->entry] != 0 : layout->owner < 0;
        found.push_back({frame, code, module, offset, entry});
    }
    if (!found.empty()) found.back().entry = true;
}

/// The names of the code's variables are where the layout says. With the GIL.
bool variables_hold(const char* code) {
    const Object told = api.PyObject_GetAttrString(const_cast<char*>(code), "co_varnames");
    const char* const names = at<const char*>(code, layout->variables);
    const int count = at<int>(code, layout->locals);
    bool good = told && at<long>(told, 16) == count && at<long>(names, 16) >= count;
    for (int i = 0; good && i < count; ++i) {
        const Object name = api.PyTuple_GetItem(told, i);
        good = name && text_of(static_cast<const char*>(name)) ==
                           text_of(at<const char*>(names, kTupleItems + i * static_cast<int>(sizeof name)));
    }
    if (layout->slots >= 0) knows_slots = knows_slots && at<int>(code, layout->slots) == at<long>(names, 16);
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
            knows_variables = knows_variables && variables_hold(found[i].code);
            knows_numbers = knows_numbers && numbers_hold(found[i].code);
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

void find_ranges() {
    const auto address = reinterpret_cast<std::uintptr_t>(api._PyEval_EvalFrameDefault);
    Dl_info info{};
    const ElfW(Sym)* symbol = nullptr;
    if (::dladdr1(api._PyEval_EvalFrameDefault, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                  RTLD_DL_SYMENT) &&
        symbol && info.dli_saddr == api._PyEval_EvalFrameDefault)
        evaluation = {address, address + symbol->st_size};
    ::dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t, void* data) {
            const auto pc = *static_cast<std::uintptr_t*>(data);
            for (int i = 0; i < library->dlpi_phnum; ++i) {
                const auto& segment = library->dlpi_phdr[i];
                const std::uintptr_t low = library->dlpi_addr + segment.p_vaddr;
                if (segment.p_type == PT_LOAD && pc >= low && pc < low + segment.p_memsz)
                    interpreter = {low, low + segment.p_memsz};
            }
            return interpreter.high ? 1 : 0;
        },
        const_cast<std::uintptr_t*>(&address));
}

}  // namespace

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
    thread.record.start(RecordKind::note);
    thread.record.put_text(text);
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
    for (const Layout& one : kLayouts)
        if (version.rfind("3." + std::to_string(one.minor) + ".", 0) == 0) layout = &one;
    const bool known = layout != nullptr;
    if (known && !layout_holds()) layout = nullptr;
    if (layout) find_ranges();
    if (layout) start_names();
    watch_end();
    api.PyGILState_Release(gil);
    if (!layout)
        note(thread, "the program runs in Python " + version + ", whose stack frames " +
                         (known ? "differ from those of other builds of this version"
                                : "this Whittle does not know (it knows Python 3.9 to 3.13)") +
                         ": operations are attributed to the interpreter's own functions");
}

bool on() { return layout != nullptr; }

void frames(std::vector<Frame>& found, std::uint64_t& key) {
    found.clear();
    if (!layout || !api.Py_IsInitialized()) return;
    read_frames(api.PyGILState_GetThisThreadState(), found);
    for (const Frame& frame : found) key = hash(key, place_key(frame));
}

bool learn(const std::vector<Frame>& frames) {
    bool found = false, unnamed = false;
    for (const Frame& frame : frames) {
        if (!calls_module(frame.code))
            found |= find_module_call(text_of(at<const char*>(frame.code, layout->file)),
                                      text_of(at<const char*>(frame.code, layout->name)), frame.code);
        unnamed |= frame.module && is_unnamed(frame.module);
    }
    if (found || unnamed) want_names();
    return found;
}

std::vector<std::uint64_t> merge(Thread& thread, const std::vector<StackSlot>& native,
                                 const std::vector<Frame>& frames) {
    const auto entries = std::count_if(frames.begin(), frames.end(), [](const Frame& frame) { return frame.entry; });
    const auto runs =
        std::count_if(native.begin(), native.end(), [](const StackSlot& slot) { return evaluation.contains(slot.pc); });
    std::vector<std::uint64_t> pcs;
    auto next = frames.begin();
    for (const StackSlot& slot : native) {
        if (!interpreter.contains(slot.pc)) {
            pcs.push_back(slot.pc);
            continue;
        }
        // Where the two do not tell the same, all frames stand where the interpreter was first left.
        if (entries == runs && !evaluation.contains(slot.pc)) continue;
        for (bool last = false; next != frames.end() && !last; ++next) {
            pcs.push_back(place_of(thread, *next));
            last = entries == runs && next->entry;
        }
    }
    for (; next != frames.end(); ++next) pcs.push_back(place_of(thread, *next));
    return pcs;
}

}  // namespace whittle::libtorch::python
