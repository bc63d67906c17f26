#!/bin/sh
# Starts Ricordo for an agent. `ricordo connect` wrote this file, `ricordo disconnect` removes it.
# Where Ricordo is not installed it ends with 0: notes never stop an agent.
agent=@AGENT@
python=@PYTHON@
package=@PACKAGE@
state=@STATE@

[ "$1" != hook ] || set -- "$@" "--agent=$agent"
[ -z "$state" ] || set -- "$@" "--state=$state"
if [ -x "$python" ] && [ -f "$package/__main__.py" ]; then
    exec "$python" -P -c 'import sys; from ricordo.__main__ import main; sys.exit(main())' "$@"
fi
# moved or upgraded since: as pipx and uv install it
for program in ricordo "$HOME/.local/bin/ricordo"; do
    if command -v "$program" >/dev/null 2>&1; then
        "$program" "$@"
        [ $? -ge 126 ] || exit 0
    fi
done
if command -v uvx >/dev/null 2>&1; then
    uvx --offline --quiet ricordo "$@"
fi
exit 0
