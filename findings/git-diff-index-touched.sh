#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# git 2.39.5 (Debian 12): "git diff-index --quiet HEAD", which scripts of versions use, has status 1
# for a file that was only touched, until another command writes its new time into the index:
# "git status" or "git diff" does.  So a tree that was copied builds as "dirty" once.
#
# Guess: contents are compared where the times differ.
#
# Output seen, of a file whose time was changed:
#
#	diff-index: 1
#	diff: 0
#	diff-index after it: 0
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download git=1:2.39.5-0+deb12u3 > /dev/null
dpkg-deb -x git_*.deb root
export PATH=$dir/root/usr/bin:$PATH GIT_EXEC_PATH=$dir/root/usr/lib/git-core
export GIT_CONFIG_GLOBAL=/dev/null GIT_TEMPLATE_DIR=

git init -q tree
cd tree
echo version > file
git add file
git -c user.name=name -c user.email=name@example.com commit -q -m first
touch -d "2001-02-03" file
{
	status=0; git diff-index --quiet HEAD || status=$?
	echo "diff-index: $status"
	status=0; git diff --quiet HEAD || status=$?
	echo "diff: $status"
	status=0; git diff-index --quiet HEAD || status=$?
	echo "diff-index after it: $status"
} > ../out
cat ../out
[ "$(tail -n 2 ../out)" = 'diff: 0
diff-index after it: 0' ] || exit 2
[ "$(head -n 1 ../out)" = 'diff-index: 1' ] || {
	echo "changed: git diff-index compares the contents of a touched file"
	exit 1
}
