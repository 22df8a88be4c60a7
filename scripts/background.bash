# To be sourced: `begin COMMAND…` starts a command in the background, `ended` waits for it, and prints
# what it printed if it fails. One command at a time; if the script ends before, the command does.
begin() {
    log=$(mktemp)
    set -m # a group of its own, so that all of it can be ended
    "$@" &>"$log" &
    job=$!
    set +m
}
ended() {
    wait "$job" || { cat "$log" && return 1; }
}
trap 'kill -- "-${job:-}" 2>/dev/null || true' EXIT
