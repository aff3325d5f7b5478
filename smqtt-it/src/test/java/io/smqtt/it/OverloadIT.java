// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.ModuleProvider;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker with a small heap and two event loops, one of which is made late, or whose heap is filled. */
class OverloadIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SLOWEST = Duration.ofSeconds(5);
    private static final int MESSAGES = 100;
    private static final int HELD = 60;
    private static final String RETAINED = "x".repeat(256 << 10);

    @TempDir
    Path directory;

    private final List<RawClient> clients = new ArrayList<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private int management;
    private BrokerProcess broker;
    private RawClient flow;

    private void start(String... settings) throws Exception {
        startWith(List.of(), settings);
    }

    private void startWith(List<String> options, String... settings) throws Exception {
        Path services = Files.createDirectories(directory.resolve("classes/META-INF/services"));
        Files.writeString(services.resolve(ModuleProvider.class.getName()), StallModule.class.getName());
        management = LoopbackPorts.one();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "--add-opens",
                "java.base/java.nio=ALL-UNNAMED"));
        command.addAll(options);
        command.addAll(List.of(
                "-cp",
                LoadProcess.classPath() + ":" + directory.resolve("classes"),
                "io.smqtt.bootstrap.SmqttMain",
                "start",
                "--data",
                directory.resolve("data").toString()));
        List<String> all = new ArrayList<>(List.of(
                "storage.kind=memory",
                "event-loops=2",
                "listeners.tcp.host=127.0.0.1",
                "listeners.tcp.port=0",
                "listeners.ws.enabled=false",
                "management.port=" + management,
                "management.sys-interval=100ms",
                "limits.max-retained-bytes=60%",
                "overload.rise-time=500ms",
                "overload.fall-time=500ms"));
        all.addAll(List.of(settings));
        all.forEach(setting -> command.addAll(List.of("--set", setting)));
        broker = BrokerProcess.start(new ProcessBuilder(command));
        flow = client("flow");
    }

    @AfterEach
    void stop() {
        clients.forEach(RawClient::close);
        if (broker != null) {
            broker.close();
        }
    }

    private RawClient open() {
        RawClient client =
                RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5).deadline(Duration.ofSeconds(20));
        clients.add(client);
        return client;
    }

    private RawClient client(String id) {
        RawClient client = open();
        assertThat(client.connect(id).reasonCode()).isZero();
        return client;
    }

    /** Publishes one message of the established flow at QoS 1. */
    private void flows() {
        long began = System.nanoTime();
        flow.publish("flow", "x", 1);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(SLOWEST);
    }

    private String get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + management + path))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private void awaitWhileTheFlowGoesOn(String path, String text) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            flows();
            assertThat(get(path)).contains(text);
        });
    }

    @Test
    void aLateEventLoopRaisesTheLevelsAndTheyFallAfterwards() throws Exception {
        start("overload.max-heap-percent=0", "overload.max-loop-lag=250ms");
        RawClient flood = client("flood");
        RawClient reader = client("reader");
        reader.subscribe("flood", 0);
        RawClient status = client("status");
        status.subscribe("$SYS/broker/overload", 0);
        assertThat(status.expect(MqttMessageType.PUBLISH).text()).isEqualTo("0");

        flow.publish("stall/begin", "", 1);
        awaitWhileTheFlowGoesOn("/metrics", "smqtt_overload_level 3.0");
        assertThat(get("/health/ready")).contains("\"status\":\"up\"", "\"overload\":\"level 3: an event loop is ");
        ReceivedPacket refused = open().send(ConnectBytes.of("late")).expect(MqttMessageType.CONNACK);
        assertThat(refused.reasonCode()).isEqualTo(ReasonCode.SERVER_BUSY.value());

        flood.send(PublishBytes.to("flood").payload("first").qos(0, 0));
        awaitWhileTheFlowGoesOn("/metrics", "smqtt_reads_postponed_total{limit=\"overload\"} 1.0");
        flood.send(PublishBytes.to("flood").payload("second").qos(0, 0));
        reader.expectPublish("flood", "first");
        flows();

        flow.publish("stall/end", "", 1);
        awaitWhileTheFlowGoesOn("/metrics", "smqtt_overload_level 0.0");
        assertThat(get("/health/ready")).contains("\"overload\":\"none\"");
        reader.expectPublish("flood", "second");
        client("in-time");
        for (String level : List.of("1, was 0", "2, was 1", "3, was 2", "2, was 3", "1, was 2", "0, was 1")) {
            broker.awaitLine("overload level " + level);
        }
        List<String> seen = new ArrayList<>();
        while (!seen.contains("0")) {
            seen.add(status.expect(MqttMessageType.PUBLISH).text());
        }
        assertThat(seen).contains("3");
    }

    @Test
    void aFullHeapRaisesTheLevelsAndTheyFallWhenItIsEmptyAgain() throws Exception {
        start("overload.max-loop-lag=never", "overload.max-heap-percent=50");
        RawClient writer = client("writer");
        for (int i = 0; i < MESSAGES; i++) {
            retain(writer, i, RETAINED);
            flows();
        }
        collect();
        awaitWhileTheFlowGoesOn("/metrics", "smqtt_overload_level 3.0");
        assertThat(get("/health/ready")).contains(" % of the heap for old objects are in use");
        for (int i = 0; i < MESSAGES; i++) {
            retain(writer, i, "");
        }
        collect();
        awaitWhileTheFlowGoesOn("/metrics", "smqtt_overload_level 0.0");
    }

    @Test
    void fullNetworkBuffersRaiseTheLevelsAndTheyFallWhenTheClientHasLeft() throws Exception {
        startWith(
                List.of("-XX:MaxDirectMemorySize=48m", "-Dio.netty.tryReflectionSetAccessible=true"),
                "overload.max-loop-lag=never",
                "overload.max-heap-percent=0",
                "overload.max-direct-percent=25",
                "limits.max-direct-payload-bytes=24MiB");
        RawClient holder = open();
        ConnectBytes connect = ConnectBytes.of("holder");
        connect.properties().receiveMaximum(HELD);
        holder.send(connect).expect(MqttMessageType.CONNACK);
        holder.subscribe("held", 1);
        RawClient writer = client("writer");
        for (int i = 0; i < HELD; i++) {
            writer.publish(PublishBytes.to("held").payload(RETAINED).qos(1));
            holder.expect(MqttMessageType.PUBLISH); // and never acknowledged
        }
        awaitWhileTheFlowGoesOn("/metrics", "smqtt_overload_level 3.0");
        assertThat(get("/health/ready")).contains(" % of the memory outside of the heap are in use");
        holder.close();
        awaitWhileTheFlowGoesOn("/metrics", "smqtt_overload_level 0.0");
    }

    private static void retain(RawClient writer, int number, String text) {
        writer.publish(PublishBytes.to("kept/" + number).payload(text).qos(1).retained());
    }

    private void collect() throws Exception {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(broker.handle().pid()),
                        "GC.run")
                .redirectErrorStream(true)
                .start();
        assertThat(jcmd.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
}
