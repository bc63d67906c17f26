#!/bin/sh
# Prints the report of the coming day for every station.
set -eu
day=$(date -u -d tomorrow +%Y-%m-%d)
for station in genova levanto la-spezia; do
    python -m tidepool report "$station" "$day"
done
