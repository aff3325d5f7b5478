// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.topic.TopicName;
import io.smqtt.trace.TraceDetails;
import io.smqtt.trace.TraceEvent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lines of a trace, and the limits of its queue and its file. */
class TraceRecorderTest {

    private static final Instant START = Instant.parse("2026-11-23T19:00:00Z");

    @TempDir
    Path directory;

    private static TraceSpec spec(TraceSpec.Encoding encoding, int payloadBytes, boolean json) {
        return new TraceSpec(
                TraceSpec.Type.CLIENTID, "c", START, START.plusSeconds(60), encoding, payloadBytes, json, false, false);
    }

    private static TraceEvent event(String clientId, String topic, String payload, TraceDetails details) {
        byte[] bytes = payload.getBytes(StandardCharsets.UTF_8);
        return new TraceEvent(
                START.toEpochMilli() + 7,
                TraceEvent.Kind.PUBLISH_RECEIVED,
                clientId,
                null,
                new InetSocketAddress("127.0.0.1", 5_000),
                TopicName.of(topic),
                bytes.length,
                bytes,
                details.toMap());
    }

    private static String line(TraceSpec spec, TraceEvent event) {
        return new String(new TraceLine("n1", spec).of(event), StandardCharsets.UTF_8);
    }

    @Test
    void aLineNamesTheNodeAndTheEvent() {
        TraceEvent event = event(
                "c", "a/b", "hello", new TraceDetails().with("packet_id", 1).with("qos", 1));

        assertThat(line(spec(TraceSpec.Encoding.TEXT, 3, false), event))
                .isEqualTo("2026-11-23T19:00:00.007Z n1 PUBLISH_RECEIVED clientid=c peername=127.0.0.1:5000"
                        + " topic=a/b packet_id=1 qos=1 payload_size=5 payload=hel payload_cut=true\n");
        assertThat(line(spec(TraceSpec.Encoding.HEX, 100, true), event))
                .isEqualTo("{\"time\":\"2026-11-23T19:00:00.007Z\",\"node\":\"n1\",\"event\":\"PUBLISH_RECEIVED\","
                        + "\"clientid\":\"c\",\"peername\":\"127.0.0.1:5000\",\"topic\":\"a/b\",\"packet_id\":1,"
                        + "\"qos\":1,\"payload_size\":5,\"payload\":\"68656c6c6f\"}\n");
        assertThat(line(spec(TraceSpec.Encoding.HIDDEN, 100, false), event)).doesNotContain("hello", "payload=");
    }

    @Test
    void textOfClientsNeverBeginsALineOrAField() {
        TraceEvent event = event(
                "c\n2026-11-23T19:00:01.000Z n1 FORGED",
                "a\u2028b qos=9",
                "\u001b[31m\"\\\r\n\u202e",
                new TraceDetails().with("filters", List.of("x] y=1", "z,z", "\n")));

        for (boolean json : new boolean[] {true, false}) {
            String line = line(spec(TraceSpec.Encoding.TEXT, 100, json), event);
            assertThat(line.indexOf('\n')).isEqualTo(line.length() - 1);
            assertThat(line).doesNotContain("\r", "\u001b", "\u2028", "\u202e");
        }
        assertThat(line(spec(TraceSpec.Encoding.TEXT, 100, false), event))
                .contains("clientid=\"c\\u000a2026-11-23T19:00:01.000Z n1 FORGED\"")
                .contains("topic=\"a\\u2028b qos=9\"")
                .contains("filters=[\"x] y=1\",\"z,z\",\"\\u000a\"]");
    }

    private TraceRecorder recorder(Path file, TraceBudget budget, long maxBytes) throws IOException {
        return new TraceRecorder(
                new TraceLine("n1", spec(TraceSpec.Encoding.TEXT, 100, false)),
                budget,
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND),
                maxBytes);
    }

    @Test
    void aFileThatCannotBeWrittenKeepsNothingOfTheBudget() throws IOException {
        TraceEvent event = event("c", "a", "x", new TraceDetails());
        TraceBudget budget = new TraceBudget(10L * TraceBudget.bytesOf(event));
        FileChannel file =
                FileChannel.open(directory.resolve("two.log"), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        TraceRecorder recorder =
                new TraceRecorder(new TraceLine("n1", spec(TraceSpec.Encoding.TEXT, 100, false)), budget, file, 1_000);
        for (int i = 0; i < 10; i++) {
            recorder.traced(event);
        }
        file.close(); // as good as a full disk

        assertThatThrownBy(recorder::write).isInstanceOf(IOException.class);
        recorder.close();

        assertThat(budget.take(10 * TraceBudget.bytesOf(event))).isTrue();
    }

    @Test
    void eventsWithoutRoomAreCounted() throws IOException {
        Path file = directory.resolve("one.log");
        try (TraceRecorder recorder = recorder(file, new TraceBudget(Long.MAX_VALUE), 100L << 20)) {
            for (int i = 0; i < TraceRecorder.MAX_WAITING + 5; i++) {
                recorder.traced(event("c", "a", "x", new TraceDetails()));
            }
            recorder.write();
            recorder.traced(event("c", "a", "last", new TraceDetails()));
            recorder.write();
        }

        List<String> lines = Files.readAllLines(file);
        assertThat(lines).hasSize(TraceRecorder.MAX_WAITING + 2);
        assertThat(lines.get(TraceRecorder.MAX_WAITING)).contains(" MISSING count=5 ");
        assertThat(lines.get(TraceRecorder.MAX_WAITING + 1)).contains("payload=last");
    }

    @Test
    void theMemoryOfEventsThatWaitIsLimited() throws IOException {
        TraceEvent large = event("c", "a", "x".repeat(1_000), new TraceDetails());
        TraceBudget budget = new TraceBudget(2L * TraceBudget.bytesOf(large));
        Path file = directory.resolve("one.log");
        try (TraceRecorder recorder = recorder(file, budget, 100L << 20)) {
            for (int i = 0; i < 5; i++) {
                recorder.traced(large);
            }
            recorder.write();
            recorder.traced(large);
            recorder.write();
        }

        assertThat(Files.readAllLines(file)).hasSize(4).anyMatch(line -> line.contains(" MISSING count=3 "));
    }

    @Test
    void aFullFileEndsTheRecording() throws IOException {
        Path file = directory.resolve("one.log");
        try (TraceRecorder recorder = recorder(file, new TraceBudget(Long.MAX_VALUE), 2_000)) {
            for (int i = 0; i < 100; i++) {
                recorder.traced(event("c", "a", "x", new TraceDetails()));
            }
            recorder.write();
            recorder.traced(event("c", "a", "later", new TraceDetails()));
            recorder.write();
        }

        List<String> lines = Files.readAllLines(file);
        assertThat(Files.size(file)).isLessThanOrEqualTo(2_000);
        assertThat(lines.get(lines.size() - 1)).contains("the file is full");
    }
}
