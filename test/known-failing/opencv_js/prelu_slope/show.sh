cd repro
ln -s "$XDG_DATA_HOME/whittle/backends/opencv_js/5.0.0/node_modules" .
node run.mjs
