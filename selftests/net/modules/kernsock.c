// SPDX-License-Identifier: GPL-2.0
/*
 * quell_kernsock: a TCP connection of the kernel without a reference to its namespace, as some
 * file systems have.  Writing "ADDRESS PORT" connects in the namespace of the writer, sends
 * SEND_BYTES and closes before they are acknowledged.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#define SEND_BYTES	2000

static int kernsock_send(struct sockaddr_in *addr)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec data = { .iov_len = SEND_BYTES };
	struct socket *sock;
	int err;

	err = sock_create_kern(current->nsproxy->net_ns, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	data.iov_base = kzalloc(SEND_BYTES, GFP_KERNEL);
	err = data.iov_base ? 0 : -ENOMEM;
	if (!err)
		err = sock->ops->connect(sock, (void *)addr, sizeof(*addr), 0);
	if (!err)
		err = kernel_sendmsg(sock, &msg, &data, 1, SEND_BYTES);
	kfree(data.iov_base);
	sock_release(sock);
	return err < 0 ? err : 0;
}

static int kernsock_set(const char *text, const struct kernel_param *param)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	const char *port;
	u16 number;
	int err;

	if (!in4_pton(text, -1, (u8 *)&addr.sin_addr, ' ', &port))
		return -EINVAL;
	err = kstrtou16(skip_spaces(port), 10, &number);
	if (err)
		return err;
	addr.sin_port = htons(number);
	return kernsock_send(&addr);
}

static const struct kernel_param_ops kernsock_ops = { .set = kernsock_set };

module_param_cb(send, &kernsock_ops, NULL, 0200);
MODULE_PARM_DESC(send, "ADDRESS PORT");

MODULE_DESCRIPTION("TCP connections of the kernel, for tests");
MODULE_LICENSE("GPL");
