#include "frontends/libtorch/fingerprint.h"

namespace whittle::libtorch {

void Fingerprints::mix(std::uint64_t value) {
    hash_ ^= value + 0x9e3779b97f4a7c15ull + (hash_ << 12) + (hash_ >> 4);
    hash_ *= 0xff51afd7ed558ccdull;
    hash_ ^= hash_ >> 32;
}

std::uint64_t Fingerprints::of(RecordKind kind, Cursor& in) {
    hash_ = static_cast<std::uint64_t>(kind);
    places_ = false;
    looks_ = kind != RecordKind::from_blob && kind != RecordKind::unseen_write && kind != RecordKind::print_begin &&
             kind != RecordKind::print_end && (kind < RecordKind::probe_enter || kind == RecordKind::release);
    switch (kind) {
        case RecordKind::op_begin:
            op_begin(in);
            break;
        case RecordKind::op_end: {
            const auto number = in.get<std::uint32_t>();
            mix(number);
            mix(in.get<std::uint32_t>());  // depth
            const OpName* const op = find_op_(number);
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
            mix(in.get<std::uint32_t>());  // stack
            text(in);
            value(in);
            break;
        case RecordKind::print_begin:
            mix(in.get<std::uint32_t>());
            value(in);
            break;
        case RecordKind::probe_name:
            mix(in.get<std::uint8_t>());
            mix(static_cast<std::uint64_t>(in.get<std::int64_t>()));
            text(in);
            value(in);
            break;
        case RecordKind::probe_value:
            text(in);
            value(in);
            break;
        case RecordKind::release:  // whichever they are
            break;
        default:  // no tensors, and nothing that differs in what is alike
            for (const std::byte byte : in.take(in.left())) mix(static_cast<std::uint64_t>(byte));
    }
    return hash_;
}

void Fingerprints::op_begin(Cursor& in) {
    const auto number = in.get<std::uint32_t>();
    const OpName* const op = find_op_(number);
    looks_ = op && (op->flags & kReturnsOnlyHost);
    if (!looks_) ++ops_;
    mix(number);
    for (int i = 0; i < 2; ++i) mix(in.get<std::uint32_t>());  // depth, stack
    in.take(2);                                                // what went on outside of the loop
    mix(in.get<std::uint16_t>());                              // scope, grad mode
    const auto sequence = in.get<std::int64_t>();
    if (sequence >= 0 && !looks_) {
        mix(static_cast<std::uint64_t>(sequence) - static_cast<std::uint64_t>(sequence_));
        sequence_ = sequence;
    }
    mix(in.get<std::uint64_t>());  // the forward op's thread
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
                        "expected fewer than 16 levels and at most one element for each byte left in the record");
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

void Fingerprints::text(Cursor& in) {
    const auto bytes = in.take(in.get<std::uint32_t>());
    mix(bytes.size());
    for (const std::byte byte : bytes) mix(static_cast<std::uint64_t>(byte));
}

}  // namespace whittle::libtorch
