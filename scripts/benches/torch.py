"""Runs the cases of torch_cases.py with each tool, and prints the table; see torch.sh."""
import json
import math
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ["whittle", "dynamo", "aot"]
PATIENCE = 1800  # seconds for what is not measured


class Run:
    """A command of its own process group, with a limit of seconds."""

    def __init__(self, command, limit, folder, **environment):
        begin = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )
        try:
            self.out, self.err = process.communicate(timeout=max(1, limit))
            self.ended = True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.out, self.err = process.communicate()
            self.ended = False
        self.status, self.seconds = process.returncode, time.monotonic() - begin


class Bench:
    def __init__(self, bin_folder, folder, python, limit):
        self.bin, self.folder, self.python, self.limit = bin_folder, os.path.abspath(folder), python, limit
        os.makedirs(self.folder, exist_ok=True)
        scripts = os.path.join(os.path.dirname(os.path.dirname(HERE)), "share", "backends", "torch")
        self.scripts = os.path.join(self.folder, "scripts")  # the interpreter may see no other folder
        shutil.copytree(scripts, self.scripts, dirs_exist_ok=True)
        self.cases = shutil.copy(os.path.join(HERE, "torch_cases.py"), self.scripts)

    def ask(self, limit, folder, *words, **environment):
        command = [self.python, self.cases, *words]
        return Run(command, limit, folder, TORCH_SCRIPTS=self.scripts, PYTHONPATH=self.scripts, **environment)

    def listed(self):
        run = self.ask(PATIENCE, self.folder, "list")
        if run.status:
            sys.exit(f"bench torch: error: cannot list the cases with {self.python}: {run.err.strip()[-2000:]}")
        return json.loads(run.out.strip().splitlines()[-1])

    def work_folder(self, case, tool):
        folder = os.path.join(self.folder, "work", case.replace("/", "-") + "-" + tool)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    def whittle(self, case, about):
        folder = self.work_folder(case, "whittle")
        model, result = os.path.join(folder, "model"), os.path.join(folder, "m.json")
        exported = self.ask(PATIENCE, folder, "export", case, model)
        if exported.status:
            return {"found": False, "seconds": 0, "why": "export: " + exported.err.strip().splitlines()[-1]}
        command = [os.path.join(self.bin, "minify"), model + ".json", "--input", model + ".safetensors", "--json", "-o", result]
        command += [*about["options"], "--backend-option", "python=" + self.python]
        run = Run(command, self.limit, folder, TORCH_SCRIPTS=self.scripts, PYTHONPATH=self.scripts)
        if not run.ended or run.status or not os.path.exists(result):
            return {"found": False, "seconds": run.seconds, "why": last_line(run)}
        said = json.loads(run.out)
        checked = Run([os.path.join(self.bin, "repro"), result, "--json"], PATIENCE, folder,
                      TORCH_SCRIPTS=self.scripts, PYTHONPATH=self.scripts)
        verified = checked.status == 0 and json.loads(checked.out).get("verified") is True
        return {"found": True, "ops": said.get("calls_after"), "queries": said.get("queries"), "seconds": run.seconds,
                "still_fails": verified, "why": "" if verified else last_line(checked)}

    def minifier(self, after, case, about):
        """PyTorch's: the program writes a launcher, which minimizes and writes repro.py."""
        folder = self.work_folder(case, after)
        debug = os.path.join(folder, "debug")
        environment = {"TORCHDYNAMO_REPRO_AFTER": after, "TORCHDYNAMO_REPRO_LEVEL": "4" if about["accuracy"] else "2",
                       "TORCH_COMPILE_DEBUG_DIR": debug, "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache")}
        first = self.ask(self.limit, folder, "fail", case, **environment)
        launchers = found_files(folder, "minifier_launcher.py")
        if not launchers:
            return {"found": False, "seconds": first.seconds, "why": "no launcher: " + last_line(first)}
        del environment["TORCHDYNAMO_REPRO_AFTER"]
        second = self.ask(self.limit - first.seconds, folder, "run", case, launchers[0], "minify", **environment)
        seconds, results = first.seconds + second.seconds, found_files(folder, "repro.py")
        if not second.ended or not results:
            return {"found": False, "seconds": seconds, "why": last_line(second)}
        ops = self.ask(PATIENCE, folder, "ops", case, results[0])
        again = self.ask(PATIENCE, folder, "fails", case, results[0])
        return {"found": True, "ops": int(ops.out.split()[-1]) if ops.status == 0 else None,
                "queries": len(re.findall("SUCCESS|FAIL:", second.out + second.err)) or None,
                "seconds": seconds, "still_fails": again.status != 0, "why": ""}

    def run(self, case, tool, about):
        done = self.whittle(case, about) if tool == "whittle" else self.minifier(tool, case, about)
        return {"case": case, "tool": tool, "limit": self.limit, **done}


def last_line(run):
    if not run.ended:
        return "did not end in time"
    lines = (run.err.strip() or run.out.strip() or "no message").splitlines()
    return f"status {run.status}: {lines[-1][:200]}"


def found_files(folder, name):
    return sorted(os.path.join(at, name) for at, _, files in os.walk(folder) if name in files)


def counted(row):
    """The seconds that the row counts with."""
    return row["seconds"] if shown(row) else row["limit"]


def line_of(row):
    if not row["found"]:
        return f"{row['case']:<28} {row['tool']:<8} {'missed':>6} {'':>8} {row['limit']:>8.1f}  {row['why']}"
    again = "still fails" if row["still_fails"] else "fails no more"
    return (f"{row['case']:<28} {row['tool']:<8} {str(row['ops'] or '?'):>6} {str(row['queries'] or '?'):>8} "
            f"{counted(row):>8.1f}  {again}")


def shown(row):
    return bool(row["found"] and row.get("still_fails"))


def is_larger(tools):
    """Whittle's result has more operations than the smaller of those that PyTorch's tools found."""
    sizes = {tool: row["ops"] for tool, row in tools.items() if shown(row) and row.get("ops") is not None}
    return "whittle" in sizes and sizes["whittle"] > min(sizes.values())


def summary(rows):
    """Of each tool: found, missed, geometric mean of seconds; and how Whittle stands against the better of PyTorch's two."""
    lines, by_case = [], {}
    for row in rows:
        by_case.setdefault(row["case"], {})[row["tool"]] = row
    for tool in TOOLS:
        own = [row for row in rows if row["tool"] == tool]
        if own:
            mean = math.exp(sum(math.log(max(0.1, counted(row))) for row in own) / len(own))
            missed = [row["case"] for row in own if not shown(row)]
            lines.append(f"{tool:<8} found {len(own) - len(missed)} of {len(own)}, geometric mean {mean:.1f} s")
            if missed:
                lines.append(f"{'':<8} missed: {', '.join(missed)}")
    whole = [tools for tools in by_case.values() if len(tools) == len(TOOLS)]
    if whole:
        ratios = [counted(one["whittle"]) / min(counted(one["dynamo"]), counted(one["aot"])) for one in whole]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines.append(f"whittle takes {mean:.2f} times the seconds of the better of PyTorch's two, over {len(whole)} cases")
        larger = [case for case, tools in by_case.items() if is_larger(tools)]
        lines.append(f"whittle's result is larger than PyTorch's in: {', '.join(larger) or 'no case'}")
    return lines


def main():
    bin_folder, folder, python, limit, only, output = sys.argv[1:]
    bench = Bench(bin_folder, folder, python, int(limit))
    listed = bench.listed()
    kept = os.path.join(bench.folder, "results.jsonl")
    rows = [json.loads(line) for line in open(kept, encoding="utf-8")] if os.path.exists(kept) else []
    rows = [row for row in rows if row["limit"] == bench.limit]
    done = {(row["case"], row["tool"]) for row in rows}
    machine = {"torch": listed["torch"], "machine": platform.platform(), "processors": os.cpu_count()}
    print(f"PyTorch {machine['torch']}, {machine['machine']}, {machine['processors']} processors, limit {limit} s\n")
    print(f"{'case':<28} {'tool':<8} {'ops':>6} {'queries':>8} {'seconds':>8}  result")
    for row in rows:
        if only in row["case"]:
            print(line_of(row))
    for case, about in listed["cases"].items():
        for tool in TOOLS:
            if only not in case or (case, tool) in done:
                continue
            rows.append(bench.run(case, tool, about))
            with open(kept, "a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
            print(line_of(rows[-1]), flush=True)
    selected = [row for row in rows if only in row["case"]]
    print("\n" + "\n".join(summary(selected)))
    if output:
        with open(output, "w", encoding="utf-8") as file:
            json.dump({**machine, "rows": selected, "summary": summary(selected)}, file, indent=1)


if __name__ == "__main__":
    main()
