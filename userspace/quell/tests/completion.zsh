#!/usr/bin/zsh -f
# SPDX-License-Identifier: GPL-2.0
#
# The completion for zsh, in a terminal: what a tab offers is what bash offers.  Prints TAP.
#
# usage: completion.zsh QUELL-BINARY

zmodload zsh/zpty || exit 1
quell=${1:a} top=${0:a:h:h:h:h}
scratch=$(mktemp -d)
number=0 failed=0

report()
{
	number=$((number + 1))
	if [[ $1 -eq 0 ]]; then
		print -r "ok $number - $2"
	else
		failed=1
		print -r "not ok $number - $2"
	fi
}

# What a tab offers at the end of a line, sorted, on one line.
typeset -A want
lines=()
offers()
{
	lines+=("$2")
	want[$2]=$1
}

offers "bpf cc doctor flow help hwtstamp link lookahead monitor restore save sender stat sync trace" "quell "
offers "preset reset set show" "quell cc "
offers "preset" "quell -n somewhere cc pre"
offers "--json" "quell --j"
offers "nscc nscc-800g nscc-trim" "quell cc preset smartt nscc"
offers "delay inflight rate retrans rtt window" "quell flow show sort "
offers "lo" "quell flow show dev lo"
offers "preset probabilistic" "quell bpf load swift p"
offers "vaisf-iii-d" "quell bpf load swift preset=vaisf-i"
offers "adapt ai" "quell bpf load swift preset=vaisf-iii-d beta=0.5 a"
offers "" "quell bpf load swift ai=1"
offers "--if" "quell doctor "
offers "files quell.yml quoted" "quell restore files/qu"
offers "files quell.yml quoted" "quell -batch files/qu"
offers "files" "quell bpf load swift dir fi"

mkdir $scratch/files $scratch/functions
touch $scratch/files/quell.yml $scratch/files/quoted
cp $top/userspace/completion/_quell $scratch/functions/
cat > $scratch/rc << END
cd $scratch
PATH=${quell:h}:\$PATH
export QUELL_COMPLETION=$top/userspace/completion/quell
fpath=($scratch/functions \$fpath)
autoload -Uz compinit
compinit -u -D
compadd()
{
	local -a hits
	builtin compadd -A hits "\$@"
	print -rl -- \$hits >> $scratch/hits
	builtin compadd "\$@"
}
tab()
{
	: > $scratch/hits
	_main_complete
	compstate[insert]= compstate[list]=
}
told()
{
	print -r -- "\$BUFFER	\$(sort -u $scratch/hits | xargs)" >> $scratch/told
	BUFFER=
}
zle -C tab complete-word tab
zle -N told
bindkey '^I' tab '^T' told
END
zpty shell zsh -f -i
zpty -w shell ". $scratch/rc"
for line in $lines; do
	zpty -w -n shell "$line"$'\t\x14'
done
zpty -w shell exit
while zpty -r shell text; do :; done
zpty -d shell

for line in $lines; do
	if [[ -e $scratch/told ]]; then
		got=$(awk -F '\t' -v line="$line" '$1 == line { print "=" $2 }' $scratch/told)
	else
		got=""
	fi
	[[ $got == "=${want[$line]}" ]]
	report $? "zsh offers '${want[$line]}' for '$line'"
	[[ $got == "=${want[$line]}" ]] || print -r "# it offers '${got}'"
done
# Not in a trap: what is forked here would run it, too.
rm -rf $scratch
print "1..$number"
exit $failed
