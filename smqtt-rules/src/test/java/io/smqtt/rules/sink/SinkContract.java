// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.message.ApplicationMessage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The contract of {@link Sink}: order, laziness, checks without effects, an end at any time, and a peer that does not answer. A test of a sink extends
 * this class; the sink writes the column {@code n} of its rows to a peer. Each test has a sink of its own, and a peer without rows.
 */
public abstract class SinkContract {

    /** Patience with a sink. */
    protected static final Duration PATIENCE = Duration.ofSeconds(20);

    private Sink sink;

    /** Opens a sink whose peer works. */
    protected abstract Sink open() throws Exception;

    /** The numbers in the column {@code n} of all rows that the peer has, in their order. */
    protected abstract List<Integer> received() throws Exception;

    /** Makes the peer take requests without an answer; false if the sink has no peer that could. */
    protected boolean hang() throws Exception {
        return false;
    }

    /** Ends {@link #hang()}. */
    protected void answerAgain() throws Exception {}

    /** Opens a sink of a type, with keys and values of its action, whose errors have the line {@code test}. */
    protected static Sink sink(SinkFactory factory, SinkPublisher publisher, String... pairs) {
        return sink(factory, publisher, null, pairs);
    }

    /** Opens a sink for a rule with known columns. */
    protected static Sink sink(
            SinkFactory factory, SinkPublisher publisher, @Nullable Set<String> columns, String... pairs) {
        return factory.open(context(factory, publisher, columns, pairs));
    }

    /** The action {@code a} of the rule {@code r}, with a timeout of ten seconds. */
    public static SinkContext context(
            SinkFactory factory, SinkPublisher publisher, @Nullable Set<String> columns, String... pairs) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            values.put(pairs[i], new ConfigValue(pairs[i + 1], "test", Path.of("")));
        }
        RuleActionConfig config = RuleActionConfig.builder(factory.type())
                .timeout(Duration.ofSeconds(10))
                .build();
        SinkSettings settings = SinkSettings.of("rules.r.actions.a.", factory.settings(), values);
        return new SinkContext("r", "a", config, settings, publisher, columns);
    }

    /** A row with a number. */
    protected static SinkRecord row(int number) {
        return new SinkRecord(
                Map.of("n", (long) number, "name", "row"),
                ApplicationMessage.builder("t/" + number).payload("x").build());
    }

    private static List<SinkRecord> rows(int from, int to) {
        List<SinkRecord> rows = new ArrayList<>();
        for (int i = from; i <= to; i++) {
            rows.add(row(i));
        }
        return rows;
    }

    @BeforeEach
    void openSink() throws Exception {
        sink = open();
    }

    @AfterEach
    void closeSink() {
        sink.close();
    }

    @Test
    void rowsArriveInTheirOrder() throws Exception {
        for (int i = 0; i < 5; i++) {
            assertThat(sink.send(rows(10 * i + 1, 10 * i + 10)).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }

        await().atMost(PATIENCE).until(() -> received().size() >= 50);
        assertThat(received()).hasSize(50).isSorted();
    }

    @Test
    void nothingIsSentWithoutASubscriber() throws Exception {
        Mono<BatchResult> sending = sink.send(rows(1, 1));

        assertThat(received()).isEmpty();
        sending.block(PATIENCE);
        await().atMost(PATIENCE).until(() -> received().size() == 1);
    }

    @Test
    void checkSucceedsAndChangesNothing() throws Exception {
        sink.check().block(PATIENCE);

        assertThat(received()).isEmpty();
    }

    @Test
    void sendIsOverSoonWhenTheSinkIsClosed() throws Exception {
        hang();
        CountDownLatch over = new CountDownLatch(1);
        Disposable sending =
                sink.send(rows(1, 100)).doFinally(signal -> over.countDown()).subscribe(done -> {}, error -> {});

        sink.close();
        sending.dispose();

        assertThat(over.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        answerAgain();
    }

    @Test
    void closedTwiceIsClosedOnce() {
        sink.close();
        sink.close();
    }

    @Test
    void peerThatDoesNotAnswerBlocksNobodyAndIsUsedAgain() throws Exception {
        if (hang()) {
            assertThatThrownBy(() -> sink.send(rows(1, 1))
                            .timeout(Duration.ofMillis(300))
                            .block(PATIENCE))
                    .hasRootCauseInstanceOf(java.util.concurrent.TimeoutException.class);
            answerAgain();
        }

        await().atMost(PATIENCE).until(() -> isSent(rows(2, 2)));
        await().atMost(PATIENCE).until(() -> received().contains(2));
    }

    /** Sends rows once. A failure that may pass is no answer: an action sends again, for example on a new connection. */
    private boolean isSent(List<SinkRecord> rows) {
        try {
            BatchResult result = sink.send(rows).block(PATIENCE);
            assertThat(result.refusals()).allMatch(BatchResult.Refusal::recoverable);
            return result.equals(BatchResult.DONE);
        } catch (SinkException e) {
            assertThat(e.isRecoverable()).as(String.valueOf(e.getMessage())).isTrue();
            return false;
        }
    }
}
