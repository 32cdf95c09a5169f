# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note 'The optimizer moves the Transpose behind Resize and permutes scales, but not axes (opset 18), although scales[i] belongs to axes[i].' \
  --issue ISSUE.md
