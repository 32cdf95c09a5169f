cd repro
ln -s "$XDG_DATA_HOME/whittle/backends/onnxruntime/node_modules" .
status=0
node run.mjs || status=$?
[ $status = 139 ] && exit 1  # SIGSEGV
exit $status
