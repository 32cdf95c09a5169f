#include "report/hash_diff.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "report/hash_judge.h"

using namespace whittle;
using namespace whittle::report;

namespace {

/// A recording that is made up, row by row.
class Recorded {
  public:
    explicit Recorded(const std::filesystem::path& folder) : folder_(folder) {
        std::filesystem::create_directories(folder);
    }

    /// An operand that no operation made. Returns its row.
    std::uint32_t value(std::uint64_t hash, double sum) { return add({.kind = "value", .operands = 1}, {}, hash, sum); }
    /// An operation at a line of train.py.
    std::uint32_t call(const std::string& op, int line, const std::vector<std::uint32_t>& operands, std::uint64_t hash,
                       double sum) {
        process_.stacks.push_back({{.file = "/home/me/train.py", .line = line, .function = "step", .text = {}}});
        return add({.kind = "operation",
                    .op = op,
                    .arguments = "f32[2]",
                    .stack = static_cast<std::int64_t>(process_.stacks.size()) - 1,
                    .operands = static_cast<std::int64_t>(operands.size())},
                   operands, hash, sum);
    }
    void set_operand(std::uint32_t row, std::uint32_t operand) { rows_[row - 1].operands[0] = operand; }
    void read(std::uint32_t row) { add({.kind = "read", .operands = 1}, {row}, 0, 0); }
    HashedProcess& process() { return process_; }

    std::filesystem::path save() {
        process_.rows = "rows-1.bin";
        RowFileHeader header{
            .magic = {}, .version = kRowVersion, .row_size = sizeof(HashRow), .rows = rows_.size(), .unused = 0};
        std::memcpy(header.magic, kRowMagic, sizeof kRowMagic);
        std::string text(reinterpret_cast<const char*>(&header), sizeof header);
        text.append(reinterpret_cast<const char*>(rows_.data()), rows_.size() * sizeof(HashRow));
        write_file(folder_ / process_.rows, text);
        save_hashes(folder_, {.program = "train.py", .processes = {process_}});
        return folder_;
    }

  private:
    std::uint32_t add(HashForm form, const std::vector<std::uint32_t>& operands, std::uint64_t hash, double sum) {
        if (form.kind != "read") form.results = {{.type = "f32", .sizes = {2}}};
        process_.forms.push_back(std::move(form));
        HashRow row{.form = static_cast<std::uint32_t>(process_.forms.size()),
                    .operands = {},
                    .hash = hash,
                    .sum = sum,
                    .absolute = std::abs(sum),
                    .largest = static_cast<float>(std::abs(sum)),
                    .nans = 0};
        for (std::size_t i = 0; i < operands.size(); ++i) row.operands[i] = operands[i];
        rows_.push_back(row);
        return static_cast<std::uint32_t>(rows_.size());
    }

    std::filesystem::path folder_;
    HashedProcess process_;
    std::vector<HashRow> rows_;
};

/// x * 2, then exp, then a sum; `hash` and `sum` are those of exp's result.
std::filesystem::path chain(const std::filesystem::path& folder, std::uint64_t hash, double sum) {
    Recorded run(folder);
    const std::uint32_t x = run.value(1, 10);
    const std::uint32_t doubled = run.call("aten.mul.Scalar", 1, {x}, 2, 20);
    const std::uint32_t e = run.call("aten.exp.default", 2, {doubled}, hash, sum);
    run.read(run.call("aten.sum.default", 3, {e}, hash + 1, sum));
    return run.save();
}

}  // namespace

TEST_CASE("equal recordings are the same", "[report]") {
    const TempDir folder;
    const HashDiff diff = diff_hashes(chain(folder.path() / "a", 3, 30), chain(folder.path() / "b", 3, 30));
    CHECK(diff.same());
    CHECK(diff.processes.at(0).aligned == 3);
    CHECK(to_text(diff, {}).ends_with("no difference in 3 operations\n"));
    CHECK(to_json(diff)["same"] == true);
}

TEST_CASE("the first operation whose operands agree is named, not those that follow", "[report]") {
    const TempDir folder;
    const HashDiff diff = diff_hashes(chain(folder.path() / "a", 3, 30), chain(folder.path() / "b", 9, 30.0000001));
    const ProcessDiff& process = diff.processes.at(0);
    REQUIRE(process.bits);
    CHECK(process.bits->op == "aten.exp.default");
    CHECK(process.bits->after == 2);
    CHECK(process.bits->stack.at(0).line == 2);
    CHECK(process.bits->verdict == "within_rounding");
    CHECK(!process.beyond);
    CHECK(process.differing == 2);
    CHECK(!diff.same());
}

TEST_CASE("a difference beyond the op's bound is named", "[report]") {
    const TempDir folder;
    const HashDiff diff = diff_hashes(chain(folder.path() / "a", 3, 30), chain(folder.path() / "b", 9, 31));
    const ProcessDiff& process = diff.processes.at(0);
    REQUIRE(process.beyond);
    CHECK(process.beyond->op == "aten.exp.default");
    CHECK(process.beyond->verdict == "beyond_rounding");
    CHECK(to_text(diff, {}).find("This operation is also the first whose result differs by more than rounding.") !=
          std::string::npos);
}

TEST_CASE("random results and results that nothing reads are passed over", "[report]") {
    const TempDir folder;
    const auto run = [&](const char* name, std::uint64_t drawn) {
        Recorded run(folder.path() / name);
        const std::uint32_t random = run.call("aten.rand.default", 1, {}, drawn, 1);
        const std::uint32_t twice = run.call("aten.mul.Scalar", 2, {random}, drawn + 10, 2);
        run.call("aten.neg.default", 3, {twice}, drawn + 20, -2);
        return run.save();
    };
    const HashDiff diff = diff_hashes(run("a", 1), run("b", 2));
    CHECK(diff.same());
    const std::vector<PassedOver>& passed = diff.processes.at(0).passed_over;
    REQUIRE(passed.size() == 2);
    CHECK(passed[0].op == "aten.neg.default");
    CHECK(passed[0].why == "not_read");
    CHECK(passed[1].op == "aten.rand.default");
    CHECK(passed[1].why == "random");
}

TEST_CASE("what is computed of memory that nothing was written to is passed over", "[report]") {
    const TempDir folder;
    const auto run = [&](const char* name, std::uint64_t found) {
        Recorded run(folder.path() / name);
        const std::uint32_t memory = run.call("aten.empty.memory_format", 1, {}, 0, 0);
        const std::uint32_t looked_at = run.value(found, 1);
        run.set_operand(looked_at, memory);
        run.read(run.call("aten.neg.default", 2, {looked_at}, found + 20, -2));
        return run.save();
    };
    const HashDiff diff = diff_hashes(run("a", 1), run("b", 2));
    CHECK(diff.same());
    REQUIRE(diff.processes.at(0).passed_over.size() == 1);
    CHECK(diff.processes.at(0).passed_over[0].why == "uninitialized");
}

TEST_CASE("an input that differs is named", "[report]") {
    const TempDir folder;
    const auto run = [&](const char* name, std::uint64_t input) {
        Recorded run(folder.path() / name);
        run.read(run.call("aten.neg.default", 4, {run.value(input, 1)}, input + 20, -1));
        return run.save();
    };
    const HashDiff diff = diff_hashes(run("a", 1), run("b", 2));
    const ProcessDiff& process = diff.processes.at(0);
    CHECK(!process.bits);
    REQUIRE(process.input);
    CHECK(process.input->stack.at(0).line == 4);
    CHECK(process.input->differences.at(0).position == 0);
    CHECK(!diff.same());
}

TEST_CASE("operations of one run only are counted, and the others compared", "[report]") {
    const TempDir folder;
    const auto run = [&](const char* name, bool longer) {
        Recorded run(folder.path() / name);
        std::uint32_t x = run.value(1, 1);
        if (longer) run.call("aten.abs.default", 1, {x}, 50, 1);
        for (int line = 2; line < 12; ++line)
            x = run.call("aten.neg.default", line, {x}, static_cast<std::uint64_t>(line), 1);
        run.read(x);
        return run.save();
    };
    const HashDiff diff = diff_hashes(run("a", false), run("b", true));
    const ProcessDiff& process = diff.processes.at(0);
    CHECK(process.aligned == 10);
    CHECK(process.added_count == 1);
    REQUIRE(process.added);
    CHECK(process.added->op == "aten.abs.default");
    CHECK(process.gone_count == 0);
    CHECK(process.differing == 0);
    CHECK(!diff.same());
}

TEST_CASE("operations that run in another order are matched by what they read", "[report]") {
    const TempDir folder;
    const auto run = [&](const char* name, bool swapped) {
        Recorded run(folder.path() / name);
        const std::uint32_t x = run.value(1, 1), y = run.value(2, 2);
        const auto neg = [&] { run.read(run.call("aten.neg.default", 1, {x}, 11, -1)); };
        const auto abs = [&] { run.read(run.call("aten.abs.default", 2, {y}, 12, 2)); };
        swapped ? (abs(), neg()) : (neg(), abs());
        return run.save();
    };
    const HashDiff diff = diff_hashes(run("a", false), run("b", true));
    CHECK(diff.same());
    CHECK(diff.processes.at(0).aligned == 2);
}

TEST_CASE("other arguments are no difference of the result", "[report]") {
    const TempDir folder;
    const auto run = [&](const char* name, const char* arguments) {
        Recorded run(folder.path() / name);
        run.read(run.call("aten.neg.default", 1, {run.value(1, 1)}, 5, -1));
        run.process().forms[1].arguments = arguments;
        return run.save();
    };
    const HashDiff diff = diff_hashes(run("a", "f32[2]"), run("b", "f32[2, 1]"));
    const ProcessDiff& process = diff.processes.at(0);
    REQUIRE(process.called);
    CHECK(process.called->arguments_before == "f32[2]");
    CHECK(!process.bits);
}

TEST_CASE("sums judge what an op may round", "[report]") {
    const HashedValue f32{.type = "f32", .sizes = {1000}}, scalar{.type = "f32"};
    const auto row = [](std::uint64_t hash, double sum, double absolute) {
        return HashRow{
            .form = 1, .operands = {}, .hash = hash, .sum = sum, .absolute = absolute, .largest = 1, .nans = 0};
    };
    const HashRow x = row(1, 500, 500), sum = row(2, 500, 500), near = row(3, 500.01, 500.01), far = row(4, 510, 510);
    const auto verdict = [&](const char* op, const HashRow& other) {
        return judge_hashes(op, {{&x, &x, f32}}, {&sum, &other, scalar}).verdict;
    };
    using enum HashJudgement::Verdict;
    CHECK(verdict("aten.sum.default", near) == within);
    CHECK(verdict("aten.sum.default", far) == beyond);
    CHECK(verdict("aten.neg.default", near) == beyond);  // it does not round
    CHECK(verdict("my.op.default", near) == not_judged);
    HashRow nan = far;
    nan.nans = 1;
    CHECK(verdict("aten.sum.default", nan) == beyond);
}
