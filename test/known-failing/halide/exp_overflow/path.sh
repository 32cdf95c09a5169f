# needs: explain --list-backends | grep '^halide ' && test -e /usr/include/halide14/Halide.h
minify model.json --inputs model.safetensors --backend halide --backend-option functions=halide --accuracy -o m.json
repro m.json --issue ISSUE.md
