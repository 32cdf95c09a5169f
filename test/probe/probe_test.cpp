// The probe header with a listener in the same program: events, their order, and the cursor.
#define WHITTLE_PROBE_SHOW_WARNINGS
#include "probe/probe.h"

#include <catch2/catch.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Tensor {
    int number = 0;
    const void* whittle_identity() const { return &number; }
};
struct TorchTensor {
    int number = 0;
    int* unsafeGetTensorImpl() const { return const_cast<int*>(&number); }
};
enum class Mode { train, test };
struct Converts {
    operator int() const { return 3; }
};

std::ostringstream events;
bool listening = true;
whittle_probe_cursor cursor = {};

void tell(const char* what, const whittle_probe_value* v) {
    events << what << " " << v->name;
    if (v->element >= 0) events << "[" << v->element << "]";
    switch (v->kind) {
        case WHITTLE_PROBE_BOOL:
        case WHITTLE_PROBE_INTEGER:
            events << "=" << v->integer;
            break;
        case WHITTLE_PROBE_FLOAT:
            events << "=" << v->real;
            break;
        case WHITTLE_PROBE_TEXT:
            events << "='" << std::string_view(v->text, v->text_size) << "'";
            break;
        case WHITTLE_PROBE_TENSOR:
            events << "=tensor " << *static_cast<const int*>(v->tensor);
            break;
        case WHITTLE_PROBE_TORCH_TENSOR:
            events << "=torch " << *static_cast<const int*>(v->tensor);
            break;
        default:
            events << "=?";
    }
    events << "; ";
}

const whittle_probe_function functions[] = {{"f", {1, 1, 9, 1}}, {"g", {11, 1, 12, 1}}};
const whittle_probe_file file = {WHITTLE_PROBE_VERSION, "/x.cpp", 2, 0, 0, functions, nullptr, nullptr};

}  // namespace

extern "C" const whittle_probe_table whittle_probe_ops = {
    WHITTLE_PROBE_VERSION,
    sizeof(whittle_probe_table),
    [](const whittle_probe_file* f, unsigned function) -> whittle_probe_cursor* {
        if (!listening) return nullptr;
        events << "enter " << f->functions[function].name << "; ";
        return &cursor;
    },
    [](const whittle_probe_file*, unsigned, const whittle_probe_value* v) { tell("parameter", v); },
    [](const whittle_probe_file*, unsigned, const whittle_probe_value*) {},
    [](const whittle_probe_file*, unsigned, int by_exception) { events << (by_exception ? "thrown; " : "leave; "); },
    [](const whittle_probe_file*, unsigned site) { events << "at " << site << "; "; },
    [](const whittle_probe_file*, unsigned site, const whittle_probe_value* v) {
        events << site << ": ";
        tell("name", v);
    },
    [](const whittle_probe_file*, unsigned site) { events << "before " << site << "; "; },
    [](const whittle_probe_file*, unsigned site, long long value) { events << site << " gave " << value << "; "; },
    [](const whittle_probe_file*, unsigned site) { events << "effect " << site << "; "; }};

namespace {

using whittle::probe::Frame;
using whittle::probe::named;
using whittle::probe::Opaque;

std::string taken() {
    std::string text = events.str();
    events.str("");
    return text;
}

TEST_CASE("parameters are told by what they are") {
    {
        const std::vector<Tensor> list{{1}, {2}};
        const std::optional<TorchTensor> some = TorchTensor{3}, none;
        Frame frame(file, 0, named("t", Tensor{7}), named("u", TorchTensor{8}), named("list", list),
                    named("some", some), named("none", none), named("n", 3), named("flag", true), named("x", 0.5F),
                    named("mode", Mode::test), named("s", std::string("ab")), named("view", std::string_view("cd")),
                    named("converts", Converts{}), named("numbers", std::vector<int>{1}), Opaque{"net"});
        const char* text = "ef";
        Frame inner(file, 1, named("text", text));
    }
    CHECK(taken() ==
          "enter f; parameter t=tensor 7; parameter u=torch 8; parameter list[0]=tensor 1; parameter list[1]=tensor 2; "
          "parameter some=torch 3; parameter n=3; parameter flag=1; parameter x=0.5; parameter mode=1; "
          "parameter s='ab'; parameter view='cd'; parameter converts=?; parameter numbers=?; parameter net=?; "
          "enter g; parameter text='ef'; leave; leave; ");
}

Tensor body(int n) {
    Frame frame(file, 0, named("n", n));
    frame.at(4);
    Tensor t{n};
    frame.name("t", t);
    frame.name("n", n);
    frame.at(5);
    frame.effect(6);
    if (frame.test(7, (frame.before(7), n > 1))) throw std::runtime_error("large");
    frame.at(8);
    return Tensor{n + 1};
}

TEST_CASE("statements, names, branches and effects are told in order") {
    CHECK(body(1).number == 2);
    CHECK(taken() ==
          "enter f; parameter n=1; at 4; 4: name t=tensor 1; at 5; effect 6; before 7; 7 gave 0; at 8; "
          "leave; ");
    CHECK_THROWS(body(2));
    CHECK(taken() == "enter f; parameter n=2; at 4; 4: name t=tensor 2; at 5; effect 6; before 7; 7 gave 1; thrown; ");
}

TEST_CASE("the cursor returns to the caller's place") {
    {
        Frame outer(file, 0);
        outer.at(3);
        try {
            body(2);
        } catch (const std::runtime_error&) {
        }
        CHECK(cursor.site == 3);
    }
    CHECK(cursor.file == nullptr);
    taken();
}

TEST_CASE("a frame that nobody listens to says nothing") {
    listening = false;
    CHECK(body(1).number == 2);
    listening = true;
    CHECK(taken().empty());
}

}  // namespace
