#!/usr/bin/env bash
# Makes sure that a Chromium is there for the browser tests: from the system's package manager, when it is missing and the user may.
set -u
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Chromium for the browser tests ..."
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null && exit 0
fi
echo "No Chromium here: the browser tests will be skipped (install the package 'chromium' to run them)." >&2
exit 1
