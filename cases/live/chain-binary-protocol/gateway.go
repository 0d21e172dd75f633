// Passes messages on to the renderer: gateway PORT RENDERER_PORT. A message is its length (4 bytes) and its body.
package main

import (
	"encoding/binary"
	"io"
	"log"
	"net"
	"os"
)

func pass(from io.Reader, to io.Writer) error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return err
	}
	message := make([]byte, 4+min(binary.BigEndian.Uint32(head), 1<<16))
	copy(message, head)
	if _, err := io.ReadFull(from, message[4:]); err != nil {
		return err
	}
	_, err := to.Write(message)
	return err
}

func serve(client net.Conn) {
	defer client.Close()
	renderer, err := net.Dial("tcp", "127.0.0.1:"+os.Args[2])
	if err != nil {
		log.Print(err)
		return
	}
	defer renderer.Close()
	for pass(client, renderer) == nil && pass(renderer, client) == nil {
	}
}

func main() {
	server, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := server.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(client)
	}
}
