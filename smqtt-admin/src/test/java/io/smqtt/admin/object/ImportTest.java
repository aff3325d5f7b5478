// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.BrokerModule;
import io.smqtt.admin.BrokerBusyException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectRefusedException.Reason;
import io.smqtt.test.TestBroker;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/** An import says what it has done, and can be repeated. */
@Timeout(120)
class ImportTest implements BrokerModule {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int COUNT = 450;

    private final LiveObjects objects = new LiveObjects(Duration.ofMillis(500), Duration.ofSeconds(5));
    private final ObjectKind<String> notes =
            objects.kind("note", new ObjectNode.Format(), new ObjectLimits(1_000, 1_000, 1_000_000));
    private final ObjectFile file = new ObjectFile(objects);
    private final ManualStore store = new ManualStore();
    private final TestBroker broker =
            TestBroker.builder().parts(parts -> parts.module(this).store(store)).start();
    private @Nullable Core core;

    @Override
    public Mono<Void> start(Core started) {
        core = started;
        return objects.start(started);
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(objects::stop);
    }

    @AfterEach
    void close() {
        store.release();
        broker.close();
    }

    private static JsonFields file(int count) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(Map.of("id", "n" + i, "value", Map.of("text", "t" + i)));
        }
        return JsonFields.of(Map.of("format", "smqtt-objects", "version", 1, "objects", Map.of("note", all)));
    }

    private @Nullable Integer load() {
        return file.read(file(COUNT), "test").block(PATIENCE);
    }

    @Test
    void allOrNothingIsMadeWhileAnEventLoopHangs() throws Exception {
        CountDownLatch hang = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        var loop = Objects.requireNonNull(core).router().loops().get(0).executor();
        loop.execute(() -> {
            hangs.countDown();
            try {
                hang.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        hangs.await();
        assertThatThrownBy(this::load).isInstanceOf(BrokerBusyException.class);
        hang.countDown();
        loop.submit(() -> {}).get(); // what was submitted before is over
        assertThat(notes.list()).isEmpty();

        assertThat(load()).isEqualTo(COUNT);
        assertThat(notes.list()).hasSize(COUNT);
    }

    @Test
    void anImportThatTheStoreDoesNotConfirmSaysSoAndCanBeRepeated() {
        store.hold();
        assertThatThrownBy(this::load)
                .isInstanceOfSatisfying(
                        ObjectRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Reason.NOT_STORED))
                .hasMessageStartingWith("all 450 objects are in force, and not stored yet; repeat the import");
        assertThat(notes.list()).hasSize(COUNT);
        store.release();

        assertThat(load()).isEqualTo(COUNT);
        assertThat(notes.list())
                .extracting(LiveObject::value)
                .contains("t0", "t449")
                .hasSize(COUNT);
    }
}
