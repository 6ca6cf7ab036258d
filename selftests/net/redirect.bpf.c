// SPDX-License-Identifier: GPL-2.0
/* XDP for paths.sh: redirect each frame between the devices 10 and 11. */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("xdp")
int redirect(struct xdp_md *ctx)
{
	return bpf_redirect(ctx->ingress_ifindex ^ 1, 0);
}
