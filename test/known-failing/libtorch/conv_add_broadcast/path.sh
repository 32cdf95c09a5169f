# needs: explain list backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --backend-option optimize_for_inference=on --accuracy -o m.json
repro report m.json --note 'Freezing folds the constant of shape [1, 2] into the bias of the convolution as if its shape were [1, 2, 1, 1]: it takes dimension 1 from the left for the channels, but broadcasting aligns dimensions from the right.' \
  --issue ISSUE.md \
  --checked 'newer source, [743205db](https://github.com/pytorch/pytorch/blob/743205db/torch/csrc/jit/passes/frozen_conv_folding.cpp), read, not run: opDoesNotBroadCastWithConv still counts dimension 1 from the left'
