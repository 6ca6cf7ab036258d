/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink messages as entries of lists, by tables of their attributes.
 */
#ifndef QUELL_CLI_ATTR_H
#define QUELL_CLI_ATTR_H

#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

/* How an attribute is stored in its entry. */
enum attr_form {
	ATTR_U16, ATTR_U32, ATTR_U64,	/* sent in any width up to 64 bits */
	ATTR_TEXT,			/* char *, sent with or without a terminator */
	ATTR_BYTES,			/* uint8_t[16], an address of 4 or 16 bytes */
	ATTR_ADDRESS,			/* struct address */
	ATTR_ADDRESSES,			/* list of struct address, one more for each attribute */
	ATTR_LIST,			/* list of entries of another kind, by nested attributes */
};

struct attr_row {
	uint16_t		attr;	/* its number; 0: the entry has it from elsewhere */
	/* of its place in the entry, bytes; a list is a pointer and a size_t */
	uint16_t		offset;
	enum attr_form		form;
	const struct attr_kind	*kind;	/* ATTR_LIST: of the entries of that list */
	const char		*key;	/* in JSON; NULL: not printed by the table */
	const char		*fmt;	/* of the text, with one %s */
	uint8_t			as;	/* how the value is written, by the printer of that kind */
	uint8_t			when;	/* whether it is printed, by the same */
};

/* A row of struct @type_; a list of another kind; a kind by its rows. */
#define ATTR_ROW(attr_, form_, type_, member_)					\
	.attr = (attr_), .form = ATTR_##form_, .offset = offsetof(type_, member_)
#define ATTR_ROW_LIST(attr_, kind_, type_, member_)				\
	ATTR_ROW(attr_, LIST, type_, member_), .kind = &(kind_)

struct attr_kind {
	const struct attr_row	*rows;		/* attributes; others are ignored */
	size_t			n;		/* number of @rows */
	size_t			size;		/* of an entry, bytes */
	/* offset of a uint32_t, a bit for each attribute below 32 that was present */
	size_t			have;
	uint32_t		required;	/* bits that @have must have */
	/* called with the list when list_add() has added an entry, or NULL */
	int			(*after)(void *list);
};

#define ATTR_KIND(rows_, skipped_, type_, required_, ...)			\
	{ .rows = (rows_) + (skipped_), .n = sizeof(rows_) / sizeof(*(rows_)) - (skipped_), \
	  .size = sizeof(type_), .have = offsetof(type_, have),			\
	  .required = (required_), ##__VA_ARGS__ }
#define ATTR_BIT(attr_)		(1U << (attr_))

void *list_grow(void *list_ptr, size_t *n, size_t size);
int list_add(const struct attr_kind *kind, void *list, const struct nlmsghdr *nlh);
void list_free(const struct attr_kind *kind, void *list);
void entry_free(const struct attr_kind *kind, void *entry);

#endif /* QUELL_CLI_ATTR_H */
