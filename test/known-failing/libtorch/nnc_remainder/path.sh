# needs: explain list backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --backend-option fuser=nnc --accuracy -o m.json
repro report m.json --title 'NNC: remainder(a, b) loses what of a is small beside b' \
  --note 'NNC computes remainder(a, b) as fmod(b + fmod(a, b), b), whose sum is rounded to the precision of b: what is small beside b is lost. Eager adds b where the signs differ, and only there. The lowering is that of every target; here the interpreter of NNC runs it, as this build has no LLVM. (abs is there because a fusion takes two nodes.)' \
  --anonymize --issue ISSUE.md \
  --checked 'newer source, [6296716d](https://github.com/pytorch/pytorch/blob/6296716d/torch/csrc/jit/tensorexpr/lowerings.cpp), read, not run: aten_remainder is still fmod(b + fmod(a, b), b)'
