# needs: explain --list-backends | grep '^halide ' && test -e /usr/include/halide14/Halide.h && which python3
cp "$(dirname "$0")"/exp.* .
minify model.json --inputs model.safetensors --backend 'cmd:sh exp.sh exp.cpp {}' --accuracy -o m.json
repro m.json --issue ISSUE.md
