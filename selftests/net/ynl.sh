#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel tree's ynl drives the family from its specification: which is valid by the
# schema, and describes all that dumps, requests and notifications have: ynl calls an
# attribute that it lacks UnknownAttr.  Without --process-unknown it would fail at these, but
# at those of type pad, too, which 64-bit values have on this architecture.  For run-uml: it wants python3, and the source
# that the laboratory's kernel is built from, of Debian's linux-source.
# shellcheck disable=SC2086,SC2154 # awk; numbers; quell_top comes from the command
# line; called by name

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

source=$(dirname "$(readlink "$quell_top/build/lab/linux")")/source
port=8080 client="" server=""

make_network()
{
	local netns

	modprobe -a tcp_swift tcp_dart || return 1
	new_netns client server && cable "$client" wire "$server" wire 10.92.0.2/24 10.92.0.1/24 &&
	choose_cc "$client" swift && choose_cc "$server" dart || return 1
	for netns in "$client" "$server"; do
		quell -n "$netns" cc set quell option 1 && quell -n "$netns" link set wire rate 1gbit ||
			return 1
	done
	serve "$server" $port && talker talker "$client" && say "open 4" "connect 10.92.0.1 $port" "xfer 50000"
}

# The schema stands beside the folder of the specifications.
make_tree()
{
	mkdir -p "$dir/netlink/specs" && cp "$source"/Documentation/netlink/*.yaml "$dir/netlink/" &&
	cp "$quell_top/Documentation/netlink/specs/quell.yaml" "$dir/netlink/specs/"
}

# ynl NETNS ARGUMENT...: its answer, checked against the schema first.
ynl()
{
	in_netns "$1" /usr/bin/python3 "$source/tools/net/ynl/cli.py" \
		--spec "$dir/netlink/specs/quell.yaml" --process-unknown --output-json "${@:2}" \
		>"$dir/out" 2>"$dir/err" && [ ! -s "$dir/err" ] && all_known "$dir/out" && return 0
	cat "$dir/out" "$dir/err"
	return 1
}

all_known()
{
	! grep UnknownAttr "$1"
}

says()
{
	json "$1" "$dir/out"
}

# A misspelled key is found, or nothing was validated.
schema_is_applied()
{
	sed 's/nested-attributes: param$/nested-attribute: param/' "$dir/netlink/specs/quell.yaml" \
		>"$dir/netlink/specs/wrong.yaml"
	refuses "nested-attribute'* was unexpected|is not valid" in_netns "$client" /usr/bin/python3 \
		"$source/tools/net/ynl/cli.py" --spec "$dir/netlink/specs/wrong.yaml" --list-ops
}

all_dumps()
{
	ynl "$client" --dump cc-get && says 'map(.name) | contains(["quell", "swift", "dart"])' &&
	ynl "$client" --dump flow-get && says 'length == 1 and .[0].cc == "swift" and .[0].option == "on" and
		.[0].dport == 8080 and (.[0].counter | length) > 10' &&
	ynl "$server" --dump flow-get && says 'length == 1 and .[0].cc == "dart" and .[0].sport == 8080' &&
	ynl "$client" --dump stat-get && says '.[0].name == "quell" and (.[0].counter | length) > 70' &&
	ynl "$client" --dump link-get && says 'map(.rate) | contains([125000000])' &&
	ynl "$server" --dump receiver-get && says 'length == 1 and .[0].rate == 125000000' &&
	ynl "$server" --dump sender-get && says 'type == "array"' &&
	ynl "$server" --dump lookahead-get && says '. == []'
}

ask_and_set()
{
	ynl "$client" --do cc-get --json '{"name": "swift"}' &&
	says '.name == "swift" and (.param | map(select(.name == "beta"))[0].unit == "q16")' &&
	ynl "$client" --do cc-set --json '{"name": "swift", "param": [{"name": "beta", "value": 30000}]}' &&
	ynl "$client" --do cc-get --json '{"name": "swift"}' &&
	says '.param | map(select(.name == "beta"))[0].value == 30000' &&
	ynl "$client" --do cc-reset --json '{"name": "swift"}' &&
	ynl "$client" --do cc-get --json '{"name": "swift"}' && says '.param | all(.value == .default)'
}

# What is wrong is named by its path in the specification.
error_has_a_path()
{
	! ynl "$client" --do cc-set --json '{"name": "swift", "param": [{"name": "beta", "value": 1000000}]}' &&
	grep -q "Numerical result out of range" "$dir/out" && grep -q "beta: allowed are" "$dir/out" &&
	grep -q "bad-attr.*\.param\.value" "$dir/out"
}

# notified GROUP FILTER COMMAND...: what comes of the command by that group, with ynl waiting.
notified()
{
	start_in "$client" /usr/bin/python3 "$source/tools/net/ynl/cli.py" --sleep 3 \
		--spec "$dir/netlink/specs/quell.yaml" --process-unknown --output-json --subscribe "$1" \
		>"$dir/ntf" 2>&1
	poll 10 joined "$started" && "${@:3}" && wait "$started" && all_known "$dir/ntf" &&
		json "$2" "$dir/ntf"
}

# /proc/net/netlink has the first 32 groups; ours are among them on this kernel.
joined()
{
	in_netns "$client" awk -v pid="$1" '$2 == 16 && $3 == pid && $4 !~ /^0+$/ { found = 1 }
		END { exit !found }' /proc/net/netlink
}

change_all()
{
	quell -n "$client" cc set swift beta 0.5 ai 1gbit && quell -n "$client" link set wire rate 10gbit &&
	quell -n "$client" sender weight 10.92.0.1 4 dev wire &&
	quell -n "$client" lookahead add job dev wire 10.92.0.1 && quell -n "$client" lookahead del job
}

settings_are_notified()
{
	notified settings 'map(.name) == ["cc-ntf", "link-ntf", "weight-ntf", "lookahead-add-ntf", "lookahead-del-ntf"]
		and .[0].msg.name == "swift" and (.[0].msg.param | map(.name)) == ["ai", "beta"]
		and .[1].msg.rate == 1250000000 and .[2].msg.weight == 4
		and .[3].msg.members == 1 and .[3].msg == .[4].msg' change_all
}

flows_are_notified()
{
	notified flows 'map(.name) == ["flow-option-ntf"] and .[0].msg.option == "on" and
		.[0].msg.cc == "swift" and .[0].msg.dport == 8080' say reset "open 4" "connect 10.92.0.1 $port" "xfer 1000"
}

plan 7
check "network, and a flow" make_network
make_tree
check "the schema is applied" schema_is_applied
check "dumps" all_dumps
check "requests" ask_and_set
check "an error names the attribute" error_has_a_path
check "settings are notified" settings_are_notified
check "flows are notified" flows_are_notified
finish
