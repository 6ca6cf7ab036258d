#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ns-3 3.37 (Debian 12): the time of each packet on a link is rounded to a whole nanosecond, so that
# a link of small packets has another rate than it is set to.  64 bytes take 1 ns at 400 and at 800
# Gbit/s.  A queue at such a link fills, or never does, by the rounding alone.  With
# Time::SetResolution(Time::PS) the rates are exact.
#
# Guess: the rounding is below the size of a byte, or is made up for by the next packet.
#
# Output seen, the rate in Gbit/s of 1000 packets sent one after another:
#
#	100Gbps: 64 bytes 102, 1500 bytes 100
#	200Gbps: 64 bytes 171, 1500 bytes 200
#	400Gbps: 64 bytes 512, 1500 bytes 400
#	800Gbps: 64 bytes 512, 1500 bytes 800
#
# Needs g++.
set -euo pipefail
version=3.37-2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "libns3-dev=$version" "libns3.37=$version" \
	libgsl27=2.7.1+dfsg-5+deb12u1 libgslcblas0=2.7.1+dfsg-5+deb12u1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
libraries=$dir/root/usr/lib/x86_64-linux-gnu

cat > link.cc <<'END'
#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <iostream>

using namespace ns3;

static Time last;

static bool receive(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address &)
{
	last = Simulator::Now();
	return true;
}

/* The rate of packets of some bytes with the header of PPP, two bytes, over a link. */
static double run(const char *rate, int bytes)
{
	const int count = 1000;
	PointToPointHelper link;
	link.SetDeviceAttribute("DataRate", StringValue(rate));
	link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("2000p"));
	NodeContainer nodes(2);
	NetDeviceContainer devices = link.Install(nodes);
	devices.Get(1)->SetReceiveCallback(MakeCallback(&receive));
	for (int i = 0; i < count; i++)
		devices.Get(0)->Send(Create<Packet>(bytes - 2), devices.Get(1)->GetAddress(),
				     0x800);
	Simulator::Run();
	Simulator::Destroy();
	return count * bytes * 8.0 / last.GetNanoSeconds();
}

int main()
{
	for (const char *rate : {"100Gbps", "200Gbps", "400Gbps", "800Gbps"}) {
		double small = run(rate, 64), large = run(rate, 1500);
		std::cout << rate << ": 64 bytes " << int(small + 0.5) << ", 1500 bytes "
			  << int(large + 0.5) << std::endl;
	}
}
END
g++ -std=c++17 -I root/usr/include/ns3.37 -I root/usr/include link.cc -o link -L "$libraries" \
	-l:libns3-core.so.37 -l:libns3-network.so.37 -l:libns3-point-to-point.so.37 \
	-Wl,--allow-shlib-undefined
LD_LIBRARY_PATH=$libraries ./link > out
cat out
grep -q '^100Gbps: .* 1500 bytes 100$' out || exit 2
if [ "$(grep -c '^[48]00Gbps: 64 bytes 512,' out)" != 2 ]; then
	echo "changed: a link of ns-3 has its rate with small packets, too"
	exit 1
fi
