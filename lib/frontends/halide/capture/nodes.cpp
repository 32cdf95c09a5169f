#include "frontends/halide/capture/nodes.h"

#include <cstdio>
#include <stdexcept>

#include "frontends/halide/capture/text.h"

namespace whittle::halide_capture {

using Halide::Expr;
using namespace Halide::Internal;

/// One node, whose operands are numbered first.
class NodeTable::Visitor : public IRVisitor {
  public:
    Visitor(NodeTable& table, Halide::Type type) : table_(table), type_(type) {}

    int result = -1;

  private:
    using Operands = std::vector<Expr>;

    void add(const std::string& op, const Operands& operands = {}, const std::string& more = {}) {
        std::string of;
        for (const Expr& operand : operands) of += (of.empty() ? "" : ", ") + std::to_string(table_.number_of(operand));
        const std::string text = "{\"op\": " + quote(op) + ", \"type\": " + quote(streamed(type_)) +
                                 (of.empty() ? "" : ", \"of\": [" + of + "]") + more + "}";
        const auto [at, is_new] = table_.by_text_.emplace(text, static_cast<int>(table_.nodes_.size()));
        if (is_new) table_.nodes_.push_back(text);
        result = at->second;
    }
    void named(const std::string& op, const std::string& name) { add(op, {}, ", \"name\": " + quote(name)); }
    void value(const std::string& op, const std::string& text) { add(op, {}, ", \"value\": " + quote(text)); }

    void visit(const IntImm* node) override { value("integer", std::to_string(node->value)); }
    void visit(const UIntImm* node) override { value("integer", std::to_string(node->value)); }
    void visit(const FloatImm* node) override {
        char text[64];
        std::snprintf(text, sizeof text, "%.17g", node->value);
        value("float", text);
    }
    void visit(const StringImm* node) override { value("string", node->value); }
    void visit(const Cast* node) override { add("cast", {node->value}); }

    void visit(const Variable* node) override {
        const auto let = table_.lets_.find(node->name);
        if (let != table_.lets_.end()) {
            result = let->second;
        } else if (node->param.defined()) {
            table_.referenced_.parameters.emplace(node->param.name(), node->param);
            node->param.is_buffer() ? bound(node->name, node->param.name()) : named("parameter", node->param.name());
        } else if (node->image.defined()) {
            table_.referenced_.images.emplace(node->image.name(), node->image);
            bound(node->name, node->image.name());
        } else {
            named(node->reduction_domain.defined() ? "reduction variable" : "variable", node->name);
        }
    }
    /// "in.min.0"
    void bound(const std::string& variable, const std::string& image) {
        add("bound", {}, ", \"name\": " + quote(image) + ", \"value\": " + quote(variable.substr(image.size() + 1)));
    }

    void visit(const Add* node) override { add("add", {node->a, node->b}); }
    void visit(const Sub* node) override { add("sub", {node->a, node->b}); }
    void visit(const Mul* node) override { add("mul", {node->a, node->b}); }
    void visit(const Div* node) override { add("div", {node->a, node->b}); }
    void visit(const Mod* node) override { add("mod", {node->a, node->b}); }
    void visit(const Min* node) override { add("min", {node->a, node->b}); }
    void visit(const Max* node) override { add("max", {node->a, node->b}); }
    void visit(const EQ* node) override { add("eq", {node->a, node->b}); }
    void visit(const NE* node) override { add("ne", {node->a, node->b}); }
    void visit(const LT* node) override { add("lt", {node->a, node->b}); }
    void visit(const LE* node) override { add("le", {node->a, node->b}); }
    void visit(const GT* node) override { add("gt", {node->a, node->b}); }
    void visit(const GE* node) override { add("ge", {node->a, node->b}); }
    void visit(const And* node) override { add("and", {node->a, node->b}); }
    void visit(const Or* node) override { add("or", {node->a, node->b}); }
    void visit(const Not* node) override { add("not", {node->a}); }
    void visit(const Select* node) override { add("select", {node->condition, node->true_value, node->false_value}); }

    void visit(const Call* node) override {
        static const std::map<Call::CallType, std::string> kKinds = {
            {Call::Image, "image"},
            {Call::Halide, "func"},
            {Call::Extern, "Extern"},
            {Call::ExternCPlusPlus, "ExternCPlusPlus"},
            {Call::PureExtern, "PureExtern"},
            {Call::Intrinsic, "Intrinsic"},
            {Call::PureIntrinsic, "PureIntrinsic"},
        };
        if (node->call_type == Call::Image) {
            if (node->param.defined())
                table_.referenced_.parameters.emplace(node->param.name(), node->param);
            else
                table_.referenced_.images.emplace(node->image.name(), node->image);
        }
        const std::string name =
            node->call_type == Call::Image && node->param.defined() ? node->param.name() : node->name;
        add("call", node->args,
            ", \"name\": " + quote(name) + ", \"kind\": " +
                quote(node->call_type == Call::Halide && table_.data_.count(name) ? "image"
                                                                                  : kKinds.at(node->call_type)) +
                (node->value_index ? ", \"index\": " + std::to_string(node->value_index) : ""));
    }

    void visit(const Let* node) override {
        const int value = table_.number_of(node->value);
        const auto outer = table_.lets_.find(node->name);
        const int before = outer == table_.lets_.end() ? -1 : outer->second;
        table_.lets_[node->name] = value;
        // The same node may stand below another let of this name.
        const std::map<const BaseExprNode*, int> numbers = table_.numbers_;
        result = table_.number_of(node->body);
        table_.numbers_ = numbers;
        if (before < 0)
            table_.lets_.erase(node->name);
        else
            table_.lets_[node->name] = before;
    }

    // Lowering makes these, no front end does.
    void visit(const Load*) override { refuse("Load"); }
    void visit(const Ramp*) override { refuse("Ramp"); }
    void visit(const Broadcast*) override { refuse("Broadcast"); }
    void visit(const Shuffle*) override { refuse("Shuffle"); }
    void visit(const VectorReduce*) override { refuse("VectorReduce"); }
    static void refuse(const char* node) {
        throw std::runtime_error(std::string("found an expression with an unsupported node: ") + node);
    }

    NodeTable& table_;
    const Halide::Type type_;
};

int NodeTable::number_of(const Expr& expression) {
    if (!expression.defined()) return -1;
    const auto* const node = expression.get();
    if (const auto known = numbers_.find(node); known != numbers_.end()) return known->second;
    Visitor visitor(*this, expression.type());
    expression.accept(&visitor);
    kept_.push_back(expression);
    numbers_[node] = visitor.result;
    return visitor.result;
}

std::string NodeTable::json() const {
    std::string text;
    for (const std::string& node : nodes_) text += (text.empty() ? "" : ", ") + node;
    return "[" + text + "]";
}

}  // namespace whittle::halide_capture
