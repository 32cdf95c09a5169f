"""Threads, then a child that is forked and ends by _exit."""
import os
import sys
import threading

import torch

torch.set_num_threads(1)


def job(x):
    return (x * 2).relu().sum()


def worker(results, i):
    for k in range(3):
        results[i].append(job(torch.ones(3) * (i + k)).item())


def child():
    r = job(torch.ones(5))
    print("child", r.item())
    sys.stdout.flush()


def main():
    results = {i: [] for i in range(3)}
    threads = [threading.Thread(target=worker, args=(results, i)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    os.waitpid(pid, 0)
    print(results)


main()
