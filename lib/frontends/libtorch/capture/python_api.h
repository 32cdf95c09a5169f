// What the capture library uses of CPython: public functions, found by name, and the places of what it reads itself.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontends/libtorch/capture/python.h"
#include "frontends/libtorch/python_code.h"

namespace whittle::libtorch::python {

using Object = void*;

#define WHITTLE_PYTHON_FUNCTIONS(F)                                          \
    F(const char*, Py_GetVersion, ())                                        \
    F(int, Py_IsInitialized, ())                                             \
    F(int, PyGILState_Ensure, ())                                            \
    F(void, PyGILState_Release, (int))                                       \
    F(Object, PyGILState_GetThisThreadState, ())                             \
    F(Object, PyEval_GetFrame, ())                                           \
    F(Object, PyFrame_GetBack, (Object))                                     \
    F(Object, PyFrame_GetCode, (Object))                                     \
    F(int, PyFrame_GetLineNumber, (Object))                                  \
    F(int, PyCode_Addr2Line, (const void*, int))                             \
    F(void, Py_IncRef, (Object))                                             \
    F(void, Py_DecRef, (Object))                                             \
    F(Object, PyObject_GetAttrString, (Object, const char*))                 \
    F(Object, PyObject_GenericGetDict, (Object, void*))                      \
    F(const char*, PyUnicode_AsUTF8, (Object))                               \
    F(int, Py_AddPendingCall, (int (*)(void*), void*))                       \
    F(Object, PyImport_GetModuleDict, ())                                    \
    F(Object, PyDict_GetItemString, (Object, const char*))                   \
    F(Object, PyModule_GetDict, (Object))                                    \
    F(int, PyDict_Next, (Object, long*, Object*, Object*))                   \
    F(int, PyType_IsSubtype, (Object, Object))                               \
    F(Object, PyInterpreterState_Get, ())                                    \
    F(Object, PyInterpreterState_ThreadHead, (Object))                       \
    F(Object, PyThreadState_Next, (Object))                                  \
    F(Object, PyTuple_GetItem, (Object, long))                               \
    F(long, PyList_Size, (Object))                                           \
    F(Object, PyList_GetItem, (Object, long))                                \
    F(long, PyLong_AsLong, (Object))                                         \
    F(void*, PyLong_AsVoidPtr, (Object))                                     \
    F(int, PySys_AddAuditHook, (int (*)(const char*, Object, void*), void*)) \
    F(Object, PySys_GetObject, (const char*))                                \
    F(void, PyErr_Clear, ())                                                 \
    F(void, PyErr_Fetch, (Object*, Object*, Object*))                        \
    F(void, PyErr_Restore, (Object, Object, Object))

struct Api {
#define WHITTLE_DECLARE(result, name, types) result(*name) types = nullptr;
    WHITTLE_PYTHON_FUNCTIONS(WHITTLE_DECLARE)
#undef WHITTLE_DECLARE
    const void* _PyEval_EvalFrameDefault = nullptr;
    const void* PyCell_Type = nullptr;
    const void* PyFloat_Type = nullptr;
    const void* PyLong_Type = nullptr;

    /// False where the process has no CPython, or one without a function of these.
    bool find();
};
extern Api api;

/// Offsets in bytes in CPython 3.minor; -1: there is none.
struct Layout {
    int minor;
    int top, cframe;                                   ///< of a thread state: its innermost frame, or what holds that
    int code, back, instruction, local, owner, entry;  ///< of a frame
    int file, name, lines, bytes;  ///< of a code object; -1: instructions are counted, in units of `scale` bytes
    int scale;
    int flags;           ///< of a code object: CO_GENERATOR and the like
    int variables;       ///< of a code object: the names of its variables, in the order of a frame's slots
    int ascii, compact;  ///< of a str: its characters
    // What tells of a frame's variables; -1: nothing does.
    int globals = -1, names = -1;  ///< of a frame: two dicts, the same one in a module's
    int depth = -1;                ///< of a frame: how many slots are in use …
    int stack_pointer = -1;        ///< … or where the unused ones begin
    int version = -1;              ///< of a dict: another number after each change
    int items = 24;                ///< of a tuple: its first element
    bool tagged = false;           ///< a frame's references to objects have tags in their lowest bits
};
/// Null where frames are not read.
extern const Layout* layout;
/// Sets `layout` for that version of CPython; false where nothing is known of it.
bool find_layout(const std::string& version);
extern bool knows_scopes;       ///< a frame's globals, and what moves iterators on, are where the layout says;
extern bool knows_flags;        ///< so are the flags of its code …
extern bool knows_variables;    ///< … the names of its variables …
extern bool knows_numbers;      ///< … and the value of an int
constexpr int kTypeNext = 224;  ///< of a type: what moves an iterator on

template <class T>
T at(const void* base, int offset) {
    T value;
    std::memcpy(&value, static_cast<const char*>(base) + offset, sizeof value);
    return value;
}
inline long size_of_tuple(const void* tuple) { return at<long>(tuple, 16); }
/// The object that a frame holds there; null: none, or an int that is no object.
inline const char* held(const void* frame, int offset) {
    constexpr std::uintptr_t kTags = 3;
    const auto bits = at<std::uintptr_t>(frame, offset);
    const bool number = layout->tagged && (bits & kTags) == kTags;
    return number ? nullptr : reinterpret_cast<const char*>(layout->tagged ? bits & ~kTags : bits);
}
/// What a variable is: one that an inner function uses, too, lies in a cell, which is another one in each call.
const char* in_cell(const char* object);

/// A str as UTF-8, without the copy that PyUnicode_AsUTF8 would make and keep.
std::string text_of(const char* string);
std::vector<Frame> frames_of_thread(const void* thread);

/// A function of C that Python can call. On x86-64 one that takes fewer arguments does not look at the others.
using Function = Object (*)(Object, Object, Object, Object, Object);
/// As CPython's headers have it.
struct MethodDef {
    const char* name;
    Function function;
    int flags;
    const char* documentation;
};

Object type_of(Object object);
using Number = std::variant<std::int64_t, double>;
/// Of an int or a float itself, not of a class of the program; nothing of others, and of an int beyond 60 bits.
std::optional<Number> number_of(const void* object);
/// "Net", "collections.Counter".
std::string type_name(Object type);
void note(Thread& thread, const std::string& text);

/// Where code is that is not the program's.
const std::vector<LibraryFolder>& library_folders();
/// Finds those folders. With the GIL.
void find_library_folders();
/// Finds which code is the interpreter's, and of its function that runs frames. With the GIL.
void find_evaluation();
bool is_interpreter(std::uintptr_t pc);
bool evaluates(std::uintptr_t pc);
/// Finds what names need. With the GIL.
void start_names();
/// From now on an exception that nobody catches is told. With the GIL.
void watch_end();
/// From 3.12 on calls can be told apart. With the GIL.
void start_calls(Thread& thread);
/// Calls of a function among these whose calls count are not reported yet.
bool has_unwatched_call(const std::vector<Frame>& frames);
/// From now on calls are reported of the functions on all threads' stacks, and of those that they define. With the GIL.
void watch_calls();
/// From now on text that the program writes out is told. With the GIL.
void watch_output(Thread& thread);
/// So are calls of tolist() and numpy(), where `binding`, the library that has them, does not let the stub see them.
void watch_reads(Thread& thread, void* binding, Object tensor_class);
bool watches_reads();
/// The tensor of an object of torch.Tensor; undefined where it is not known where such an object keeps that. With
/// the GIL.
at::Tensor tensor_of(Object object);
/// A module whose name was not asked for yet.
bool is_unnamed(const void* module);

}  // namespace whittle::libtorch::python
