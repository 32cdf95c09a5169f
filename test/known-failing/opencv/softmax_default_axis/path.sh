# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
minify model_5525.json -o m.json
repro m.json --anonymize --issue ISSUE.md
