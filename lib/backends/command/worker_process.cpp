#include "backends/command/worker_process.h"

#include <algorithm>
#include <exception>
#include <latch>
#include <utility>

#include "backends/command/exchange.h"
#include "base/error.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/turn.h"
#include "base/words.h"
#include "formats/json.h"
#include "formats/json_text.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr std::chrono::seconds kStarting{60};
constexpr int kProtocol = 1;
constexpr std::size_t kMostOutput = 1 << 20;

/// Lines that do not begin an object are the compiler's talk.
bool is_object_line(std::string_view line) { return line.starts_with('{'); }

/// "of one run", or {"what": "of one run", "least": 1}, or with "one_of".
WorkerHello::Option read_option(const json& said) {
    if (said.is_string()) return {.what = said.get<std::string>()};
    WorkerHello::Option option{.what = said.at("what").get<std::string>()};
    option.one_of = said.value("one_of", option.one_of);
    if (const auto least = said.find("least"); least != said.end()) option.least = least->get<int>();
    return option;
}

/// Throws json::exception for what has another type than it should.
WorkerHello read_hello(const json& said) {
    if (said.value("whittle", 0) != kProtocol)
        throw Error("found \"whittle\": " + said.value("whittle", json()).dump() + ", expected " +
                    std::to_string(kProtocol) + ", the version of the protocol");
    WorkerHello hello;
    const auto version = said.find("version");
    if (version == said.end() || !version->is_string())
        throw Error("found " + (version == said.end() ? "no \"version\"" : "\"version\": " + version->dump()) +
                    ", expected a string");
    hello.version = version->get<std::string>();
    const std::string format = said.value("format", "onnx");
    if (format != "onnx" && format != "json")
        throw Error("found \"format\": '" + format + "', expected 'onnx' or 'json'");
    hello.onnx = format == "onnx";
    hello.trains = said.value("training", false);
    hello.external_data = said.value("external_data", false);
    if (const auto switches = said.find("switches"); switches != said.end()) {
        hello.switch_is = switches->at("kind").get<std::string>();
        hello.switches = switches->at("names").get<std::vector<std::string>>();
    }
    if (const auto levels = said.find("levels"); levels != said.end())
        for (const json& level : *levels) {
            hello.levels.push_back({level.at("name").get<std::string>(), level.at("most").get<int>()});
            if (level.value("counted", false)) hello.counted.insert(hello.levels.back().name);
            if (hello.levels.back().most < 0)
                throw Error("found \"most\": " + std::to_string(hello.levels.back().most) + " for the level '" +
                            hello.levels.back().name + "', expected a number, 0 or more");
        }
    if (const auto optimized = said.find("optimized"); optimized != said.end())
        hello.optimized = optimized->get<std::map<std::string, int>>();
    const json options = said.value("options", json::object());
    hello.takes_any_option = options == true;
    if (!hello.takes_any_option)
        for (const auto& [name, option] : options.items()) hello.options.emplace(name, read_option(option));
    if (const auto releases = said.find("releases"); releases != said.end()) {
        hello.releases = releases->at("names").get<std::vector<std::string>>();
        hello.release = releases->at("is").get<std::string>();
        hello.install = releases->value("install", "");
        if (std::find(hello.releases.begin(), hello.releases.end(), hello.release) == hello.releases.end())
            throw Error("found \"is\": '" + hello.release + "' in \"releases\", expected one of " +
                        join(hello.releases));
    }
    const json repro = said.value("repro", json::object());
    hello.api = repro.value("api", ""), hello.package = repro.value("package", "");
    hello.modules = repro.value("node_modules", ""), hello.program = repro.value("program", "");
    hello.compiler = repro.value("compiler", ""), hello.files = repro.value("files", hello.files);
    hello.build = repro.value("build", hello.build);
    return hello;
}

std::string flooding() { return "wrote more than " + std::to_string(kMostOutput) + " bytes without an answer"; }

/// Why a worker did not start: how it ended or what limit it reached, and then what it wrote to stderr.
std::string start_failure(const Service::Ended& ended) {
    if (ended.flooded) return flooding();
    const std::string how =
        ended.process.timed_out
            ? "wrote no first line within " + std::to_string(kStarting / std::chrono::seconds(1)) + " s"
            : ending_of(ended.process) + " before the worker wrote its first line";
    const std::string words = own_words(ended.process.err);
    return how + (words.empty() ? "" : ": " + words);
}

}  // namespace

const WorkerHello::Option* WorkerHello::option(const std::string& key) const {
    for (const auto& [name, option] : options) {
        const bool all = name.ends_with('*') && key.size() >= name.size();
        if (name == key || (all && key.starts_with(std::string_view(name).substr(0, name.size() - 1)))) return &option;
    }
    return nullptr;
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& argv, const fs::path& scratch,
                             const ProcessOptions& limits, const Start& start) {
    const Location where{"backend worker " + shell_quote(argv), {}};
    const ProcessOptions options{.environment = {{"TMPDIR", scratch.string()}},
                                 .memory_limit = limits.memory_limit,
                                 .cpu_limit = limits.cpu_limit,
                                 .output_limit = kMostOutput,
                                 .remove_if_killed = scratch};
    start([&] { service_.emplace(argv, options); });
    const Service::Answer first = service_->ask({}, is_object_line, kStarting);
    if (const auto* ended = std::get_if<Service::Ended>(&first))
        throw Error(where, "the worker " + start_failure(*ended));
    try {
        hello_ = read_hello(parse_json(std::get<std::string>(first), "the first line of the worker"));
    } catch (const json::exception& error) {
        throw Error(where, std::string("the first line that the worker wrote cannot be read: ") + error.what());
    } catch (const Error& error) {
        throw Error(where, "the first line that the worker wrote cannot be read: " + error.message());
    }
}

WorkerProcess::Answer WorkerProcess::ask(json question, std::chrono::milliseconds timeout, std::string& stage) {
    const int id = ++asked_;
    question["id"] = id;
    const std::string text = question.dump() + '\n';
    log_debug(LogChannel::backend, "to the worker: " + text);
    json answer;
    const auto ends = [&](std::string_view line) {
        if (!is_object_line(line)) return false;
        answer = json::parse(line, nullptr, false);
        if (answer.is_object() && answer.value("id", json()) == id && answer.size() == 2 && answer.contains("stage")) {
            if (answer["stage"] == "run") stage = "run";
            return false;
        }
        return true;
    };
    good_ = false;  // until it has answered
    const Service::Answer line = service_->ask(text, ends, timeout);
    if (const auto* ended = std::get_if<Service::Ended>(&line)) {
        if (ended->flooded) return Broken{flooding()};
        return *ended;
    }
    log_debug(LogChannel::backend, "the worker: " + std::get<std::string>(line));
    const bool ok = answer.is_object() && answer.value("ok", json()) == true;
    if (!answer.is_object() || answer.value("id", json()) != id || ok == answer.contains("error"))
        return Broken{"answered with '" + as_line(std::get<std::string>(line), 200) +
                      "', expected the query's id and either \"ok\": true or \"error\""};
    good_ = true;
    return answer;
}

// ---- the pool -------------------------------------------------------------------------------------------------------

WorkerPool::~WorkerPool() {
    if (owner_ != ::getpid()) {  // nothing of it is ours
        starter_.detach();
        for (Held& held : idle_) static_cast<void>(held.worker.release());
        return;
    }
    idle_.clear();
    if (!starter_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    const TurnPause others;
    starter_.join();
}

void WorkerPool::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return job_ || stop_; });
        if (!job_) return;
        lock.unlock();
        {
            const Turn turn;
            (*job_)();
        }
        lock.lock();
        job_ = nullptr;
        changed_.notify_all();
    }
}

/// Runs the job in the starter's thread and waits for it.
void WorkerPool::start_here(const std::function<void()>& job) {
    std::exception_ptr thrown;
    const std::function<void()> kept = [&] {
        try {
            job();
        } catch (...) {
            thrown = std::current_exception();
        }
    };
    {
        std::latch begun(1);  // a thread that begins holds locks, which no fork may copy
        const auto begin = [&] {
            if (starter_.joinable()) return begun.count_down();
            starter_ = std::thread([this, &begun] {
                begun.count_down();
                serve();
            });
            begun.wait();
        };
        std::unique_lock one(starting_, std::defer_lock);
        {
            const TurnPause others;
            one.lock();
        }
        begin();
        const TurnPause others;
        std::unique_lock lock(mutex_);
        job_ = &kept;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !job_; });
    }
    if (thrown) std::rethrow_exception(thrown);
}

fs::path WorkerPool::scratch() {
    const std::lock_guard lock(mutex_);
    if (!scratch_ || scratch_owner_ != ::getpid()) {
        if (scratch_) scratch_->keep();  // it is not ours
        scratch_.emplace("whittle-worker");
        weights_.emplace(scratch_->path());
        tensors_.emplace(scratch_->path());
        scratch_owner_ = ::getpid();
    }
    return scratch_->path();
}

fs::path WorkerPool::new_folder() {
    const fs::path parent = scratch();
    const std::lock_guard lock(mutex_);
    const fs::path folder = parent / ("question-" + std::to_string(++folders_));
    fs::create_directory(folder);
    return folder;
}

SharedWeights& WorkerPool::weights() {
    scratch();
    return *weights_;
}

SharedTensors& WorkerPool::tensors() {
    scratch();
    return *tensors_;
}

WorkerPool::Held WorkerPool::take(const ProcessOptions& limits) {
    Held held;
    if (owner_ == ::getpid() && !limits.cpu_limit) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const Held& idle) {
            return idle.limits.memory_limit == limits.memory_limit;
        });
        if (found != idle_.end()) {
            held = std::move(*found);
            idle_.erase(found);
        }
    }
    if (held.worker && held.worker->good()) return held;  // or somebody ended it
    return take_fresh(limits);
}

WorkerPool::Held WorkerPool::take_fresh(const ProcessOptions& limits) {
    const bool ours = owner_ == ::getpid();
    const auto start = [&](const std::function<void()>& job) { ours ? start_here(job) : job(); };
    {
        const std::lock_guard lock(mutex_);
        if (!has_started_)
            for (const StartFailure& known : start_failures_)
                if (known.limits.memory_limit == limits.memory_limit && known.limits.cpu_limit == limits.cpu_limit)
                    throw Error(known.error);
    }
    try {
        Held held{std::make_unique<WorkerProcess>(argv_, scratch(), limits, start), limits};
        const std::lock_guard lock(mutex_);
        has_started_ = true;
        return held;
    } catch (const Error& error) {
        const std::lock_guard lock(mutex_);
        if (!has_started_) start_failures_.push_back({limits, error});
        throw;
    }
}

WorkerHello WorkerPool::hello() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) return idle_.front().worker->hello();
    }
    Held held = take_fresh({});
    const WorkerHello hello = held.worker->hello();
    give_back(std::move(held));
    return hello;
}

void WorkerPool::give_back(Held held) {
    if (owner_ != ::getpid() || held.limits.cpu_limit || !held.worker || !held.worker->good()) return;
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(held));
}

}  // namespace whittle
