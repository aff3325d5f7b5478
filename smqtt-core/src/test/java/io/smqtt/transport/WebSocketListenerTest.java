// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

final class WebSocketListenerTest implements ListenerContract {

    @Override
    public Configs config() {
        return Configs.ws();
    }

    @Override
    public WireClient connect(InetSocketAddress server) throws IOException {
        return WebSocketClient.connected(server, null);
    }

    @Override
    public List<String> handlersOnceConnected() {
        return List.of(MqttPipeline.WS_FRAMES, MqttPipeline.MQTT);
    }
}
