// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

final class TcpListenerTest implements ListenerContract {

    @Override
    public Configs config() {
        return Configs.tcp();
    }

    @Override
    public WireClient connect(InetSocketAddress server) throws IOException {
        return WireClient.tcp(server);
    }

    @Override
    public List<String> handlersOnceConnected() {
        return List.of(MqttPipeline.MQTT);
    }
}
