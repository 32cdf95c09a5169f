// compile(fn, options): captures the tensor operations of a function as graphs, which a backend compiles.
//
// The function's own code runs at every call, unchanged: any C++ in it works. Its tensor operations are recorded. Where
// the program needs a value (item(), a condition, printing, a data pointer) the graph ends and runs, and a new one
// begins. Each graph is compiled once, and equal graphs share the compilation.
//
// Arguments: tensors, numbers, strings, std::vector, array, tuple, pair, optional of them, modules, and structs that
// list their members with WHITTLE_FIELDS. Capture does not look into arguments of other types.
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
    /// A name as for --backend, or a function (backends.h); empty: $WHITTLE_BACKEND, else eager.
    BackendName backend = {};
    std::map<std::string, std::string> backend_options = {};
    bool fullgraph = false;  ///< a graph break is an error (GraphBreakError)
    int cache_limit = 0;     ///< most specializations, then it runs eagerly; 0: $WHITTLE_CACHE_SIZE_LIMIT, else 8
    /// Compile only functions of these names, separated by commas; default: $WHITTLE_DEBUG_FUNCTION.
    std::string function_filter = {};
    bool verify = false;  ///< run every graph on the reference too; wrong results are an error (VerifyError)
    /// Output does not break the graph: it appears later, in order, when its values are known (later.h).
    bool defer_output = false;
    /// Tensor::item() returns a symbol of the graph. The graph breaks only where the program needs the number itself:
    /// item<T>(), Scalar::to<T>(), and operations that take no tensor in its place. Off by default, as in TorchDynamo.
    bool capture_scalar_outputs = false;
    /// nonzero(), masked_select(), unique and indexing with a mask stay in the graph, and their results have symbols
    /// (u0) as sizes. Before each call, the reference computes their operands to find the sizes. Off by default, as in
    /// TorchDynamo (capture_dynamic_output_shape_ops): they break the graph. They always do where an operand requires a
    /// gradient.
    bool capture_dynamic_shapes = false;
    bool verbose = false;  ///< print full stacks when capture itself fails
    /// Promises that the function only computes: its results are tensors that depend on its arguments alone. A call
    /// like an earlier one that was a single graph then runs that graph and none of the function's code.
    bool pure = false;
    std::optional<bool> dynamic =
        {};  ///< sizes may vary: from the start (true), never (false), from the second value on
    // What is saved when something fails; share/doc/reference/environment.md has the values, and variables for them.
    std::string repro_after = {};    ///< "capture" or "aot": save graphs that the backend fails on, for minify
    int repro_level = 0;             ///< 1 to 4; 0: $WHITTLE_REPRO_LEVEL, else 2
    std::string replay_record = {};  ///< "1" or a folder: when capture fails, save what was captured, for replay
    std::string base_dir = {};       ///< the folder; default: $WHITTLE_BASE_DIR, else whittle_debug
    std::string name = {};           ///< of the function, in reports; default: its name in the debug information
    std::vector<std::string> arg_names = {};  ///< in reports: L['x']
};

/// With .fullgraph: the function cannot be one graph.
struct GraphBreakError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// The backend failed; what() has its name and its message. An exception of a backend that is a function of the program
/// is nested in it.
struct BackendError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// With .fullgraph: a size that was marked by mark_dynamic() can have one value only; what() names the size, the
/// operation that fixes it, and its line.
struct ConstraintError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// With .verify: the backend's results are wrong.
struct VerifyError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Visits the parts of an argument.
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
    virtual void opaque(const char* type) = 0;    ///< a type that capture does not look into
    virtual void enter(const char* member) = 0;   ///< what follows is a member …
    virtual void enter(std::size_t element) = 0;  ///< … or an element
    virtual void leave() = 0;
};

/// Lists, in a struct, the members that capture sees.
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
    std::int64_t recompiles = 0;    ///< calls after the first that no specialization fitted
    std::int64_t eager_calls = 0;   ///< beyond the cache limit, or skipped
    std::int64_t code_skipped = 0;  ///< with .pure: calls that ran a graph and none of the function's code
    std::int64_t ops = 0;           ///< in compiled graphs
    double compile_seconds = 0;
    std::vector<std::string> recompile_reasons = {};
};
CompileStats stats(const FunctionState& function);
/// Returns a line for each compiled function of the process: graphs, breaks, recompiles, seconds of compilation.
std::string compile_times();
/// Makes every compiled function of the process forget its graphs, guards, size symbols and counts, as if it had not
/// been called. A running function forgets them when it returns.
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
            [[maybe_unused]] std::size_t position = 0;
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

/// Selects what is logged, as --log does: "graph_code,+capture". Default: $WHITTLE_LOGS. Logs go to stderr unless a
/// file is named. Throws for unknown channels, and for a file that cannot be written.
void set_logs(const std::string& spec, const std::string& file = {});
/// Writes graphs, guards, kernels and their code into files below the folder, as --debug-dir and $WHITTLE_DEBUG_PARTS
/// do; an empty folder turns that off. Throws for unknown parts, and for a folder that cannot be written.
void set_debug_dir(const std::string& folder, const std::string& parts = {});

/// Marks the tensor's size at `dim` as one that varies. Functions compiled for the tensor after that take other sizes
/// without a recompile: all from 2, or from `least` to `most`; sizes outside the range get graphs of their own. An
/// operation that fixes the size nevertheless causes a warning, or with .fullgraph a ConstraintError. Throws if the
/// size is less than 2, and if the range holds no size of 2 or more.
void mark_dynamic(const Tensor& tensor, std::int64_t dim, std::optional<std::int64_t> least = {},
                  std::optional<std::int64_t> most = {});

/// Ends the graph that is being recorded, if there is one.
WHITTLE_API_CALL void graph_break(const std::string& reason = "graph_break()");

WHITTLE_API_END

#endif
