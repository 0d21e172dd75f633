// The memory of a wind park: what each turbine does, for the desks that ask.
package main

import (
	"encoding/binary"
	"io"
	"log"
	"math"
	"math/rand"
	"net"
)

const (
	table  = 1
	curve  = 2
	curves = @{curves} != 0
)

type turbine struct {
	number, state uint16
	power         uint32
	vibration     []byte
}

func (t *turbine) appendRow(to []byte, samples int) []byte {
	to = binary.LittleEndian.AppendUint16(to, t.number)
	to = binary.LittleEndian.AppendUint16(to, t.state)
	to = binary.LittleEndian.AppendUint32(to, t.power)
	to = binary.LittleEndian.AppendUint16(to, uint16(samples))
	return binary.LittleEndian.AppendUint16(to, 0)
}

type park []*turbine

//go:noinline
func (p park) @{fnCamel}(to io.Writer, curves bool) error {
	var parts net.Buffers
	size := 0
	for _, t := range p {
		samples := 0
		if curves {
			samples = len(t.vibration) / 2
		}
		row := t.appendRow(nil, samples)
		parts = append(parts, row)
		size += len(row)
		if curves {
			parts = append(parts, t.vibration)
			size += len(t.vibration)
		}
	}
	parts = append(net.Buffers{binary.LittleEndian.AppendUint32(nil, uint32(size))}, parts...)
	_, err := parts.WriteTo(to)
	return err
}

func (p park) serve(desk net.Conn) {
	defer desk.Close()
	asked := make([]byte, 4)
	for {
		if _, err := io.ReadFull(desk, asked); err != nil {
			return
		}
		var err error
		if binary.LittleEndian.Uint16(asked) == curve {
			which := int(binary.LittleEndian.Uint16(asked[2:])) % len(p)
			err = p[which:which+1].@{fnCamel}(desk, true)
		} else {
			err = p.@{fnCamel}(desk, curves)
		}
		if err != nil {
			return
		}
	}
}

func survey() park {
	p := make(park, @{turbines})
	for i := range p {
		vibration := make([]byte, 0, 2*@{samples})
		for k := 0; k < @{samples}; k++ {
			at := 9000*math.Sin(float64(k)/7) + rand.Float64()*500
			vibration = binary.LittleEndian.AppendUint16(vibration, uint16(int16(at)))
		}
		p[i] = &turbine{uint16(i + 1), 1, 20000 + uint32(i), vibration}
	}
	return p
}

func main() {
	p := survey()
	door, err := net.Listen("unix", "@{work}/@{door}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		desk, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go p.serve(desk)
	}
}
