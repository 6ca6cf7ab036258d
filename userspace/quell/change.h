/* SPDX-License-Identifier: GPL-2.0 */
/*
 * New values of an algorithm's parameters, as typed and as checked: "quell cc" sends them to the
 * kernel module, "quell bpf" writes them to a map.
 */
#ifndef QUELL_CLI_CHANGE_H
#define QUELL_CLI_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "preset.h"

struct app;

struct change {
	const struct param	*param;
	const char		*text;	/* new value as typed, NULL for the default */
	uint64_t		value;	/* new value in base units; not sent in a reset */
	/* offset of the end of its attribute in the message, bytes */
	uint32_t		end;
};

struct changes {
	const struct cc		*cc;
	struct change		*list;	/* room for a change of each parameter, and one more */
	struct preset_word	*words;	/* the same for the words of a preset */
	size_t			n;
};

int changes_alloc(struct changes *changes, const struct cc *cc);
void changes_free(struct changes *changes);
int changes_add(struct changes *changes, const char *name, const char *text);
const struct preset *preset_find(const char *algo, const char *name);
int changes_add_preset(struct changes *changes, const struct preset *preset);

#endif /* QUELL_CLI_CHANGE_H */
