"""A program of several processes: a DataLoader's workers, a process, a pool, a program that it starts."""
import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __init__(self):
        self.numbers = torch.arange(8, dtype=torch.float32)

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, i):
        return augmented(self.numbers[i] ** 2)


def augmented(x):
    return (x + 1).sqrt()


def collate(items):
    return torch.stack(items) * 2


def square(i):
    return float((torch.full((3,), float(i)) ** 2).sum())


def halves(i):
    return float((torch.ones(4) * i / 2).sum())


def alone(scale):
    y = augmented(torch.ones(5)) * scale
    assert y.shape == (5,)


def consume(loader):
    total = 0.0
    for batch in loader:
        total += float(batch.sum())
    return total


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    fork = multiprocessing.get_context("fork")
    loader = DataLoader(Squares(), batch_size=2, num_workers=2, collate_fn=collate, multiprocessing_context=fork)
    print(f"{consume(loader):.3f}")
    process = fork.Process(target=alone, args=(3,))
    process.start()
    process.join()
    with fork.Pool(1) as pool:
        print(pool.map(square, range(5)))
    with ThreadPoolExecutor(1) as threads:
        print(list(threads.map(halves, range(4))))
    program = "import torch; print((torch.ones(2) * 3).tolist())"
    print(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip())


if __name__ == "__main__":
    main()
