# targets.sh KVC TARGET: tile programs of some specs without what targets may
# differ in.
cd "$(dirname "$0")/../.."
for spec in test/pipeline/Inputs/stages.yaml docs/examples/tiny.yaml \
  specs/smollm2-135m-kivi4-stream.yaml specs/smollm2-135m-yoco.yaml; do
  "$1" compile "$spec" --target "$2" --emit tiles -o - | sed \
    -e '/#kv\.layout</d' -e '/kv\.target =/d' \
    -e 's/schedule <heads[^>]*>//' \
    -e '/arith\.constant [0-9]* : index/d' -e 's/%c[0-9][0-9]*\>/%c/g'
done
