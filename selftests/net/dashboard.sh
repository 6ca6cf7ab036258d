#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The dashboard for Grafana: it has what an import needs, each metric that it asks for is one that
# quell stat exports with all modules loaded, and each label.
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

dashboard=../../userspace/examples/grafana.json

# What Grafana's page "Dashboard JSON model" names, and __inputs, which asks for the data source.
has_what_an_import_needs()
{
	json '.id == null and (.uid | test("^[a-zA-Z0-9_-]{1,40}$")) and (.title | length) > 0 and
		(.schemaVersion | type) == "number" and (.version | type) == "number" and
		(.time | has("from") and has("to")) and (.tags | type) == "array" and
		(.annotations.list | type) == "array" and (.editable | type) == "boolean"' \
		"$dashboard" &&
	json '.__inputs == [.__inputs[] | select(.type == "datasource" and .pluginId == "prometheus")]
		and (.__inputs[0].name as $name | [.. | .datasource? // empty | .uid] |
		length > 14 and all(. == "${\($name)}")) and
		([.__requires[].type] | unique) == ["datasource", "grafana", "panel"]' "$dashboard"
}

panels_are_whole()
{
	json '(.panels | length) >= 8 and ([.panels[].id] | length == (unique | length)) and
		(.panels | all((.type | length) > 0 and (.title | length) > 0 and
			(.gridPos | .h > 0 and .w > 0 and .x >= 0 and .x + .w <= 24 and .y >= 0) and
			(.targets | length > 0 and all((.expr | length) > 0 and
				(.legendFormat | length) > 0) and
			 ([.[].refId] | length == (unique | length))))) and
		([.panels[].type] - [.__requires[] | select(.type == "panel") | .id]) == []' \
		"$dashboard" &&
	json '[.panels[].gridPos | "\(.x) \(.y)"] | length == (unique | length)' "$dashboard"
}

# queries: of panels and variables, a line each.
queries()
{
	jq -r '(.panels[].targets[].expr), (.templating.list[].query.query)' "$dashboard"
}

asks_what_is_there()
{
	quell stat --metrics >"$dir/metrics" &&
	sed -nE 's/^([a-z_0-9]+)\{.*/\1/p' "$dir/metrics" | sort -u >"$dir/have" &&
	queries | grep -oE '\bquell_[a-z_0-9]+' | sort -u >"$dir/asked" &&
	[ "$(wc -l <"$dir/asked")" -ge 20 ] && comm -23 "$dir/asked" "$dir/have" >"$dir/missing" ||
		return 1
	cat "$dir/missing"
	[ ! -s "$dir/missing" ]
}

# Every query is of a metric of ours, and all have the same host and interval; those of times in
# milliseconds are divided, which makes them numbers of flows.
queries_are_of_one_kind()
{
	local by='sum by \((instance|instance, module)\)' label='instance=~"\$instance"'
	local metric

	metric="quell_[a-z_0-9]+\{$label(,module=~\"\\\$module\")?\}"
	queries | grep -vE -e "^$by \($metric\)$" \
		-e "^$by \(rate\($metric\[\\\$__rate_interval\]\)\)$" \
		-e "^$by \(rate\(quell_[a-z_]+_ms_total\{.*\}\[\\\$__rate_interval\]\)\) / 1000$" \
		-e '^label_values\(quell_flows, (instance|module)\)$' >"$dir/others"
	cat "$dir/others"
	[ ! -s "$dir/others" ]
}

# Who governs flows, and each reason for CUBIC that the kernel counts.
has_who_governs()
{
	queries | grep -oE '\bquell_[a-z_]+_ms_total' | sort -u >"$dir/asked" &&
	quell stat --metrics | sed -nE 's/^(quell_[a-z_]+_ms_total)\{.*/\1/p' | sort -u >"$dir/have" &&
	[ "$(wc -l <"$dir/have")" -ge 10 ] && diff "$dir/have" "$dir/asked"
}

plan 5
check "it has what an import needs" has_what_an_import_needs
check "its panels are whole" panels_are_whole
check "its queries are of one kind" queries_are_of_one_kind
load_all
check "each metric it asks for is there" asks_what_is_there
check "it shows what governs flows, by each reason" has_who_governs
finish
