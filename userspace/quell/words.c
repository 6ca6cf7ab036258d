// SPDX-License-Identifier: GPL-2.0
/*
 * Words of command lines that several verbs have in common.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "quell.h"

/**
 * keyword_value() - the value behind a keyword
 * @keyword: the keyword
 * @argc: number of arguments
 * @argv: the arguments
 * @i: index of the keyword; on success of what follows the value
 * @value: the value
 *
 * Return: an exit status, after a complaint.
 */
int keyword_value(const char *keyword, int argc, char **argv, int *i, const char **value)
{
	if (*i + 1 >= argc) {
		complain("the value of '%s' is missing", keyword);
		return STATUS_INPUT;
	}
	*value = argv[*i + 1];
	*i += 2;
	return STATUS_OK;
}

/**
 * read_address() - parse an address
 * @text: IPv4 or IPv6 address
 * @address: the address
 *
 * Return: an exit status, after a complaint.
 */
int read_address(const char *text, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		address->ss_family = AF_INET;
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		address->ss_family = AF_INET6;
	} else {
		complain("'%s' is no address; expected one such as 10.0.0.1 or fd00::1", text);
		return STATUS_INPUT;
	}
	return STATUS_OK;
}

/**
 * out_address() - print an address
 * @o: printer
 * @key: JSON key, or NULL in an array
 * @fmt: text format with one %s
 * @address: IPv4 or IPv6
 */
void out_address(struct out *o, const char *key, const char *fmt,
		 const struct address *address)
{
	int family = address->len == sizeof(struct in_addr) ? AF_INET : AF_INET6;
	char text[INET6_ADDRSTRLEN];

	out_str(o, key, fmt, inet_ntop(family, address->bytes, text, sizeof(text)));
}
