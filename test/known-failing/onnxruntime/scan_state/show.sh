cd repro
ln -s "$XDG_DATA_HOME/whittle/backends/onnxruntime/node_modules" .
node run.mjs
