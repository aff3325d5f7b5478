// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5AsyncClient;
import com.hivemq.client.mqtt.mqtt5.Mqtt5Client;
import com.hivemq.client.mqtt.mqtt5.datatypes.Mqtt5UserProperties;
import com.hivemq.client.mqtt.mqtt5.datatypes.Mqtt5UserProperty;
import com.hivemq.client.mqtt.mqtt5.message.connect.Mqtt5Connect;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PayloadFormatIndicator;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PublishResult;
import com.hivemq.client.mqtt.mqtt5.message.subscribe.Mqtt5Subscribe;
import com.hivemq.client.mqtt.mqtt5.message.subscribe.Mqtt5Subscription;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** HiveMQ MQTT Client, MQTT 5. */
final class HiveMq5 implements ClientLibrary {

    @Override
    public String name() {
        return "HiveMQ client";
    }

    @Override
    public Set<Integer> versions() {
        return Set.of(5);
    }

    @Override
    public ClientLink connect(ConnectRequest request) throws Exception {
        Relay relay = new Relay(request.endpoint().port());
        Mqtt5AsyncClient client =
                HiveMq.configure(Mqtt5Client.builder(), request, relay.port()).buildAsync();
        Inbox inbox = new Inbox();
        client.publishes(MqttGlobalPublishFilter.ALL, publish -> inbox.add(received(publish)));
        Mqtt5Connect connect = Mqtt5Connect.builder()
                .cleanStart(request.cleanStart())
                .sessionExpiryInterval(request.sessionExpiry())
                .build();
        Message will = request.will();
        if (will != null) {
            connect = connect.extend().willPublish(publish(will)).build();
        }
        boolean present = client.connect(connect).get(20, TimeUnit.SECONDS).isSessionPresent();
        return new Link(client, relay, inbox, present);
    }

    private static Mqtt5Publish publish(Message message) {
        var builder = Mqtt5Publish.builder()
                .topic(message.topic())
                .qos(MqttQos.values()[message.qos()])
                .retain(message.retain())
                .payload(message.payload().getBytes(StandardCharsets.UTF_8))
                .contentType(message.contentType())
                .responseTopic(message.responseTopic())
                .userProperties(userProperties(message.userProperties()));
        if (message.correlation() != null) {
            builder.correlationData(HexFormat.of().parseHex(message.correlation()));
        }
        if (message.expiry() != null) {
            builder.messageExpiryInterval(message.expiry());
        }
        if (message.payloadFormat() != null) {
            builder.payloadFormatIndicator(Mqtt5PayloadFormatIndicator.values()[message.payloadFormat()]);
        }
        return builder.build();
    }

    private static Mqtt5UserProperties userProperties(List<String> pairs) {
        var builder = Mqtt5UserProperties.builder();
        for (String pair : pairs) {
            int equals = pair.indexOf('=');
            builder.add(pair.substring(0, equals), pair.substring(equals + 1));
        }
        return builder.build();
    }

    private static Message received(Mqtt5Publish publish) {
        List<String> pairs = new ArrayList<>();
        for (Mqtt5UserProperty property : publish.getUserProperties().asList()) {
            pairs.add(property.getName() + "=" + property.getValue());
        }
        Long expiry = publish.getMessageExpiryInterval().isPresent()
                ? publish.getMessageExpiryInterval().getAsLong()
                : null;
        return new Message(
                publish.getTopic().toString(),
                new String(publish.getPayloadAsBytes(), StandardCharsets.UTF_8),
                publish.getQos().getCode(),
                publish.isRetain(),
                pairs,
                publish.getResponseTopic().map(Object::toString).orElse(null),
                publish.getCorrelationData().map(HiveMq5::hex).orElse(null),
                expiry,
                publish.getContentType().map(Object::toString).orElse(null),
                publish.getPayloadFormatIndicator()
                        .map(Mqtt5PayloadFormatIndicator::getCode)
                        .orElse(null));
    }

    private static @Nullable String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private record Link(Mqtt5AsyncClient client, Relay relay, Inbox inbox, boolean sessionPresent)
            implements ClientLink {

        @Override
        public List<Integer> subscribe(List<String> filters, List<Integer> qos) throws Exception {
            List<Mqtt5Subscription> subscriptions = new ArrayList<>();
            for (int i = 0; i < filters.size(); i++) {
                subscriptions.add(Mqtt5Subscription.builder()
                        .topicFilter(filters.get(i))
                        .qos(MqttQos.values()[qos.get(i)])
                        .build());
            }
            return client
                    .subscribe(Mqtt5Subscribe.builder()
                            .addSubscriptions(subscriptions)
                            .build())
                    .get(20, TimeUnit.SECONDS)
                    .getReasonCodes()
                    .stream()
                    .map(code -> code.getCode())
                    .toList();
        }

        @Override
        public List<Integer> unsubscribe(String filter) throws Exception {
            return client
                    .unsubscribeWith()
                    .topicFilter(filter)
                    .send()
                    .get(20, TimeUnit.SECONDS)
                    .getReasonCodes()
                    .stream()
                    .map(code -> code.getCode())
                    .toList();
        }

        @Override
        public int publish(Message message) throws Exception {
            Mqtt5PublishResult result = client.publish(HiveMq5.publish(message)).get(20, TimeUnit.SECONDS);
            if (result instanceof Mqtt5PublishResult.Mqtt5Qos1Result acknowledged) {
                return acknowledged.getPubAck().getReasonCode().getCode();
            }
            return result instanceof Mqtt5PublishResult.Mqtt5Qos2Result received
                    ? received.getPubRec().getReasonCode().getCode()
                    : 0;
        }

        @Override
        public Message next() throws Exception {
            return inbox.next();
        }

        @Override
        public void disconnect() throws Exception {
            client.disconnect().get(20, TimeUnit.SECONDS);
            relay.awaitEnd();
        }

        @Override
        public void disconnectForgetting() throws Exception {
            client.disconnectWith().sessionExpiryInterval(0).send().get(20, TimeUnit.SECONDS);
            relay.awaitEnd();
        }

        @Override
        public void cut() throws Exception {
            relay.close();
        }
    }
}
