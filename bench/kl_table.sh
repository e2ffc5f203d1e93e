#!/bin/sh
# The divergence of quantised models from their source over a text, as a table in Markdown:
#   bench/kl_table.sh ARION MODEL TEXT CALIBRATION_TEXT FOLDER
# MODEL is told in BF16 first, which also makes a source of a quantised file. The first 8,704 tokens of TEXT are read in
# windows of 512, of which the second halves are scored. CALIBRATION_TEXT should not overlap with them; its first 40,000
# tokens give the importance. Files stay in FOLDER and are used again.
set -eu
arion=$1 model=$2 text=$3 calibration=$4 folder=$5
source=$folder/bf16.gguf importance=$folder/imatrix.gguf
[ -f "$source" ] || "$arion" quantize "$model" "$source" --type BF16 >"$folder/log"
[ -f "$importance" ] || "$arion" imatrix "$source" --file "$calibration" --max-tokens 40000 -o "$importance" >>"$folder/log"

echo '| type | imatrix | MiB | mean KL | same top token |'
echo '|---|---|---|---|---|'
for kind in Q8_0 Q6_K Q5_K_M Q4_K_M Q4_K_M+ IQ4_XS Q3_K_M Q2_K; do
  type=${kind%+} file=$folder/$kind.gguf with=
  [ "$kind" = "$type" ] || with=yes
  [ -f "$file" ] || "$arion" quantize "$source" "$file" --type "$type" ${with:+--imatrix "$importance"} >>"$folder/log"
  "$arion" eval kl "$file" --reference "$source" --file "$text" --max-tokens 8704 --json >"$folder/$kind.json"
  python3 - "$folder/$kind.json" "$type" "$with" "$(wc -c <"$file")" <<'EOF'
import json, sys
path, kind, importance, size = sys.argv[1:]
result = json.load(open(path))
print(f"| {kind} | {importance or '-'} | {int(size) / 2**20:.1f} | {result['mean_kl']:.5f} | {100 * result['same_top']:.2f} % |")
EOF
done
