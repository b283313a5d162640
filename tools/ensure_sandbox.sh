#!/bin/sh
# See to bubblewrap and gcc for the tests of programs. Where they cannot be had these tests are skipped by name.
set -u
command -v bwrap >/dev/null 2>&1 && command -v gcc >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "osrag: no bubblewrap here and no apt-get to install it; the tests of the sandbox will be skipped" >&2
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo -n"
    if ! $as_root true 2>/dev/null; then
        echo "osrag: no bubblewrap here and no right to install it; the tests of the sandbox will be skipped" >&2
        exit 0
    fi
fi
echo "osrag: installing bubblewrap for the tests of programs" >&2
$as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends bubblewrap gcc libc6-dev >/dev/null ||
    echo "osrag: bubblewrap could not be installed; the tests of the sandbox will be skipped" >&2
exit 0
