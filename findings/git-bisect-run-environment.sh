#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# git 2.39.5 (Debian 12): in a linked worktree "git bisect run" exports GIT_DIR to the command that
# it runs, in the main worktree it does not.  "git -C DIR" of that command then works on the
# bisected repository, whichever DIR is: a test that commits in a repository of its own commits to
# the one under test.
#
# Guess: -C DIR chooses the repository of DIR, and a test need not know where it is run.
#
# Output seen, the directory of "git -C DIR rev-parse --git-dir" of another repository:
#
#	main worktree: GIT_DIR unset: other/.git
#	linked worktree: GIT_DIR set: tree/.git/worktrees/linked
set -euo pipefail
version=1:2.39.5-0+deb12u3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "git=$version" > /dev/null
dpkg-deb -x git_*.deb root
export PATH=$dir/root/usr/bin:$PATH GIT_EXEC_PATH=$dir/root/usr/lib/git-core HOME=$dir
git config --global user.name name
git config --global user.email mail
git config --global init.defaultBranch main

git init -q other
git init -q tree
for n in 1 2 3 4; do
	git -C tree commit -q --allow-empty -m "$n"
done
git -C tree worktree add -q --detach ../linked

cat > show.sh <<TEST
#!/bin/sh
echo "seen: \$(git -C $dir/other rev-parse --absolute-git-dir) \${GIT_DIR:+set}"
TEST
chmod +x show.sh

# seen TREE: the repository that the test's "git -C other" uses.
seen()
{
	(cd "$1" && git bisect start HEAD HEAD~3 > /dev/null && git bisect run "$dir/show.sh" &&
		git bisect reset > /dev/null 2>&1) 2>&1 | sed -n 's/^seen: //p' | head -n 1
}

in_tree=$(seen tree)
in_linked=$(seen linked)
for row in "main worktree:$in_tree" "linked worktree:$in_linked"; do
	state="unset"
	[[ $row != *set ]] || state="set"
	repository=${row#*:}
	repository=${repository%% *}
	echo "${row%%:*}: GIT_DIR $state: ${repository#"$dir/"}"
done | tee out
if [ "$(cat out)" != "main worktree: GIT_DIR unset: other/.git
linked worktree: GIT_DIR set: tree/.git/worktrees/linked" ]; then
	echo "changed: the environment of git bisect run"
	exit 1
fi
