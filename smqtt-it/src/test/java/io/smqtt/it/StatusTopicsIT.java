// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The topics below $SYS/broker, beside those of a mosquitto that the same clients talk to. */
class StatusTopicsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Topics that mosquitto has and this broker has not. docs/metrics.md must name them, and say why. */
    private static final Set<String> LEFT_OUT = Set.of();

    /** What clients send is the same for both brokers, so these values are. */
    private static final List<String> SAME = List.of(
            "messages/received",
            "bytes/received",
            "publish/messages/received",
            "publish/bytes/received",
            "publish/messages/dropped",
            "clients/connected",
            "clients/total",
            "subscriptions/count",
            "shared_subscriptions/count");

    @TempDir
    Path directory;

    @Test
    void mosquittosTopicsAreThereAndWhatClientsSendIsCountedLikeThere() throws IOException {
        Map<String, String> theirs;
        int port = LoopbackPorts.one();
        Path conf = Files.writeString(
                directory.resolve("mosquitto.conf"),
                "listener %d 127.0.0.1\nallow_anonymous true\nsys_interval 1\n".formatted(port));
        try (CapturedProcess mosquitto = CapturedProcess.start(
                "mosquitto", new ProcessBuilder(ForeignProgram.path("mosquitto"), "-c", conf.toString()))) {
            InstalledMosquitto.awaitListening(port, mosquitto);
            theirs = values(port, null);
        }
        assertThat(theirs).containsKeys("load/bytes/sent/15min", "retained messages/count", "bytes/received");

        Set<String> expected = new TreeSet<>(theirs.keySet());
        expected.removeAll(LEFT_OUT);
        Map<String, String> ours;
        try (BrokerProcess broker = start(null)) {
            ours = values(broker.port("tcp"), expected);
        }

        for (String topic : SAME) {
            assertThat(ours.get(topic)).as(topic).isEqualTo(theirs.get(topic));
        }
        assertThat(theirs.keySet()).as("left out, and in vain said so").containsAll(LEFT_OUT);
        assertThat(theirs.get("messages/received"))
                .isEqualTo("14"); // CONNECT, SUBSCRIBE; CONNECT, 10 PUBLISH, DISCONNECT
    }

    @Test
    void anybodyReadsThemWithoutAnAclFile() throws IOException {
        try (BrokerProcess broker = start(null);
                CapturedProcess eve = subscribe(broker.port("tcp"), "eve", line -> {})) {
            eve.awaitLine("a status topic", line -> line.startsWith("$SYS/broker/uptime|"), PATIENCE);
        }
    }

    @Test
    void onlyAdminsReadThemWithAnAclFile() throws IOException {
        try (BrokerProcess broker = start("topic readwrite #\n")) {
            try (CapturedProcess eve = subscribe(broker.port("tcp"), "eve", line -> {})) {
                assertThat(eve.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE))
                        .contains("135"); // not authorized
            }
            try (CapturedProcess alice = subscribe(broker.port("tcp"), "alice", line -> {})) {
                alice.awaitLine("a status topic", line -> line.startsWith("$SYS/broker/uptime|"), PATIENCE);
            }
        }
    }

    /**
     * A broker of users, one of whom is an admin by configuration.
     *
     * @param acl the content of its ACL file; null for none
     */
    private BrokerProcess start(@Nullable String acl) throws IOException {
        for (String user : List.of("alice", "eve")) {
            List<String> command = new ArrayList<>(List.of(ForeignProgram.path("mosquitto_passwd"), "-b"));
            if (user.equals("alice")) {
                command.add("-c");
            }
            command.addAll(List.of(directory.resolve("users").toString(), user, "pw"));
            try (CapturedProcess process = CapturedProcess.start("mosquitto_passwd", new ProcessBuilder(command))) {
                assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
            }
        }
        List<String> settings = new ArrayList<>(
                List.of("access.password-file=users", "access.admins=alice", "management.sys-interval=1s"));
        if (acl != null) {
            Files.writeString(directory.resolve("acl"), acl);
            settings.add("access.acl-file=acl");
        }
        return LoopbackBroker.start(directory, settings.toArray(String[]::new));
    }

    /**
     * What a subscriber has learned of a broker that has nothing else to do, when all that it and a publisher sent is counted.
     *
     * @param expected the topics to wait for; null for all that come
     */
    private static Map<String, String> values(int port, Set<String> expected) {
        Map<String, String> values = new ConcurrentHashMap<>();
        try (CapturedProcess subscriber = subscribe(port, "alice", line -> {
            if (line.startsWith("$SYS/broker/")) {
                int bar = line.indexOf('|');
                values.put(line.substring("$SYS/broker/".length(), bar), line.substring(bar + 1));
            }
        })) {
            subscriber.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
            List<String> command = client("mosquitto_pub", port, "alice", "-t", "t", "-q", "1", "-i", "publisher");
            command.addAll(List.of("-m", "0123456789", "--repeat", "10"));
            try (CapturedProcess publisher = CapturedProcess.start("mosquitto_pub", new ProcessBuilder(command))) {
                assertThat(publisher.awaitExit(PATIENCE)).as(publisher.report()).isZero();
            }
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(values).containsEntry("publish/messages/received", "10");
                assertThat(values).containsEntry("messages/received", "14");
                assertThat(values).containsEntry("clients/connected", "1");
            });
            if (expected == null) { // a whole round without a new one
                await().during(Duration.ofSeconds(3))
                        .atMost(PATIENCE)
                        .until(values::size, size -> size == values.size() && size > 50);
            } else {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(values.keySet()).containsAll(expected));
            }
            return Map.copyOf(values);
        }
    }

    private static CapturedProcess subscribe(int port, String user, java.util.function.Consumer<String> lines) {
        List<String> command =
                client("mosquitto_sub", port, user, "-t", "$SYS/#", "-i", "watcher", "-d", "-k", "600", "-F", "%t|%p");
        command.addAll(0, List.of("stdbuf", "-oL"));
        return CapturedProcess.start("mosquitto_sub", new ProcessBuilder(command), lines);
    }

    private static List<String> client(String program, int port, String user, String... options) {
        List<String> command = new ArrayList<>(List.of(ForeignProgram.path(program), "-h", "127.0.0.1", "-p"));
        command.addAll(List.of(String.valueOf(port), "-V", "mqttv5", "-u", user, "-P", "pw"));
        command.addAll(List.of(options));
        return command;
    }

    /** A port that was free a moment ago: mosquitto cannot choose one. */
}
