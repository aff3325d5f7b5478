module io.smqtt/it/agent

go 1.24.0

require (
	github.com/eclipse/paho.golang v0.23.0
	github.com/gorilla/websocket v1.5.3
)
