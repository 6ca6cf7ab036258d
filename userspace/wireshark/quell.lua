-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark dissectors of the Quell TCP option, of the NACK, and of the public TCP-INT option;
-- Documentation/wire-format.md and tcp-int.md have the meaning of each byte.
--
--	tshark -X lua_script:quell.lua -r FILE -Y "quell or tcp_int" -V
--
-- They inspect every TCP segment after all other dissectors: the kind for experiments is
-- shared, and no other dissector knows that of TCP-INT.

local KIND = 254
local EXID = 0x5155
local NACK_EXID = 0x514e
local NOP = 1
local END = 0

-- The installed copy is loaded first, and a second protocol of this name is an error.
local is_first, quell = pcall(Proto, "quell", "Quell TCP option")
if not is_first then
	io.stderr:write("quell: already loaded, this copy is not used\n")
	return
end
local tcp_int = Proto("tcp_int", "TCP-INT option")

local forms = { [0] = "SYN", [1] = "full", [2] = "short" }
local fields = {
	form = ProtoField.uint8("quell.form", "Form", base.DEC, forms),
	version = ProtoField.uint8("quell.version", "Version"),
	flags = ProtoField.uint8("quell.flags", "Flags", base.HEX),
	data = ProtoField.bool("quell.flags.data", "Data section", 8, nil, 0x01),
	ack = ProtoField.bool("quell.flags.ack", "ACK section", 8, nil, 0x02),
	telemetry = ProtoField.bool("quell.flags.telemetry", "Record for switches", 8, nil, 0x04),
	record = ProtoField.bool("quell.flags.record", "Record of the echoed packet", 8, nil, 0x08),
	start = ProtoField.bool("quell.flags.start", "Start, all before acknowledged", 8, nil, 0x10),
	more = ProtoField.bool("quell.flags.more", "More data waits", 8, nil, 0x20),
	ce = ProtoField.bool("quell.flags.ce", "Echoed packet was marked CE", 8, nil, 0x40),
	hardware = ProtoField.bool("quell.flags.hardware", "Hold time from a hardware stamp",
				   8, nil, 0x80),
	entropy = ProtoField.uint8("quell.entropy", "Path entropy"),
	line = ProtoField.uint64("quell.line_bits_ps", "Line rate (bit/s)"),
	payload = ProtoField.uint16("quell.payload_bytes", "Payload length"),
	depart = ProtoField.uint32("quell.depart_ns", "Departure (ns)"),
	echo = ProtoField.uint32("quell.echo_ns", "Echoed departure (ns)"),
	hold = ProtoField.uint24("quell.hold_ns", "Hold time (ns)"),
	senders = ProtoField.double("quell.senders", "Active senders (n)"),
	echo_entropy = ProtoField.uint8("quell.echo_entropy", "Entropy of the echoed packet"),
	nack = ProtoField.bytes("quell.nack", "NACK"),
	nack_seq = ProtoField.uint32("quell.nack.seq", "First sequence number lost"),
	nack_payload = ProtoField.uint16("quell.nack.payload_bytes", "Payload lost"),
}
for _, field in pairs(fields) do
	table.insert(quell.fields, field)
end

-- What a telemetry record says, once for each place it may be in.
local function record_fields(name, what)
	local prefix = "quell." .. name .. "."
	local record = {
		record = ProtoField.bytes("quell." .. name, what),
		hop = ProtoField.uint8(prefix .. "hop", "Hop"),
		load = ProtoField.double(prefix .. "load", "Load (bandwidth-delay products)"),
		link = ProtoField.uint64(prefix .. "link_bits_ps", "Link rate (bit/s)"),
		queue = ProtoField.uint32(prefix .. "queue_bytes", "Queue (bytes)"),
		tx = ProtoField.uint32(prefix .. "tx_bytes", "Sent, modulo 2^30 (bytes)"),
		time = ProtoField.uint24(prefix .. "time_ns", "Switch's clock, modulo 2^24 (ns)"),
	}

	for _, field in pairs(record) do
		table.insert(quell.fields, field)
	end
	return record
end

local telemetry_fields = record_fields("telemetry", "Record for switches")
local echo_fields = record_fields("record", "Record of the echoed packet")

local malformed = ProtoExpert.new("quell.malformed", "Option shorter than what it claims to hold",
				  expert.group.MALFORMED, expert.severity.ERROR)
quell.experts = { malformed }

local tcp_options = Field.new("tcp.options")
local tcp_syn = Field.new("tcp.flags.syn")

-- Range of an option among a segment's options, or nil; exid: of that experiment, or nil.
local function find(options, wanted, exid)
	local at = 0

	while at < options:len() do
		local kind = options(at, 1):uint()

		if kind == END then
			return nil
		elseif kind == NOP then
			at = at + 1
		else
			if at + 2 > options:len() then
				return nil
			end
			local length = options(at + 1, 1):uint()
			if length < 2 or at + length > options:len() then
				return nil
			end
			if kind == wanted and (not exid or length >= 4 and
					       options(at + 2, 2):uint() == exid) then
				return options(at, length)
			end
			at = at + length
		end
	end
	return nil
end

local function data_section(tree, option, at)
	tree:add(fields.payload, option(at, 2))
	tree:add(fields.depart, option(at + 2, 4))
	return at + 6
end

-- Value of a floating-point code: exponent, then this many bits of fraction.
local function float(code, fraction_bits)
	local one = 2 ^ fraction_bits
	local exponent = math.floor(code / one)

	if exponent == 0 then
		return code
	end
	return (one + code % one) * 2 ^ (exponent - 1)
end

-- Wireshark's 64-bit integer of a number below 2^53.
local function uint64(value)
	return UInt64(value % 2 ^ 32, math.floor(value / 2 ^ 32))
end

-- n of the ACK section: four bits of exponent, twelve of mantissa; at least 1 if stated.
local function senders(field)
	local n = field % 4096 * 2 ^ math.floor(field / 4096) / 256

	return field % 4096 == 0 and 0 or math.max(n, 1)
end

local function ack_section(tree, option, at)
	tree:add(fields.echo, option(at, 4))
	tree:add(fields.hold, option(at + 4, 3))
	tree:add(fields.senders, option(at + 7, 2), senders(option(at + 7, 2):uint()))
	tree:add(fields.echo_entropy, option(at + 9, 1))
	return at + 10
end

-- Mantissas of line rates, times 10.
local line_mantissas = {
	10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 25, 28, 30, 32, 35,
	36, 40, 42, 45, 48, 50, 54, 56, 60, 64, 70, 72, 80, 84, 90, 96,
}

-- The entropy byte of a packet without data: the sender's line rate in bit/s.
local function line_bits_ps(code)
	return line_mantissas[code % 32 + 1] * 100000 * 10 ^ math.floor(code / 32)
end

-- A record without hop is empty, and nothing else in it means anything.
local function record_section(tree, option, at, record)
	local record_tree = tree:add(record.record, option(at, 12))

	record_tree:add(record.hop, option(at, 1))
	if option(at, 1):uint() == 0 then
		record_tree:append_text(" (empty)")
		return at + 12
	end
	record_tree:add(record.load, option(at + 1, 1), float(option(at + 1, 1):uint(), 5) / 64)
	record_tree:add(record.link, option(at + 2, 2),
			uint64(float(option(at + 2, 2):uint(), 12) * 125000))
	record_tree:add(record.queue, option(at + 4, 2), float(option(at + 4, 2):uint(), 12))
	record_tree:add(record.tx, option(at + 6, 3), option(at + 6, 3):uint() * 64)
	record_tree:add(record.time, option(at + 9, 3))
	return at + 12
end

local function telemetry_section(tree, option, at)
	return record_section(tree, option, at, telemetry_fields)
end

local function echo_section(tree, option, at)
	return record_section(tree, option, at, echo_fields)
end

-- In the order they stand in.
local sections = {
	{ flag = 0x01, bytes = 6, read = data_section },
	{ flag = 0x02, bytes = 10, read = ack_section },
	{ flag = 0x04, bytes = 12, read = telemetry_section },
	{ flag = 0x08, bytes = 12, read = echo_section },
}

-- The sections that flags announce, and how long that makes the option.
local function announced(flags)
	local there, bytes = {}, 6

	for _, section in ipairs(sections) do
		if math.floor(flags / section.flag) % 2 == 1 then
			table.insert(there, section)
			bytes = bytes + section.bytes
		end
	end
	return there, bytes
end

local function full(tree, option)
	if option:len() < 6 then
		return false
	end
	local there, bytes = announced(option(4, 1):uint())
	local flags_tree = tree:add(fields.flags, option(4, 1))
	for _, name in ipairs({ "data", "ack", "telemetry", "record", "start", "more", "ce",
				"hardware" }) do
		flags_tree:add(fields[name], option(4, 1))
	end
	local code = option(5, 1):uint()
	if option(4, 1):uint() % 2 == 1 then
		tree:add(fields.entropy, option(5, 1))
	elseif code > 0 then
		tree:add(fields.line, option(5, 1), uint64(line_bits_ps(code)))
	end
	if option:len() < bytes then
		return false
	end
	local at = 6
	for _, section in ipairs(there) do
		at = section.read(tree, option, at)
	end
	return true
end

local function syn(tree, option)
	if option:len() < 8 then
		return false
	end
	tree:add(fields.version, option(4, 1))
	return true
end

local function short(tree, option)
	tree:add(fields.echo, option(4, 4))
	return true
end

local function nack(tree, option)
	local nack_tree = tree:add(fields.nack, option)

	if option:len() < 10 or option(8, 2):uint() == 0 then
		tree:add_proto_expert_info(malformed)
		return
	end
	nack_tree:add(fields.nack_seq, option(4, 4))
	nack_tree:add(fields.nack_payload, option(8, 2))
end

local function quell_option(tree, option)
	local form, read = 1, full
	if tcp_syn().value then
		form, read = 0, syn
	elseif option:len() == 8 then
		form, read = 2, short
	end
	tree:add(fields.form, form):set_generated()
	if not read(tree, option) then
		tree:add_proto_expert_info(malformed)
	end
end

function quell.dissector(_, _, root)
	local info = tcp_options()

	if not info then
		return
	end
	local option, lost = find(info.range, KIND, EXID), find(info.range, KIND, NACK_EXID)
	if not option and not lost then
		return
	end
	local tree = root:add(quell, option or lost)
	if option then
		quell_option(tree, option)
	end
	if lost then
		nack(tree, lost)
	end
end

register_postdissector(quell)

-- TCP-INT

local INT_KIND = 0x72
local INT_BYTES = 12

local GBIT_PS = { 10, 25, 40, 50, 100, 200, 400 }
local speeds = { [0] = "unknown" }
for code, gbit_ps in ipairs(GBIT_PS) do
	speeds[code] = gbit_ps .. " Gbit/s"
end

local int_fields = {
	tag_freq = ProtoField.uint8("tcp_int.tag_freq", "Tag frequency", base.DEC, nil, 0xf0),
	speed = ProtoField.uint8("tcp_int.speed", "Link speed", base.DEC, speeds, 0x0f),
	value = ProtoField.uint8("tcp_int.value", "Value", base.HEX),
	available = ProtoField.uint32("tcp_int.available_gbit_ps", "Available (Gbit/s)"),
	queue = ProtoField.uint32("tcp_int.queue_bytes", "Queue (bytes)"),
	hop_ttl = ProtoField.uint8("tcp_int.hop_ttl", "Time to live at the hop"),
	latency = ProtoField.uint32("tcp_int.latency_ns", "Latency (ns)"),
	echo_value = ProtoField.uint8("tcp_int.echo_value", "Echoed value", base.HEX),
	echo_available = ProtoField.uint32("tcp_int.echo_available_gbit_ps",
					   "Echoed available (Gbit/s)"),
	echo_queue = ProtoField.uint32("tcp_int.echo_queue_bytes", "Echoed queue (bytes)"),
	echo_hop = ProtoField.uint8("tcp_int.echo_hop", "Echoed hop", base.DEC, nil, 0xf0),
	echo_speed = ProtoField.uint8("tcp_int.echo_speed", "Echoed link speed",
				      base.DEC, speeds, 0x0f),
	echo_latency = ProtoField.uint32("tcp_int.echo_latency_ns", "Echoed latency (ns)"),
}
for _, field in pairs(int_fields) do
	table.insert(tcp_int.fields, field)
end

local int_malformed = ProtoExpert.new("tcp_int.malformed", "Option of another length",
				      expert.group.MALFORMED, expert.severity.ERROR)
tcp_int.experts = { int_malformed }

-- A value is of a rate or, from 128 on, of a queue.
local function value(tree, range, code, available, queue)
	tree:add(code, range)
	if range:uint() < 128 then
		tree:add(available, range, 127 - range:uint())
	else
		tree:add(queue, range, (range:uint() - 128) * 8192)
	end
end

local function echo(tree, option)
	local latency = option(10, 2):le_uint()

	value(tree, option(8, 1), int_fields.echo_value, int_fields.echo_available, int_fields.echo_queue)
	tree:add(int_fields.echo_speed, option(9, 1))
	if latency < 0x8000 then
		tree:add(int_fields.echo_latency, option(10, 2), latency * 256)
	else
		tree:add(int_fields.echo_latency, option(10, 2), (latency - 0x8000) * 65536)
	end
end

function tcp_int.dissector(_, _, root)
	local info = tcp_options()
	local option = info and find(info.range, INT_KIND)

	if not option then
		return
	end
	local tree = root:add(tcp_int, option)
	if option:len() ~= INT_BYTES then
		tree:add_proto_expert_info(int_malformed)
		return
	end
	tree:add(int_fields.tag_freq, option(2, 1))
	tree:add(int_fields.speed, option(2, 1))
	tree:add(int_fields.hop_ttl, option(4, 1))
	-- Without a write of a switch the value has no meaning.
	if option(4, 1):uint() > 0 then
		value(tree, option(3, 1), int_fields.value, int_fields.available, int_fields.queue)
	end
	tree:add(int_fields.latency, option(5, 3), option(5, 3):uint() * 256)
	tree:add(int_fields.echo_hop, option(9, 1))
	if option(9, 1):uint() >= 16 then
		echo(tree, option)
	end
end

register_postdissector(tcp_int)
