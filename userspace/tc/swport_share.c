// SPDX-License-Identifier: GPL-2.0
/*
 * Resources shared by a port: the wire between its bands, a buffer with other ports, all with the
 * other queues of its device.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "q_swport.h"

/* SIZE, or off, which is sent as alpha 0. */
int swport_parse_buffer(struct swport_args *args)
{
	if (swport_accept(args, "off"))
		return swport_set(args, TCA_SWPORT_ALPHA, "alpha or buffer off", 0);
	return swport_parse_size(args, TCA_SWPORT_BUFFER, "buffer",
				 SWPORT_LIMIT_MIN, SWPORT_LIMIT_MAX);
}

int swport_parse_alpha(struct swport_args *args)
{
	const char *word = swport_next(args);
	char *end = NULL;
	double alpha = 0;

	if (word)
		alpha = rint(strtod(word, &end) * SWPORT_ALPHA_ONE);
	if (!word || end == word || *end || !(alpha >= 1 && alpha <= SWPORT_ALPHA_MAX)) {
		fprintf(stderr, "swport: bad alpha \"%s\": must be a number of 2^-16 to %d\n",
			word ? word : "", SWPORT_ALPHA_MAX / SWPORT_ALPHA_ONE);
		return -1;
	}
	return swport_set(args, TCA_SWPORT_ALPHA, "alpha or buffer off", alpha);
}

/* SIZE, or auto, which is sent as 0. */
int swport_parse_memory(struct swport_args *args, const char *name)
{
	if (swport_accept(args, "auto"))
		return swport_set(args, TCA_SWPORT_MEMORY_LIMIT, name, 0);
	return swport_parse_size(args, TCA_SWPORT_MEMORY_LIMIT, name,
				 SWPORT_MEMORY_MIN, UINT32_MAX);
}

/* S, above 0 to 1. */
int swport_parse_share(struct swport_args *args)
{
	const char *word = swport_next(args);
	char *end = NULL;
	double share = 0;

	if (word)
		share = rint(strtod(word, &end) * SWPORT_CONTROL_SHARE_MAX);
	if (!word || end == word || *end || !(share >= 1 && share <= SWPORT_CONTROL_SHARE_MAX)) {
		fprintf(stderr,
			"swport: bad control-share \"%s\": must be a number of 2^-16 to 1\n",
			word ? word : "");
		return -1;
	}
	return swport_set(args, TCA_SWPORT_CONTROL_SHARE, "control-share", share);
}

void swport_print_share(struct rtattr **tb)
{
	if (!swport_has(tb[TCA_SWPORT_ALPHA], sizeof(uint32_t)) ||
	    !swport_get_u32(tb[TCA_SWPORT_ALPHA]))
		return;
	swport_print_size("buffer", "buffer %s ", tb[TCA_SWPORT_BUFFER]);
	print_color_float(PRINT_ANY, COLOR_NONE, "alpha", "alpha %.10g ",
			  swport_shortest(swport_get_u32(tb[TCA_SWPORT_ALPHA]), SWPORT_ALPHA_ONE));
}

void swport_print_control_share(struct rtattr *attr)
{
	if (swport_has(attr, sizeof(uint32_t)))
		print_color_float(PRINT_ANY, COLOR_NONE, "control_share", "control-share %g ",
				  swport_shortest(swport_get_u32(attr), SWPORT_CONTROL_SHARE_MAX));
}

/* The word of a flag that is set; no output for the default. */
void swport_print_word(const char *word, struct rtattr *attr)
{
	if (!swport_has(attr, sizeof(uint32_t)) || !swport_get_u32(attr))
		return;
	print_color_bool(PRINT_JSON, COLOR_NONE, word, NULL, true);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", word);
}
