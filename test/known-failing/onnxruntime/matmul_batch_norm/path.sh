# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note 'The scale and bias of BatchNormalization are folded into the columns of the weight of MatMul, although the Transpose in between has moved the channels.' \
  --anonymize --issue ISSUE.md
