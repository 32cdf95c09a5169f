# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --input model.safetensors --backend onnxruntime --accuracy --delta-passes -operands,data -o m.json
repro report m.json --note 'The fusion looks for epsilon in the second operand of Add only and takes 1e-5 where it is not there.' \
  --data real --issue ISSUE.md
