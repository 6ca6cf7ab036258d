/* SPDX-License-Identifier: GPL-2.0 */
/* PSP, the transport encryption of newer kernels: its overhead in each segment, its policy. */
#ifndef _QUELL_COMPAT_PSP_H
#define _QUELL_COMPAT_PSP_H

#include <compat/compat.h>
#include <net/sock.h>
#ifdef QUELL_HAVE_PSP_SK_OVERHEAD
#include <net/psp.h>
#else
static inline unsigned int psp_sk_overhead(const struct sock *sk)
{
	return 0;
}
#endif

/*
 * Whether a packet of a socket with PSP was decrypted with its key.  psp_sk_rx_policy_check(),
 * which TCP calls next, writes to the association, and passes plain segments until the peer has
 * the key.  RCU read section.
 */
static inline bool quell_psp_is_authentic(const struct sock *sk, const struct sk_buff *skb)
{
#if defined(QUELL_HAVE_PSP_SK_OVERHEAD) && IS_ENABLED(CONFIG_INET_PSP)
	struct psp_skb_ext *ext = skb_ext_find(skb, SKB_EXT_PSP);
	struct psp_assoc *assoc = psp_sk_assoc(sk);

	return assoc ? psp_pse_matches_pas(ext, assoc) : !ext;
#else
	return true;
#endif
}

#endif /* _QUELL_COMPAT_PSP_H */
