/* SPDX-License-Identifier: GPL-2.0 */
/* See cores.c: 20 instructions for an ACK of one segment, 120 for a longer one. */
	.text
	.globl	quell_stub_core_on_ack
	.type	quell_stub_core_on_ack, @function
quell_stub_core_on_ack:
	cmpl	$1, 76(%rdi)
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
	.size	quell_stub_core_on_ack, . - quell_stub_core_on_ack
	.section .note.GNU-stack,"",@progbits
