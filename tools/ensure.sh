#!/bin/sh
# See to what some tests need beside Python:
#     ensure.sh PROGRAMS PACKAGES
# PROGRAMS are names, with | between those of which one will do; PACKAGES are Debian's. Where they cannot be had,
# the tests that need them are skipped by name.
set -u
there() {
    for names in $1; do
        found=""
        for name in $(echo "$names" | tr '|' ' '); do
            command -v "$name" >/dev/null 2>&1 && found=yes
        done
        [ "$found" ] || return 1
    done
}
there "$1" && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "osrag: no $1 here and no apt-get to install it; the tests that need it will be skipped" >&2
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo -n"
    if ! $as_root true 2>/dev/null; then
        echo "osrag: no $1 here and no right to install it; the tests that need it will be skipped" >&2
        exit 0
    fi
fi
echo "osrag: installing $2 for the tests" >&2
# shellcheck disable=SC2086  # several packages
$as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $2 >/dev/null ||
    echo "osrag: $2 could not be installed; the tests that need it will be skipped" >&2
exit 0
