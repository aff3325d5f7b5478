// SPDX-License-Identifier: Apache-2.0

// Obeys one JSON command per line with paho.golang; see ForeignLibrary.java for the commands.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
)

const patience = 15 * time.Second

type message struct {
	Topic          string   `json:"topic"`
	Payload        string   `json:"payload"`
	Qos            byte     `json:"qos"`
	Retain         bool     `json:"retain"`
	UserProperties []string `json:"userProperties"`
	ResponseTopic  string   `json:"responseTopic,omitempty"`
	Correlation    string   `json:"correlation,omitempty"`
	Expiry         *uint32  `json:"expiry,omitempty"`
	ContentType    string   `json:"contentType,omitempty"`
	PayloadFormat  *byte    `json:"payloadFormat,omitempty"`
}

type request struct {
	Id            int      `json:"id"`
	Op            string   `json:"op"`
	Link          int      `json:"link"`
	Transport     string   `json:"transport"`
	Host          string   `json:"host"`
	Port          int      `json:"port"`
	Path          string   `json:"path"`
	Ca            string   `json:"ca"`
	ClientId      string   `json:"clientId"`
	CleanStart    bool     `json:"cleanStart"`
	SessionExpiry *uint32  `json:"sessionExpiry"`
	Will          *message `json:"will"`
	Filters       []string `json:"filters"`
	Qos           []byte   `json:"qos"`
	Filter        string   `json:"filter"`
	Message       *message `json:"message"`
}

type link struct {
	client *paho.Client
	conn   net.Conn
}

var (
	output sync.Mutex
	links  = map[int]*link{}
)

func say(line map[string]any) {
	text, _ := json.Marshal(line)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

func dial(r *request) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pem, err := os.ReadFile(r.Ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	secure := &tls.Config{RootCAs: pool}
	address := fmt.Sprintf("%s:%d", r.Host, r.Port)
	switch r.Transport {
	case "tls":
		return (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", address)
	case "ws", "wss":
		return webSocket(ctx, secure, r.Transport+"://"+address+r.Path)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

func userProperties(pairs []string) paho.UserProperties {
	var properties paho.UserProperties
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		properties.Add(name, value)
	}
	return properties
}

func outgoing(m *message) *paho.Publish {
	correlation, _ := hex.DecodeString(m.Correlation)
	if m.Correlation == "" {
		correlation = nil
	}
	return &paho.Publish{Topic: m.Topic, Payload: []byte(m.Payload), QoS: m.Qos, Retain: m.Retain,
		Properties: &paho.PublishProperties{User: userProperties(m.UserProperties), ResponseTopic: m.ResponseTopic,
			CorrelationData: correlation, MessageExpiry: m.Expiry, ContentType: m.ContentType, PayloadFormat: m.PayloadFormat}}
}

func received(p *paho.Publish) message {
	m := message{Topic: p.Topic, Payload: string(p.Payload), Qos: p.QoS, Retain: p.Retain,
		ResponseTopic: p.Properties.ResponseTopic, Correlation: hex.EncodeToString(p.Properties.CorrelationData),
		Expiry: p.Properties.MessageExpiry, ContentType: p.Properties.ContentType, PayloadFormat: p.Properties.PayloadFormat}
	for _, pair := range p.Properties.User {
		m.UserProperties = append(m.UserProperties, pair.Key+"="+pair.Value)
	}
	return m
}

func connect(ctx context.Context, r *request) (map[string]any, error) {
	raw, err := dial(r)
	if err != nil {
		return nil, err
	}
	conn := packets.NewThreadSafeConn(raw)
	client := paho.NewClient(paho.ClientConfig{ClientID: r.ClientId, Conn: conn, PacketTimeout: patience,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
			say(map[string]any{"link": r.Link, "message": received(p.Packet)})
			return true, nil
		}}})
	packet := &paho.Connect{ClientID: r.ClientId, CleanStart: r.CleanStart, KeepAlive: 60,
		Properties: &paho.ConnectProperties{SessionExpiryInterval: r.SessionExpiry}}
	if r.Will != nil {
		packet.WillMessage = &paho.WillMessage{Topic: r.Will.Topic, Payload: []byte(r.Will.Payload), QoS: r.Will.Qos, Retain: r.Will.Retain}
		packet.WillProperties = &paho.WillProperties{}
	}
	ack, err := client.Connect(ctx, packet)
	if err != nil {
		return nil, err
	}
	links[r.Link] = &link{client, conn}
	return map[string]any{"sessionPresent": ack.SessionPresent}, nil
}

func numbers(codes []byte) []int {
	list := []int{}
	for _, code := range codes {
		list = append(list, int(code))
	}
	return list
}

func perform(r *request) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if r.Op == "connect" {
		return connect(context.Background(), r)
	}
	l := links[r.Link]
	switch r.Op {
	case "subscribe":
		packet := &paho.Subscribe{}
		for i, filter := range r.Filters {
			packet.Subscriptions = append(packet.Subscriptions, paho.SubscribeOptions{Topic: filter, QoS: r.Qos[i]})
		}
		ack, err := l.client.Subscribe(ctx, packet)
		if err != nil {
			return nil, err
		}
		return map[string]any{"codes": numbers(ack.Reasons)}, nil
	case "unsubscribe":
		ack, err := l.client.Unsubscribe(ctx, &paho.Unsubscribe{Topics: []string{r.Filter}})
		if err != nil {
			return nil, err
		}
		return map[string]any{"codes": numbers(ack.Reasons)}, nil
	case "publish":
		answer, err := l.client.Publish(ctx, outgoing(r.Message))
		if err != nil {
			return nil, err
		}
		code := byte(0)
		if answer != nil {
			code = answer.ReasonCode
		}
		return map[string]any{"code": code}, nil
	case "disconnect":
		packet := &paho.Disconnect{}
		if r.SessionExpiry != nil {
			packet.Properties = &paho.DisconnectProperties{SessionExpiryInterval: r.SessionExpiry}
		}
		return map[string]any{}, l.client.Disconnect(packet)
	case "cut":
		return map[string]any{}, l.conn.Close()
	}
	return nil, fmt.Errorf("unknown operation %s", r.Op)
}

func main() {
	say(map[string]any{"ready": true})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		result, err := perform(&r)
		if err != nil {
			result = map[string]any{"error": err.Error()}
		}
		result["id"] = r.Id
		say(result)
	}
}
