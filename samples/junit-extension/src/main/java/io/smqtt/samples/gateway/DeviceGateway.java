// SPDX-License-Identifier: Apache-2.0
package io.smqtt.samples.gateway;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.MqttClientState;
import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5AsyncClient;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Reports the readings of devices and executes commands. Loses neither when the network fails: it connects again by itself, sends again
 * what was not acknowledged, and has a session in which commands wait for it. When it stays away for half a minute, its status says so.
 */
public final class DeviceGateway {

    private static final long SESSION_SECONDS = 3_600;
    private static final long READING_SECONDS = 600;
    private static final long MISSED_AFTER_SECONDS = 30;

    private final String id;
    private final Consumer<String> executor;
    private final Mqtt5AsyncClient client;

    /**
     * Creates a gateway that is not connected.
     *
     * @param host where the broker is
     * @param port its port
     * @param id the name of the gateway
     * @param executor executes commands, on a thread of the client
     */
    public DeviceGateway(String host, int port, String id, Consumer<String> executor) {
        this.id = id;
        this.executor = executor;
        client = MqttClient.builder()
                .useMqttVersion5()
                .identifier(id)
                .serverHost(host)
                .serverPort(port)
                .automaticReconnect()
                .initialDelay(20, TimeUnit.MILLISECONDS)
                .maxDelay(500, TimeUnit.MILLISECONDS)
                .applyAutomaticReconnect()
                .willPublish()
                .topic(statusTopic())
                .payload("missing".getBytes(StandardCharsets.UTF_8))
                .retain(true)
                .delayInterval(MISSED_AFTER_SECONDS)
                .applyWillPublish()
                .buildAsync();
        client.publishes(MqttGlobalPublishFilter.ALL, this::execute); // also what comes before a SUBACK
    }

    private String statusTopic() {
        return "gateways/" + id + "/status";
    }

    /**
     * Connects and waits for commands.
     *
     * @return completes when commands can come
     */
    public CompletableFuture<?> start() {
        return client.connectWith()
                .cleanStart(false)
                .noKeepAlive()
                .sessionExpiryInterval(SESSION_SECONDS)
                .send()
                .thenCompose(connected -> client.subscribeWith()
                        .topicFilter("gateways/" + id + "/commands")
                        .qos(MqttQos.AT_LEAST_ONCE)
                        .send())
                .thenCompose(subscribed -> publish(statusTopic(), "up", true));
    }

    private void execute(Mqtt5Publish command) {
        executor.accept(new String(command.getPayloadAsBytes(), StandardCharsets.UTF_8));
    }

    /**
     * Reports a reading.
     *
     * @param device the device
     * @param reading what it says
     * @return completes when the broker has it, however often the connection fails meanwhile
     */
    public CompletableFuture<?> report(String device, String reading) {
        return publish("devices/" + device + "/reading", reading, false);
    }

    private CompletableFuture<?> publish(String topic, String payload, boolean retain) {
        return client.publishWith()
                .topic(topic)
                .qos(MqttQos.AT_LEAST_ONCE)
                .payload(payload.getBytes(StandardCharsets.UTF_8))
                .retain(retain)
                .messageExpiryInterval(READING_SECONDS)
                .send();
    }

    /**
     * Tells whether the gateway is connected.
     *
     * @return false also while it connects again
     */
    public boolean isConnected() {
        return client.getState() == MqttClientState.CONNECTED;
    }

    /**
     * Disconnects; the session stays for an hour.
     *
     * @return completes when the connection is closed
     */
    public CompletableFuture<?> stop() {
        return client.disconnectWith().sessionExpiryInterval(SESSION_SECONDS).send();
    }
}
