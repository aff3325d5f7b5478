// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.eclipse.paho.client.mqttv3.IMqttDeliveryToken;
import org.eclipse.paho.client.mqttv3.IMqttToken;
import org.eclipse.paho.client.mqttv3.MqttAsyncClient;
import org.eclipse.paho.client.mqttv3.MqttCallback;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.MqttMessage;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;

/** Eclipse Paho Java client, MQTT 3.1 and 3.1.1. */
final class Paho3 implements ClientLibrary {

    private static final long PATIENCE_MILLIS = 20_000;

    @Override
    public String name() {
        return "Paho Java";
    }

    @Override
    public Set<Integer> versions() {
        return Set.of(3, 4);
    }

    @Override
    public ClientLink connect(ConnectRequest request) throws Exception {
        return PatientUpgrade.of(() -> connectOnce(request));
    }

    private static ClientLink connectOnce(ConnectRequest request) throws Exception {
        Relay relay = new Relay(request.endpoint().port());
        String uri = request.endpoint().through(relay.port()).uri("tcp", "ssl", "ws", "wss");
        MqttAsyncClient client = new MqttAsyncClient(uri, request.clientId(), new MemoryPersistence());
        Inbox inbox = new Inbox();
        client.setCallback(new Callback(inbox));
        IMqttToken token = client.connect(options(request));
        token.waitForCompletion(PATIENCE_MILLIS);
        return new Link(client, relay, inbox, token.getSessionPresent());
    }

    private static MqttConnectOptions options(ConnectRequest request) {
        MqttConnectOptions options = new MqttConnectOptions();
        options.setMqttVersion(request.version());
        options.setCleanSession(request.cleanStart());
        if (request.endpoint().transport().secure()) {
            options.setSocketFactory(
                    TestCertificates.context(request.endpoint().authority()).getSocketFactory());
        }
        Message will = request.will();
        if (will != null) {
            options.setWill(will.topic(), will.payload().getBytes(StandardCharsets.UTF_8), will.qos(), will.retain());
        }
        return options;
    }

    private record Callback(Inbox inbox) implements MqttCallback {

        @Override
        public void messageArrived(String topic, MqttMessage received) {
            Message message =
                    Message.of(topic, new String(received.getPayload(), StandardCharsets.UTF_8), received.getQos());
            inbox.add(received.isRetained() ? message.retained() : message);
        }

        @Override
        public void connectionLost(Throwable cause) {}

        @Override
        public void deliveryComplete(IMqttDeliveryToken token) {}
    }

    private record Link(MqttAsyncClient client, Relay relay, Inbox inbox, boolean sessionPresent)
            implements ClientLink {

        @Override
        public List<Integer> subscribe(List<String> filters, List<Integer> qos) throws Exception {
            int[] levels = qos.stream().mapToInt(Integer::intValue).toArray();
            IMqttToken token = client.subscribe(filters.toArray(new String[0]), levels);
            token.waitForCompletion(PATIENCE_MILLIS);
            return Arrays.stream(token.getGrantedQos()).boxed().toList();
        }

        @Override
        public List<Integer> unsubscribe(String filter) throws Exception {
            client.unsubscribe(filter).waitForCompletion(PATIENCE_MILLIS);
            return List.of();
        }

        @Override
        public int publish(Message message) throws Exception {
            client.publish(
                            message.topic(),
                            message.payload().getBytes(StandardCharsets.UTF_8),
                            message.qos(),
                            message.retain())
                    .waitForCompletion(PATIENCE_MILLIS);
            return 0;
        }

        @Override
        public Message next() throws Exception {
            return inbox.next();
        }

        @Override
        public void disconnect() throws Exception {
            client.disconnect().waitForCompletion(PATIENCE_MILLIS);
            relay.awaitEnd();
            client.close();
        }

        @Override
        public void disconnectForgetting() {
            throw new UnsupportedOperationException("MQTT 5 only");
        }

        @Override
        public void cut() throws Exception {
            relay.close();
        }
    }
}
