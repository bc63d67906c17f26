#compdef ricordo
# Completion of `ricordo` in zsh: a file `_ricordo` in $fpath, or evaluated after compinit.

_ricordo() {
  local -a reply ways words_before words_after matching
  local program=${${(Q)words[1]}/#\~\//$HOME/}
  (( $+commands[$program] )) || [[ $program == */* && -x $program ]] || program=ricordo
  words_before=("${(@Q)words[2,CURRENT-1]}")
  words_after=("${(@Q)words[CURRENT+1,-1]}")
  (( CURRENT > 2 )) || words_before=()
  (( CURRENT < $#words )) || words_after=()
  reply=("${(@f)$(command $program __complete zsh $((CURRENT - 1)) "${words_before[@]}" "${(Q)${:-$IPREFIX$PREFIX}}" "${words_after[@]}" 2> /dev/null)}")
  [[ ${reply[1]} == ok* ]] || return 1
  ways=(${=reply[1]})
  shift reply
  (( ${ways[(I)equals]} )) && compset -P 1 '*='
  (( ${ways[(I)loose]} )) && matching=(-U) && compstate[insert]=menu
  local result=1
  if (( $#reply )); then
    if (( ${ways[(I)options]} )); then
      _describe -o -t options option reply "${matching[@]}" && result=0
    else
      _describe -t values value reply "${matching[@]}" && result=0
    fi
  fi
  if (( ${ways[(I)files]} )); then
    _files && result=0
  elif (( ${ways[(I)directories]} )); then
    _directories && result=0
  fi
  return result
}

if [[ $funcstack[1] == _ricordo ]]; then
  _ricordo "$@"
else
  compdef _ricordo ricordo
fi
