# completions.sh KVC: what bash's function completes, one case a line. No file
# of this folder is looked at.
cd "$(mktemp -d)" && touch spec.yaml || exit
eval "$("$1" completions bash)" # bash 3.2 reads no script from <()
complete -p kvc

# The words of a command line; the last one is to be completed.
try() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=(left over)
  _kvc
  echo "$*> ${COMPREPLY[*]}"
}
try kvc c
try kvc compile --e
try kvc compile spec.yaml --emit a
try kvc compile spec.yaml --emit = o
try kvc compile spec.yaml --target ''
try kvc compile spec.yaml -o ''
try kvc fuzz --s
try kvc check -
try kvc help i
try kvc completions ''
try kvc nothing --x
rm spec.yaml && rmdir "$PWD"
