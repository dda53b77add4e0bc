# shellcheck shell=sh
# bare.sh - bare Debians to test in: roots of essential packages only. Source it; `skip` is the caller's.
# Needs root, mount namespaces, mmdebstrap or debootstrap (make deps-package), and a package mirror.

PATH=$PATH:/usr/sbin:/sbin # chroot, debootstrap

bare_root() { # folder, suite: skips where that is not to be had
    [ "$(id -u)" = 0 ] || skip 'not root'
    unshare --mount true 2>/dev/null || skip 'no mount namespaces'
    rm -rf "$1"
    mkdir -p "$1"
    if command -v mmdebstrap >/dev/null; then
        mmdebstrap --quiet --variant=minbase "$2" "$1"
    elif command -v debootstrap >/dev/null; then
        debootstrap --variant=minbase "$2" "$1"
    else
        skip 'no mmdebstrap (make deps-package)'
    fi >"$1.log" 2>&1 || skip "no bare Debian $2 to be had"
    # What the machine says about its network. The package ca-certificates writes a file of its own, without what an
    # administrator has added.
    for path in /etc/resolv.conf /etc/pip.conf /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf.d/*registry*; do
        [ ! -e "$path" ] || { mkdir -p "$1${path%/*}" && cp -L "$path" "$1$path"; }
    done
    [ ! -e /etc/ssl/certs/ca-certificates.crt ] || {
        mkdir -p "$1/etc/ssl/certs"
        cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/certificates.pem"
        cp "$1/etc/certificates.pem" "$1/etc/ssl/certs/ca-certificates.crt" # apt's, until then
    }
}

in_root() { # folder, script of the shell
    # shellcheck disable=SC2016 # expands in there
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$1" \
        env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        LC_ALL=C.UTF-8 PIP_CERT=/etc/certificates.pem PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore \
        sh -ec "$2" </dev/null
}
