"""Memory that processes share: what a child writes there, the parent sees."""
import torch
import torch.multiprocessing as mp


def child(shared):
    shared.mul_(2)


def total(shared):
    return (shared * 3).sum()


def main():
    shared = torch.ones(3).share_memory_()
    process = mp.get_context("fork").Process(target=child, args=(shared,))
    process.start()
    process.join()
    print(total(shared).item())


main()
