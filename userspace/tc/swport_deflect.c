// SPDX-License-Identifier: GPL-2.0
/*
 * Deflection options on swport's command line, and in its output.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>

#include "q_swport.h"

/*
 * ll_name_to_index() also takes "ifN", and any word that begins so, for the index N where no
 * interface has that name.  An alternative name of 16 characters or more that begins with the
 * interface's own index so is refused, too: if_nametoindex() does not know it.
 */
static unsigned int swport_dev_index(const char *dev)
{
	unsigned int ifindex = ll_name_to_index(dev), number;

	if (sscanf(dev, "if%u", &number) == 1 && number == ifindex && !if_nametoindex(dev))
		return 0;
	return ifindex;
}

/* via ADDR dev DEV */
static int swport_parse_via(struct swport_args *args, const struct swport_word *w)
{
	const char *address = swport_next(args), *dev = NULL;
	struct swport_via *via;

	if (args->via_nr == SWPORT_DEFLECT_VIA_MAX)
		return swport_error("deflect via must be given 1 to %d times",
				    SWPORT_DEFLECT_VIA_MAX);
	via = &args->via[args->via_nr];
	if (address && inet_pton(AF_INET, address, via->addr) == 1)
		via->addr_bytes = 4;
	else if (address && inet_pton(AF_INET6, address, via->addr) == 1)
		via->addr_bytes = 16;
	else
		return swport_refuse("deflect via", address, "an IPv4 or IPv6 address");
	if (swport_accept(args, "dev"))
		dev = swport_next(args);
	via->ifindex = dev ? swport_dev_index(dev) : 0;
	if (!via->ifindex)
		return swport_error("bad deflect via %s dev \"%s\": must be the name of a device",
				    address, dev ? dev : "");
	if (args->dev && ll_name_to_index(args->dev) == via->ifindex)
		return swport_error("bad deflect via %s dev \"%s\": must not be the port's own device",
				    address, dev);
	args->via_nr++;
	return 0;
}

/* tokens BASE MAX */
static int swport_parse_tokens(struct swport_args *args, const struct swport_word *w)
{
	static const struct swport_word base = {
		.word = "deflect tokens' base", .attr = TCA_SWPORT_DEFLECT_TOKEN_BASE,
		.max = SWPORT_DEFLECT_DSCP_MAX,
	};

	return swport_parse_number(args, &base) ? -1 : swport_parse_number(args, w);
}

static const char * const releases[SWPORT_CHOICES] = {
	[SWPORT_RELEASE_IDLE] = "idle",
	[SWPORT_RELEASE_END] = "end",
};

static const char * const choices[SWPORT_CHOICES] = {
	[SWPORT_CHOICE_RANDOM] = "random",
	[SWPORT_CHOICE_SHORTER] = "shorter",
};

/*
 * A size, or the time in which the port sends as much: a detour is worth while for a packet
 * that would wait longer here.  Sizes never end in s, and times always do.
 */
static int swport_parse_threshold(struct swport_args *args, const struct swport_word *w)
{
	const char *word = swport_peek(args);
	size_t length = word ? strlen(word) : 0;
	double ns;

	if (!length || tolower((unsigned char)word[length - 1]) != 's')
		return swport_parse_size(args, w);
	swport_next(args);
	if (!swport_read_time(word, &ns) || ns < 1 || ns > UINT32_MAX)
		return swport_refuse(w->name, word, "a size, or a time of 1ns to 4s");
	args->threshold_is_time = true;
	return swport_set(args, w->attr, w->name, ns);
}

/* Where the threshold is a time, the rate, which may come after it, makes it bytes. */
int swport_finish_threshold(struct swport_args *args)
{
	uint64_t *threshold = &args->value[TCA_SWPORT_DEFLECT_THRESHOLD];
	uint64_t rate_bytes_ps = args->value[TCA_SWPORT_RATE];
	uint64_t product;

	if (!args->threshold_is_time)
		return 0;
	if (!rate_bytes_ps)
		return swport_error("a deflect threshold in time needs the port's rate in the same"
				    " command");
	if (__builtin_mul_overflow(*threshold, rate_bytes_ps, &product) ||
	    product / 1000000000 > SWPORT_LIMIT_MAX)
		return swport_error("bad deflect threshold: at this rate more than %u bytes",
				    SWPORT_LIMIT_MAX);
	*threshold = product / 1000000000;
	return 0;
}

/*
 * deflect threshold { SIZE | TIME } [ entries N ] [ tokens BASE MAX ] [ idle TIME ]
 *	[ release { idle | end } ] [ choice { random | shorter } ] via ADDR dev DEV...
 * in any order.  Omitted options stay as they were; the kernel checks the result.
 */
int swport_parse_deflect(struct swport_args *args, const struct swport_word *w)
{
	static const struct swport_word words[] = {
		{ "threshold", swport_parse_threshold, TCA_SWPORT_DEFLECT_THRESHOLD,
		  "deflect threshold", 0, SWPORT_LIMIT_MAX },
		{ "entries", swport_parse_number, TCA_SWPORT_DEFLECT_ENTRIES, "deflect entries", 0,
		  SWPORT_DEFLECT_ENTRIES_MAX },
		{ "tokens", swport_parse_tokens, TCA_SWPORT_DEFLECT_TOKEN_MAX, "deflect tokens", 0,
		  SWPORT_DEFLECT_TOKENS_MAX },
		{ "idle", swport_parse_time, TCA_SWPORT_DEFLECT_IDLE, "deflect idle",
		  SWPORT_DEFLECT_IDLE_MIN, SWPORT_DEFLECT_IDLE_MAX },
		{ "release", swport_parse_choice, TCA_SWPORT_DEFLECT_RELEASE, "deflect release",
		  .choices = releases },
		{ "choice", swport_parse_choice, TCA_SWPORT_DEFLECT_CHOICE, "deflect choice",
		  .choices = choices },
		{ "via", swport_parse_via },
		{}
	};

	return swport_set_word(args, w) ? -1 : swport_parse_words(args, words);
}

void swport_add_via(struct nlmsghdr *n, int max, const struct swport_args *args)
{
	struct rtattr *list, *nest;
	int i;

	if (!args->via_nr)
		return;
	list = addattr_nest(n, max, TCA_SWPORT_DEFLECT_VIA | NLA_F_NESTED);
	for (i = 0; i < args->via_nr; i++) {
		const struct swport_via *via = &args->via[i];

		nest = addattr_nest(n, max, (i + 1) | NLA_F_NESTED);
		addattr_l(n, max, TCA_SWPORT_VIA_DEV, &via->ifindex, sizeof(via->ifindex));
		addattr_l(n, max, TCA_SWPORT_VIA_ADDR, via->addr, via->addr_bytes);
		addattr_nest_end(n, nest);
	}
	addattr_nest_end(n, list);
}

/* Values of one alternate.  A device that was removed has an index, but no name. */
void swport_print_via(struct rtattr *attr, const char *dev_key)
{
	struct rtattr *tb[TCA_SWPORT_VIA_MAX + 1];
	char text[INET6_ADDRSTRLEN], name[IF_NAMESIZE + sizeof("if")];
	uint32_t ifindex;
	bool ipv4;

	if (!attr)
		return;
	swport_parse_nest(tb, TCA_SWPORT_VIA_MAX, attr);
	if (!swport_has(tb[TCA_SWPORT_VIA_DEV], sizeof(ifindex)) ||
	    !swport_has(tb[TCA_SWPORT_VIA_ADDR], 4))
		return;
	ifindex = swport_get_u32(tb[TCA_SWPORT_VIA_DEV]);
	ipv4 = RTA_PAYLOAD(tb[TCA_SWPORT_VIA_ADDR]) < 16;
	if (!inet_ntop(ipv4 ? AF_INET : AF_INET6, RTA_DATA(tb[TCA_SWPORT_VIA_ADDR]),
		       text, sizeof(text)))
		return;
	if (!if_indextoname(ifindex, name))
		snprintf(name, sizeof(name), "if%" PRIu32, ifindex);
	print_color_string(PRINT_ANY, COLOR_NONE, "via", "via %s ", text);
	print_color_string(PRINT_ANY, COLOR_NONE, dev_key, "dev %s ", name);
}

static void swport_print_alternate(struct rtattr *attr)
{
	open_json_object(NULL);
	swport_print_via(attr, "dev");
	close_json_object();
}

void swport_print_deflect(struct rtattr **tb)
{
	if (!swport_has(tb[TCA_SWPORT_DEFLECT], sizeof(uint32_t)))
		return;
	print_color_u64(PRINT_JSON, COLOR_NONE, "deflect", NULL,
			swport_get_u32(tb[TCA_SWPORT_DEFLECT]));
	if (!swport_get_u32(tb[TCA_SWPORT_DEFLECT])) {
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "nodeflect");
		return;
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "deflect");
	swport_print_size("deflect_threshold", "threshold %s ", tb[TCA_SWPORT_DEFLECT_THRESHOLD]);
	swport_print_number("deflect_entries", "entries %" PRIu64 " ",
			   tb[TCA_SWPORT_DEFLECT_ENTRIES]);
	swport_print_number("deflect_token_base", "tokens %" PRIu64 " ",
			   tb[TCA_SWPORT_DEFLECT_TOKEN_BASE]);
	swport_print_number("deflect_token_max", "%" PRIu64 " ", tb[TCA_SWPORT_DEFLECT_TOKEN_MAX]);
	swport_print_time("deflect_idle", "idle", tb[TCA_SWPORT_DEFLECT_IDLE]);
	swport_print_choice("deflect_release", "release %s ", tb[TCA_SWPORT_DEFLECT_RELEASE],
			    releases);
	swport_print_choice("deflect_choice", "choice %s ", tb[TCA_SWPORT_DEFLECT_CHOICE], choices);
	swport_print_list("deflect_via", tb[TCA_SWPORT_DEFLECT_VIA], swport_print_alternate);
}
