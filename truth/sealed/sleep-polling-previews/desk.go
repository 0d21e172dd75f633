// The desk: takes questions for previews (author 2 bytes, page 4), and answers with the size (4) and a check of the picture (4).
package main

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"log"
	"net"
)

func serve(editor net.Conn) {
	defer editor.Close()
	painter, err := net.Dial("unix", "@{work}/@{sock}")
	if err != nil {
		log.Print(err)
		return
	}
	defer painter.Close()
	for {
		var question [6]byte
		if _, err := io.ReadFull(editor, question[:]); err != nil {
			return
		}
		if _, err := painter.Write(question[2:]); err != nil {
			return
		}
		var size [4]byte
		if _, err := io.ReadFull(painter, size[:]); err != nil {
			return
		}
		picture := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(painter, picture); err != nil {
			return
		}
		answer := binary.BigEndian.AppendUint32(size[:], crc32.ChecksumIEEE(picture))
		if _, err := editor.Write(answer); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:@{desk}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		editor, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(editor)
	}
}
