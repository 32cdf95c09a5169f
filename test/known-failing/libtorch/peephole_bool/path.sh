# needs: explain list backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --accuracy -o m.json
repro report m.json --title 'TorchScript: mul(bool tensor, 1) becomes the bool tensor, not int64' \
  --note 'mul(bool tensor, 1) is an int64 tensor by type promotion; PeepholeOptimizeAliasSensitive puts the bool tensor in its place: of True, x + x is True then, not 2.' --data ones \
  --anonymize --issue ISSUE.md \
  --checked 'newer source, [035290b7](https://github.com/pytorch/pytorch/blob/035290b7/torch/csrc/jit/passes/peephole_alias_sensitive.cpp), read, not run: PeepholeOptimizeAliasSensitive still asks whether 1 is an int, not whether x is bool'
