#include "frontends/libtorch/fingerprint.h"

#include <type_traits>

#include "frontends/libtorch/records.h"

namespace whittle::libtorch {

template <class R>
void Fingerprints::mix_members(const R& record) {
    R::fields(record, [this](const auto& member) {
        if constexpr (std::is_same_v<decltype(member), const std::string_view&>)
            this->text(member);
        else
            this->mix(static_cast<std::uint64_t>(member));
    });
}

void Fingerprints::mix(std::uint64_t value) {
    hash_ ^= value + 0x9e3779b97f4a7c15ull + (hash_ << 12) + (hash_ >> 4);
    hash_ *= 0xff51afd7ed558ccdull;
    hash_ ^= hash_ >> 32;
}

std::uint64_t Fingerprints::of(RecordKind kind, Cursor& in) {
    hash_ = static_cast<std::uint64_t>(kind);
    places_ = false;
    looks_ = kind != RecordKind::from_blob && kind != RecordKind::unseen_write && kind != RecordKind::print_begin &&
             kind != RecordKind::print_end &&
             (kind < RecordKind::probe_enter || kind == RecordKind::release || kind == RecordKind::calls ||
              kind == RecordKind::raised);
    switch (kind) {
        case RecordKind::op_begin:
            op_begin(in);
            break;
        case RecordKind::op_end: {
            const auto end = in.record<records::OpEnd>();
            mix(end.op);
            mix(end.depth);
            const OpName* const op = find_op_(end.op);
            places_ = !op || op->writes;
            looks_ = op && (op->flags & kReturnsOnlyHost);
            values(in);
            break;
        }
        case RecordKind::unseen_write:
            places_ = true;
            value(in);
            break;
        case RecordKind::snapshot:
            value(in);
            break;
        case RecordKind::data_ptr:
            mix_members(in.record<records::DataPointer>());
            value(in);
            break;
        case RecordKind::print_begin:
            mix_members(in.record<records::PrintBegin>());
            value(in);
            break;
        case RecordKind::probe_name:
            mix_members(in.record<records::ProbeName>());
            value(in);
            break;
        case RecordKind::probe_value:
            mix_members(in.record<records::ProbeValue>());
            value(in);
            break;
        case RecordKind::release:  // whichever it is
        case RecordKind::calls:
            break;
        default:  // no tensors, and nothing that differs in what is alike
            for (const std::byte byte : in.take(in.left())) mix(static_cast<std::uint64_t>(byte));
    }
    return hash_;
}

void Fingerprints::op_begin(Cursor& in) {
    const auto begin = in.record<records::OpBegin>();
    const OpName* const op = find_op_(begin.op);
    looks_ = op && (op->flags & kReturnsOnlyHost);
    if (!looks_) ++ops_;
    mix(begin.op);
    mix(begin.depth);
    mix(begin.stack);  // not what went on outside of the loop
    mix(static_cast<std::uint64_t>(begin.scope) << 8 | (begin.grad_mode ? 1u : 0u));
    if (begin.sequence >= 0 && !looks_) {
        mix(static_cast<std::uint64_t>(begin.sequence) - static_cast<std::uint64_t>(sequence_));
        sequence_ = begin.sequence;
    }
    mix(begin.forward_thread);
    values(in);
}

void Fingerprints::values(Cursor& in) {
    const auto count = in.get<std::uint16_t>();
    mix(count);
    for (int i = 0; i < count; ++i) value(in);
}

/// Of a host number only that there is one: graphs may differ in it.
void Fingerprints::value(Cursor& in, int depth) {
    const auto tag = in.get<ValueTag>();
    mix(static_cast<std::uint64_t>(tag));
    switch (tag) {
        case ValueTag::none:
        case ValueTag::undefined:
            return;
        case ValueTag::tensor:
            return tensor(in);
        case ValueTag::integer:
        case ValueTag::real:
            in.take(sizeof(std::int64_t));
            return;
        case ValueTag::boolean:
            in.take(1);
            return;
        case ValueTag::text:
        case ValueTag::other:
            return text(in);
        case ValueTag::list: {
            const auto count = in.get<std::uint32_t>();
            if (depth == kDeepestList || count > in.left())
                in.fail("found a list of " + std::to_string(count) + " elements at depth " + std::to_string(depth),
                        "expected a depth of less than 16, and at most one element for each byte left in the record");
            mix(count);
            for (std::uint32_t i = 0; i < count; ++i) value(in, depth + 1);
            return;
        }
    }
    in.fail("found value tag " + std::to_string(static_cast<int>(tag)), "expected 0 to 8");
}

void Fingerprints::tensor(Cursor& in) {
    const auto head = in.get<TensorRecord>();
    const std::uint32_t version = head.version;
    Sightings::Sighting& seen = tensors_[head.id];
    Sightings::Sighting* const storage = head.flags & kHasStorage ? &storages_[head.storage] : nullptr;
    mix(met(seen));
    if (seen.when)
        mix(version - seen.version);
    else  // detach() and the like share a counter with what was there
        mix(storage && storage->when && storage->version == version ? ~std::uint64_t{0} : version);
    mix(static_cast<std::uint64_t>(head.dtype) << 16 | static_cast<std::uint64_t>(head.flags) << 8 | head.rank);
    if (storage) mix(met(*storage));
    if (storage && places_) mix(static_cast<std::uint64_t>(head.offset));
    if (!looks_) seen = {ops_, version};
    if (!looks_ && storage) *storage = {ops_, version};
    for (int i = 0; i < 2 * head.rank; ++i) mix(in.get<std::uint64_t>());
    if (head.flags & (kSparse | kElsewhere))
        for (int i = 0; i < 2; ++i) text(in);
    if (head.flags & kWrappedNumber) in.take(sizeof(std::uint64_t));
}

void Fingerprints::text(Cursor& in) { text(in.text()); }
void Fingerprints::text(std::string_view text) {
    mix(text.size());
    for (const char c : text) mix(static_cast<unsigned char>(c));
}

}  // namespace whittle::libtorch
