// The other end of the workers' protocol (share/doc/how-to/compiler.md): processes that are started once and asked
// about one graph after another, and who keeps them between questions.
#pragma once

#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/service.h"
#include "formats/sidecar.h"
#include "frontends/onnx/weights.h"
#include "graph/backend_options.h"

namespace whittle {

/// What a worker says first.
struct WorkerHello {
    struct Option {
        std::string what;                      ///< it means
        std::vector<std::string> one_of = {};  ///< empty: …
        std::optional<int> least = {};         ///< … or a number from this one on; neither: any text
    };
    std::string version = {};
    bool onnx = true;                        ///< it reads model.onnx
    bool trains = false;                     ///< it computes gradients where a question asks for them ("training")
    bool external_data = false;              ///< … and weights that lie beside it
    std::string switch_is = {};              ///< "optimizer"
    std::vector<std::string> switches = {};  ///< what can be switched off
    std::vector<Limitable> levels = {};      ///< what can be limited
    /// It writes the model that it makes of one, and runs it as it is under these levels; nothing: it does not.
    std::optional<std::map<std::string, int>> optimized = {};
    std::set<std::string> counted = {};          ///< of these, what the answers count ("applied")
    std::map<std::string, Option> options = {};  ///< "config.*": all that begin so
    bool takes_any_option = false;               ///< in place of those and of switches and levels: as they are given
    std::vector<std::string> releases = {};      ///< that can be started in its place, oldest first; empty: one alone
    std::string release = {};                    ///< which of them it is
    std::string install = {};                    ///< the command that installs another: "…/install VERSION"
    std::string api = {};                        ///< in whose own calls a repro can be written (short_programs.h)
    std::string package = {};                    ///< what is installed for that: "onnxruntime-node@1.30.0"
    std::string modules = {};                    ///< the folder node_modules that has it here
    std::string program = {};                    ///< the interpreter that runs repros here; empty: the usual one
    std::string compiler = {};                   ///< which part of the package is under test: "inductor"
    std::vector<std::string> build = {};         ///< builds run.cpp, which shows failures here; empty: a script does
    std::vector<std::string> files = {};  ///< that a repro elsewhere needs beside the files which its command names

    /// The option that is called so; null where it does not know one.
    const Option* option(const std::string& key) const;
};

class WorkerProcess {
  public:
    using Start = std::function<void(const std::function<void()>&)>;
    /// Starts it by `start` and waits for its first line; its files go into `scratch`. Throws Error when there is no
    /// such process or it does not say what it is.
    WorkerProcess(const std::vector<std::string>& argv, const std::filesystem::path& scratch,
                  const ProcessOptions& limits, const Start& start);

    const WorkerHello& hello() const { return hello_; }
    /// Nothing that it was asked before can have to do with the next answer.
    bool fresh() const { return asked_ == 0; }
    /// It can be asked again.
    bool good() { return good_ && service_->running(); }

    /// Its answer, how it ended, or in what way it broke the protocol.
    struct Broken {
        std::string how;
    };
    using Answer = std::variant<nlohmann::json, Service::Ended, Broken>;
    /// `question` gets its "id". `stage` becomes "run" once it says that it has compiled. Throws Interrupted.
    Answer ask(nlohmann::json question, std::chrono::milliseconds timeout, std::string& stage);

  private:
    std::optional<Service> service_;
    WorkerHello hello_;
    int asked_ = 0;
    bool good_ = true;
};

/// May be asked from several threads.
class WorkerPool {
  public:
    explicit WorkerPool(std::vector<std::string> argv) : argv_(std::move(argv)) {}
    ~WorkerPool();

    struct Held {
        std::unique_ptr<WorkerProcess> worker;
        ProcessOptions limits;
    };
    /// One that waits, or a new one. Throws Error as WorkerProcess does. If none has ever started, the error of the
    /// first with these limits is thrown again: another start would fail alike, and may take a minute for it.
    Held take(const ProcessOptions& limits);
    Held take_fresh(const ProcessOptions& limits);
    /// It is kept where it is good and its limits are not used up by living on: processor time is.
    void give_back(Held held);

    /// A folder for one question. It goes with the pool and, where this process is killed, with its workers.
    std::filesystem::path new_folder();
    /// Weights of the models in those folders, each of them written once.
    SharedWeights& weights();
    /// … and of the graphs.
    SharedTensors& tensors();
    /// What its workers say of themselves; one is started where none waits.
    WorkerHello hello();

    const std::vector<std::string>& argv() const { return argv_; }

  private:
    void start_here(const std::function<void()>& job);
    void serve();
    std::filesystem::path scratch();  ///< of this process

    const std::vector<std::string> argv_;
    const pid_t owner_ = ::getpid();  ///< a copy of this process has neither the thread nor the workers
    std::mutex mutex_;
    std::optional<TempDir> scratch_;
    std::optional<SharedWeights> weights_;  ///< in it
    std::optional<SharedTensors> tensors_;  ///< in it
    pid_t scratch_owner_ = 0;
    int folders_ = 0;  ///< made in it
    std::vector<Held> idle_;
    struct StartFailure {
        ProcessOptions limits;
        Error error;
    };
    bool has_started_ = false;                       ///< one of them
    std::vector<StartFailure> start_failures_ = {};  ///< before any had started
    /// A process ends with the thread that started it: this one lives as long as the pool.
    std::thread starter_;
    std::mutex starting_;  ///< one at a time
    std::condition_variable changed_;
    const std::function<void()>* job_ = nullptr;
    bool stop_ = false;
};

}  // namespace whittle
