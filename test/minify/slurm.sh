#!/usr/bin/env bash
# minify --launcher 'srun …' on a Slurm cluster of one node, started here as an ordinary user for the time of the test.
#   slurm.sh PROGRAMS MODEL      exit 77: skipped, and why
set -eu
programs=$1 model=$2
PATH=$programs:$PATH:/usr/sbin
skip() { echo "SKIP: $*"; exit 77; }
for program in slurmctld slurmd srun sinfo munged; do
  command -v "$program" >/dev/null || skip "no $program (Debian: slurm-wlm)"
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/whittle-slurm.XXXXXX")
started=()
finish() {
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT
cd "$folder"
export TMPDIR=$folder SLURM_CONF=$folder/slurm.conf
mkdir state spool
chmod 700 "$folder"
port=$((20000 + $$ % 20000))
head -c 1024 /dev/urandom > munge.key
chmod 400 munge.key
cat > slurm.conf <<END
ClusterName=whittle
SlurmctldHost=localhost
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=localhost CPUs=2 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
END

munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --num-threads=1 \
  --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" --seed-file="$folder/munge.seed" > munged.out 2>&1 &
started+=($!)
slurmctld -D > slurmctld.out 2>&1 &
started+=($!)
slurmd -D -N localhost > slurmd.out 2>&1 &
started+=($!)
for _ in $(seq 150); do
  sinfo -h -o %T 2>/dev/null | grep -q idle && break
  sleep 0.1
done
sinfo -h -o %T 2>/dev/null | grep -q idle ||
  skip "a Slurm of our own does not start here: $(cat ./*.out slurmctld.log slurmd.log 2>/dev/null | grep -i error | tail -3)"

# A backend: the whole search in jobs, and one answer that is as without them.
minify "$model" --backend relu_compile_error_TESTING_ONLY -o here.json > here
minify "$model" --backend relu_compile_error_TESTING_ONLY -o m.json --launcher 'srun -Q -n1' > there
grep -E 'failure|minimized|1-minimal' there
diff <(sed 's/ [0-9.]* s$//; s/here.json/m.json/' here) <(sed 's/ [0-9.]* s$//' there)
# A command.
cat > check.sh <<'END'
#!/bin/sh
[ -n "$SLURM_JOB_ID" ] || exit 9
grep -q onnx.MaxPool "$1" && exit 1
exit 0
END
chmod +x check.sh
minify "$model" -o c.json --step-limit 4 --launcher 'srun -Q -n1' --check "$folder/check.sh" {} | grep -E 'failure'
