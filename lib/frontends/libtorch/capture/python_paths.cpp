// Which folders have Python code that is not the program's: asked once, of what the interpreter has loaded already, so
// that nothing of Python runs for it. That is what sysconfig would say, and it holds for environments, too.
#include <cstdlib>
#include <memory>
#include <string>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

namespace {

std::vector<LibraryFolder>& folders = *new std::vector<LibraryFolder>;

void add(LibraryFolder::Kind kind, std::string path) {
    if (path.empty() || path[0] != '/') return;
    const auto add_one = [&](std::string one) {
        if (one.back() != '/') one += '/';
        for (const LibraryFolder& known : folders)
            if (known.path == one) return;
        folders.push_back({kind, std::move(one)});
    };
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
    if (resolved) add_one(resolved.get());  // as the system names its libraries
    add_one(std::move(path));
}

/// The folder of the file that a module was loaded from; "" where it is not loaded, or was loaded from none.
std::string folder_of_module(const char* name) {
    const Object module = api.PyDict_GetItemString(api.PyImport_GetModuleDict(), name);
    const Object file = module ? api.PyObject_GetAttrString(module, "__file__") : nullptr;
    const char* const text = file ? api.PyUnicode_AsUTF8(file) : nullptr;
    std::string path = text ? text : "";
    if (file) api.Py_DecRef(file);
    api.PyErr_Clear();
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

const std::vector<LibraryFolder>& library_folders() { return folders; }

void find_library_folders() {
    Object error[3];
    api.PyErr_Fetch(&error[0], &error[1], &error[2]);
    add(LibraryFolder::standard, folder_of_module("os"));
    add(LibraryFolder::packages, folder_of_module("torch"));  // its source tree, where it is used from there
    const Object path = api.PySys_GetObject("path");
    for (long i = 0; path && i < api.PyList_Size(path); ++i) {
        const char* const text = api.PyUnicode_AsUTF8(api.PyList_GetItem(path, i));
        const std::string entry = text ? text : "";
        if (holds_packages(entry)) add(LibraryFolder::packages, entry);
    }
    api.PyErr_Clear();  // sys.path may have what is no text
    api.PyErr_Restore(error[0], error[1], error[2]);
}

void write_library_folders(Thread& thread) {
    RecordBuffer& record = thread.definition;
    for (const LibraryFolder& folder : folders) {
        record.start(records::LibraryFolder{.kind = folder.kind, .path = folder.path});
        commit(thread, record);
    }
}

}  // namespace whittle::libtorch::python
