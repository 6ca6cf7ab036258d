// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink messages as entries of lists, by tables of their attributes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "model.h"

/*
 * Append a zeroed entry to the list at *@list_ptr. Returns NULL without memory, and then @n is as
 * before.
 */
void *list_grow(void *list_ptr, size_t *n, size_t size)
{
	char *list, *slot;

	memcpy(&list, list_ptr, sizeof(list));
	list = reallocarray(list, *n + 1, size);
	if (!list)
		return NULL;
	memcpy(list_ptr, &list, sizeof(list));
	slot = list + *n * size;
	memset(slot, 0, size);
	(*n)++;
	return slot;
}

static int attr_uint(const struct nlattr *attr, uint64_t *value)
{
	const void *payload = mnl_attr_get_payload(attr);
	uint16_t u16;
	uint32_t u32;

	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint8_t):
		*value = *(const uint8_t *)payload;
		return 0;
	case sizeof(u16):
		memcpy(&u16, payload, sizeof(u16));
		*value = u16;
		return 0;
	case sizeof(u32):
		memcpy(&u32, payload, sizeof(u32));
		*value = u32;
		return 0;
	case sizeof(*value):
		memcpy(value, payload, sizeof(*value));
		return 0;
	}
	return -EBADMSG;
}

/* Lists differ in the type of their entries only; the number follows the pointer. */
static size_t *number_of(void *list)
{
	return (size_t *)((char *)list + sizeof(void *));
}

static void *entries_of(const void *list)
{
	void *entries;

	memcpy(&entries, list, sizeof(entries));
	return entries;
}

static int take_bytes(const struct nlattr *attr, uint8_t *bytes)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len != 4 && len != ADDRESS_BYTES)
		return -EBADMSG;
	memcpy(bytes, mnl_attr_get_payload(attr), len);
	return 0;
}

static int take_address(const struct nlattr *attr, struct address *address)
{
	if (!address)
		return -ENOMEM;
	address->len = mnl_attr_get_payload_len(attr);
	return take_bytes(attr, address->bytes);
}

static int take_text(const struct nlattr *attr, char **text)
{
	free(*text);
	*text = strndup(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
	return *text ? 0 : -ENOMEM;
}

static int take_nested(const struct attr_kind *kind, void *list, const struct nlattr *nest);

static int take_value(const struct attr_row *row, void *place, const struct nlattr *attr)
{
	uint64_t value;

	switch (row->form) {
	case ATTR_TEXT:
		return take_text(attr, place);
	case ATTR_BYTES:
		return take_bytes(attr, place);
	case ATTR_ADDRESS:
		return take_address(attr, place);
	case ATTR_ADDRESSES:
		return take_address(attr, list_grow(place, number_of(place),
						    sizeof(struct address)));
	case ATTR_LIST:
		return take_nested(row->kind, place, attr);
	default:
		break;
	}
	if (attr_uint(attr, &value) || (row->form == ATTR_U16 && value > UINT16_MAX) ||
	    (row->form == ATTR_U32 && value > UINT32_MAX))
		return -EBADMSG;
	if (row->form == ATTR_U16)
		*(uint16_t *)place = value;
	else if (row->form == ATTR_U32)
		*(uint32_t *)place = value;
	else
		*(uint64_t *)place = value;
	return 0;
}

/* Attributes of unknown types are ignored, and those beyond the word of bits are not marked. */
static int take_attr(const struct attr_kind *kind, void *entry, const struct nlattr *attr)
{
	uint16_t type = mnl_attr_get_type(attr);
	size_t i;
	int ret;

	for (i = 0; type && i < kind->n; i++) {
		if (kind->rows[i].attr != type)
			continue;
		ret = take_value(&kind->rows[i], (char *)entry + kind->rows[i].offset, attr);
		if (ret)
			return ret;
	}
	if (type < 32)
		*(uint32_t *)((char *)entry + kind->have) |= 1U << type;
	return 0;
}

static bool is_complete(const struct attr_kind *kind, const void *entry)
{
	uint32_t have = *(const uint32_t *)((const char *)entry + kind->have);

	return (have & kind->required) == kind->required;
}

static int take_nested(const struct attr_kind *kind, void *list, const struct nlattr *nest)
{
	void *entry = list_grow(list, number_of(list), kind->size);
	const struct nlattr *attr;
	int ret = entry ? 0 : -ENOMEM;

	mnl_attr_for_each_nested(attr, nest) {
		if (!ret)
			ret = take_attr(kind, entry, attr);
	}
	return ret ? ret : is_complete(kind, entry) ? 0 : -EBADMSG;
}

/*
 * Add one entry from a reply; it stays in the list on failure, for list_free(). Returns 0, -EBADMSG
 * for a malformed message, or -ENOMEM.
 */
int list_add(const struct attr_kind *kind, void *list, const struct nlmsghdr *nlh)
{
	void *entry = list_grow(list, number_of(list), kind->size);
	const struct nlattr *attr;
	int ret = entry ? 0 : -ENOMEM;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (!ret)
			ret = take_attr(kind, entry, attr);
	}
	if (!ret && !is_complete(kind, entry))
		ret = -EBADMSG;
	return ret || !kind->after ? ret : kind->after(list);
}

/* Free the memory that an entry refers to, but not its own. */
void entry_free(const struct attr_kind *kind, void *entry)
{
	size_t i;

	for (i = 0; i < kind->n; i++) {
		void *place = (char *)entry + kind->rows[i].offset;

		if (kind->rows[i].form == ATTR_LIST)
			list_free(kind->rows[i].kind, place);
		else if (kind->rows[i].form == ATTR_TEXT || kind->rows[i].form == ATTR_ADDRESSES)
			free(entries_of(place));
	}
}

void list_free(const struct attr_kind *kind, void *list)
{
	char *entries = entries_of(list);
	size_t i;

	for (i = 0; i < *number_of(list); i++)
		entry_free(kind, entries + i * kind->size);
	free(entries);
	memset(list, 0, sizeof(entries) + sizeof(i));
}
