#!/bin/sh
# See to a Chromium for the browser tests. Where none can be had the tests are skipped by name.
set -u
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if ! command -v apt-get >/dev/null 2>&1; then
    echo "osrag: no Chromium here and no apt-get to install it; the browser tests will be skipped" >&2
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo -n"
    if ! $as_root true 2>/dev/null; then
        echo "osrag: no Chromium here and no right to install it; the browser tests will be skipped" >&2
        exit 0
    fi
fi
echo "osrag: installing Chromium for the browser tests" >&2
$as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null ||
    echo "osrag: Chromium could not be installed; the browser tests will be skipped" >&2
exit 0
