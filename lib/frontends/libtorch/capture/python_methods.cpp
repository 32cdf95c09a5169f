// Methods of Python's C types that the program calls between operations: what writes text out, and what copies a
// tensor's elements where LibTorch does not export the function that does it. CPython finds the function of such a
// method in its PyMethodDef at each call, so ours is put there: the method stays the object that it is, with its name,
// its documentation and its place in profiles and tracebacks.
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch::python {

namespace {

constexpr int kDescriptorMethod = 40;  ///< of a method descriptor: its MethodDef

/// Our memory, but a table of methods may lie where nothing is written to.
bool overwrite(void* place, const void* value, std::size_t size) {
    const iovec local{const_cast<void*>(value), size}, remote{place, size};
    return ::process_vm_writev(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

/// Puts `ours` in place of the function that `type`'s method runs, which `next` is then. False where it is no method of
/// C. With the GIL.
bool replace(Object type, const char* name, Function ours, Function& next) {
    const Object method = type ? api.PyObject_GetAttrString(type, name) : nullptr;
    if (!method) return api.PyErr_Clear(), false;
    bool done = false;
    if (type_name(type_of(method)) == "method_descriptor") {
        auto* const definition = at<MethodDef*>(method, kDescriptorMethod);
        const bool known = definition && definition->name && std::strcmp(definition->name, name) == 0;
        if (known && definition->function != ours) {
            next = definition->function;  // before ours can be called
            done = overwrite(&definition->function, &ours, sizeof ours);
        } else {
            done = known;
        }
    }
    api.Py_DecRef(method);
    return done;
}

Function next_write = nullptr, next_list = nullptr, next_numpy = nullptr;

Object write_text(Object self, Object a, Object b, Object c, Object d) {
    python_writes();
    return next_write(self, a, b, c, d);
}
Object read_list(Object self, Object a, Object b, Object c, Object d) {
    if (const at::Tensor tensor = tensor_of(self); tensor.defined()) python_reads(tensor, "tolist()");
    return next_list(self, a, b, c, d);
}
Object read_numpy(Object self, Object a, Object b, Object c, Object d) {
    if (const at::Tensor tensor = tensor_of(self); tensor.defined()) python_reads(tensor, "numpy()");
    return next_numpy(self, a, b, c, d);
}

}  // namespace

void watch_output(Thread& thread) {
    const Object io = api.PyDict_GetItemString(api.PyImport_GetModuleDict(), "_io");
    const Object type = io ? api.PyDict_GetItemString(api.PyModule_GetDict(io), "TextIOWrapper") : nullptr;
    if (!replace(type, "write", write_text, next_write))
        note(thread,
             "capture cannot see what the program prints with this build of Python, so the report has no graph "
             "breaks for output between operations");
}

void watch_reads(Thread& thread, void* binding, Object tensor_class) {
    const auto watch = [&](const char* symbol, const char* method, Function ours, Function& next) {
        if (::dlsym(binding, symbol) || replace(tensor_class, method, ours, next)) return;
        note(thread, std::string("capture cannot see calls of ") + method +
                         "() with this release of PyTorch, so the report has no graph breaks for such calls");
    };
    watch(WHITTLE_TENSOR_TO_LIST, "tolist", read_list, next_list);
    watch(WHITTLE_TENSOR_TO_NUMPY, "numpy", read_numpy, next_numpy);
}

bool writes_for_program(const std::vector<Frame>& frames) {
    for (const Frame& frame : frames) {
        const std::string file = text_of(at<const char*>(frame.code, layout->file));
        const LibraryFolder* const folder = library_of(file, library_folders());
        if (folder && folder->kind == LibraryFolder::standard) continue;  // logging, warnings
        return !is_interpreter_code(file) && !is_of_torch(package_file(file, library_folders()));
    }
    return false;
}

}  // namespace whittle::libtorch::python
