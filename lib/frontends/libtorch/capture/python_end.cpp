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

/// Of an entry of a traceback: the file, and "train.py:12 in step". Both empty where that cannot be read.
struct Place {
    std::string file, text;
};
Place place_in(Object entry) {
    const Object line = api.PyObject_GetAttrString(entry, "tb_lineno");
    if (!line) return {};
    const Object code = borrowed(borrowed(entry, "tb_frame"), "f_code");
    const Object file = borrowed(code, "co_filename"), function = borrowed(code, "co_name");
    const char* const path = file ? api.PyUnicode_AsUTF8(file) : nullptr;
    const char* const name = function ? api.PyUnicode_AsUTF8(function) : nullptr;
    Place place;
    if (path && name) {
        const char* const slash = std::strrchr(path, '/');
        place.file = path;
        place.text =
            std::string(slash ? slash + 1 : path) + ":" + std::to_string(api.PyLong_AsLong(line)) + " in " + name;
    }
    api.Py_DecRef(line);
    return place;
}

/// " at train.py:12 in step": where it was thrown; by a library's code, where the program called that, too.
std::string thrown_at(Object trace) {
    Place thrown, called;
    for (; trace && type_name(type_of(trace)) == "traceback"; trace = borrowed(trace, "tb_next")) {
        thrown = place_in(trace);
        if (!thrown.file.empty() && is_users_python(thrown.file, library_folders())) called = thrown;
    }
    if (thrown.text.empty()) return {};
    const bool own = called.text.empty() || is_users_python(thrown.file, library_folders());
    return " at " + thrown.text + (own ? "" : ", called at " + called.text + ",");
}

int on_event(const char* event, Object arguments, void*) {
    if (std::strcmp(event, "sys.excepthook") != 0) return 0;
    Object error[3];
    api.PyErr_Fetch(&error[0], &error[1], &error[2]);
    const Object type = api.PyTuple_GetItem(arguments, 1), trace = api.PyTuple_GetItem(arguments, 3);
    if (type && trace) {
        const std::string text = "an uncaught " + type_name(type) + thrown_at(trace) + " ended the program";
        quietly_here([&](Thread& thread) { note(thread, text); });
    }
    api.PyErr_Clear();
    api.PyErr_Restore(error[0], error[1], error[2]);
    return 0;
}

}  // namespace

void watch_end() { api.PySys_AddAuditHook(on_event, nullptr); }

}  // namespace whittle::libtorch::python
