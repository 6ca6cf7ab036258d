/* SPDX-License-Identifier: GPL-2.0 */
/* See flow.c: 20 instructions for an ACK of one segment, 120 for a longer one. */
	.text
	.globl	perf_stub_on_ack
	.type	perf_stub_on_ack, @function
perf_stub_on_ack:
	cmpl	$1, 44(%rdi)
	ja	1f
	.rept	17
	nop
	.endr
	ret
1:
	.rept	117
	nop
	.endr
	ret
	.size	perf_stub_on_ack, . - perf_stub_on_ack
	.section .note.GNU-stack,"",@progbits
