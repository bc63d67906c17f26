# Completion of `ricordo` in bash 3.2 or newer; needs nothing else.

_ricordo() {
  local line ways=""
  local program=${1/#\~\//$HOME/}
  COMPREPLY=()
  type -P -- "$program" > /dev/null || program=ricordo
  while IFS= read -r line; do
    if [[ -z $ways ]]; then
      ways=$line
    else
      COMPREPLY[${#COMPREPLY[@]}]=$line
    fi
  done < <(command "$program" __complete bash "${COMP_LINE:0:COMP_POINT}" "${COMP_LINE:COMP_POINT}" "$2" 2> /dev/null)
  # bash 3.2 has no compopt: it completes files where nothing else fits
  type compopt > /dev/null 2>&1 || return 0
  case " $ways " in
    *" files "*) ;;
    *" directories "*) compopt +o default -o dirnames ;;
    *) compopt +o default ;;
  esac
  case " $ways " in
    *" nospace "*) compopt -o nospace ;;
  esac
}

complete -o default -F _ricordo ricordo
