#include "replay/recapture.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/log_step.h"
#include "base/words.h"
#include "capture/output_graph.h"
#include "graph/text.h"
#include "judge/outcome.h"
#include "ops/core/assertions.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "passes/widen.h"

namespace whittle {

namespace {

using capture::OutputGraph;
using capture::Source;

/// Whether a result requires a gradient depends on the grad mode, which is no event.
bool same(const std::vector<ValueMeta>& found, const std::vector<ValueMeta>& recorded) {
    if (found.size() != recorded.size()) return false;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i].dtype != recorded[i].dtype || found[i].sizes != recorded[i].sizes ||
            found[i].strides != recorded[i].strides)
            return false;
    return true;
}

std::string metas_text(const std::vector<ValueMeta>& metas) {
    return metas.empty() ? "nothing" : join(metas, [](const ValueMeta& meta) { return print(meta); });
}

std::string first_line_difference(const std::string& found, const std::string& recorded) {
    std::istringstream a(found), b(recorded);
    const auto next = [](std::istringstream& in) {
        std::string line;
        if (!std::getline(in, line)) return std::string("nothing");
        return "'" + line.substr(std::min(line.find_first_not_of(' '), line.size())) + "'";
    };
    for (int line = 1;; ++line) {
        const std::string x = next(a), y = next(b);
        if (x != y) return "line " + std::to_string(line) + ": found " + x + ", recorded " + y;
        if (!a && !b) return {};
    }
}

/// One segment, captured again.
class Recapture {
  public:
    Recapture(const FrameSegment& segment, Recaptured& result)
        : recorded_(segment), result_(result), graph_(segment.events.name) {}

    /// Issues at most so many events; all of them make a graph.
    void run(std::size_t events) {
        const std::vector<Node>& nodes = recorded_.events.nodes;
        for (const auto& [name, nested] : recorded_.events.subgraphs) graph_.nest(name, nested);
        std::size_t next_failed = 0;
        for (std::size_t i = 0; i <= nodes.size(); ++i) {
            for (; next_failed < recorded_.failed.size() && recorded_.failed[next_failed].before == i; ++next_failed) {
                if (events-- == 0) return;
                fail_again(recorded_.failed[next_failed]);
            }
            if (i == nodes.size()) break;
            if (events-- == 0) return;
            if (refs_.size() == i) issue(nodes[i]);
        }
        if (refs_.size() != nodes.size())
            return differ("found " + std::to_string(nodes.size()) + " recorded operations and inputs, expected " +
                          std::to_string(refs_.size()) + ", one for each input and each result of a call");
        finish();
    }

    /// Of the graph, once it is there.
    void compare_outputs(const Accuracy& accuracy) {
        if (!captured_ || recorded_.outputs.empty()) return;
        std::vector<Tensor> inputs;  // of those placeholders that are left
        for (const NodeId id : captured_->placeholders())
            for (std::size_t i = 0, input = 0; i < recorded_.events.nodes.size(); ++i) {
                const Node& node = recorded_.events.nodes[i];
                if (node.kind != NodeKind::placeholder) continue;
                if (node.name == captured_->node({id}).name) inputs.push_back(recorded_.inputs.at(input));
                ++input;
            }
        Outcome outcome;
        try {
            outcome.outputs = evaluate(*captured_, inputs);
        } catch (const Error& error) {
            return differ("the captured graph does not run: " + std::string(error.what()));
        }
        outcome.outputs.resize(std::min(outcome.outputs.size(), recorded_.outputs.size()));  // then what it writes
        if (std::ranges::equal(outcome.outputs, recorded_.outputs, same_bits)) return;
        result_.identical = false;
        outcome = judge(std::move(outcome), recorded_.outputs, accuracy,
                        [&] { return evaluate_exactly(*captured_, inputs).value_or(std::vector<Tensor>()); });
        if (outcome.failed()) differ(outcome.message);
    }

  private:
    void differ(const std::string& what) {
        result_.differences.push_back("graph " + recorded_.events.name + ": " + what);
    }

    Node mapped(const Node& node) const {
        return map_inputs(node, [&](NodeRef ref) { return Arg(refs_.at(static_cast<std::size_t>(ref.id))); });
    }

    void fail_again(const FailedCall& failed) {
        std::string error;
        try {
            infer(graph_.graph(), mapped(failed.call));
        } catch (const Error& found) {
            error = found.what();
        }
        if (error == failed.error) return;
        differ("the call of " + failed.call.target + " " +
               (error.empty() ? "no longer fails" : "fails with '" + error + "'") + ", expected the recorded error");
    }

    void issue(const Node& node) {
        if (node.kind == NodeKind::call) return issue_call(node);
        const capture::TensorKey key = refs_.size() + 1;
        if (node.kind == NodeKind::get_attr) {
            refs_.push_back(graph_.parameter(node.target, recorded_.events.attributes.at(node.target), key));
            return;
        }
        const std::optional<Source> source = Source::parse(node.target);
        refs_.push_back(graph_.input(source.value_or(Source::global(node.target)), node.meta(), key));
    }

    void issue_call(const Node& node) {
        Node call = mapped(node);
        try {
            const std::vector<ValueMeta> found = infer(graph_.graph(), call);
            if (!same(found, node.results))
                differ("%" + node.name + " = " + node.target + ": found " + metas_text(found) + ", recorded " +
                       metas_text(node.results));
        } catch (const Error& error) {
            differ("%" + node.name + " = " + node.target + " fails: " + error.what());
        }
        const bool effect =
            recorded_.keeps_all || asserts(node) || Registry::instance().in_place(node.target) != nullptr;
        call.name.clear();
        call.stack.clear();
        const std::vector<NodeRef> results = graph_.call(std::move(call), effect);
        // The getitems of several results are events of their own, and are there already.
        if (results.size() != 1)
            refs_.push_back({static_cast<NodeId>(graph_.graph().nodes.size() - results.size() - 1)});
        append(refs_, results);
    }

    void finish() {
        std::map<std::string, NodeRef> by_name;
        for (std::size_t i = 0; i < recorded_.events.nodes.size(); ++i)
            by_name[recorded_.events.nodes[i].name] = refs_.at(i);
        std::vector<NodeRef> live;
        for (const std::string& name : recorded_.live) live.push_back(by_name.at(name));
        const std::optional<capture::CapturedGraph> finished = graph_.finish(live, recorded_.ended_by);
        const bool is_graph = finished && !finished->graph.calls().empty();
        if (const std::string line = first_line_difference(is_graph ? print(finished->graph) : "", recorded_.graph);
            !line.empty())
            differ("the graph differs, " + line);
        std::vector<std::string> guards;
        if (is_graph)
            for (const capture::Guard& guard : finished->guards) guards.push_back(guard.text());
        for (std::size_t i = 0; i < std::max(guards.size(), recorded_.guards.size()); ++i) {
            const std::string found = i < guards.size() ? guards[i] : "none",
                              wanted = i < recorded_.guards.size() ? recorded_.guards[i] : "none";
            if (found == wanted) continue;
            differ("guard " + std::to_string(i + 1) + " differs: found " + found + ", recorded " + wanted);
            break;
        }
        const std::string id =
            recorded_.ended_by ? std::string(capture::info(recorded_.ended_by->kind).id) : std::string();
        if (id != recorded_.break_id)
            differ("the end of the graph differs: found " +
                   (id.empty() ? "the end of the frame" : id + " (" + recorded_.ended_by->reason + ")") +
                   ", recorded " + (recorded_.break_id.empty() ? "the end of the frame" : recorded_.break_id));
        if (is_graph) captured_ = finished->graph;
    }

    const FrameSegment& recorded_;
    Recaptured& result_;
    OutputGraph graph_;
    std::vector<NodeRef> refs_;      ///< of graph_, by event
    std::optional<Graph> captured_;  ///< nothing: there came none of it
};

std::size_t events_of(const FrameSegment& segment) { return segment.events.nodes.size() + segment.failed.size(); }

}  // namespace

Recaptured recapture(const FrameRecord& record, const Accuracy& accuracy, std::optional<std::size_t> to_event) {
    const LogStep step(LogStep::Kind::capture, "repeat the capture of " + record.frame);
    Recaptured result;
    std::deque<Recapture> segments;
    std::size_t left = to_event.value_or(std::numeric_limits<std::size_t>::max());
    for (const FrameSegment& segment : record.segments) {
        if (left == 0) break;
        segments.emplace_back(segment, result).run(left);
        left -= std::min(left, events_of(segment));
    }
    for (Recapture& segment : segments) segment.compare_outputs(accuracy);
    return result;
}

std::string last_event(const FrameRecord& record, std::size_t to_event) {
    std::size_t number = 0, all = 0;
    std::string line;
    const auto count = [&](const FrameSegment& segment, const Node& node) {
        ++all;
        if (all > to_event) return;
        number = all;
        line = print(segment.events, node);
    };
    for (const FrameSegment& segment : record.segments) {
        auto failed = segment.failed.begin();
        for (std::size_t i = 0; i <= segment.events.nodes.size(); ++i) {
            for (; failed != segment.failed.end() && failed->before == i; ++failed) count(segment, failed->call);
            if (i < segment.events.nodes.size()) count(segment, segment.events.nodes[i]);
        }
    }
    return "event " + std::to_string(number) + " of " + std::to_string(all) + ": " + line;
}

}  // namespace whittle
