-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark dissector of the public TCP-INT option; what each byte means stands
-- in Documentation/tcp-int.md.
--
--	tshark -X lua_script:tcp_int.lua -r FILE -Y tcp_int -V
--
-- It looks at every TCP segment after all other dissectors, which know nothing
-- of the option's kind.

local KIND = 0x72
local BYTES = 12
local NOP = 1
local END = 0

-- The installed copy is loaded first, and a second protocol of this name is an error.
local is_first, tcp_int = pcall(Proto, "tcp_int", "TCP-INT option")
if not is_first then
	io.stderr:write("tcp_int: already loaded, this copy is not used\n")
	return
end

local GBIT_PS = { 10, 25, 40, 50, 100, 200, 400 }
local speeds = { [0] = "unknown" }
for code, gbit_ps in ipairs(GBIT_PS) do
	speeds[code] = gbit_ps .. " Gbit/s"
end

local fields = {
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
for _, field in pairs(fields) do
	table.insert(tcp_int.fields, field)
end

local malformed = ProtoExpert.new("tcp_int.malformed", "Option of another length",
				  expert.group.MALFORMED, expert.severity.ERROR)
tcp_int.experts = { malformed }

local tcp_options = Field.new("tcp.options")

-- Range of the option among a segment's options, or nil.
local function find(options)
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
			if kind == KIND then
				return options(at, length)
			end
			at = at + length
		end
	end
	return nil
end

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

	value(tree, option(8, 1), fields.echo_value, fields.echo_available, fields.echo_queue)
	tree:add(fields.echo_speed, option(9, 1))
	if latency < 0x8000 then
		tree:add(fields.echo_latency, option(10, 2), latency * 256)
	else
		tree:add(fields.echo_latency, option(10, 2), (latency - 0x8000) * 65536)
	end
end

function tcp_int.dissector(_, _, root)
	local info = tcp_options()
	local option = info and find(info.range)

	if not option then
		return
	end
	local tree = root:add(tcp_int, option)
	if option:len() ~= BYTES then
		tree:add_proto_expert_info(malformed)
		return
	end
	tree:add(fields.tag_freq, option(2, 1))
	tree:add(fields.speed, option(2, 1))
	tree:add(fields.hop_ttl, option(4, 1))
	-- Of what no switch has written nothing else means anything.
	if option(4, 1):uint() > 0 then
		value(tree, option(3, 1), fields.value, fields.available, fields.queue)
	end
	tree:add(fields.latency, option(5, 3), option(5, 3):uint() * 256)
	tree:add(fields.echo_hop, option(9, 1))
	if option(9, 1):uint() >= 16 then
		echo(tree, option)
	end
end

register_postdissector(tcp_int)
