# SPDX-License-Identifier: GPL-2.0
#
# Quell: datacenter congestion control for stock Linux.  "make help" lists the
# targets.  Nothing is built inside the source directories: all goes to build/,
# kernels of the laboratory and of the tests to ~/.cache/quell.

ifneq ($(words $(subst :, ,$(CURDIR))),1)
$(error $(CURDIR): kbuild cannot use a path with a space or a colon, move the clone to another)
endif

# Of the running kernel, or of the one that KDIR was configured for
ifdef KDIR
KERNELRELEASE	?= $(shell cat $(KDIR)/include/config/kernel.release)
else
KERNELRELEASE	?= $(shell uname -r)
KDIR		:= /lib/modules/$(KERNELRELEASE)/build
endif
DESTDIR		?=
PREFIX		?= /usr
MODDIR		?= /lib/modules/$(KERNELRELEASE)/updates/quell
OUT		:= $(CURDIR)/build
LAB		:= $(OUT)/lab
DEMO		?= $(CURDIR)/demo
REPRODUCE	?= $(CURDIR)/reproduce
SITE		?= $(CURDIR)/site
# Words of the figures wanted, for example FIGURE="TIMELY Table 1"; all without
FIGURE		?=
# Handed on to kbuild, for example KBUILD_ARGS=LLVM=1
KBUILD_ARGS	?=

all: modules tools

modules: $(KDIR)/Makefile
	scripts/build-modules $(KDIR) $(OUT)/modules $(KBUILD_ARGS)

$(KDIR)/Makefile:
	@echo "No kernel build directory $(KDIR)." >&2; \
	 echo "Install linux-headers-$(KERNELRELEASE), or name another with KERNELRELEASE= or KDIR=." >&2; \
	 exit 1

tools:
	$(MAKE) -C userspace/quell OUT=$(OUT)
	$(MAKE) -C userspace/tc OUT=$(OUT)

# The algorithms as BPF objects, for bpftool or "quell bpf".
ebpf: deps-ebpf
	$(MAKE) -C ebpf OUT=$(OUT)/ebpf

install: all
	@[ -n "$(KERNELRELEASE)" ] || \
		{ echo "$(KDIR) has no include/config/kernel.release: for which kernel?" >&2; exit 1; }
	install -d $(DESTDIR)$(MODDIR)
	install -m 644 $(OUT)/modules/*.ko $(DESTDIR)$(MODDIR)/
	$(MAKE) install-tools
	[ -n "$(DESTDIR)" ] || depmod -a $(KERNELRELEASE)

# For hosts that load no modules, and need no headers then.
install-tools: tools
	$(MAKE) -C userspace/quell install OUT=$(OUT) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	$(MAKE) -C userspace/tc install OUT=$(OUT) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	@ls $(OUT)/ebpf/*.bpf.o > /dev/null 2>&1 || \
		echo 'No BPF objects are in $(OUT)/ebpf, so none is installed: "make ebpf" makes them.'

# Debian packages, for the Debian release of this machine.
deb: deps-deb
	scripts/build-deb $(OUT)/deb

# What install and install-tools put there, whether anything is built or not.
uninstall:
	for name in $$(sed -n 's/^BUILT_MODULE_NAME.*="\(.*\)"/\1/p' dkms.conf); do \
		rm -f $(DESTDIR)$(MODDIR)/$$name.ko || exit 1; \
	done
	[ ! -d $(DESTDIR)$(MODDIR) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(MODDIR)
	[ -n "$(DESTDIR)" ] || depmod -a $(KERNELRELEASE)
	$(MAKE) -C userspace/quell uninstall DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	$(MAKE) -C userspace/tc uninstall DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)

# The laboratory: its kernel, our modules for it, its init.
lab: deps-demo
	scripts/build-lab lab $(LAB)

# The same with a kernel that runs BPF objects.
lab-bpf: deps-demo ebpf
	scripts/build-lab bpf $(LAB)-bpf

lab-debug: deps-check
	scripts/build-lab debug $(LAB)-debug

# The kernel's own tests of MPTCP and TLS with each algorithm as the default, in virtual time;
# TESTS="mptcp/join:swift,hpcc|tls" runs some.  Those of TCP-AO need tracing: debug/tcp-ao.
TESTS	?= mptcp|tls
kernel-tests:
	$(if $(findstring tcp_ao,$(TESTS)),$(error TCP-AO needs a kernel with tracing: selftests/check debug/tcp-ao))
	QUELL_CASES="$(TESTS)" selftests/net/kernel-tests.sh --list
	scripts/install-deps kernel-tests
	scripts/build-lab kselftest $(LAB)-kselftest
	scripts/kernel-selftests build/kernel-selftests
	QUELL_CASES="$(TESTS)" QUELL_UML_MEM=2G QUELL_UML_TIMEOUT=40000 QUELL_UML_VIRTUAL_S=400000 \
		selftests/net/run-uml kselftest kernel-tests.sh

# Linux 7.3 and modules for it, in the cache of kernels
lab-7.3: lab
	selftests/on-kernel 7.3 --program true

# The main job: short flows under load, an incast, late starters and joins, through our switch
# ports, with our algorithms beside the kernel's.
demo:
	@ls "$${XDG_CACHE_HOME:-$$HOME/.cache}"/quell/kernel/lab-*/complete > /dev/null 2>&1 || \
		printf '%s\n' 'First, once: packages (apt says how much), the source of a kernel (1.7 GB in' \
			'~/.cache/quell) and that kernel, about ten minutes on two processors.'
	@echo 'The demonstration itself takes about a minute.'
	$(MAKE) lab
	lab/lab demo --out $(DEMO)

# README's figure of it anew
demo-figure: demo
	cp $(DEMO)/demo.svg Documentation/demo.svg

# README's table of it with five seeds anew
demo-seeds: lab
	lab/demo-seeds

# A root prompt in a guest with two hosts and a port: KERNEL=lab, debug, 6.1, 6.12 or 7.3
KERNEL		?= lab
shell: $(if $(filter-out lab,$(KERNEL)),deps-check,deps-demo)
	$(MAKE) tools $(if $(filter lab,$(KERNEL)),lab,$(if $(filter debug,$(KERNEL)),lab-debug))
	selftests/net/shell $(KERNEL)

# Every scenario that names a figure of a paper; ours beside the paper's.
reproduce: lab
	lab/lab reproduce "$(FIGURE)" $(if $(SCALE),--scale "$(SCALE)") \
		$(if $(SCENARIOS),--scenarios "$(SCENARIOS)") --out $(REPRODUCE)

# All pages, man pages and the figures of the papers as a site that opens from a file, with the plots
# of "make reproduce"
site: deps-site
	Documentation/site/build $(SITE) $(REPRODUCE)

check: deps-check
	$(MAKE) tools ebpf lab lab-bpf lab-debug
	selftests/check

# By level and feature: make check-unit-core, check-stock-6.12; all of a level: check-unit;
# a feature at every level: check-tail.  Each installs and builds what it needs, and
# no more.
check-%:
	@command -v python3 > /dev/null || scripts/install-deps user
	@for packages in $$(selftests/check --needs packages '$*'); do \
		scripts/install-deps $$packages || exit 1; done
	targets=$$(selftests/check --needs targets '$*'); [ -z "$$targets" ] || $(MAKE) $$targets
	selftests/check '$*'

# The packages installed, used, upgraded and removed in images of Debian releases (SUITES="trixie"),
# upgraded from those of the commit OLD, or the first that has packages
check-packages: deps-images lab
	selftests/packages/images $(if $(OLD),--old $(OLD)) $(SUITES)

# The quick starts followed in fresh systems of Debian releases (SUITES="trixie"), as root; CACHE=1:
# with the kernels of this machine's cache; BLOCKS="developer:core": these alone; RESUME=1: not those
# that passed with this commit
quickstarts: deps-images
	selftests/pages/fresh $(if $(filter-out 0,$(CACHE)),--cache) \
		$(if $(filter-out 0,$(RESUME)),--resume) $(or $(SUITES),bookworm trixie) $(BLOCKS)

# Storms on a kernel with KCSAN, in QEMU; see Documentation/testing.md
race: deps-check
	selftests/net/run-qemu 6.12-kcsan $(if $(WORDS),--words "$(WORDS)") \
		$(foreach storm,$(STORMS),--test selftests/net/race-$(storm).sh)

# A day of virtual time and two hours in QEMU: memory, files, sockets; see Documentation/testing.md
soak: deps-check
	$(MAKE) lab
	QUELL_UML_TIMEOUT=20000 QUELL_UML_VIRTUAL_S=200000 selftests/net/run-uml lab soak.sh
	selftests/net/run-qemu 6.12 --test selftests/net/soak.sh --words "20 300" --timeout 12000 \
		--test-timeout 11000

# Signed modules under Secure Boot, in QEMU with firmware and Debian's shim
secure-boot: deps-secure tools
	selftests/packages/secure-boot

# Names that suites had before the level came first
check-qemu-%:
	$(MAKE) check-stock-$*
check-%-unit:
	$(MAKE) check-unit-$*
check-%-debug:
	$(MAKE) check-debug-$*
check-agent:
	$(MAKE) check-tcpint-port

# User space, and the laboratory's cables: under three minutes.
check-quick: deps-demo
	@scripts/install-deps user
	$(MAKE) tools lab
	selftests/check quick

# Suites of the laboratory on another kernel: KERNEL=7.3, TREE or TREE@COMMIT; SUITES="lab/wire"
on-kernel:
	@[ '$(origin KERNEL)' != file ] || \
		{ echo 'make on-kernel: KERNEL is missing: 7.3, TREE or TREE@COMMIT' >&2; exit 2; }
	targets=$$([ -z '$(SUITES)' ] || selftests/check --needs targets $(SUITES)) && \
		$(MAKE) deps-demo tools lab $$targets
	selftests/on-kernel "$(KERNEL)" $(SUITES)

# A million packets of bad input on the debug kernel; "make check" sends a tenth
spoof: lab-debug
	selftests/lab/spoof 1000000

# The tables of the cores as another machine runs them, in emulation: cores-s390x (big-endian),
# cores-aarch64, cores-riscv64, cores-arm (32 bits)
cores-%:
	scripts/install-deps $@
	$(MAKE) -C selftests/unit check-tables OUT=$(OUT)/unit-$* CC="$*-linux-gnu$(if $(filter arm,$*),eabihf)-gcc -static" \
		SANITIZE= RUN=qemu-$*

# Modules and tools for another machine's Debian kernel, built only: modules-arm64, -armhf, -ppc64el,
# -riscv64, -s390x
modules-%:
	scripts/install-deps $@
	scripts/build-for-machine $* $(or $(SERIES),6.12) $(OUT)/$@ tools

# Guests of another machine in QEMU, and such a guest connected to one of this machine: guests-s390x
# (big-endian), guests-arm64, guests-riscv64
guests-%:
	scripts/install-deps $@
	selftests/net/run-qemu $(or $(SERIES),6.12) --machine $* --timeout 7200 --test-timeout 1800
	selftests/net/two-guests $* $(or $(SERIES),6.12)

# Quell on PREEMPT_RT under lockdep, two kernels built first; see Documentation/testing.md
rt: deps-check
	selftests/net/run-qemu 7.3-rt --timeout 9000 --test-timeout 1800
	selftests/net/run-qemu 6.12-rt --timeout 9000 --test-timeout 1800

# Whether TCP's functions have changed that tcp_internals.c mirrors
tcp-originals:
	selftests/tcp_originals

# Whether the patches of upstream/ apply to the newest source and build; see
# Documentation/upstreaming.md
upstream: deps-check
	selftests/upstream

# How far each core is from its floating-point model; see Documentation/notes/testing.md
model-errors: deps-check
	@$(MAKE) -s --no-print-directory -C selftests/unit model-errors OUT=$(OUT)/unit

# What each core costs; see Documentation/performance.md
perf: deps-check
	@$(MAKE) -s --no-print-directory -C selftests/perf report OUT=$(OUT)/perf

# What the switch port costs a packet; see Documentation/performance.md
perf-port: deps-check lab
	@selftests/perf/report-port

# What several processors get through the switch port; see Documentation/performance.md
perf-threads: deps-check
	@selftests/perf/report-threads $(OUT)/perf/threads

# What a packet of each algorithm costs the hosts; see Documentation/performance.md
perf-flow: deps-check
	@selftests/perf/report-flow

# What a flow of each algorithm costs its hosts; see Documentation/performance.md
perf-host: deps-check
	@selftests/perf/report-host $(if $(BEFORE),--before $(BEFORE)) $(if $(SAVE),--save $(SAVE))

# What BPF objects cost beside the modules and the kernel's own; see Documentation/ebpf.md
perf-bpf: deps-check
	@selftests/perf/report-bpf

# How fast the laboratory is; see Documentation/performance.md
perf-lab: deps-demo tools lab
	@selftests/perf/report-lab $(if $(KERNEL),--kernel $(KERNEL)) $(CASES)

deps-build deps-demo deps-check deps-ebpf deps-deb deps-images deps-secure deps-site: deps-%:
	@scripts/install-deps $*

clean:
	rm -rf $(OUT)

help:
	@echo 'make              modules for the running kernel (KERNELRELEASE=, KDIR=) and tools'
	@echo 'make tools        tools alone: quell, the tc plugin'
	@echo 'make ebpf         algorithms as BPF objects, in build/ebpf (BTF=FILE: by these types)'
	@echo 'make install      install modules and tools, and objects if there are any (DESTDIR=, PREFIX=)'
	@echo 'make install-tools    the same without modules'
	@echo 'make uninstall    remove what those two installed (the same DESTDIR=, PREFIX=)'
	@echo 'make deb          Debian packages, in build/deb'
	@echo 'make demo         short flows, incast, late starters, joins; page demo/report.html (DEMO=)'
	@echo 'make demo-figure  the same, and README'\''s figure, Documentation/demo.svg, anew'
	@echo 'make demo-seeds   README'\''s table, Documentation/demo-seeds.csv, anew: five seeds, two minutes'
	@echo 'make reproduce    the figures of the papers, theirs and ours (FIGURE="TIMELY Figure 2": one), in reproduce/ (REPRODUCE=)'
	@echo '    SCENARIOS=lab/scenarios/long: those that take minutes each; SCALE=paper: at its size'
	@echo 'make site         pages, man pages and those figures for a browser, searchable, in site/ (SITE=)'
	@echo 'make check        all suites; installs what they need; about 40 minutes on two cores'
	@echo 'make on-kernel KERNEL=7.3  suites of the laboratory on a kernel that lab/lab --kernel takes (SUITES=lab/wire)'
	@echo 'make check-quick  four quick suites, user space and one of the laboratory, some minutes'
	@echo 'make check-packages   the packages in images of Debian 12 and 13 (SUITES=trixie), as root'
	@echo 'make quickstarts  the quick starts in fresh systems of Debian 12 and 13 (SUITES=trixie), as root;'
	@echo '                  BLOCKS="developer:core": these alone; RESUME=1: not those that passed before'
	@echo 'make kernel-tests  the tests of MPTCP and TLS that the kernel has, in virtual time'
	@echo 'make soak         a day of virtual time, and two hours in QEMU: memory, files, sockets'
	@echo 'make secure-boot  modules signed with an enrolled key, and others, under Secure Boot in QEMU'
	@echo 'make race         storms on a kernel with KCSAN in QEMU: data races (STORMS="flows dart" WORDS="600 2")'
	@echo 'make check-LEVEL  those of one level; check-FEATURE: those of one feature at every level'
	@echo 'make check-LEVEL-FEATURE  one suite of it (or several, with wildcards):'
	@sed -n 's/^    ("\([^/"]*\)\/\([^"]*\)", .*"\([^"]*\)"),$$/                    \1-\2: \3/p' selftests/check
	@echo 'make spoof        a million packets of bad input on the debug kernel, some minutes'
	@echo 'make cores-s390x  tables of the cores on another machine, emulated; cores-arm, -aarch64, -riscv64'
	@echo 'make modules-s390x  build modules and tools for another machine; modules-arm64, -armhf, -ppc64el, -riscv64'
	@echo 'make guests-s390x  a guest of another machine, and connected to one of this; guests-arm64, -riscv64; an hour'
	@echo 'make rt           kernels 6.12 and 7.3 with PREEMPT_RT and lockdep, an hour, and the builds'
	@echo 'make tcp-originals    check that the kernel'\''s TCP functions that we mirror are unchanged'
	@echo 'make upstream     check that the patches of upstream/ apply to the newest 7.3 and build, five minutes'
	@echo 'make model-errors largest error of each core against its floating-point model'
	@echo 'make perf         instructions, time and state of each core, some minutes'
	@echo 'make perf-port    time and instructions per packet of swport and in-tree qdiscs, some minutes'
	@echo 'make perf-threads packets per second of swport on 1, 2, ... processors, in user space, some minutes'
	@echo 'make perf-flow    instructions per packet of our algorithms and those of the kernel, some minutes'
	@echo 'make perf-bpf     the same of the BPF objects, beside the modules; ns of their programs on this machine'
	@echo 'make perf-host    instructions per MB and per RPC of both hosts, packets per skb and ACK, timers, memory;'
	@echo '                  SAVE=FILE keeps the sums, BEFORE=FILE compares with those; half an hour'
	@echo 'make perf-lab     packet-hops of the laboratory per second of CPU, instructions per hop by part, beside'
	@echo '                  htsim if QUELL_HTSIM names it; CASES="perm64 perm128", KERNEL=7.3, some minutes'
	@echo 'make shell        a root prompt in a guest with two hosts and a port (KERNEL=lab, debug, 6.1, 6.12 or 7.3)'
	@echo 'make lab          only build the laboratory, to use lab/lab'
	@echo 'make lab-7.3      build Linux 7.3 for it'
	@echo 'make lab-bpf      build what it takes to run BPF objects there, with a kernel of its own'
	@echo 'make clean        remove build/; kernels stay cached in ~/.cache/quell'

.PHONY: all modules tools ebpf deb install install-tools uninstall lab lab-bpf lab-debug lab-7.3 demo demo-figure demo-seeds shell reproduce site check check-quick kernel-tests on-kernel check-packages race rt soak secure-boot check-agent spoof tcp-originals \
	upstream model-errors perf perf-bpf perf-port perf-threads \
	perf-flow perf-host perf-lab clean help \
	deps-build deps-demo deps-check deps-ebpf deps-deb deps-images deps-secure deps-site
