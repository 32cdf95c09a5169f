#include "expr/builder.h"

#include <algorithm>

#include "base/error.h"
#include "expr/parts.h"

namespace whittle::expr {
namespace {

/// Memoized evaluations of one value. Beyond it, a value is stored or its readers are many: searching costs more than
/// building again.
constexpr std::size_t kMemoLimit = 64;

/// i, j, k, l, m, n, then i6, i7 …: the loop variables of a stage, outermost first.
std::string variable_name(std::size_t dim) {
    static const std::string letters = "ijklmn";
    return dim < letters.size() ? std::string(1, letters[dim]) : 'i' + std::to_string(dim);
}

bool is_variable(const std::string& name) {
    return name.size() == 1 && std::string_view("ijklmn").find(name[0]) != std::string_view::npos;
}

/// A letter and a number: loop variables behind the sixth and of domains are called so, and a compiler calls what it
/// makes itself so, too (Halide's t0, v12), which must not meet ours.
bool is_letter_and_number(const std::string& name) {
    return name.size() > 1 && name.find_first_not_of("0123456789", 1) == std::string::npos;
}

std::vector<LoopVar> loops(const Sizes& sizes) {
    std::vector<LoopVar> vars;
    for (std::size_t d = 0; d < sizes.size(); ++d) vars.push_back({variable_name(d), sizes[d]});
    return vars;
}

}  // namespace

Value::Value(DType dtype, Sizes sizes, std::function<Expr(const Index&)> element)
    : state_(std::make_shared<State>(State{dtype, std::move(sizes), std::move(element), {}, {}, {}})) {}

Expr Value::operator()(const Index& index) const {
    WHITTLE_CHECK(state_, "found an index into an empty value");
    WHITTLE_CHECK(index.size() == state_->sizes.size(),
                  std::to_string(index.size()) + " indices for a value of sizes " + to_string(state_->sizes));
    for (const auto& [known, expr] : state_->memo)
        if (std::ranges::equal(known, index, same)) return expr;
    Expr result = state_->element(index);
    WHITTLE_CHECK(result && result->dtype == state_->dtype, "an element has another type than its value");
    if (state_->memo.size() < kMemoLimit) state_->memo.emplace_back(index, result);
    return result;
}

GroupBuilder::GroupBuilder(std::string name) { group_.name = std::move(name); }

std::string GroupBuilder::unique(const std::string& hint) {
    std::string base;
    for (const char c : hint) {
        const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (fits)
            base += c;
        else if (!base.empty() && base.back() != '_')
            base += '_';
    }
    while (base.ends_with('_')) base.pop_back();
    if (base.empty() || (base[0] >= '0' && base[0] <= '9')) base = "t" + base;
    if (is_letter_and_number(base)) base.insert(1, "_");
    const auto taken = [&](const std::string& name) {
        return !is_identifier(name) || is_variable(name) || names_.contains(name);
    };
    std::string name = base;
    for (int i = 1; taken(name); ++i) name = base + "_" + std::to_string(i);
    names_.insert(name);
    return name;
}

Value GroupBuilder::stored(const std::string& name, DType dtype, Sizes sizes) {
    Value value(dtype, std::move(sizes), [name, dtype](const Index& index) { return load(name, dtype, index); });
    value.state_->stored_as = name;
    return value;
}

Value GroupBuilder::input(const std::string& name, DType dtype, Sizes sizes, Strides strides) {
    if (is_complex(dtype))
        throw Error("found input " + name + " of dtype " + std::string(whittle::name(dtype)) +
                    ", expected a real dtype");
    const std::string own = unique(name);
    group_.inputs.push_back({own, dtype, sizes, std::move(strides)});
    return stored(own, dtype, std::move(sizes));
}

void GroupBuilder::set_constant(const Value& input) {
    const auto found = std::ranges::find(group_.inputs, input.stored_as(), &Input::name);
    WHITTLE_CHECK(found != group_.inputs.end(), "no input " + input.stored_as());
    found->constant = true;
}

void GroupBuilder::set_origin(std::string hint, std::string line) {
    hint_ = std::move(hint);
    line_ = std::move(line);
}

void GroupBuilder::set_result(const Value& value) {
    if (value.state_->origin.empty()) value.state_->origin = line_;  // else it is an operand, handed on
}

Value GroupBuilder::materialize(const Value& value, const std::string& hint) {
    if (!value.stored_as().empty()) return value;
    Value result = stage(value.dtype(), value.sizes(), value, nullptr, hint);
    if (!value.state_->origin.empty()) group_.stages.back().origin = value.state_->origin;
    return result;
}

Value GroupBuilder::reduce(DType dtype, Sizes sizes, const Sizes& domain, const std::function<Expr(const Index&)>& init,
                           const std::function<Expr(const Index&, const Index&, Expr)>& update,
                           const std::string& hint) {
    return stage(
        dtype, std::move(sizes), init,
        [&](const Index& index, const std::function<Expr(const Index&)>& self) {
            Update step;
            for (const std::int64_t extent : domain) step.domain.push_back(domain_variable(extent));
            step.where = index;
            step.value = update(index, variables(step.domain), self(index));
            return std::vector<Update>{std::move(step)};
        },
        hint);
}

Value GroupBuilder::stage(
    DType dtype, Sizes sizes, const std::function<Expr(const Index&)>& init,
    const std::function<std::vector<Update>(const Index&, const std::function<Expr(const Index&)>& self)>& updates,
    const std::string& hint) {
    Stage stage;
    stage.name = unique(hint.empty() ? hint_ : hint);
    stage.dtype = dtype;
    stage.vars = loops(sizes);
    stage.origin = line_;
    const Index index = variables(stage.vars);
    stage.value = init(index);
    if (updates) stage.updates = updates(index, [&](const Index& where) { return load(stage.name, dtype, where); });
    group_.stages.push_back(std::move(stage));
    return stored(group_.stages.back().name, dtype, std::move(sizes));
}

std::size_t GroupBuilder::update_count() const {
    std::size_t count = 0;
    for (const Stage& stage : group_.stages) count += stage.updates.size();
    return count;
}

LoopVar GroupBuilder::domain_variable(std::int64_t extent) { return {'r' + std::to_string(next_variable_++), extent}; }

std::string GroupBuilder::output(const Value& value, const std::string& hint) {
    Value result = materialize(value, hint);
    if (group_.input(result.stored_as()) || std::ranges::count(group_.outputs, result.stored_as()))
        result = stage(value.dtype(), value.sizes(), value, nullptr, hint.empty() ? result.stored_as() : hint);
    group_.outputs.push_back(result.stored_as());
    return result.stored_as();
}

Group GroupBuilder::finish() {
    const std::set<std::string> wanted = needed(group_);
    std::erase_if(group_.stages, [&](const Stage& s) { return !wanted.contains(s.name); });
    std::erase_if(group_.inputs, [&](const Input& input) { return !wanted.contains(input.name); });
    verify(group_);
    return std::move(group_);
}

}  // namespace whittle::expr
