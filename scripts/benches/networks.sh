# kernels of halide on random networks that nobody tuned them to, compared with ONNX Runtime
# Draws networks by a seed (scripts/networks), measures them with scripts/bench backend, with one thread and with one per
# processor, and prints for each network how many times as fast as ONNX Runtime halide is; then the geometric mean, the lowest
# and the five lowest for each number of threads.
#   scripts/bench networks [--seed N] [--count K] [--family FAMILY]… [--ms LOW-HIGH] [--alone] [--avx2] [--json FILE]
# N: default: a new one, which is printed. K, FAMILY, LOW-HIGH: as in scripts/networks; default: 50 networks of all families.
# --alone: compared with eager, without ONNX Runtime. --avx2, FILE: as in scripts/bench backend, whose table goes to stderr.
# Exit status: 1 if a network failed on halide, or its result is wrong.
seed='' count=50 family=() ms=5-200 alone='' avx2='' json=''
options "seed= count= family+= ms= alone avx2 json=" "$@"
[ -n "$seed" ] || seed=$((SRANDOM % 1000000000))
new_scratch
[ -n "$json" ] || json=$scratch/rows
echo "seed $seed"
"$root/scripts/networks" --seed "$seed" --count "$count" "${family[@]/#/--family=}" --ms "$ms" "$scratch/networks" >&2
"$root/scripts/bench" backend ${alone:+--alone} ${avx2:+--avx2} --json "$json" "$scratch"/networks/*.onnx >&2
python3 "$parts/networks.py" "${json%.json}".{1,$(nproc)}.json
