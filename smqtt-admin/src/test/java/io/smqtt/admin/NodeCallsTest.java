// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.BrokerModule;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.spi.PeerQueries;
import io.smqtt.test.TestBroker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Questions and answers of several megabytes are not read or written on the loop of the cluster. */
class NodeCallsTest {

    private static final String LOOP = "loop-of-the-cluster";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Scheduler loop = Schedulers.newSingle(LOOP);
    private final BrokerView view = new BrokerView();
    private final NodeCalls calls = new NodeCalls(view);
    private @Nullable Function<byte[], Mono<byte[]>> answers;
    private TestBroker broker;

    private final PeerQueries peers = new PeerQueries() {

        @Override
        public void answer(String name, Function<byte[], Mono<byte[]>> made) {
            answers = made;
        }

        @Override
        public Mono<byte[]> ask(String node, String name, byte[] question, Duration deadline) {
            return Mono.fromSupplier(() -> "{\"answer\":{\"a\":1}}".getBytes(StandardCharsets.UTF_8))
                    .subscribeOn(loop);
        }
    };

    @BeforeEach
    void start() {
        calls.register(
                "where",
                question -> Mono.fromSupplier(
                        () -> Map.of("thread", Thread.currentThread().getName())));
        broker = TestBroker.builder()
                .parts(parts -> parts.module(new BrokerModule() {

                    @Override
                    public PeerQueries peerQueries() {
                        return peers;
                    }

                    @Override
                    public Mono<Void> start(Core core) {
                        return view.start(core).then(calls.start(core));
                    }

                    @Override
                    public Mono<Void> stop() {
                        return view.stop();
                    }
                }))
                .start();
    }

    @AfterEach
    void stop() {
        broker.close();
        loop.dispose();
    }

    @Test
    void answersAreReadOnAnotherThread() {
        String thread = calls.ask(Map.of("other", Map.of()), "where", PATIENCE)
                .map(found -> found.byNode() + Thread.currentThread().getName())
                .block(PATIENCE);

        assertThat(thread).startsWith("{other={a=1}}").doesNotContain(LOOP);
    }

    @Test
    void questionsAreAnsweredOnAnotherThread() {
        byte[] question = "{\"call\":\"where\",\"question\":{}}".getBytes(StandardCharsets.UTF_8);
        byte[] answer = Mono.defer(() -> Objects.requireNonNull(answers).apply(question))
                .subscribeOn(loop)
                .block(PATIENCE);

        assertThat(new String(Objects.requireNonNull(answer), StandardCharsets.UTF_8))
                .contains("\"thread\"")
                .doesNotContain(LOOP);
    }
}
