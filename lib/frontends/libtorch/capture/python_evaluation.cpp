// Which code is the interpreter's, and which part of that runs frames of Python: by those, frames of Python are put
// among the others of a stack. A compiler may lay a function in two parts, of which only one has its symbol: CPython
// 3.14 of Debian runs most of a frame in the other. So a function of Python calls one of ours, which looks around.
#include <dlfcn.h>
#include <link.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <algorithm>
#include <vector>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

namespace {

struct Range {
    std::uintptr_t low = 0, high = 0;
    bool contains(std::uintptr_t pc) const { return pc > low && pc <= high; }
    bool operator==(const Range&) const = default;
};
Range interpreter, evaluation, other_part;

Object no_result = nullptr;
std::vector<Range> around;  ///< the interpreter's functions that called look(), innermost first

Object look(Object, Object, Object, Object, Object) {
    const std::lock_guard lock(unwinding);
    unw_context_t context;
    unw_cursor_t cursor;
    bool there = ::unw_getcontext(&context) == 0 && ::unw_init_local(&cursor, &context) == 0;
    while (there && ::unw_step(&cursor) > 0) {
        unw_word_t pc = 0;
        unw_proc_info_t info;
        ::unw_get_reg(&cursor, UNW_REG_IP, &pc);
        there = interpreter.contains(pc) && ::unw_get_proc_info(&cursor, &info) == 0;
        if (there) around.push_back({info.start_ip, info.end_ip});
    }
    api.Py_IncRef(no_result);
    return no_result;
}

/// The interpreter's functions between the call and look().
template <class Call>
std::vector<Range> functions_of(Call&& call) {
    around.clear();
    if (const Object result = call())
        api.Py_DecRef(result);
    else
        api.PyErr_Clear();
    return std::move(around);
}

/// The innermost that is there only where Python calls a function of C.
Range part_that_calls(Object by_python, Object function) {
    using Vectorcall = Object (*)(Object, const Object*, std::size_t, Object);
    const auto vectorcall = reinterpret_cast<Vectorcall>(::dlsym(RTLD_DEFAULT, "PyObject_Vectorcall"));
    using Call = Object (*)(Object, ...);
    const auto call = reinterpret_cast<Call>(::dlsym(RTLD_DEFAULT, "PyObject_CallFunctionObjArgs"));
    if (!call || !vectorcall) return {};
    std::vector<Range> direct = functions_of([&] { return call(function, nullptr); });
    const std::vector<Range> vector = functions_of([&] { return vectorcall(function, nullptr, 0, nullptr); });
    direct.insert(direct.end(), vector.begin(), vector.end());
    const std::vector<Range> all = functions_of([&] { return call(by_python, function, nullptr); });
    const auto part =
        std::ranges::find_if(all, [&](const Range& one) { return std::ranges::find(direct, one) == direct.end(); });
    return direct.empty() || part == all.end() ? Range() : *part;
}

void find_other_part() {
    constexpr int kExpression = 258, kFastCall = 0x80;  // Py_eval_input, METH_FASTCALL
    static const MethodDef definition = {"whittle", look, kFastCall, nullptr};
    using NewDict = Object (*)();
    using Run = Object (*)(const char*, int, Object, Object);
    using NewFunction = Object (*)(const MethodDef*, Object, Object);
    const auto new_dict = reinterpret_cast<NewDict>(::dlsym(RTLD_DEFAULT, "PyDict_New"));
    const auto run = reinterpret_cast<Run>(::dlsym(RTLD_DEFAULT, "PyRun_String"));
    const auto new_function = reinterpret_cast<NewFunction>(::dlsym(RTLD_DEFAULT, "PyCFunction_NewEx"));
    no_result = ::dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
    if (!new_dict || !run || !new_function || !no_result) return;
    const Object names = new_dict();
    const Object by_python = names ? run("lambda f: f()", kExpression, names, names) : nullptr;
    const Object function = by_python ? new_function(&definition, nullptr, nullptr) : nullptr;
    if (function)
        other_part = part_that_calls(by_python, function);
    else
        api.PyErr_Clear();
    for (const Object object : {function, by_python, names})
        if (object) api.Py_DecRef(object);
}

}  // namespace

void find_evaluation() {
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
    find_other_part();
}

bool is_interpreter(std::uintptr_t pc) { return interpreter.contains(pc); }
bool evaluates(std::uintptr_t pc) { return evaluation.contains(pc) || other_part.contains(pc); }

}  // namespace whittle::libtorch::python
