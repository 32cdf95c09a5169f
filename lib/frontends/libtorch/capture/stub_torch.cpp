// The functions of LibTorch, libstdc++ and libc that tell what passes LibTorch's dispatcher by.
#include <stdarg.h>
#include <string.h>

#include "frontends/libtorch/capture/stub.h"
#include "frontends/libtorch/torch_names.h"

using namespace whittle::libtorch;

#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

// torch::nn::Module: construction and registration, for the names of parameters and buffers.
#define MODULE "_ZN5torch2nn6Module"
HIDES(void, module_c2, MODULE "C2Ev", (void* self)) {
    NEXT_OF(MODULE "C2Ev", void (*)(void*));
    if (!next) return;
    next(self);
    if (hooks.module_made) hooks.module_made(self);
}
HIDES(void, module_c1, MODULE "C1Ev", (void* self)) { module_c2(self); }
// Those that take a std::string have another name for each of libstdc++'s two ABIs. Either string begins with its
// pointer.
#define MODULE_OF_STRINGS(id, string)                                                                                \
    HIDES(void, module_named_c2##id, MODULE "C2E" string, (void* self, void* name)) {                                \
        NEXT_OF(MODULE "C2E" string, void (*)(void*, void*));                                                        \
        if (!next) return;                                                                                           \
        next(self, name);                                                                                            \
        if (hooks.module_made) hooks.module_made(self);                                                              \
    }                                                                                                                \
    HIDES(void, module_named_c1##id, MODULE "C1E" string, (void* self, void* name)) {                                \
        module_named_c2##id(self, name);                                                                             \
    }                                                                                                                \
    HIDES(void*, register_parameter##id, MODULE "18register_parameterE" string "N2at6TensorEb",                      \
          (void* self, const char** name, void* tensor, bool requires_grad)) {                                       \
        NEXT_OF(MODULE "18register_parameterE" string "N2at6TensorEb", void* (*)(void*, const char**, void*, bool)); \
        if (!next) return nullptr;                                                                                   \
        char copy[256] = {};                                                                                         \
        if (hooks.registered) strncpy(copy, *name, sizeof copy - 1);                                                 \
        void* registered = next(self, name, tensor, requires_grad);                                                  \
        if (hooks.registered) hooks.registered(self, registered, copy, 0);                                           \
        return registered;                                                                                           \
    }                                                                                                                \
    HIDES(void*, register_buffer##id, MODULE "15register_bufferE" string "N2at6TensorE",                             \
          (void* self, const char** name, void* tensor)) {                                                           \
        NEXT_OF(MODULE "15register_bufferE" string "N2at6TensorE", void* (*)(void*, const char**, void*));           \
        if (!next) return nullptr;                                                                                   \
        char copy[256] = {};                                                                                         \
        if (hooks.registered) strncpy(copy, *name, sizeof copy - 1);                                                 \
        void* registered = next(self, name, tensor);                                                                 \
        if (hooks.registered) hooks.registered(self, registered, copy, 1);                                           \
        return registered;                                                                                           \
    }
MODULE_OF_STRINGS(, STRING)
MODULE_OF_STRINGS(_old, "Ss")

// Typed data pointers pass the dispatcher by.
#define DATA_PTR_AS(since, before, id, mangled, how)                                \
    HIDES_FROM(since, before, void*, id, mangled, (const void* self)) {             \
        NEXT_OF(mangled, void* (*)(const void*));                                   \
        if (!next) return nullptr;                                                  \
        if (hooks.data_ptr) hooks.data_ptr(self, how, __builtin_return_address(0)); \
        return next(self);                                                          \
    }
// data_ptr<T>(), and since 2.0 mutable_data_ptr<T>() and const_data_ptr of T and of const T: one template since 2.12.
#define TENSOR "_ZNK2at10TensorBase"
#define SINCE_2(since) (since < 200 ? 200 : since)
#define DATA_PTR(since, id, code, type)                                                                                \
    DATA_PTR_AS(since, kLater, data_ptr_##id, TENSOR "8data_ptrI" code "EEPT_v", "data_ptr<" type ">()")               \
    DATA_PTR_AS(SINCE_2(since), kLater, mutable_data_ptr_##id, TENSOR "16mutable_data_ptrI" code "EEPT_v",             \
                "mutable_data_ptr<" type ">()")                                                                        \
    CONST_DATA_PTR(SINCE_2(since), 212, const_data_ptr_##id, code "Li0EEEPKT_v", type)                                 \
    CONST_DATA_PTR(SINCE_2(since), 212, const_data_ptr_of_const_##id, "K" code "Li0EEEPKNSt12remove_constIT_E4typeEv", \
                   type)                                                                                               \
    CONST_DATA_PTR(212, kLater, one_const_data_ptr_##id, code "EEPKT_v", type)                                         \
    CONST_DATA_PTR(212, kLater, one_const_data_ptr_of_const_##id, "K" code "EEPKT_v", type)
#define CONST_DATA_PTR(since, before, id, mangled, type) \
    DATA_PTR_AS(since, before, id, TENSOR "14const_data_ptrI" mangled, "const_data_ptr<" type ">()")
DATA_PTR(0, f32, "f", "float")
DATA_PTR(0, f64, "d", "double")
DATA_PTR(0, i64, "l", "int64_t")
DATA_PTR(0, i32, "i", "int")
DATA_PTR(0, i16, "s", "int16_t")
DATA_PTR(0, i8, "a", "int8_t")
DATA_PTR(0, u8, "h", "uint8_t")
DATA_PTR(0, boolean, "b", "bool")
DATA_PTR(0, f16, "N3c104HalfE", "at::Half")
DATA_PTR(0, bf16, "N3c108BFloat16E", "at::BFloat16")
DATA_PTR(0, c64, "N3c107complexIfEE", "c10::complex<float>")
DATA_PTR(0, c128, "N3c107complexIdEE", "c10::complex<double>")
DATA_PTR(201, f8_e4m3fn, "N3c1013Float8_e4m3fnE", "at::Float8_e4m3fn")
DATA_PTR(201, f8_e5m2, "N3c1011Float8_e5m2E", "at::Float8_e5m2")
DATA_PTR(202, f8_e4m3fnuz, "N3c1015Float8_e4m3fnuzE", "at::Float8_e4m3fnuz")
DATA_PTR(202, f8_e5m2fnuz, "N3c1015Float8_e5m2fnuzE", "at::Float8_e5m2fnuz")
DATA_PTR(207, f8_e8m0fnu, "N3c1014Float8_e8m0fnuE", "at::Float8_e8m0fnu")
DATA_PTR(203, u16, "t", "uint16_t")
DATA_PTR(203, u32, "j", "uint32_t")
DATA_PTR(203, u64, "m", "uint64_t")

// Of LibTorch's binding for Python, which most programs lack. Where they are not exported, the capture library watches
// the methods of Python that call them (python_methods.cpp).
#define PYTHON_READ(id, mangled, how)                                                               \
    extern "C" __attribute__((visibility("default"))) void* id(const void*, long) __asm__(mangled); \
    void* id(const void* tensor, long more) {                                                       \
        NEXT_OF(mangled, void* (*)(const void*, long));                                             \
        if (!next) return nullptr;                                                                  \
        if (hooks.python_read) hooks.python_read(tensor, how);                                      \
        return next(tensor, more);                                                                  \
    }
PYTHON_READ(to_numpy, WHITTLE_TENSOR_TO_NUMPY, "numpy()")
PYTHON_READ(to_list, WHITTLE_TENSOR_TO_LIST, "tolist()")

HIDES(void*, from_blob, "_ZN2at11TensorMaker11make_tensorEv", (void* result, void* self)) {
    NEXT_OF("_ZN2at11TensorMaker11make_tensorEv", void* (*)(void*, void*));
    if (!next) return nullptr;
    if (hooks.from_blob) hooks.from_blob(__builtin_return_address(0));
    return next(result, self);
}
HIDES(void*, print_tensor, "_ZN2at5printERSoRKNS_6TensorEl", (void* stream, const void* tensor, long width)) {
    NEXT_OF("_ZN2at5printERSoRKNS_6TensorEl", PrintFunction);
    if (!next) return stream;
    return hooks.print ? hooks.print(next, stream, tensor, width) : next(stream, tensor, width);
}

// What TorchScript compiled of several operations runs without the dispatcher.
HIDES(void, run_fused, WHITTLE_RUN_FUSED, (const void* kernel, void* stack)) {
    NEXT_OF(WHITTLE_RUN_FUSED, FusedFunction);
    if (!next) return;
    hooks.fused ? hooks.fused(next, kernel, stack) : next(kernel, stack);
}

// A tensor's last owner is gone. c10's own tables of virtual functions name it by its symbol, so they find ours.
HIDES(void, release_tensor, "_ZN3c1010TensorImpl17release_resourcesEv", (void* self)) {
    NEXT_OF("_ZN3c1010TensorImpl17release_resourcesEv", void (*)(void*));
    if (!next) return;
    if (hooks.released) hooks.released(self);
    next(self);
}

// Exceptions of the program's own, and who catches them.
HIDES(void, throw_exception, "__cxa_throw", (void* thrown, void* type, void (*destroy)(void*))) {
    NEXT_OF("__cxa_throw", void (*)(void*, void*, void (*)(void*)));
    if (!next) __builtin_trap();
    if (hooks.thrown) hooks.thrown(type, __builtin_return_address(0));
    next(thrown, type, destroy);
}
HIDES(void*, catch_exception, "__cxa_begin_catch", (void* exception)) {
    NEXT_OF("__cxa_begin_catch", void* (*)(void*));
    if (!next) __builtin_trap();
    if (hooks.caught) hooks.caught();
    return next(exception);
}

// Output through std::ostream: the functions of libstdc++ that its headers do not inline.
#define STREAM(id, mangled, what, parameters, types, arguments)            \
    HIDES(void*, stream_##id, mangled, parameters) {                       \
        NEXT_OF(mangled, void*(*)types);                                   \
        if (!next) return stream;                                          \
        if (hooks.io) hooks.io(what, stream, __builtin_return_address(0)); \
        return next arguments;                                             \
    }
#define STREAM_VALUE(id, mangled, type) \
    STREAM(id, mangled, "operator<<", (void* stream, type value), (void*, type), (stream, value))
#define CHARS "St11char_traitsIcE"
STREAM(insert, "_ZSt16__ostream_insertIc" CHARS "ERSt13basic_ostreamIT_T0_ES6_PKS3_l", "operator<<",
       (void* stream, const char* text, long length), (void*, const char*, long), (stream, text, length))
STREAM_VALUE(text, "_ZStlsI" CHARS "ERSt13basic_ostreamIcT_ES5_PKc", const char*)
STREAM_VALUE(character, "_ZStlsI" CHARS "ERSt13basic_ostreamIcT_ES5_c", char)
STREAM_VALUE(manipulator, "_ZNSolsEPFRSoS_E", void*)
STREAM_VALUE(integer, "_ZNSolsEi", int)
STREAM_VALUE(unsigned_integer, "_ZNSolsEj", unsigned)
STREAM_VALUE(short_integer, "_ZNSolsEs", short)
STREAM_VALUE(real, "_ZNSolsEf", float)
STREAM_VALUE(real64, "_ZNSolsEd", double)
STREAM_VALUE(integer64, "_ZNSolsEl", long)
STREAM_VALUE(unsigned64, "_ZNSolsEm", unsigned long)
STREAM_VALUE(boolean, "_ZNSolsEb", bool)
STREAM_VALUE(insert_real, "_ZNSo9_M_insertIdEERSoT_", double)
STREAM_VALUE(insert_integer, "_ZNSo9_M_insertIlEERSoT_", long)
STREAM_VALUE(insert_unsigned, "_ZNSo9_M_insertImEERSoT_", unsigned long)
STREAM_VALUE(insert_bool, "_ZNSo9_M_insertIbEERSoT_", bool)
STREAM_VALUE(insert_pointer, "_ZNSo9_M_insertIPKvEERSoT_", const void*)
STREAM(put, "_ZNSo3putEc", "put", (void* stream, char value), (void*, char), (stream, value))
STREAM(write, "_ZNSo5writeEPKcl", "write", (void* stream, const char* text, long length), (void*, const char*, long),
       (stream, text, length))

// Output through stdio.
#define STDIO(result, id, parameters, types, arguments)                    \
    HIDES(result, stdio_##id, #id, parameters) {                           \
        NEXT_OF(#id, result(*) types);                                     \
        if (hooks.io) hooks.io(#id, nullptr, __builtin_return_address(0)); \
        return next arguments;                                             \
    }
STDIO(int, puts, (const char* text), (const char*), (text))
STDIO(int, putchar, (int value), (int), (value))
STDIO(int, putc, (int value, FILE* file), (int, FILE*), (value, file))
STDIO(int, fputc, (int value, FILE* file), (int, FILE*), (value, file))
STDIO(int, fputs, (const char* text, FILE* file), (const char*, FILE*), (text, file))
STDIO(size_t, fwrite, (const void* data, size_t size, size_t count, FILE* file), (const void*, size_t, size_t, FILE*),
      (data, size, count, file))
STDIO(int, vprintf, (const char* format, va_list list), (const char*, va_list), (format, list))
STDIO(int, vfprintf, (FILE * file, const char* format, va_list list), (FILE*, const char*, va_list),
      (file, format, list))
// Those that take `...` end in the v form, which is what libc's own do.
#define PRINTS(id, parameters, last, call)                                 \
    HIDES(int, stdio_##id, #id, parameters) {                              \
        if (hooks.io) hooks.io(#id, nullptr, __builtin_return_address(0)); \
        va_list list;                                                      \
        va_start(list, last);                                              \
        const int result = call;                                           \
        va_end(list);                                                      \
        return result;                                                     \
    }
static int libc_vfprintf(FILE* file, const char* format, va_list list) {
    NEXT_OF("vfprintf", int (*)(FILE*, const char*, va_list));
    return next(file, format, list);
}
extern "C" int __vfprintf_chk(FILE* file, int flag, const char* format, va_list list);
PRINTS(printf, (const char* format, ...), format, libc_vfprintf(stdout, format, list))
PRINTS(fprintf, (FILE * file, const char* format, ...), format, libc_vfprintf(file, format, list))
PRINTS(__printf_chk, (int flag, const char* format, ...), format, __vfprintf_chk(stdout, flag, format, list))
PRINTS(__fprintf_chk, (FILE * file, int flag, const char* format, ...), format,
       __vfprintf_chk(file, flag, format, list))
