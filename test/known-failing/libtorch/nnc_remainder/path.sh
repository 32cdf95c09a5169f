# needs: explain list backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --backend-option fuser=nnc --accuracy -o m.json
repro report m.json --title 'NNC: remainder(a, b) is imprecise where a is small compared with b' \
  --note 'NNC computes remainder(a, b) as fmod(b + fmod(a, b), b), whose sum is rounded to the precision of b: a small fmod(a, b) is lost. Eager adds b only where the signs differ. All targets share this lowering; here the interpreter of NNC runs it, because this build has no LLVM. (abs is needed because a fusion takes two nodes.)' \
  --anonymize --issue ISSUE.md \
  --checked 'newer source, [6296716d](https://github.com/pytorch/pytorch/blob/6296716d/torch/csrc/jit/tensorexpr/lowerings.cpp), read, not run: aten_remainder is still fmod(b + fmod(a, b), b)'
