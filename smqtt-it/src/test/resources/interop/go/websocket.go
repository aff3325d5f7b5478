// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// binaryStream is a WebSocket connection seen as a stream of bytes, one binary message per write.
type binaryStream struct {
	*websocket.Conn
	reading io.Reader
	writing sync.Mutex
}

func webSocket(ctx context.Context, secure *tls.Config, address string) (net.Conn, error) {
	dialer := websocket.Dialer{TLSClientConfig: secure, Subprotocols: []string{"mqtt"}}
	conn, _, err := dialer.DialContext(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	return &binaryStream{Conn: conn}, nil
}

func (s *binaryStream) Read(into []byte) (int, error) {
	for {
		if s.reading == nil {
			_, reader, err := s.NextReader()
			if err != nil {
				return 0, err
			}
			s.reading = reader
		}
		n, err := s.reading.Read(into)
		if err == io.EOF {
			s.reading = nil
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (s *binaryStream) Write(from []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.WriteMessage(websocket.BinaryMessage, from); err != nil {
		return 0, err
	}
	return len(from), nil
}

func (s *binaryStream) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}
