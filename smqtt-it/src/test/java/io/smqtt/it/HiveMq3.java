// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt3.Mqtt3AsyncClient;
import com.hivemq.client.mqtt.mqtt3.Mqtt3Client;
import com.hivemq.client.mqtt.mqtt3.message.connect.Mqtt3Connect;
import com.hivemq.client.mqtt.mqtt3.message.publish.Mqtt3Publish;
import com.hivemq.client.mqtt.mqtt3.message.subscribe.Mqtt3Subscribe;
import com.hivemq.client.mqtt.mqtt3.message.subscribe.Mqtt3Subscription;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** HiveMQ MQTT Client, MQTT 3.1.1. */
final class HiveMq3 implements ClientLibrary {

    @Override
    public String name() {
        return "HiveMQ client";
    }

    @Override
    public Set<Integer> versions() {
        return Set.of(4);
    }

    @Override
    public ClientLink connect(ConnectRequest request) throws Exception {
        Relay relay = new Relay(request.endpoint().port());
        Mqtt3AsyncClient client =
                HiveMq.configure(Mqtt3Client.builder(), request, relay.port()).buildAsync();
        Inbox inbox = new Inbox();
        client.publishes(MqttGlobalPublishFilter.ALL, publish -> inbox.add(received(publish)));
        Mqtt3Connect connect =
                Mqtt3Connect.builder().cleanSession(request.cleanStart()).build();
        Message will = request.will();
        if (will != null) {
            connect = connect.extend().willPublish(publish(will)).build();
        }
        boolean present = client.connect(connect).get(20, TimeUnit.SECONDS).isSessionPresent();
        return new Link(client, relay, inbox, present);
    }

    private static Mqtt3Publish publish(Message message) {
        return Mqtt3Publish.builder()
                .topic(message.topic())
                .qos(qos(message.qos()))
                .retain(message.retain())
                .payload(message.payload().getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private static MqttQos qos(int code) {
        return MqttQos.values()[code];
    }

    private static Message received(Mqtt3Publish publish) {
        Message message = Message.of(
                publish.getTopic().toString(),
                new String(publish.getPayloadAsBytes(), StandardCharsets.UTF_8),
                publish.getQos().getCode());
        return publish.isRetain() ? message.retained() : message;
    }

    private record Link(Mqtt3AsyncClient client, Relay relay, Inbox inbox, boolean sessionPresent)
            implements ClientLink {

        @Override
        public List<Integer> subscribe(List<String> filters, List<Integer> qos) throws Exception {
            List<Mqtt3Subscription> subscriptions = new ArrayList<>();
            for (int i = 0; i < filters.size(); i++) {
                subscriptions.add(Mqtt3Subscription.builder()
                        .topicFilter(filters.get(i))
                        .qos(HiveMq3.qos(qos.get(i)))
                        .build());
            }
            return client
                    .subscribe(Mqtt3Subscribe.builder()
                            .addSubscriptions(subscriptions)
                            .build())
                    .get(20, TimeUnit.SECONDS)
                    .getReturnCodes()
                    .stream()
                    .map(code -> code.getCode())
                    .toList();
        }

        @Override
        public List<Integer> unsubscribe(String filter) throws Exception {
            client.unsubscribeWith().topicFilter(filter).send().get(20, TimeUnit.SECONDS);
            return List.of();
        }

        @Override
        public int publish(Message message) throws Exception {
            client.publish(HiveMq3.publish(message)).get(20, TimeUnit.SECONDS);
            return 0;
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
        public void disconnectForgetting() {
            throw new UnsupportedOperationException("MQTT 5 only");
        }

        @Override
        public void cut() throws Exception {
            relay.close();
        }
    }
}
