# needs: explain list backends | grep '^halide ' && test -e /usr/include/halide14/Halide.h
minify model.json --input model.safetensors --backend halide --backend-option functions=halide --accuracy -o m.json
repro report m.json --note 'IROperator.h says of exp that it "does the right thing for extremely small or extremely large inputs". For x of 2^31 ln 2 (about 1.4885e9) or more the result is 0: floor(x / ln 2) is cast to Int(32), in which it does not fit.' \
  --issue ISSUE.md \
  --checked 'main (abbf7ff9, August 2026), read, not run: halide_exp of IROperator.cpp still casts floor(x / ln 2) to Int(32) before it clamps'
