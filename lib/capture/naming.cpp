#include "capture/naming.h"

namespace whittle::capture {
namespace {

Source numbered(Origin origin, std::int64_t number) {
    switch (origin) {
        case Origin::argument:
            return Source::local("arg" + std::to_string(number));
        case Origin::constant:
            return Source::local("constant" + std::to_string(number));
        case Origin::memory:
            return Source::local("memory" + std::to_string(number));
        case Origin::live:
            return Source::live(number);
        case Origin::random:
            return Source::random(number);
        case Origin::global:
            break;
    }
    return Source::global("tensor_" + std::to_string(number));
}

}  // namespace

void Naming::rename(const std::string& before, const std::string& name) {
    for (auto& [key, source] : sources_)
        if (source.root().name() == before) source = source.with_root(name);
}

const Source* Naming::source(TensorKey key) const {
    const auto known = sources_.find(key);
    return known == sources_.end() ? nullptr : &known->second;
}

const std::string* Naming::parameter(TensorKey key) const {
    const auto known = parameters_.find(key);
    return known == parameters_.end() ? nullptr : &known->second;
}

Source Naming::candidate(TensorKey key, Numbers& numbers) const {
    const Source* const own = source(key);
    if (own && !taken_.contains(*own)) return *own;
    if (const auto variable = variables_.find(key);
        !own && variable != variables_.end() && !taken_.contains(variable->second))
        return variable->second;
    const auto told = origins_.find(key);
    const Origin origin = told == origins_.end() ? Origin::global : told->second;
    for (;;) {
        Source next = numbered(origin, numbers[static_cast<std::size_t>(origin)]++);
        if (!taken_.contains(next)) return next;
    }
}

Source Naming::take(TensorKey key) {
    const Source source = candidate(key, numbers_);
    taken_.insert(source);
    return source;
}

bool Naming::take_if(TensorKey key, const Source& wanted) {
    Numbers numbers = numbers_;
    if (!(candidate(key, numbers) == wanted)) return false;
    numbers_ = numbers;
    taken_.insert(wanted);
    return true;
}

void Naming::begin_graph() {
    taken_.clear();
    numbers_ = {};
}

}  // namespace whittle::capture
