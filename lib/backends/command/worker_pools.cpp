#include "backends/command/worker_pools.h"

#include <algorithm>

#include "base/error.h"
#include "base/subprocess.h"
#include "graph/backend_options.h"

namespace whittle {

WorkerHello WorkerPools::any_hello() {
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [argv, started] : started_)
            if (started->said) return *started->said;
    }
    return hello({});
}

WorkerPools::Started& WorkerPools::chosen(const BackendOptions& options) {
    std::vector<std::string> argv = argv_;
    for (const std::string& argument : arguments_)
        if (const auto given = options.find(argument); given != options.end())
            argv.push_back("--" + argument + "=" + given->second);
    Started& usual = started(argv);
    const auto release = options.find(kRelease);
    if (release == options.end()) return usual;
    const WorkerHello said = hello_of(usual);
    if (said.options.contains(kRelease)) return usual;  // an option of its own
    if (std::ranges::find(said.releases, release->second) == said.releases.end())
        throw no_release(release->second, said.releases, said.install);
    if (release->second == said.release) return usual;
    argv.insert(argv.end(), {std::string("--") + kRelease, release->second});
    Started& other = started(argv);
    const std::string is = hello_of(other).release;
    if (is != release->second)  // it takes no such argument
        throw Error({"backend worker " + shell_quote(argv), {}},
                    "found release '" + is + "', expected '" + release->second + "'");
    return other;
}

WorkerPools::Started& WorkerPools::started(const std::vector<std::string>& argv) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Started>& started = started_[argv];
    if (!started) started = std::make_unique<Started>(argv);
    return *started;
}

WorkerHello WorkerPools::hello_of(Started& started) {
    {
        const std::lock_guard lock(mutex_);
        if (started.said) return *started.said;
    }
    WorkerHello said = started.pool.hello();  // starts it, unlocked
    const std::lock_guard lock(mutex_);
    started.said = said;
    return said;
}

}  // namespace whittle
