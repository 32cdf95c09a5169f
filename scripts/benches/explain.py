"""Runs the programs of explain/programs.py under both tools, and prints the table; see explain.sh."""
import json
import os
import subprocess
import sys

PROGRAMS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "explain", "programs.py")
LIMIT = 300  # seconds for one run
WIDTH = 56  # of a reason


class Failed(Exception):
    pass


def output_of(command):
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Failed("did not end in time") from None
    if run.returncode:
        lines = (run.stderr.strip() or run.stdout.strip() or "no message").splitlines()
        raise Failed(f"status {run.returncode}: {lines[-1]}")
    return run.stdout


def of_whittle(bin_folder, python, name):
    """Line and reason of each kind of break, at the innermost line of the program."""
    command = [os.path.join(bin_folder, "explain"), "--json", "--backend", "eager", python, "--", PROGRAMS, "run", name]
    breaks = {}
    for found in json.loads(output_of(command))["break_reasons"]:
        lines = [frame["line"] for frame in found["user_stack"] if os.path.realpath(frame["file"]) == PROGRAMS]
        breaks.setdefault(lines[0] if lines else None, found["title"])
    return breaks


def of_dynamo(python, name):
    said = output_of([python, PROGRAMS, "dynamo", name]).strip().splitlines()
    return {line: reason for line, reason in json.loads(said[-1])}


def attempt(tool, *arguments):
    """The breaks, and why there are none."""
    try:
        return tool(*arguments), ""
    except Failed as error:
        return None, str(error)


def verdict(whittle, dynamo):
    if whittle is None or dynamo is None:
        return "no comparison"
    return "same lines" if set(whittle) == set(dynamo) else "other lines"


def shown(row, tool):
    """The lines of a row's table: a line of the program and a reason."""
    if row[tool] is None:
        return [("-", row["why"][tool])]
    return [(line or "?", reason) for line, reason in sorted(row[tool].items(), key=str)] or [("-", "no break")]


def print_row(row):
    first = f"{row['program']:<20} {row['verdict']:<14}"
    for tool in ["whittle", "dynamo"]:
        for line, reason in shown(row, tool):
            reason = reason if len(reason) <= WIDTH else reason[: WIDTH - 1] + "…"
            print(f"{first} {tool:<8} {line!s:>4}  {reason}".rstrip(), flush=True)
            first = " " * 35


def main():
    bin_folder, python, only, output = sys.argv[1:]
    listed = json.loads(output_of([python, PROGRAMS, "list"]))
    print(f"PyTorch {listed['torch']}\n\n{'program':<20} {'breaks':<14} {'tool':<8} line  reason")
    rows = []
    for name in listed["programs"]:
        if only not in name:
            continue
        whittle, whittle_why = attempt(of_whittle, bin_folder, python, name)
        dynamo, dynamo_why = attempt(of_dynamo, python, name)
        rows.append({"program": name, "whittle": whittle, "dynamo": dynamo, "verdict": verdict(whittle, dynamo),
                     "why": {"whittle": whittle_why, "dynamo": dynamo_why}})
        print_row(rows[-1])
    same = sum(row["verdict"] == "same lines" for row in rows)
    print(f"\nbreaks at the same lines in {same} of {len(rows)} programs")
    if output:
        with open(output, "w", encoding="utf-8") as file:
            json.dump({"torch": listed["torch"], "rows": rows, "same": same}, file, indent=1)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"bench explain: error: {error}")
