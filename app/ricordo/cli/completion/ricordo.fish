# Completion of `ricordo` in fish 3.1 or newer.

function __ricordo_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l number (count $before)
    set -l program $before[1]
    type -q -- $program; or set program ricordo
    set -l reply (command $program __complete fish $number $before[2..-1] "$current" 2>/dev/null)
    set -l ways (string split ' ' -- $reply[1])
    test "$ways[1]" = ok; or return
    set -e reply[1]
    test (count $reply) -gt 0; and printf '%s\n' $reply
    set -l prefix (string match -r -- '^--[^=]*=' $current)
    test -n "$prefix"; or set prefix ''
    set -l path (string replace -r -- '^--[^=]*=' '' $current)
    if contains -- files $ways
        printf '%s\n' $prefix(__fish_complete_path $path)
    else if contains -- directories $ways
        printf '%s\n' $prefix(__fish_complete_directories $path '')
    end
end

complete -c ricordo -e
complete -c ricordo -f -a '(__ricordo_complete)'
