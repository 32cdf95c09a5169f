// What graphs of a backward pass know of it: that they are a part, and of which calls' gradients.
#include <set>

#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

constexpr std::uint32_t kNode = 90;
const FakeTensor kX{.id = 1}, kY{.id = 2}, kGradient{.id = 3};

/// The product of two, as autograd numbers it.
void numbered_mul(EventWriter& w, std::uint32_t depth, const FakeTensor& a, std::uint64_t made, std::int64_t sequence,
                  bool grad_mode = true) {
    w.begin_header(kMul, depth, 2, OpScope::function, sequence, grad_mode);
    w.put_tensor(a);
    w.put_tensor(kX);
    w.commit();
    w.end(kMul, depth, {{.id = made}});
}

template <class Body>
void backward_node(EventWriter& w, std::int64_t sequence, Body&& body) {
    w.begin_header(kNode, 0, 0, OpScope::backward, sequence);
    w.commit();
    body();
    w.end(kNode, 0, {});
}

/// y = x * x has autograd's number 5; `passes` follows.
template <class Passes>
std::vector<capture::CapturedGraph> differentiated(Passes&& passes) {
    const TempDir folder;
    return only_frame(program(folder,
                              [&](EventWriter& w) {
                                  w.number_thread();
                                  w.define(kNode, "MulBackward0", "", "");
                                  numbered_mul(w, 0, kX, kY.id, 5);
                                  passes(w);
                              }))
        .graphs;
}

}  // namespace

TEST_CASE("graphs know that they are parts of a backward pass, and which calls' gradients they share") {
    for (const bool cut : {false, true}) {
        const auto graphs = differentiated([&](EventWriter& w) {
            backward_node(w, 5, [&] {
                numbered_mul(w, 1, kGradient, 10, -1, false);
                if (cut) {
                    w.begin(kItem, 1, {{.id = 11, .sizes = {}}});
                    w.end(kItem, 1, {});
                }
                numbered_mul(w, 1, {.id = 10}, 12, -1, false);
            });
        });
        INFO(cut);
        REQUIRE(graphs.size() == (cut ? 3 : 2));
        CHECK(graphs[0].partial.empty());
        for (std::size_t i = 1; i < graphs.size(); ++i) {
            CHECK(graphs[i].differentiates == std::vector<std::int64_t>{graphs[0].number});
            CHECK(graphs[i].partial == (cut ? "the graph is a part of a backward pass" : ""));
            CHECK(graphs[i].partial_calls == (cut ? std::set<std::string>{"mul"} : std::set<std::string>()));
        }
    }
}

TEST_CASE("a break behind all other operations of a backward pass cuts it, too") {
    const auto graphs = differentiated([&](EventWriter& w) {
        backward_node(w, 5, [&] {
            numbered_mul(w, 1, kGradient, 10, -1, false);
            w.begin(kUndescribed, 1, {{.id = 10}});
            w.end(kUndescribed, 1, {{.id = 11}});
        });
    });
    REQUIRE(graphs.size() == 2);
    CHECK(graphs[1].partial == "the graph is a part of a backward pass");
    CHECK(graphs[1].partial_calls == std::set<std::string>{"mul"});
}

TEST_CASE("a backward pass through what an earlier one recorded is told from one that runs again") {
    struct Case {
        bool recorded;        // the first pass was: create_graph
        bool differentiates;  // the second one has a node of its operations
        const char* partial;
    };
    constexpr const char* kThrough = "the backward pass differentiates an earlier backward pass";
    for (const Case& one : {Case{true, true, kThrough}, Case{true, false, kThrough}, Case{false, false, ""}}) {
        const auto graphs = differentiated([&](EventWriter& w) {
            backward_node(w, 5, [&] { numbered_mul(w, 1, kGradient, 10, one.recorded ? 6 : -1, one.recorded); });
            numbered_mul(w, 0, {.id = 10}, 20, 7);
            if (one.differentiates) backward_node(w, 6, [&] { numbered_mul(w, 1, kGradient, 11, -1, false); });
            backward_node(w, 5, [&] {  // another op: equal graphs would be one
                w.begin(kRelu, 1, {{.id = 20}});
                w.end(kRelu, 1, {{.id = 12}});
            });
        });
        INFO(one.recorded << one.differentiates);
        REQUIRE(graphs.size() == 4);
        CHECK(graphs[1].partial.empty());
        CHECK(graphs[3].partial == one.partial);
        CHECK(graphs[3].partial_calls.empty());
    }
}
