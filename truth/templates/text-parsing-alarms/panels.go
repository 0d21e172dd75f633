// The fire alarm panels of a district: send what they see to the watch, in datagrams of some lines each.
package main

import (
	"bytes"
	"fmt"
	"net"
	"time"
)

var kinds = []string{"heartbeat", "battery", "alarm", "fault", "door", "heartbeat", "test", "heartbeat"}

func bundle(number int) []byte {
	var text bytes.Buffer
	for i := 0; i < @{bundle}; i++ {
		draw := (number*@{bundle} + i) * 7919 % 999983
		fmt.Fprintf(&text, "<%d>2024-05-%02dT%02d:%02d:%02d.%03dZ panel-%d watch[%d]: kind=%s zone=%d", 128+draw%8, draw%28+1, draw%24, draw%60, draw/60%60,
			draw%1000, draw%400, 300+draw%9000, kinds[draw%len(kinds)], draw%@{zones})
		for pair := 0; pair < @{pairs}; pair++ {
			fmt.Fprintf(&text, " loop%d=%d.%d", pair, draw/(pair+3)%70, draw%10)
		}
		fmt.Fprintf(&text, " msg=\"detector %d of floor %d says %d\"\n", draw%64, draw%9, draw)
	}
	return text.Bytes()
}

func main() {
	bundles := make([][]byte, 64)
	for number := range bundles {
		bundles[number] = bundle(number)
	}
	var watch net.Conn
	for watch == nil {
		time.Sleep(10 * time.Millisecond)
		watch, _ = net.Dial("unixgram", "@{work}/@{sock}")
	}
	begun, every := time.Now(), time.Second*@{bundle}/@{lines}
	for sent := 0; ; sent++ {
		// A datagram waits until the watch has room for it.
		if _, err := watch.Write(bundles[sent%len(bundles)]); err != nil {
			return
		}
		time.Sleep(time.Until(begun.Add(time.Duration(sent+1) * every)))
	}
}
