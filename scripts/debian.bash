# To be sourced: `install PACKAGE…` installs those of Debian's (or Ubuntu's) packages that are missing.
install() {
    local as_root=()
    if dpkg --status "$@" &>/dev/null; then return; fi
    if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -y -qq "$@"
}
