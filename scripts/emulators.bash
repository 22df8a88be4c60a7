# To be sourced: installs the emulators of Windows and of Linux on arm64, on Debian and Ubuntu on x86-64.
for package in wine64 qemu-user-static libc6-arm64-cross; do
    if ! dpkg --status "$package" &>/dev/null; then
        as_root=()
        if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
        "${as_root[@]}" apt-get update -qq
        "${as_root[@]}" apt-get install -y -qq "$package"
    fi
done
