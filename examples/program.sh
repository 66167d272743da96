#!/bin/sh
# A tagger as a shell program, for use = "command:sh program.sh": the id stands first in every question's line.
echo "ready" >&2 # standard output carries answers and nothing else
while IFS= read -r question; do
    id=$(printf '%s\n' "$question" | sed 's/^{"id": "\([^"]*\)".*/\1/')
    printf '{"id": "%s", "answer": ["person", "outdoors"]}\n' "$id"
done
