// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.hivemq.client.mqtt.MqttClientBuilderBase;
import com.hivemq.client.mqtt.MqttClientSslConfig;
import com.hivemq.client.mqtt.MqttWebSocketConfig;

/** What the HiveMQ clients of both protocol versions share: where and how to connect. */
final class HiveMq {

    private HiveMq() {}

    static <B extends MqttClientBuilderBase<B>> B configure(B builder, ConnectRequest request, int port) {
        Endpoint endpoint = request.endpoint();
        B configured =
                builder.identifier(request.clientId()).serverHost(Endpoint.HOST).serverPort(port);
        if (endpoint.transport().secure()) {
            configured = configured.sslConfig(MqttClientSslConfig.builder()
                    .trustManagerFactory(TestCertificates.trust(endpoint.authority()))
                    .build());
        }
        if (endpoint.transport().webSocket()) {
            configured = configured.webSocketConfig(MqttWebSocketConfig.builder()
                    .serverPath(Endpoint.PATH.substring(1))
                    .build());
        }
        return configured;
    }
}
