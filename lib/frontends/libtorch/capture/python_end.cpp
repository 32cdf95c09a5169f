// How a Python program ends: CPython tells audit hooks of an exception that nobody caught before it prints it.
#include <cstring>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

namespace {

/// An attribute whose owner keeps it.
Object borrowed(Object object, const char* name) {
    const Object value = object ? api.PyObject_GetAttrString(object, name) : nullptr;
    if (value) api.Py_DecRef(value);
    return value;
}

/// " at train.py:12 in step": where it was thrown.
std::string place_of(Object trace) {
    Object innermost = nullptr;
    for (; trace && type_name(type_of(trace)) == "traceback"; trace = borrowed(trace, "tb_next")) innermost = trace;
    const Object line = innermost ? api.PyObject_GetAttrString(innermost, "tb_lineno") : nullptr;
    if (!line) return {};
    const Object code = borrowed(borrowed(innermost, "tb_frame"), "f_code");
    const Object file = borrowed(code, "co_filename"), function = borrowed(code, "co_name");
    const char* const path = file ? api.PyUnicode_AsUTF8(file) : nullptr;
    const char* const name = function ? api.PyUnicode_AsUTF8(function) : nullptr;
    std::string text;
    if (path && name) {
        const char* const slash = std::strrchr(path, '/');
        text = std::string(" at ") + (slash ? slash + 1 : path) + ":" + std::to_string(api.PyLong_AsLong(line)) +
               " in " + name;
    }
    api.Py_DecRef(line);
    return text;
}

int on_event(const char* event, Object arguments, void*) {
    if (std::strcmp(event, "sys.excepthook") != 0) return 0;
    Object error[3];
    api.PyErr_Fetch(&error[0], &error[1], &error[2]);
    const Object type = api.PyTuple_GetItem(arguments, 1), trace = api.PyTuple_GetItem(arguments, 3);
    if (type && trace) {
        const std::string text = "an uncaught " + type_name(type) + place_of(trace) + " ended the program";
        quietly_here([&](Thread& thread) { note(thread, text); });
    }
    api.PyErr_Clear();
    api.PyErr_Restore(error[0], error[1], error[2]);
    return 0;
}

}  // namespace

void watch_end() { api.PySys_AddAuditHook(on_event, nullptr); }

}  // namespace whittle::libtorch::python
