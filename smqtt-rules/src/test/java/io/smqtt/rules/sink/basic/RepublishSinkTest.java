// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.basic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.RuleTrail;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkPublisher;
import io.smqtt.rules.sink.SinkRecord;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class RepublishSinkTest extends SinkContract {

    private final List<ApplicationMessage> published = new CopyOnWriteArrayList<>();

    private Sink republish(String... pairs) {
        return sink(new RepublishSinkFactory(), message -> Mono.fromRunnable(() -> published.add(message)), pairs);
    }

    @Override
    protected Sink open() {
        return republish("topic", "out/${n}", "payload", "${n}");
    }

    @Override
    protected List<Integer> received() {
        return published.stream()
                .map(message -> Integer.valueOf(message.payload().asString()))
                .toList();
    }

    @Test
    void messageHasWhatTheTemplatesSay() {
        try (Sink sink =
                republish("topic", "out/${name}", "qos", "${qos}", "retain", "true", "user-properties.from", "${n}")) {
            sink.send(List.of(new SinkRecord(Map.of("name", "x", "qos", 1L, "n", 3L), row(1).origin())))
                    .block(PATIENCE);
        }

        ApplicationMessage message = published.get(0);
        assertThat(message.topic().value()).isEqualTo("out/x");
        assertThat(message.qos()).isEqualTo(QoS.AT_LEAST_ONCE);
        assertThat(message.retain()).isTrue();
        assertThat(message.payload().asString()).contains("\"name\":\"x\"");
        assertThat(message.properties().userProperties())
                .extracting(property -> property.name() + "=" + property.value())
                .containsExactly("from=3", "smqtt-rules=r");
        assertThat(RuleTrail.ends(message, "r")).isTrue();
        assertThat(RuleTrail.ends(message, "other")).isFalse();
    }

    @Test
    void rowsWithoutAValidTopicOrQosAreRefused() {
        try (Sink sink = republish("topic", "${topic}", "qos", "${qos}")) {
            BatchResult result = sink.send(List.of(
                            new SinkRecord(Map.of("topic", "a/#", "qos", 0L), row(1).origin()),
                            new SinkRecord(Map.of("topic", "a", "qos", 0L), row(1).origin()),
                            new SinkRecord(Map.of("topic", "a", "qos", 7L), row(1).origin())))
                    .block(PATIENCE);

            assertThat(result.refusals()).extracting(BatchResult.Refusal::index).containsExactly(0, 2);
            assertThat(result.refusals()).noneMatch(BatchResult.Refusal::recoverable);
        }
        assertThat(published).hasSize(1);
    }

    @Test
    void noMessageChoosesATopicOfTheBroker() {
        SinkRecord event = new SinkRecord(Map.of("topic", "$events/client/connected"), row(1).origin());
        try (Sink sink = republish("topic", "${topic}")) {
            assertThat(sink.send(List.of(event)).block(PATIENCE).refusals())
                    .containsExactly(new BatchResult.Refusal(
                            0, "a placeholder has chosen a topic of the broker, which begins with $", false));
        }
        assertThat(published).isEmpty();
        try (Sink sink = republish("topic", "$delayed/5/${topic}")) {
            sink.send(List.of(new SinkRecord(Map.of("topic", "a"), row(1).origin())))
                    .block(PATIENCE);
        }
        assertThat(published).extracting(message -> message.topic().value()).containsExactly("$delayed/5/a");
    }

    @Test
    void theMessageThatTheBrokerDoesNotTakeIsSentAgainAndThoseBehindIt() {
        SinkPublisher publisher = message -> message.payload().asString().equals("2")
                ? Mono.error(new IllegalStateException("the store is full"))
                : Mono.fromRunnable(() -> published.add(message));
        try (Sink sink = sink(new RepublishSinkFactory(), publisher, "topic", "${topic}", "payload", "${n}")) {
            List<SinkRecord> rows = List.of(
                    new SinkRecord(Map.of("topic", "a/#", "n", 1L), row(1).origin()),
                    new SinkRecord(Map.of("topic", "a", "n", 1L), row(1).origin()),
                    new SinkRecord(Map.of("topic", "b", "n", 2L), row(1).origin()),
                    new SinkRecord(Map.of("topic", "c", "n", 1L), row(1).origin()),
                    new SinkRecord(Map.of("topic", "b", "n", 3L), row(1).origin()));

            BatchResult result = sink.send(rows).block(PATIENCE);

            assertThat(result.refusals())
                    .containsExactly(
                            new BatchResult.Refusal(0, "the topic is not valid", false),
                            new BatchResult.Refusal(2, "the broker did not take it: the store is full", true),
                            new BatchResult.Refusal(
                                    4, "a row with the same topic before it is published again", true, true));
        }
        assertThat(published).extracting(message -> message.topic().value()).containsExactly("a", "c", "b");
    }

    @Test
    void answerOfTheBrokerIsAwaitedForAsLongAsItTakes() {
        assertThat(republish("topic", "a").mayFallSilent()).isFalse();
    }

    @Test
    void wrongQosIsRefusedAtTheStart() {
        assertThatThrownBy(() -> republish("topic", "a", "qos", "3")).isInstanceOf(ConfigurationException.class);
        assertThatThrownBy(() -> republish("qos", "1"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("topic must be set");
    }
}
