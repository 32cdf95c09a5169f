// Every construct that probes have to respect, laid out as badly as users may; run by test/trace/cc-torture.txt.
// clang-format off
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>
#include "tensor.h"

#define SQUARE(x) ((x) * (x))
#define CHECKED(condition) \
    if (!(condition)) throw std::runtime_error(#condition)
#define DEFINE_NEGATE(name) \
    Tensor name(const Tensor& t) { return t * -1; }
#define EACH(list, ...) \
    for (auto& each : list) { __VA_ARGS__; }

DEFINE_NEGATE(negate_by_macro)
constexpr int twice(int n) { return n > 3 ? 2 * n : n + n; }
static_assert(twice(4) == 8, "");
template <class T>
T sum_of(const std::vector<T>& list) {
    T total = T();
    for (const auto& item : list) total = total + item;
    return total;
}
template <int N>
Tensor power(Tensor t) {
    for (int i = 1; i < N; ++i) t *= t;
    return N > 1 ? t : t * 1;
}
template <class First, class... More>
Tensor total(First first, const More&... more) {
    Tensor t = first;
    if constexpr (sizeof...(more) > 0) t = t + total(more...);
    return t;
}
struct MoveOnly {
    std::unique_ptr<int> p;
    explicit MoveOnly(int n) : p(std::make_unique<int>(n)) {}
};
MoveOnly make(int n) {
    MoveOnly m(n);
    if (n < 0) return MoveOnly(0);
    return m;
}
class Net {
  public:
    explicit Net(float w) : weight_(w), act_([](const Tensor& t) { return relu(t); }) { std::cout << "net\n"; }
    Net(const Net&) = default;
    ~Net() { std::cout << "~net\n"; }
    Tensor operator()(const Tensor& x) const {
        Tensor h = x * weight_;
        return act_(h);
    }
    const Tensor& weight() const { return weight_; }
    friend std::ostream& operator<<(std::ostream& out, const Net& n) { return out << "Net(" << n.weight_.item() << ")"; }

  private:
    Tensor weight_;
    std::function<Tensor(const Tensor&)> act_;
};
struct Bits {
    unsigned low : 3;
    unsigned get() const { return low; }
};
enum class Mode { add, multiply, skip };
Tensor choose(Mode mode, Tensor a, const Tensor& b) {
    switch (mode) {
        case Mode::add: {
            a = a + b;
            break;
        }
        case Mode::multiply:
            a *= b;
            [[fallthrough]];
        case Mode::skip:
        default:
            a = a + 1;
    }
    return a;
}
int count_down(Tensor t) {
    int steps = 0;
again:
    t = t + -1;
    ++steps;
    if (t.item() > 0) goto again;
    return steps;
}
std::tuple<Tensor, int> both(const Tensor& t) { return {t, 7}; }
Tensor guarded(const Tensor& t) try {
    return t / Tensor(0);
} catch (const std::domain_error& e) {
    std::cout << "caught " << e.what() << "\n";
    return t;
}
auto deduced(const Tensor& t) {
    auto [copy, n] = both(t);
    return copy * n;
}
decltype(auto) by_reference(const Net& n) { return (n.weight()); }
int main() {
    Tensor a(2), b = 3, c;
    const int kSize = true ? 4 : 5;
    std::array<int, kSize> numbers{};
    std::iota(numbers.begin(), numbers.end(), twice(2));
    c = a + b; Tensor d = c; std::cout << c << " " << d.item() << "\n";
    if (auto q = a / b; q.item() < 1) std::cout << "less\n"; else std::cout << "more\n";
    if (Tensor t = a * 0) std::cout << "nonzero\n";
    else if (b) puts("b");
    else puts("neither");
    auto generic = [&](auto x, auto&&... rest) { auto y = x + a; return (y + ... + rest); };
    std::cout << generic(Tensor(1), b, c) << generic(Tensor(5)) << "\n";
    constexpr auto squared = [](int n) { return SQUARE(n); };
    static_assert(squared(3) == 9, "");
    std::vector<Tensor> list{a, b, c};
    EACH(list, each = each + 1; if (each) each = each * 2)
    for (Tensor& t : list) t = t + 1;
    for (auto [name, value] : std::map<std::string, Tensor>{{"x", a}, {"y", b}}) std::cout << name << value.item() << " ";
    std::sort(list.begin(), list.end(), [](const Tensor& l, const Tensor& r) { return l.item() > r.item(); });
    do a = a + 1; while (a.item() < 6);
    while (auto next = b + -1) { b = next; if (b.item() == 1) continue; else if (b.item() < 1) break; }
    for (Tensor i = 0; i.item() < 3; i = i + 1) if (i.item() == 1) std::cout << "one "; else std::cout << "other ";
    for (int i = 0, j = 9; i < j; ++i, --j) { numbers[static_cast<std::size_t>(i % 4)] += j; }
    try {
        CHECKED(a.item() < 0 ? false : b.item() > 100);
    } catch (const std::exception& e) { std::cout << e.what() << "\n"; }
    Net net(2);
    std::cout << net << net(Tensor(3)) << guarded(a) << deduced(b) << by_reference(net) << negate_by_macro(c) << "\n";
    std::cout << choose(Mode::add, a, b) << choose(Mode::multiply, a, b) << choose(Mode::skip, a, b) << "\n";
    std::cout << *make(4).p << *make(-1).p << count_down(4) << sum_of(list) << sum_of(std::vector<int>{1, 2}) << power<2>(Tensor(3)) << total(a, 1, b) << "\n";
    std::cout << "line " << __LINE__ << " in " << __FILE__ << " " << (a.item() > 2 ? "big" : "small") << Bits{5}.get() << "\n";
    std::optional<Tensor> maybe; if (!maybe) maybe = a; printf("%g %s\n", maybe->item(), a && !(b && c) ? "yes" : "no");
    std::ostringstream text; text << a; struct Local { Tensor twice(Tensor t) { t = t + t; return t; } } local;
    return static_cast<int>(local.twice(a).item()) - 12 + static_cast<int>(text.str().size()) - ({ int v = 1; v; });
}

// Its copies are seen: a result is made where the caller wants it, and stays there.
struct Settled : Tensor {
    explicit Settled(float value) : Tensor(value) {}
    Settled(const Settled& other) : Tensor(other) { std::cout << "copied "; }
};
Settled settled(const Tensor& t) { return Settled((t + 1).item()); }
Settled handed_on(const Tensor& t) { return settled(t); }
bool before_main = bool(std::cout << handed_on(2) << " in place\n");
