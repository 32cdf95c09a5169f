# needs: explain --list-backends | grep '^halide ' && test -e /usr/include/halide14/Halide.h
minify model.json --inputs model.safetensors --backend halide --backend-option functions=halide --accuracy -o m.json
repro m.json --issue ISSUE.md \
  --checked 'main (abbf7ff9, August 2026), read, not run: halide_exp of IROperator.cpp still casts floor(x / ln 2) to Int(32) without a clamp'
