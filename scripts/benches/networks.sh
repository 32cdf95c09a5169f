# kernels of halide on random networks, compared with ONNX Runtime
# Writes networks from a seed (scripts/networks), and measures the networks with scripts/bench backend, with one thread and with
# one thread per processor. Prints how many times as fast as ONNX Runtime halide is: for each network, and, for each number of
# threads, the geometric mean and the five lowest values.
#   scripts/bench networks [--seed N] [--count K] [--family FAMILY]… [--ms LOW-HIGH] [--alone] [--avx2] [--json FILE]
# --seed: default: a new seed, which is printed. --count, --family, --ms: as in scripts/networks; default: 50 networks of all
# families. --alone: compare with eager instead of ONNX Runtime. --avx2, --json: as in scripts/bench backend, whose table goes to
# stderr. Exit status: 1 if a network fails on halide, or the result of a network is wrong.
seed='' count=50 family=() ms=5-200 alone='' avx2='' json=''
options "seed= count= family+= ms= alone avx2 json=" "$@"
[ -n "$seed" ] || seed=$((SRANDOM % 1000000000))
new_scratch
[ -n "$json" ] || json=$scratch/rows
echo "seed $seed"
"$root/scripts/networks" --seed "$seed" --count "$count" "${family[@]/#/--family=}" --ms "$ms" "$scratch/networks" >&2
"$root/scripts/bench" backend ${alone:+--alone} ${avx2:+--avx2} --json "$json" "$scratch"/networks/*.onnx >&2
python3 "$parts/networks.py" "${json%.json}".{1,$(nproc)}.json
