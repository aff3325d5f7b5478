// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.admin.object.LiveObjects;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/** Downloads of files that are served from memory. */
@Timeout(60)
class TraceDownloadTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Map<String, String> files = new TreeMap<>();
    private final AtomicInteger reads = new AtomicInteger();
    private final TraceDownload downloads = new TraceDownload(
            new TraceLogs(
                    new NodeTraces(new LiveObjects(), null, () -> "n1", InstantSource.system()),
                    new NodeCalls(new BrokerView())) {

                @Override
                Mono<TraceFiles.Part> part(String node, String name, long position, int bytes, Duration deadline) {
                    String file = files.get(node);
                    return file == null ? Mono.empty() : Mono.fromSupplier(() -> partOf(file, (int) position, bytes));
                }
            });

    private TraceFiles.Part partOf(String file, int position, int bytes) {
        reads.incrementAndGet();
        int end = Math.min(file.length(), position + bytes);
        return new TraceFiles.Part(file.substring(position, end), end, file.length());
    }

    private static String line(int second, String rest) {
        return "2030-01-01T00:00:%02d.000Z %s\n".formatted(second, rest);
    }

    private String text(String... nodes) {
        return downloads
                .text(List.of(nodes), "t", 0)
                .toStream()
                .map(part -> new String(part, StandardCharsets.UTF_8))
                .collect(Collectors.joining());
    }

    @Test
    void theLinesOfAllNodesAreInTheOrderOfTimeWhateverTheirLength() {
        String large = "x".repeat(3 * TraceDownload.PART_BYTES);
        files.put("n1", line(1, "a") + line(3, large) + line(5, "e"));
        files.put("n2", line(2, "b") + line(3, "d") + line(6, "f"));

        assertThat(text("n1", "n2", "away"))
                .isEqualTo(line(1, "a") + line(2, "b") + line(3, large) + line(3, "d") + line(5, "e") + line(6, "f"));
        assertThat(text("n1")).isEqualTo(files.get("n1"));
        assertThat(text("away")).isEmpty();
    }

    @Test
    void aFileIsReadAsItsReaderTakesIt() {
        files.put("n1", line(1, "some text").repeat(100_000));
        List<byte[]> taken = new CopyOnWriteArrayList<>();
        BaseSubscriber<byte[]> reader = new BaseSubscriber<>() {

            @Override
            protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
                // asks below
            }

            @Override
            protected void hookOnNext(byte[] part) {
                taken.add(part);
            }
        };
        downloads.text(List.of("n1", "away"), "t", 0).subscribe(reader);

        reader.request(2);
        Awaitility.await().until(() -> taken.size() == 2);
        assertThat(taken).allMatch(part -> part.length < 2 * TraceDownload.PART_BYTES);
        assertThat(reads.get())
                .as("of %d", files.get("n1").length() / TraceDownload.PART_BYTES)
                .isLessThanOrEqualTo(6);
        reader.cancel();
        assertThat(downloads.hasRoom()).isTrue();
    }

    @Test
    void thereIsRoomForSomeDownloadsAtATime() {
        files.put("n1", line(1, "a").repeat(10_000));
        List<BaseSubscriber<byte[]>> readers = new ArrayList<>();
        while (downloads.hasRoom()) {
            BaseSubscriber<byte[]> reader = new BaseSubscriber<>() {

                @Override
                protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
                    subscription.request(1);
                }
            };
            downloads.text(List.of("n1"), "t", 0).subscribe(reader);
            readers.add(reader);
        }
        assertThat(readers).hasSize(TraceDownload.MAX_DOWNLOADS);

        readers.get(0).cancel();
        assertThat(downloads.hasRoom()).isTrue();
        assertThat(downloads.zip(List.of("n1"), "t").then().block(PATIENCE)).isNull();
        Awaitility.await().atMost(PATIENCE).until(downloads::hasRoom); // the place is given back after the last bytes
    }
}
