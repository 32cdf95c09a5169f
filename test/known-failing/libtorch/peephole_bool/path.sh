# needs: explain list backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --accuracy -o m.json
repro report m.json --title 'TorchScript: mul(bool tensor, 1) becomes the bool tensor, not int64' \
  --note 'By type promotion mul(bool tensor, 1) is an int64 tensor. PeepholeOptimizeAliasSensitive replaces it by the bool tensor x, so that x + x is True, not 2, for x = True.' --data ones \
  --anonymize --issue ISSUE.md \
  --checked 'newer source, [035290b7](https://github.com/pytorch/pytorch/blob/035290b7/torch/csrc/jit/passes/peephole_alias_sensitive.cpp), read, not run: PeepholeOptimizeAliasSensitive still checks whether 1 is an int, but not whether x is bool'
