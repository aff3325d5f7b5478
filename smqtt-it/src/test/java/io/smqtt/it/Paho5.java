// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.eclipse.paho.mqttv5.client.IMqttToken;
import org.eclipse.paho.mqttv5.client.MqttAsyncClient;
import org.eclipse.paho.mqttv5.client.MqttCallback;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.MqttDisconnectResponse;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;
import org.eclipse.paho.mqttv5.common.packet.UserProperty;

/** Eclipse Paho Java client, MQTT 5. */
final class Paho5 implements ClientLibrary {

    private static final long PATIENCE_MILLIS = 20_000;

    @Override
    public String name() {
        return "Paho Java";
    }

    @Override
    public Set<Integer> versions() {
        return Set.of(5);
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

    private static MqttConnectionOptions options(ConnectRequest request) {
        MqttConnectionOptions options = new MqttConnectionOptions();
        options.setAutomaticReconnect(false);
        options.setCleanStart(request.cleanStart());
        options.setSessionExpiryInterval(request.sessionExpiry());
        if (request.endpoint().transport().secure()) {
            options.setSocketFactory(
                    TestCertificates.context(request.endpoint().authority()).getSocketFactory());
        }
        Message will = request.will();
        if (will != null) {
            options.setWill(will.topic(), outgoing(will));
        }
        return options;
    }

    private static MqttMessage outgoing(Message message) {
        MqttProperties properties = new MqttProperties();
        List<UserProperty> pairs = new ArrayList<>();
        for (String pair : message.userProperties()) {
            pairs.add(new UserProperty(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1)));
        }
        properties.setUserProperties(pairs);
        properties.setResponseTopic(message.responseTopic());
        properties.setContentType(message.contentType());
        properties.setMessageExpiryInterval(message.expiry());
        properties.setPayloadFormat(message.payloadFormat() != null && message.payloadFormat() == 1);
        if (message.correlation() != null) {
            properties.setCorrelationData(HexFormat.of().parseHex(message.correlation()));
        }
        return new MqttMessage(
                message.payload().getBytes(StandardCharsets.UTF_8), message.qos(), message.retain(), properties);
    }

    private static Message received(String topic, MqttMessage message) {
        MqttProperties properties = message.getProperties();
        List<String> pairs = new ArrayList<>();
        for (UserProperty property : properties.getUserProperties()) {
            pairs.add(property.getKey() + "=" + property.getValue());
        }
        byte[] correlation = properties.getCorrelationData();
        return new Message(
                topic,
                new String(message.getPayload(), StandardCharsets.UTF_8),
                message.getQos(),
                message.isRetained(),
                pairs,
                properties.getResponseTopic(),
                correlation == null ? null : HexFormat.of().formatHex(correlation),
                properties.getMessageExpiryInterval(),
                properties.getContentType(),
                properties.getPayloadFormat() ? 1 : null);
    }

    private record Callback(Inbox inbox) implements MqttCallback {

        @Override
        public void messageArrived(String topic, MqttMessage message) {
            inbox.add(received(topic, message));
        }

        @Override
        public void disconnected(MqttDisconnectResponse response) {}

        @Override
        public void mqttErrorOccurred(MqttException exception) {}

        @Override
        public void deliveryComplete(IMqttToken token) {}

        @Override
        public void connectComplete(boolean reconnect, String uri) {}

        @Override
        public void authPacketArrived(int reasonCode, MqttProperties properties) {}
    }

    private record Link(MqttAsyncClient client, Relay relay, Inbox inbox, boolean sessionPresent)
            implements ClientLink {

        @Override
        public List<Integer> subscribe(List<String> filters, List<Integer> qos) throws Exception {
            MqttSubscription[] subscriptions = new MqttSubscription[filters.size()];
            for (int i = 0; i < subscriptions.length; i++) {
                subscriptions[i] = new MqttSubscription(filters.get(i), qos.get(i));
            }
            return codes(client.subscribe(subscriptions));
        }

        @Override
        public List<Integer> unsubscribe(String filter) throws Exception {
            return codes(client.unsubscribe(filter));
        }

        @Override
        public int publish(Message message) throws Exception {
            List<Integer> codes = codes(client.publish(message.topic(), outgoing(message)));
            return codes.isEmpty() ? 0 : codes.get(0);
        }

        private static List<Integer> codes(IMqttToken token) throws MqttException {
            token.waitForCompletion(PATIENCE_MILLIS);
            int[] codes = token.getReasonCodes();
            return codes == null ? List.of() : Arrays.stream(codes).boxed().toList();
        }

        @Override
        public Message next() throws Exception {
            return inbox.next();
        }

        @Override
        public void disconnect() throws Exception {
            disconnect(new MqttProperties());
        }

        @Override
        public void disconnectForgetting() throws Exception {
            MqttProperties properties = new MqttProperties();
            properties.setSessionExpiryInterval(0L);
            disconnect(properties);
        }

        private void disconnect(MqttProperties properties) throws Exception {
            client.disconnect(1000, null, null, 0, properties).waitForCompletion(PATIENCE_MILLIS);
            relay.awaitEnd();
            client.close();
        }

        @Override
        public void cut() throws Exception {
            relay.close();
        }
    }
}
