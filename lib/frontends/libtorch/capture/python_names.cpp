// Names of what torch.nn.Module's hold. A module that is called lies in its frame, so whoever looks at frames sees it;
// its tables are read in a pending call, which CPython runs in the main thread between two instructions, with the GIL.
// No code of the program runs and no hook of Python's is taken, so that no profiler and no traceback shows it.
#include <ATen/core/Tensor.h>
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch::python {

namespace {

Object* variable_class = nullptr;   ///< where libtorch_python keeps torch.Tensor
Object* parameter_class = nullptr;  ///< and torch.nn.Parameter
void* binding = nullptr;            ///< libtorch_python, until what it does not export is watched
/// Where the object of a torch.Tensor has the address of its tensor, in bytes: releases of PyTorch differ in it. -1:
/// not known.
int tensor_at = -1;
constexpr int kMostAt = 64;

/// Tensor._cdata says it of a tensor of no class but PyTorch's own: of others the program's code might run.
void find_tensor(Object value) {
    const Object type = type_of(value);
    if (tensor_at >= 0 || (type != *variable_class && !(parameter_class && type == *parameter_class))) return;
    const Object told = api.PyObject_GetAttrString(value, "_cdata");
    if (!told) return api.PyErr_Clear();
    const void* const impl = api.PyLong_AsVoidPtr(told);
    api.Py_DecRef(told);
    for (int place = 16; impl && tensor_at < 0 && place < kMostAt; place += static_cast<int>(sizeof impl))
        if (at<const void*>(value, place) == impl) tensor_at = place;
}
std::atomic<bool> pending{false};
std::mutex known_mutex;  ///< of `known`; nothing of Python is called under it
std::set<const void*> known;
bool told_unnamed = false;

class Walk {
  public:
    Walk(Thread& thread, Object module_class) : thread_(thread), module_class_(module_class) {}

    void root(Object module) {
        if (!is_module(module) || !seen_.insert(module).second) return;
        root_ = module;
        type_ = type_name(type_of(module));
        tree(module, "");
    }

  private:
    bool is_module(Object object) const { return api.PyType_IsSubtype(type_of(object), module_class_) != 0; }

    void tree(Object module, const std::string& path) {
        {
            const std::lock_guard lock(known_mutex);
            known.insert(module);
        }
        write_module(thread_, root_, module, type_name(type_of(module)), path);
        const Object attributes = api.PyObject_GenericGetDict(module, nullptr);  // runs no code of the program
        if (!attributes) return;
        each(attributes, kParametersTable,
             [&](const std::string& name, Object value) { tell(value, NameKind::parameter, join(path, name)); });
        each(attributes, kBuffersTable,
             [&](const std::string& name, Object value) { tell(value, NameKind::buffer, join(path, name)); });
        each(attributes, kModulesTable, [&](const std::string& name, Object value) {
            if (is_module(value) && seen_.insert(value).second) tree(value, join(path, name));
        });
        api.Py_DecRef(attributes);
    }

    template <class F>
    void each(Object attributes, const char* table, F&& body) {
        const Object held = api.PyDict_GetItemString(attributes, table);
        if (!held) return;
        Object key = nullptr, value = nullptr;
        for (long place = 0; api.PyDict_Next(held, &place, &key, &value);)
            if (const char* name = api.PyUnicode_AsUTF8(key)) body(name, value);
    }

    void tell(Object value, NameKind kind, const std::string& name) {
        if (!variable_class || !*variable_class || !api.PyType_IsSubtype(type_of(value), *variable_class)) return;
        const at::Tensor tensor = tensor_of(value);
        if (tensor_at < 0) return unnamed();
        if (!tensor.defined()) return;
        const std::lock_guard lock(state.mutex);
        write_name(thread_, identity_of(thread_.identities, tensor).number, kind, root_, type_, name);
    }

    void unnamed() {
        if (!std::exchange(told_unnamed, true))
            note(thread_, "parameters have no names: the memory layout of this release of PyTorch is unknown");
    }

    static std::string join(const std::string& path, const std::string& name) {
        return path.empty() ? name : path + "." + name;
    }

    Thread& thread_;
    const Object module_class_;
    Object root_ = nullptr;
    std::string type_;
    std::set<Object> seen_;
};

/// Once: PyTorch's classes are complete when the first operation has run.
void watch_tensors(Thread& thread) {
    if (!binding || !variable_class || !*variable_class) return;
    watch_reads(thread, std::exchange(binding, nullptr), *variable_class);
}

/// Modules in the frames of all threads, the outermost first: what the others hold is theirs.
int tell_names(void*) {
    pending = false;
    Object error[3], table = api.PyDict_GetItemString(api.PyImport_GetModuleDict(), kModuleOfModules);
    api.PyErr_Fetch(&error[0], &error[1], &error[2]);
    const Object module_class = table ? api.PyDict_GetItemString(api.PyModule_GetDict(table), "Module") : nullptr;
    quietly_here(watch_tensors);
    quietly_here([](Thread&) { watch_calls(); });
    if (module_class)
        quietly_here([&](Thread& thread) {
            Walk walk(thread, module_class);
            Object one = api.PyInterpreterState_ThreadHead(api.PyInterpreterState_Get());
            for (; one; one = api.PyThreadState_Next(one)) {
                const std::vector<Frame> frames = frames_of_thread(one);
                for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
                    if (frame->module) walk.root(const_cast<char*>(frame->module));
            }
        });
    api.PyErr_Restore(error[0], error[1], error[2]);
    return 0;
}

}  // namespace

at::Tensor tensor_of(Object object) {
    find_tensor(object);
    auto* const impl = tensor_at < 0 ? nullptr : at<c10::TensorImpl*>(object, tensor_at);
    if (!impl) return {};
    return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(impl));
}

Object type_of(Object object) { return at<Object>(object, 8); }
std::string type_name(Object type) { return at<const char*>(type, 24); }

bool Api::find() {
    bool all = true;
#define WHITTLE_FIND(result, name, types) \
    name = reinterpret_cast<result(*) types>(::dlsym(RTLD_DEFAULT, #name)), all = all && name;
    WHITTLE_PYTHON_FUNCTIONS(WHITTLE_FIND)
#undef WHITTLE_FIND
    _PyEval_EvalFrameDefault = ::dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
    PyCell_Type = ::dlsym(RTLD_DEFAULT, "PyCell_Type");
    PyFloat_Type = ::dlsym(RTLD_DEFAULT, "PyFloat_Type");
    PyLong_Type = ::dlsym(RTLD_DEFAULT, "PyLong_Type");
    return all;
}

void start_names() {
    const auto find = [](dl_phdr_info* library, std::size_t, void*) {
        if (!library->dlpi_name || !std::strstr(library->dlpi_name, kPythonBinding)) return 0;
        if (void* const loaded = ::dlopen(library->dlpi_name, RTLD_NOW | RTLD_NOLOAD)) {  // it came by RTLD_LOCAL
            variable_class = static_cast<Object*>(::dlsym(loaded, kTensorClass));
            parameter_class = static_cast<Object*>(::dlsym(loaded, kParameterClass));
            if (!::dlsym(loaded, WHITTLE_TENSOR_TO_LIST) || !::dlsym(loaded, WHITTLE_TENSOR_TO_NUMPY)) binding = loaded;
        }
        return 1;
    };
    ::dl_iterate_phdr(find, nullptr);
}

bool watches_reads() { return !binding; }

bool is_unnamed(const void* module) {
    const std::lock_guard lock(known_mutex);
    return known.count(module) == 0;
}

void forget_names() {
    forget_calls();
    if (!known_mutex.try_lock())
        new (&known_mutex) std::mutex;  // its owner is gone
    else
        known_mutex.unlock();
    known.clear();
    pending = false;
}

void want_names() {
    if (layout && !pending.exchange(true) && api.Py_AddPendingCall(tell_names, nullptr) != 0) pending = false;
}

}  // namespace whittle::libtorch::python
