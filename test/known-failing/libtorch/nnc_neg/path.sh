# needs: explain list backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --backend-option fuser=nnc --accuracy -o m.json
repro report m.json --title 'NNC: neg(0) is 0, not -0' \
  --note 'NNC computes neg(x) as 0 - x, which is 0, not -0, for x = 0; reciprocal makes the sign visible. All targets share this lowering; here the interpreter of NNC runs it, because this build has no LLVM.' \
  --issue ISSUE.md \
  --checked 'newer source, [6296716d](https://github.com/pytorch/pytorch/blob/6296716d/torch/csrc/jit/tensorexpr/lowerings.cpp), read, not run: aten_neg is still ExprHandle(-0) - a, where -0 is an int'
