# cost of trace --hashes: for small results, for large results, on ResNet-18, on a step of an LSTM, on disk
# Each case is a PyTorch program that runs with one thread, once without Whittle and once under trace --hashes. The times are
# processor times, so that other programs hardly change the result. The targets: a result costs at most 1 µs and one pass over
# the memory of the result; the two models take at most 1.5 times as long; a recording of 10 million operations takes at most
# 512 MB.
#   scripts/bench hashes [--json] [--python PYTHON] [--repeats N] [--operations N]
# PYTHON has PyTorch (default: /usr/bin/python3). --repeats: each case runs N times, and the shortest time counts (default 20).
# --operations: a run of the first case has N operations (default 100000).
json='' python=/usr/bin/python3 repeats=20 operations=100000
options "json python= repeats= operations=" "$@"
"$python" -c 'import torch' 2>/dev/null || fail "--python: found no PyTorch in $python, expected a Python that has it"
build_release trace capture_libraries
new_scratch
program=$root/test/bench/hashes.py
plain() { "$python" "$program" "$@"; }
hashed() { "$build/bin/trace" --hashes -q -o "$scratch/trace" "$python" -- "$program" "$@"; }
small=$(plain small "$repeats" "$operations") small_hashed=$(hashed small "$repeats" "$operations")
bytes=$(cat "$scratch"/trace/rows-*.bin "$scratch/trace/hashes.json" | wc -c)
large=$(plain large "$repeats") large_hashed=$(hashed large "$repeats")
resnet=$(plain resnet18 "$repeats") resnet_hashed=$(hashed resnet18 "$repeats")
lstm=$(plain lstm "$repeats") lstm_hashed=$(hashed lstm "$repeats")
awk -v json="$json" -v operations="$operations" -v repeats="$repeats" -v bytes="$bytes" \
  -v s="$small" -v sh="$small_hashed" -v l="$large" -v lh="$large_hashed" \
  -v r="$resnet" -v rh="$resnet_hashed" -v m="$lstm" -v mh="$lstm_hashed" 'BEGIN {
    us = 1e6 * (sh - s) / operations
    speed = 67.108864e6 / (lh - l) / 1e9  # GB/s that the pass reads
    megabytes = bytes / operations / repeats * 1e7 / 1e6
    if (json) {
      printf "{\"added_us\": %.3f, \"pass_gb_per_s\": %.2f, \"plain_gb_per_s\": %.2f, \"resnet18\": %.3f, \"lstm\": %.3f, \"mb_of_10m\": %.0f}\n",
        us, speed, 2 * 67.108864e6 / l / 1e9, rh / r, mh / m, megabytes
      exit
    }
    printf "%-34s %10s %10s\n", "case", "plain", "hashed"
    printf "%-34s %10.2f %10.2f  added %.2f (target: 1)\n", "small result, µs", 1e6 * s / operations, 1e6 * sh / operations, us
    printf "%-34s %10.2f %10.2f  the pass reads %.1f GB/s (mul reads and writes %.1f)\n", "result of 64 MB, ms", 1e3 * l, 1e3 * lh, speed, 2 * 67.108864e6 / l / 1e9
    printf "%-34s %10.2f %10.2f  %.2f times (target: 1.5)\n", "ResNet-18, ms", 1e3 * r, 1e3 * rh, rh / r
    printf "%-34s %10.2f %10.2f  %.2f times (target: 1.5)\n", "step of an LSTM, ms", 1e3 * m, 1e3 * mh, mh / m
    printf "%-34s %21.0f  (target: 512)\n", "MB of 10 million operations", megabytes
  }'
