/* Probes: the events that a program compiled by `trace cc` reports to a listener; installed as <whittle/probe.h>.
 *
 * Two parts. The C ABI: static tables that `trace cc` writes into each object file, and the table of functions
 * `whittle_probe_ops`, which a listener (a capture runtime) exports. The C++ part (C++14, no other header, no library):
 * the functions that the inserted code calls. It looks `whittle_probe_ops` up once; without a listener, every probe is
 * a test of a local pointer.
 *
 * Rules of the ABI:
 * - Tables have static storage: a listener may keep pointers into them for as long as the object is loaded.
 * - Lines and columns count from 1; columns are bytes; a range's end is its last character.
 * - Calls come on the thread that runs the frame; enter and leave nest. No function may throw.
 * - A whittle_probe_value, and the text in it, lives as long as the call.
 * - `version` is raised when something changes its meaning; members are only ever added at the end of the function
 *   table, and `size` says how many are there.
 */
#ifndef WHITTLE_PROBE_H
#define WHITTLE_PROBE_H
#if defined(__GNUC__) && !defined(WHITTLE_PROBE_SHOW_WARNINGS)
#pragma GCC system_header
#endif

#define WHITTLE_PROBE_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct whittle_probe_range {
    unsigned line, column, end_line, end_column;
} whittle_probe_range;

/* A function that has probes. */
typedef struct whittle_probe_function {
    const char* name; /* qualified; a lambda's is that of its function followed by "::lambda" */
    whittle_probe_range range;
} whittle_probe_function;

/* A place in a function. */
enum {
    WHITTLE_PROBE_STATEMENT = 0,
    WHITTLE_PROBE_BRANCH = 1, /* the condition of an if, loop, switch, ?:, && or || */
    WHITTLE_PROBE_EFFECT = 2  /* an expression whose effect capture cannot undo or repeat: input, output, … */
};
typedef struct whittle_probe_site {
    unsigned kind;
    unsigned function; /* position in whittle_probe_file.functions */
    whittle_probe_range range;
    const char* text; /* the source, on one line, cut when very long */
    const char* what; /* branch: "if", "while" …; effect: "stream output" …; statement: "" */
} whittle_probe_site;
/* `what` of branches whose outcome is the value of a switch, and not 0 or 1. */
#define WHITTLE_PROBE_SWITCH "switch"

/* A graph break that the static analysis expects. `kind` is spelled as capture's kinds of
 * breaks are: "side_effect", "branch", "item" …; and "call" for a function that cannot be seen. */
typedef struct whittle_probe_prediction {
    const char* kind;
    unsigned function;
    int possible; /* 1: may, 0: will break when it is reached */
    whittle_probe_range range;
    const char* text;
    const char* reason;
} whittle_probe_prediction;

/* One source file. */
typedef struct whittle_probe_file {
    unsigned version; /* WHITTLE_PROBE_VERSION */
    const char* path; /* absolute */
    unsigned function_count, site_count, prediction_count;
    const whittle_probe_function* functions;
    const whittle_probe_site* sites;
    const whittle_probe_prediction* predictions;
} whittle_probe_file;

/* A named value. */
enum {
    WHITTLE_PROBE_OTHER = 0, /* of a type that is not described: `text` is null */
    WHITTLE_PROBE_BOOL = 1,  /* integer */
    WHITTLE_PROBE_INTEGER = 2,
    WHITTLE_PROBE_FLOAT = 3,
    WHITTLE_PROBE_TEXT = 4,
    WHITTLE_PROBE_TENSOR = 5,      /* tensor: what whittle::Tensor::whittle_identity() returns */
    WHITTLE_PROBE_TORCH_TENSOR = 6 /* tensor: an at::TensorImpl*, as unsafeGetTensorImpl() returns it */
};
typedef struct whittle_probe_value {
    const char* name;  /* of the parameter or variable */
    long long element; /* position in a list of tensors with that name, or -1 */
    unsigned kind;
    long long integer; /* WHITTLE_PROBE_INTEGER of an unsigned type: its bits */
    double real;
    const void* tensor;
    const char* text; /* not terminated */
    unsigned long long text_size;
} whittle_probe_value;

/* The place of a thread: written by the probes, read by the listener when an op is issued. */
typedef struct whittle_probe_cursor {
    const whittle_probe_file* file; /* null: in no function that has probes */
    unsigned site;                  /* position in file->sites */
} whittle_probe_cursor;

typedef struct whittle_probe_table {
    unsigned version; /* WHITTLE_PROBE_VERSION */
    unsigned size;    /* sizeof(whittle_probe_table) of the listener */

    /* A function begins. Returns the calling thread's cursor, which the probes then move; or null to ignore this frame:
       then none of the calls below is made for it. */
    whittle_probe_cursor* (*enter)(const whittle_probe_file* file, unsigned function);
    /* Directly after enter, once per parameter (once per element of a list of tensors). */
    void (*parameter)(const whittle_probe_file* file, unsigned function, const whittle_probe_value* value);
    /* Only objects of Whittle 0.1 call it, with the results of the function. It must not be null. */
    void (*result)(const whittle_probe_file* file, unsigned function, const whittle_probe_value* value);
    /* The function ends, by an exception or not. The cursor is back where it was before enter. */
    void (*leave)(const whittle_probe_file* file, unsigned function, int by_exception);

    /* A statement begins. May be null: the cursor has the same information at less cost. */
    void (*statement)(const whittle_probe_file* file, unsigned site);
    /* A variable now holds this tensor: after its declaration and after assignments. */
    void (*name)(const whittle_probe_file* file, unsigned site, const whittle_probe_value* value);
    /* A condition is about to be evaluated; the cursor is at its site until `branch`. */
    void (*before_branch)(const whittle_probe_file* file, unsigned site);
    /* The condition's outcome is `value`: 0 or 1, or the value of a switch. */
    void (*branch)(const whittle_probe_file* file, unsigned site, long long value);
    /* The statement that begins next holds this effect; called after `statement`. */
    void (*effect)(const whittle_probe_file* file, unsigned site);
} whittle_probe_table;

/* Exported by the capture runtime; weak, so that a program links without one. */
#if defined(__GNUC__)
extern const whittle_probe_table whittle_probe_ops __attribute__((weak, visibility("default")));
#endif

/* The description of a probed file, for tools that read the program without running it: an array of text, kept by the
 * linker though nothing refers to it. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define WHITTLE_PROBE_DESCRIPTION __attribute__((used, retain, section("whittle_static")))
#endif
#endif
#if !defined(WHITTLE_PROBE_DESCRIPTION)
#define WHITTLE_PROBE_DESCRIPTION __attribute__((used, section("whittle_static")))
#endif

#ifdef __cplusplus
}  // extern "C"

#if defined(__GNUC__) && __cplusplus >= 201402L

// Under a name of our own, so that no declaration of the program's disagrees with these.
extern "C" void* whittle_probe_dlsym(void*, const char*) __asm__("dlsym");
extern "C" int whittle_probe_uncaught() noexcept __asm__("_ZSt19uncaught_exceptionsv");

#pragma GCC visibility push(hidden)
namespace whittle {
namespace probe {

// ---- the listener

template <class>
struct Listener {
    static const whittle_probe_table* table;
    static int looked_up;
};
template <class T>
const whittle_probe_table* Listener<T>::table = nullptr;
template <class T>
int Listener<T>::looked_up = 0;

__attribute__((noinline, cold)) inline const whittle_probe_table* look_up() noexcept {
    // The program's own comes first: an executable's symbols are invisible to dlsym.
    const whittle_probe_table* found = &whittle_probe_ops;
    if (!found) found = static_cast<const whittle_probe_table*>(whittle_probe_dlsym(nullptr, "whittle_probe_ops"));
    if (found && (found->version != WHITTLE_PROBE_VERSION || found->size < sizeof(whittle_probe_table)))
        found = nullptr;
    Listener<void>::table = found;  // threads that race store the same
    __atomic_store_n(&Listener<void>::looked_up, 1, __ATOMIC_RELEASE);
    return found;
}

inline const whittle_probe_table* listener() noexcept {
    return __atomic_load_n(&Listener<void>::looked_up, __ATOMIC_ACQUIRE) ? Listener<void>::table : look_up();
}

inline bool selects(const whittle_probe_site& site) noexcept {
    return site.kind == WHITTLE_PROBE_BRANCH && __builtin_strcmp(site.what, WHITTLE_PROBE_SWITCH) == 0;
}

// ---- values

template <int N>
struct Rank : Rank<N - 1> {};
template <>
struct Rank<0> {};

inline whittle_probe_value value(const char* name, unsigned kind) noexcept {
    whittle_probe_value v = {};
    v.name = name;
    v.element = -1;
    v.kind = kind;
    return v;
}

/// The pointer that identifies a tensor.
template <class T>
auto tensor_value(const char* name, const T& t, Rank<1>) noexcept
    -> decltype(static_cast<const void*>(t.whittle_identity()), whittle_probe_value()) {
    whittle_probe_value v = value(name, WHITTLE_PROBE_TENSOR);
    v.tensor = t.whittle_identity();
    return v;
}
template <class T>
auto tensor_value(const char* name, const T& t, Rank<0>) noexcept
    -> decltype(static_cast<const void*>(t.unsafeGetTensorImpl()), whittle_probe_value()) {
    whittle_probe_value v = value(name, WHITTLE_PROBE_TORCH_TENSOR);
    v.tensor = t.unsafeGetTensorImpl();
    return v;
}

// Tensors: one, a list of them, an optional one.
template <class T, class Sink>
auto each_tensor(const char* name, const T& t, const Sink& sink, Rank<2>) noexcept
    -> decltype(tensor_value(name, t, Rank<1>()), true) {
    sink(tensor_value(name, t, Rank<1>()));
    return true;
}
template <class T, class Sink>
auto each_tensor(const char* name, const T& list, const Sink& sink, Rank<1>)
    -> decltype(tensor_value(name, *list.begin(), Rank<1>()), list.end(), true) {
    long long position = 0;
    for (const auto& t : list) {
        whittle_probe_value v = tensor_value(name, t, Rank<1>());
        v.element = position++;
        sink(v);
    }
    return true;
}
template <class T, class Sink>
auto each_tensor(const char* name, const T& t, const Sink& sink, Rank<0>) noexcept
    -> decltype(tensor_value(name, *t, Rank<1>()), t.has_value(), true) {
    if (t.has_value()) sink(tensor_value(name, *t, Rank<1>()));
    return true;
}

template <class T>
whittle_probe_value scalar_value(const char* name, T number, unsigned kind) noexcept {
    whittle_probe_value v = value(name, kind);
    v.integer = static_cast<long long>(number);
    v.real = static_cast<double>(number);
    return v;
}

// Numbers and text. The overloads for what a type *is* come before those for what it offers.
inline whittle_probe_value plain_value(const char* name, bool b, Rank<4>) noexcept {
    return scalar_value(name, b, WHITTLE_PROBE_BOOL);
}
inline whittle_probe_value plain_value(const char* name, const char* text, Rank<4>) noexcept {
    whittle_probe_value v = value(name, WHITTLE_PROBE_TEXT);
    v.text = text ? text : "";
    v.text_size = __builtin_strlen(v.text);
    return v;
}
#define WHITTLE_PROBE_NUMBER(type, kind)                                                 \
    inline whittle_probe_value plain_value(const char* name, type n, Rank<4>) noexcept { \
        return scalar_value(name, n, kind);                                              \
    }
WHITTLE_PROBE_NUMBER(char, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(signed char, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(unsigned char, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(short, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(unsigned short, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(int, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(unsigned, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(long, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(unsigned long, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(long long, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(unsigned long long, WHITTLE_PROBE_INTEGER)
WHITTLE_PROBE_NUMBER(float, WHITTLE_PROBE_FLOAT)
WHITTLE_PROBE_NUMBER(double, WHITTLE_PROBE_FLOAT)
WHITTLE_PROBE_NUMBER(long double, WHITTLE_PROBE_FLOAT)
#undef WHITTLE_PROBE_NUMBER

template <bool>
struct If {};
template <>
struct If<true> {
    using type = whittle_probe_value;
};
template <class T>
struct IsEnum {
    static constexpr bool value = __is_enum(T);
};
template <class T>
typename If<IsEnum<T>::value>::type describe(const char* name, const T& e, Rank<2>) noexcept {
    return scalar_value(name, static_cast<long long>(e), WHITTLE_PROBE_INTEGER);
}
/// Strings and views of char.
template <class T>
auto describe(const char* name, const T& s, Rank<1>) noexcept
    -> decltype(static_cast<const char*>(s.data()), s.size(), s.substr(0), whittle_probe_value()) {
    whittle_probe_value v = value(name, WHITTLE_PROBE_TEXT);
    v.text = s.data();
    v.text_size = s.size();
    return v;
}
template <class T>
whittle_probe_value describe(const char* name, const T&, Rank<0>) noexcept {
    return value(name, WHITTLE_PROBE_OTHER);
}
template <class T>
struct Plain {  // arithmetic types and pointers to char, and no class that converts to one
    template <class U>
    static whittle_probe_value of(const char* name, const U& u) noexcept {
        return describe(name, u, Rank<2>());
    }
};
#define WHITTLE_PROBE_PLAIN(type)                                                 \
    template <>                                                                   \
    struct Plain<type> {                                                          \
        static whittle_probe_value of(const char* name, const type& n) noexcept { \
            return plain_value(name, n, Rank<4>());                               \
        }                                                                         \
    };
using Text = const char*;
using MutableText = char*;
WHITTLE_PROBE_PLAIN(bool)
WHITTLE_PROBE_PLAIN(char)
WHITTLE_PROBE_PLAIN(signed char)
WHITTLE_PROBE_PLAIN(unsigned char)
WHITTLE_PROBE_PLAIN(short)
WHITTLE_PROBE_PLAIN(unsigned short)
WHITTLE_PROBE_PLAIN(int)
WHITTLE_PROBE_PLAIN(unsigned)
WHITTLE_PROBE_PLAIN(long)
WHITTLE_PROBE_PLAIN(unsigned long)
WHITTLE_PROBE_PLAIN(long long)
WHITTLE_PROBE_PLAIN(unsigned long long)
WHITTLE_PROBE_PLAIN(float)
WHITTLE_PROBE_PLAIN(double)
WHITTLE_PROBE_PLAIN(long double)
WHITTLE_PROBE_PLAIN(Text)
WHITTLE_PROBE_PLAIN(MutableText)
#undef WHITTLE_PROBE_PLAIN

template <class T, class Sink>
auto each_value(const char* name, const T& t, const Sink& sink, Rank<1>)
    -> decltype(each_tensor(name, t, sink, Rank<2>()), void()) {
    each_tensor(name, t, sink, Rank<2>());
}
template <class T, class Sink>
void each_value(const char* name, const T& t, const Sink& sink, Rank<0>) noexcept {
    sink(Plain<T>::of(name, t));
}
template <class T, class Sink>
auto each_named(const char* name, const T& t, const Sink& sink, Rank<1>)
    -> decltype(each_tensor(name, t, sink, Rank<2>()), void()) {
    each_tensor(name, t, sink, Rank<2>());
}
template <class T, class Sink>
void each_named(const char*, const T&, const Sink&, Rank<0>) noexcept {}

// ---- what the inserted code calls

/// A parameter and its name, as handed to Frame.
template <class T>
struct Named {
    const char* name;
    const T& value;
};
template <class T>
Named<T> named(const char* name, const T& value) noexcept {
    return {name, value};
}
/// A parameter of a type that is never described.
struct Opaque {
    const char* name;
};

/// One execution of a function: declared first in its body.
class Frame {
  public:
    template <class... Parameters>
    Frame(const whittle_probe_file& file, unsigned function, const Parameters&... parameters)
        : file_(&file), function_(function) {
        const whittle_probe_table* const table = listener();
        if (__builtin_expect(!table, 1)) return;
        cursor_ = table->enter(file_, function);
        if (!cursor_) return;
        table_ = table;
        saved_ = *cursor_;
        uncaught_ = whittle_probe_uncaught();
        const int in_order[] = {0, (tell(parameters), 0)...};
        static_cast<void>(in_order);
    }
    ~Frame() {
        if (__builtin_expect(!cursor_, 1)) return;
        *cursor_ = saved_;
        table_->leave(file_, function_, whittle_probe_uncaught() > uncaught_);
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// A statement begins.
    void at(unsigned site) noexcept {
        if (__builtin_expect(!cursor_, 1)) return;
        move(site);
        if (table_->statement) table_->statement(file_, site);
    }
    void effect(unsigned site) noexcept {
        if (cursor_) table_->effect(file_, site);
    }
    /// Variable `name` now holds `t`; nothing for what is no tensor.
    template <class T>
    void name(const char* name, const T& t) {
        if (__builtin_expect(!cursor_, 1)) return;
        const auto sink = [this](const whittle_probe_value& v) { table_->name(file_, cursor_->site, &v); };
        each_named(name, t, sink, Rank<1>());
    }
    /// `test(site, (before(site), condition))`.
    void before(unsigned site) noexcept {
        if (__builtin_expect(!cursor_, 1)) return;
        move(site);
        table_->before_branch(file_, site);
    }
    bool test(unsigned site, bool value) noexcept {
        if (cursor_) table_->branch(file_, site, value);
        return value;
    }
    template <class T>
    T select(unsigned site, T value) noexcept {
        if (cursor_) table_->branch(file_, site, static_cast<long long>(value));
        return value;
    }

  private:
    void move(unsigned site) noexcept {
        cursor_->file = file_;
        cursor_->site = site;
    }
    template <class T>
    void tell(const Named<T>& parameter) {
        const auto sink = [this](const whittle_probe_value& v) { table_->parameter(file_, function_, &v); };
        each_value(parameter.name, parameter.value, sink, Rank<1>());
    }
    void tell(const Opaque& parameter) {
        const whittle_probe_value v = value(parameter.name, WHITTLE_PROBE_OTHER);
        table_->parameter(file_, function_, &v);
    }

    const whittle_probe_table* table_ = nullptr;
    whittle_probe_cursor* cursor_ = nullptr;  // null: nobody listens
    const whittle_probe_file* file_;
    unsigned function_;
    int uncaught_ = 0;
    whittle_probe_cursor saved_ = {};
};

}  // namespace probe
}  // namespace whittle
#pragma GCC visibility pop

#endif /* C++14 of GCC or Clang */
#endif /* C++ */
#endif
