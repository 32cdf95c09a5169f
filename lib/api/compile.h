// compile(fn, options): the function with its tensor operations captured as graphs that a backend compiles.
//
// The function's own code runs at every call, as it is: whatever C++ it holds works. Its tensor operations are
// recorded; where the program demands a value (item(), a condition, printing, a data pointer) the graph ends, runs, and
// a new one begins. Graphs are compiled once and found again by what they are.
//
// Arguments: tensors, numbers, strings, std::vector, array, tuple, pair, optional of them, modules, and structs that
// name their members with WHITTLE_FIELDS. Other types are passed on unseen.
#ifndef WHITTLE_API_COMPILE_H
#define WHITTLE_API_COMPILE_H

#include <whittle/api/backends.h>
#include <whittle/api/flat.h>
#include <whittle/api/tensor.h>

#include <array>
#include <functional>
#include <map>
#include <stdexcept>
#include <typeinfo>

WHITTLE_API_BEGIN

struct CompileOptions {
    /// As after --backend, or a function (backends.h); empty: $WHITTLE_BACKEND, else eager.
    BackendName backend = {};
    std::map<std::string, std::string> backend_options = {};
    bool fullgraph = false;  ///< a graph break is an error (GraphBreakError)
    int cache_limit = 0;     ///< so many specializations, then it runs eagerly; 0: $WHITTLE_CACHE_SIZE_LIMIT, else 8
    /// Only compile when the name is one of these, separated by commas; default $WHITTLE_DEBUG_FUNCTION.
    std::string function_filter = {};
    bool verify = false;  ///< run every graph on the reference too; wrong results are an error (VerifyError)
    /// What the function prints breaks no graph: it comes, in order, once its values are there (later.h).
    bool defer_output = false;
    /// Tensor::item() gives a symbol of the graph, and breaks none, until the program wants the number itself:
    /// item<T>(), Scalar::to<T>(), and where an operation has no tensor form for it. Off by default, as in TorchDynamo.
    bool capture_scalar_outputs = false;
    /// nonzero(), masked_select(), unique and indexing with a mask stay in the graph, whose results have symbols (u0)
    /// for sizes: how large they are in a call is found beforehand, by computing what they read on the reference. Off
    /// by default, as in TorchDynamo (capture_dynamic_output_shape_ops): they break the graph. So they do where what
    /// they read requires a gradient.
    bool capture_dynamic_shapes = false;
    bool verbose = false;  ///< when capture itself fails, full stacks are told
    /// The function only computes: its results, tensors, follow from its arguments. A call like an earlier one that was
    /// one graph, without breaks, then runs that graph, and none of the function's code.
    bool pure = false;
    std::optional<bool> dynamic =
        {};  ///< sizes may vary: from the start (true), never (false), from the second value on
    // What is kept when something fails; share/doc/reference/environment.md has the values, and variables for the same.
    std::string repro_after = {};    ///< "capture" or "aot": graphs that the backend fails on, for minify
    int repro_level = 0;             ///< 1 to 4; 0: $WHITTLE_REPRO_LEVEL, else 2
    std::string replay_record = {};  ///< "1" or a folder: what was captured when capture itself fails, for replay
    std::string base_dir = {};       ///< where; default $WHITTLE_BASE_DIR, else whittle_debug
    std::string name = {};           ///< of the function, for reports; default: as the debug information has it
    std::vector<std::string> arg_names = {};  ///< for reports: L['x']
};

/// With .fullgraph: the function cannot be one graph.
struct GraphBreakError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// The backend failed; what() names it and holds its own words. What a function of the program threw is nested in it.
struct BackendError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// With .fullgraph: a size that mark_dynamic() was told of can have one value only; what() names the size, the
/// operation, its line and what it asks.
struct ConstraintError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// With .verify: the backend's results are wrong.
struct VerifyError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Sees the parts of an argument.
class Visitor {
  public:
    virtual ~Visitor() = default;
    virtual void tensor(const Tensor& value) = 0;
    virtual void parameter(const Tensor& value, const std::string& qualified_name) = 0;
    virtual void number(bool value) = 0;
    virtual void number(std::int64_t value) = 0;
    virtual void number(double value) = 0;
    virtual void text(const std::string& value) = 0;
    virtual void length(std::size_t count) = 0;   ///< of the list whose elements follow
    virtual void present(bool value) = 0;         ///< whether an optional holds what follows
    virtual void opaque(const char* type) = 0;    ///< not seen
    virtual void enter(const char* member) = 0;   ///< what follows is a member …
    virtual void enter(std::size_t element) = 0;  ///< … or an element
    virtual void leave() = 0;
};

/// In a struct: its members that capture shall see.
///   struct State { whittle::Tensor h, c; int step; WHITTLE_FIELDS(h, c, step) };
#define WHITTLE_FIELDS(...)                            \
    template <class Whittle_Visit>                     \
    void whittle_fields(Whittle_Visit&& visit) const { \
        visit(#__VA_ARGS__, __VA_ARGS__);              \
    }

namespace detail {

struct AnyVisit {
    template <class... T>
    void operator()(const char*, T&...) const {}
};
template <class T, class = void>
struct HasFields : std::false_type {};
template <class T>
struct HasFields<T, std::void_t<decltype(std::declval<const T&>().whittle_fields(AnyVisit{}))>> : std::true_type {};
template <class T, class = void>
struct IsModule : std::false_type {};
template <class T>
struct IsModule<T, std::void_t<decltype(std::declval<const T&>().named_parameters())>> : std::true_type {};
template <class T, class = void>
struct IsRange : std::false_type {};
template <class T>
struct IsRange<T, std::void_t<decltype(std::declval<const T&>().begin()), decltype(std::declval<const T&>().size())>>
    : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
void visit(Visitor& visitor, const T& value);

/// "a, b, c" -> members one by one.
template <class... Members>
void visit_fields(Visitor& visitor, const char* names, const Members&... members) {
    const auto one = [&](const auto& member) {
        std::string name;
        for (; *names && *names != ','; ++names)
            if (*names != ' ') name += *names;
        if (*names) ++names;
        visitor.enter(name.c_str());
        visit(visitor, member);
        visitor.leave();
    };
    (one(members), ...);
}

template <class T>
void visit(Visitor& visitor, const T& value) {
    if constexpr (std::is_same_v<T, Tensor>) {
        visitor.tensor(value);
    } else if constexpr (std::is_same_v<T, bool>) {
        visitor.number(value);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
        visitor.number(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        visitor.number(static_cast<double>(value));
    } else if constexpr (std::is_convertible_v<const T&, std::string>) {
        if constexpr (std::is_pointer_v<T>)
            if (!value) return visitor.present(false);
        visitor.text(value);
    } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
        visitor.present(false);
    } else if constexpr (HasFields<T>::value) {
        value.whittle_fields(
            [&](const char* names, const auto&... members) { visit_fields(visitor, names, members...); });
    } else if constexpr (IsModule<T>::value) {
        for (const auto& [name, parameter] : value.named_parameters()) visitor.parameter(parameter, name);
    } else if constexpr (IsOptional<T>::value) {
        visitor.present(value.has_value());
        if (value) visit(visitor, *value);
    } else if constexpr (IsRange<T>::value) {
        visitor.length(value.size());
        std::size_t position = 0;
        for (const auto& element : value) {
            visitor.enter(position++);
            visit(visitor, element);
            visitor.leave();
        }
    } else if constexpr (IsTuple<T>::value) {
        std::apply(
            [&](const auto&... elements) {
                std::size_t position = 0;
                ((visitor.enter(position++), visit(visitor, elements), visitor.leave()), ...);
            },
            value);
    } else {
        visitor.opaque(typeid(T).name());
    }
}

/// What is at the address is made part of the program.
inline void keep(const void* address) { asm volatile("" : : "r"(address)); }

/// Of a pointer to a member function, as the Itanium ABI has it: an address, or odd for what is virtual (null then).
inline const void* method_address(const void* pointer) {
    const auto address = *static_cast<const std::uintptr_t*>(pointer);
    return address % 2 == 0 ? reinterpret_cast<const void*>(address) : nullptr;
}

}  // namespace detail

/// In a program that says itself what is compiled: its other functions are no frames then. Used by Compiled, so that it
/// is part of such programs alone; the library has a weak reference to it.
extern "C" inline const char whittle_program_compiles = 1;

struct FunctionState;
/// `address` and `type` say where a name may be found.
std::shared_ptr<FunctionState> make_function(CompileOptions options, const void* address, const char* type);
/// Runs `body` as one execution of the function. `describe` shows its arguments, in order, each after enter(position).
void run_frame(FunctionState& function, const std::function<void(Visitor&)>& describe,
               const std::function<void()>& body);

namespace detail {

/// A call of a function with .pure.
class PureCall {
  public:
    /// `describe` as for run_frame().
    PureCall(FunctionState& function, const std::function<void(Visitor&)>& describe);
    ~PureCall();
    PureCall(const PureCall&) = delete;
    PureCall& operator=(const PureCall&) = delete;

    /// Where an earlier call was like this one: the results, by running its graph, and what remember() was told of
    /// their form, which another thread may forget meanwhile. Else null, and the function's code has to run.
    static std::shared_ptr<const void> known(FunctionState& function, const std::function<void(Visitor&)>& describe,
                                             TensorList& results);
    void run(const std::function<void()>& body);
    /// What it gave, so that a later call may be like it. `form`: the results without tensors.
    void remember(const TensorList& results, std::shared_ptr<const void> form);

  private:
    struct State;
    std::unique_ptr<State> state_;
};
bool is_pure(const FunctionState& function);

}  // namespace detail

/// Counts of a compiled function.
struct CompileStats {
    std::string name = {};
    std::int64_t calls = 0;  ///< of the function
    /// Compiled. Where sizes vary: once by backends that interpret (eager, the debug backends, aot_*, libtorch), by
    /// others once for each set of sizes.
    std::int64_t graphs = 0;
    std::int64_t breaks = 0;        ///< graph breaks, each time
    std::int64_t recompiles = 0;    ///< calls that no specialization fitted, after the first
    std::int64_t eager_calls = 0;   ///< beyond the cache limit, or skipped
    std::int64_t code_skipped = 0;  ///< with .pure: calls that ran a graph and none of the function's code
    std::int64_t ops = 0;           ///< in compiled graphs
    double compile_seconds = 0;
    std::vector<std::string> recompile_reasons = {};
};
CompileStats stats(const FunctionState& function);
/// One line per compiled function of the process: graphs, breaks, recompiles, seconds of compiling.
std::string compile_times();
/// Every compiled function of the process forgets its graphs, guards, size symbols and counts, as if it had not been
/// called; one that is running does so when it returns.
void reset();

/// A compiled function. Copies share their graphs.
template <class F>
class Compiled {
  public:
    Compiled(F function, CompileOptions options) : function_(std::move(function)) {
        detail::keep(&whittle_program_compiles);
        const void* address = nullptr;
        if constexpr (std::is_pointer_v<F>) address = reinterpret_cast<const void*>(function_);
        if constexpr (std::is_member_function_pointer_v<F>) {
            address = detail::method_address(&function_);
            if (options.arg_names.empty()) options.arg_names = {"this"};
        }
        state_ = make_function(std::move(options), address, typeid(F).name());
    }

    template <class... Args>
    auto operator()(Args&&... args) const {
        using Result = std::invoke_result_t<const F&, Args...>;
        const auto describe = [&](Visitor& visitor) {
            std::size_t position = 0;
            ((visitor.enter(position++), detail::visit<std::decay_t<Args>>(visitor, args), visitor.leave()), ...);
        };
        if constexpr (detail::AreTensors<Result>::value)
            if (detail::is_pure(*state_)) return call_pure<Result>(describe, std::forward<Args>(args)...);
        if constexpr (std::is_void_v<Result>) {
            run_frame(*state_, describe, [&] { std::invoke(function_, std::forward<Args>(args)...); });
        } else {
            std::optional<Result> result;
            run_frame(*state_, describe, [&] { result.emplace(std::invoke(function_, std::forward<Args>(args)...)); });
            return Result(std::move(*result));
        }
    }

    CompileStats stats() const { return api::stats(*state_); }
    FunctionState& state() const { return *state_; }

  private:
    template <class Result, class Describe, class... Args>
    Result call_pure(const Describe& describe, Args&&... args) const {
        TensorList tensors;
        if (const auto form = detail::PureCall::known(*state_, std::ref(describe), tensors))
            return detail::rebuilt(*static_cast<const Result*>(form.get()), tensors);
        detail::PureCall call(*state_, std::ref(describe));
        std::optional<Result> result;
        call.run([&] { result.emplace(std::invoke(function_, std::forward<Args>(args)...)); });
        detail::flatten(*result, tensors);
        call.remember(tensors, std::make_shared<const Result>(detail::rebuilt(*result, TensorList(tensors.size()))));
        return Result(std::move(*result));
    }

    F function_;
    std::shared_ptr<FunctionState> state_;
};

template <class F>
Compiled<std::decay_t<F>> compile(F&& function, CompileOptions options = {}) {
    return {std::forward<F>(function), std::move(options)};
}

/// What is logged, as with --log: "graph_code,+capture". Default: $WHITTLE_LOGS. To stderr, unless a file is named.
/// Throws for unknown channels, and for a file that cannot be written.
void set_logs(const std::string& spec, const std::string& file = {});
/// Graphs, guards, kernels and their code are written as files below the folder, as with --debug-dir and
/// $WHITTLE_DEBUG_PARTS; an empty name: nowhere. Throws for names of parts that do not exist, and for a folder that
/// cannot be written.
void set_debug_dir(const std::string& folder, const std::string& parts = {});

/// The tensor's size at `dim` (2 or more) may vary: functions compiled for it from now on take other sizes, too,
/// without a recompile, from `least` to `most` where these are given: one outside has graphs of its own. Where an
/// operation fixes it all the same, that is a warning, with .fullgraph a ConstraintError. Throws for a smaller size,
/// and for a range without one.
void mark_dynamic(const Tensor& tensor, std::int64_t dim, std::optional<std::int64_t> least = {},
                  std::optional<std::int64_t> most = {});

/// Ends the graph that is being recorded, if one is.
WHITTLE_API_CALL void graph_break(const std::string& reason = "graph_break()");

WHITTLE_API_END

#endif
