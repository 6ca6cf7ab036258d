/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the generic netlink family "quell", and to rtnetlink.
 *
 * Functions return 0 or a negative errno value, the same as in struct nl_error.
 */
#ifndef QUELL_CLI_NL_H
#define QUELL_CLI_NL_H

#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

/* Largest message sent or received; the kernel fills dumps up to 32 KiB. */
#define NL_BUFFER_LEN	32768

/* Multicast groups of the family. */
enum { NL_SETTINGS, NL_FLOWS, NL_GROUPS };

struct nl {
	struct mnl_socket	*sock;
	uint16_t		family;
	uint32_t		groups[NL_GROUPS];	/* their ids; 0: an older module without it */
	uint32_t		seq;
};

struct nl_error {
	int		code;		/* errno value, 0 on success */
	bool		has_offset;	/* the kernel named an attribute of the request */
	/* offset of that attribute from the message header, bytes */
	uint32_t	offset;
	char		text[256];	/* the kernel's message, may be empty */
};

/* Receives the messages of a reply. */
struct nl_reader {
	/* called for each; 0 or a negative errno value, which ends the request */
	int	(*message)(const struct nlmsghdr *nlh, void *data);
	void	(*restart)(void *data);	/* called before an interrupted dump is requested again */
	void	*data;			/* argument of both */
};

int nl_open(struct nl *nl, struct nl_error *err);
int nl_open_route(struct nl *nl, struct nl_error *err);
void nl_close(struct nl *nl);
struct nlmsghdr *nl_prepare(struct nl *nl, void *buf, uint8_t cmd);
int nl_do(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
	  struct nl_error *err);
int nl_dump(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
	    struct nl_error *err);
int nl_join(struct nl *nl, uint32_t group, struct nl_error *err);
void nl_set_buffer(struct nl *nl, int bytes);
ssize_t nl_receive(struct mnl_socket *sock, void *buf, size_t len);
void nl_parse_error(const struct nlmsghdr *nlh, struct nl_error *err);

#endif /* QUELL_CLI_NL_H */
