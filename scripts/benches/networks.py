"""Compares the rows of scripts/bench backend on random networks.
  networks.py FILE...      one file for each number of threads; run through scripts/bench networks, which says more"""
import json
import math
import sys

WRONG = 1e-3  # relative to the largest value; what f32 rounds is below


def counted(threads):
    return f"{threads} thread" + "s" * (threads > 1)


def ratio(row):
    """How many times as fast halide is; None if it failed."""
    other = row.get("onnxruntime_ms", row["eager_ms"])
    return other / row["halide_ms"] if other and row["halide_ms"] and "failure" not in row else None


def fault(row):
    error = row.get("error")
    if ratio(row) is None:
        return "failed: " + row.get("failure", "no result")
    return "" if error is not None and error < WRONG else f"wrong: the error is {error}"


def main():
    columns = {}
    for file in dict.fromkeys(sys.argv[1:]):
        with open(file) as text:
            columns[int(file.split(".")[-2])] = {row["name"]: row for row in json.load(text)}
    print(f"{'network':24}" + "".join(counted(threads).rjust(12) for threads in columns))
    faults = []
    for name in next(iter(columns.values())):
        found = {threads: rows[name] for threads, rows in columns.items()}
        print(f"{name:24}" + "".join("failed".rjust(12) if ratio(row) is None else f"{ratio(row):12.2f}" for row in found.values()))
        faults += [f"{name}, {counted(threads)}: {fault(row)}" for threads, row in found.items() if fault(row)]
    for threads, rows in columns.items():
        ratios = sorted((ratio(row), name) for name, row in rows.items() if ratio(row) is not None)
        if ratios:
            mean = math.exp(sum(math.log(value) for value, _ in ratios) / len(ratios))
            lowest = ", ".join(f"{name} {value:.2f}" for value, name in ratios[:5])
            print(f"\n{counted(threads)}: geometric mean {mean:.2f}, lowest {ratios[0][0]:.2f}\n  {lowest}")
    if faults:
        print("\n" + "\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
