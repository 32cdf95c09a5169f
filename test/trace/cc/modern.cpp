// C++20, and what else people write; compiled plain and with probes by test/trace/cc-torture.txt.
// clang-format off
#include <atomic>
#include <compare>
#include <concepts>
#include <coroutine>
#include <cstdarg>
#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>
#include "tensor.h"

struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
Task coroutine(Tensor t) {
    std::cout << "coroutine " << t << "\n";
    co_return;
}
template <class T>
concept Addable = requires(T a, T b) { { a + b } -> std::convertible_to<T>; };
template <Addable T>
T add_all(std::initializer_list<T> list) requires(sizeof(T) > 1) { return std::accumulate(list.begin(), list.end(), T{}); }
consteval int at_compile_time(int n) { return n ? n * 2 : 1; }
auto shortened(const auto& a, std::floating_point auto b) { return a * Tensor(static_cast<float>(b)); }
struct Version {
    int major = 1, minor = 0;
    auto operator<=>(const Version&) const = default;
};
struct [[gnu::packed]] Packed { char c; int n; int get() const { return n > 0 ? n : -n; } };
struct Flags { unsigned on : 1, rest : 7; bool is_on() const { if (on) return on; return rest; } };
namespace outer::inner { inline namespace v1 { Tensor deep(Tensor t, int depth = [] { return 2; }()) { if (depth <= 0) return t; return deep(t + 1, depth - 1); } } }
int variadic(const char* format, ...) { std::va_list args; va_start(args, format); int n = std::vprintf(format, args); va_end(args); return n; }
template <template <class...> class List, class... Items>
std::size_t count(const List<Items...>& list) { std::size_t n = 0; for ([[maybe_unused]] const auto& item : list) n += 1; return n; }
Tensor noexcept_one(Tensor t) noexcept { try { throw t; } catch (Tensor& caught) { caught = caught + 1; return caught; } catch (...) { return t; } }
template <class... F> struct Overloaded : F... { using F::operator()...; };
template <class... F> Overloaded(F...) -> Overloaded<F...>;
Tensor operator""_t(long double v) { return static_cast<float>(v); }
std::ostream& print_all(std::ostream& out, auto&&... items) { ((out << items << ' '), ...); return out; }
struct Base { virtual ~Base() = default; virtual Tensor forward(const Tensor& t) const { return t; } };
struct Layer final : Base {
    Tensor w{2}; Layer() noexcept(true) try : w(3) { std::cout << "layer\n"; } catch (...) { throw; }
    Tensor forward(const Tensor& t) const override { return Base::forward(t) * w; }
    operator Tensor() const { return w; }
    Tensor& operator[](int) & { return w; }
    Layer& operator=(const Layer&) = default; Layer(const Layer&) = default;
    static Tensor shared() { static Tensor once = 5; thread_local Tensor mine = once + 1; once = once + 1; return once + mine; }
};
Tensor* pointer(Tensor* p) { return p ? p : nullptr; }
const char* name_of(Tensor t) { return t ? "nonzero" : "zero"; }
bool both(Tensor a, Tensor b) { return a and not (b or a.item() > 1e3f); }
void swap_them(Tensor& a, Tensor& b) { using std::swap; swap(a, b); }
std::unique_ptr<Base> make_layer(bool yes) { if (yes) return std::make_unique<Layer>(); return nullptr; }
auto counter() { return [n = 0, t = Tensor(1)]() mutable { t = t + 1; return ++n + static_cast<int>(t.item()); }; }
Tensor late(Tensor t) { for (;;) { if (t.item() > 10) break; t = t * 2 + 1; if (t.item() > 5) continue; t = t + 1; } return t; }
unsigned bits(Flags f) { return f.rest; }
int packed_sum(const Packed& p) { int s = p.n; return s; }
long narrow(Tensor t) { return t.item() > 0 ? 1 : 2L; }
Tensor comma(Tensor t) { int i = 0; if (i++, t.item() > 0) t = t, t = t + 1; return (i, t); }
#if 0
Tensor not_there(Tensor t) { return t; }
#endif
#define RETURN_PLUS(t, n) return (t) + (n)
#define IF_POSITIVE(t) if ((t).item() > 0)
#define LOOP(i, n) for (int i = 0; i < (n); ++i)
Tensor with_macros(Tensor t) { LOOP(i, 2) IF_POSITIVE(t) t = t + i; else t = t * 2; IF_POSITIVE(t) { RETURN_PLUS(t, 1); } RETURN_PLUS(t, 2); }
Tensor \
continued(Tensor größe) { return größe \
    + 1; }
Tensor hinted(Tensor t) {
    float sums[4] = {};
#pragma GCC ivdep
    for (int i = 0; i < 4; ++i) sums[i] = t.item() * static_cast<float>(i);
    if (t.item() > 0)
        # pragma GCC ivdep
        for (float& s : sums) s = s + 1;
    return sums[3];
}
int main() {
    coroutine(1);
    std::cout << hinted(2) << "\n";
    std::cout << add_all({Tensor(1), Tensor(2)}) << add_all<int>({1, 2}) << at_compile_time(3) << shortened(Tensor(2), 1.5) << "\n";
    std::cout << (Version{} < Version{1, 1} ? "older" : "newer") << Packed{'a', -3}.get() << Flags{1, 2}.is_on() << outer::inner::deep(0) << "\n";
    variadic("%s %d\n", R"(raw "text" {;})", 3);
    std::variant<Tensor, int> either = Tensor(4);
    std::visit(Overloaded{[](const Tensor& t) { std::cout << t << "\n"; }, [](int n) { std::cout << n << "\n"; }}, either);
    print_all(std::cout, count(std::vector<int>{1, 2}), noexcept_one(1), 2.5_t, Layer::shared(), Layer::shared()) << "\n";
    Layer layer; const Tensor converted = layer; layer[0] = layer[0] + 1; std::cout << converted << layer.w << layer.forward(2) << *pointer(&layer.w) << name_of(0) << both(1, 0) << "\n";
    Tensor a = 1, b = 2; swap_them(a, b); std::cout << a << b << (make_layer(true) != nullptr) << (make_layer(false) ? 1 : 0) << "\n";
    auto next = counter(); next(); std::cout << next() << late(1) << bits({1, 3}) << packed_sum({'b', 4}) << narrow(1) << comma(1) << with_macros(-1) << with_macros(1) << continued(1) << "\n";
    std::mutex mutex; Tensor total; std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { const std::lock_guard lock(mutex); total = total + i; if (total.item() < 0) std::cout << "never"; });
    for (auto& t : threads) t.join();
    std::cout << total << std::endl;
    auto recursive = [](auto self, Tensor t) -> Tensor { return t.item() < 3 ? self(self, t + 1) : t; };
    const auto [x, y] = std::pair(a, b); auto use = [&x = x, y = y] { return x + y; };
    std::span<const Tensor> view(&a, 1); for (int i = 0; const Tensor& t : view) std::cout << i++ << t << recursive(recursive, t) << use() << "\n";
    switch (int k = static_cast<int>(a.item()); k) { case 0: case 1: std::cout << "low\n"; break; case 2 ... 4: { std::cout << "mid\n"; } [[fallthrough]]; default: std::cout << "rest\n"; }
    if (not a) { std::cout << "x"; } if (a) goto done; else std::cout << "unreached\n";
done:
    return [](auto... n) { return (0 + ... + n); }(1, 2);
}
