// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.basic;

import io.smqtt.PublishFailedException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.RuleTrail;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Publishes rows to the same broker. */
@AnyThread
final class RepublishSink implements Sink {

    private static final String OVERTAKEN = "a row with the same topic before it is published again";

    private final SinkContext context;
    private final RowTemplate topic;
    private final KnownTopics topics = new KnownTopics();
    private final boolean isOfBroker; // whether the template says itself that the topic begins with a dollar sign
    private final @Nullable RowTemplate payload;
    private final RowTemplate qos;
    private final @Nullable QoS fixedQos;
    private final RowTemplate retain;
    private final boolean isRetained; // if that is fixed
    private final Map<String, RowTemplate> properties;

    /** The properties of a message, if the rule adds none and its origin had none. */
    private final PublishProperties trail;

    RepublishSink(SinkContext context) {
        SinkSettings settings = context.settings();
        this.context = context;
        String written = settings.text(RepublishSinkFactory.TOPIC);
        this.topic = RowTemplate.parse(written);
        this.isOfBroker = written.startsWith("$") && !written.startsWith("${");
        this.payload = settings.templateOrNull(RepublishSinkFactory.PAYLOAD);
        this.qos = RowTemplate.parse(settings.text(RepublishSinkFactory.QOS));
        this.retain = RowTemplate.parse(settings.text(RepublishSinkFactory.RETAIN));
        this.properties = settings.templates(RepublishSinkFactory.PROPERTIES);
        this.trail = RuleTrail.of(context.rule());
        this.fixedQos = qos.isFixed() ? qosOf(qos.text(Map.of())) : null;
        this.isRetained = isTrue(retain.text(Map.of()));
        if (qos.isFixed() && fixedQos == null) {
            throw settings.problem(RepublishSinkFactory.QOS, "must be 0, 1, 2 or a placeholder");
        }
        if (retain.isFixed() && !List.of("true", "false").contains(retain.text(Map.of()))) {
            throw settings.problem(RepublishSinkFactory.RETAIN, "must be true, false or a placeholder");
        }
    }

    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return Mono.defer(() -> {
            Made made = new Made(batch.size());
            for (int i = 0; i < batch.size(); i++) {
                made.add(i, batch.get(i), this);
            }
            return context.publisher()
                    .publishAll(made.messages)
                    .thenReturn(made.refusals)
                    .onErrorResume(error -> Mono.just(refusals(made, error)))
                    .map(refusals -> refusals.isEmpty() ? BatchResult.DONE : new BatchResult(refusals));
        });
    }

    /** The messages of a batch, in the order of the rows. */
    private static final class Made {

        private final List<ApplicationMessage> messages;
        private final List<Refusal> refusals = new ArrayList<>(0); // the rows that are no message
        private final int[] rows; // of the messages

        Made(int most) {
            messages = new ArrayList<>(most);
            rows = new int[most];
        }

        void add(int index, SinkRecord record, RepublishSink sink) {
            try {
                messages.add(sink.message(record));
                rows[messages.size() - 1] = index;
            } catch (InvalidTopicException e) {
                refusals.add(new Refusal(index, "the topic is not valid", false));
            } catch (IllegalArgumentException e) {
                refusals.add(new Refusal(index, String.valueOf(e.getMessage()), false));
            }
        }
    }

    /** The rows of the messages that the broker has not taken: those that it names, otherwise all. */
    private static List<Refusal> refusals(Made made, Throwable error) {
        List<Refusal> all = new ArrayList<>(made.refusals);
        String reason = "the broker did not take it: " + error.getMessage();
        if (error instanceof PublishFailedException failed) {
            Set<Integer> missing = new HashSet<>(failed.indexes());
            Set<TopicName> again = new HashSet<>();
            for (int i = 0; i < made.messages.size(); i++) {
                TopicName topic = made.messages.get(i).topic();
                if (missing.contains(i)) {
                    again.add(topic);
                    all.add(new Refusal(made.rows[i], reason, true));
                } else if (again.contains(topic)) {
                    all.add(new Refusal(made.rows[i], OVERTAKEN, true, true));
                }
            }
        } else {
            for (int i = 0; i < made.messages.size(); i++) {
                all.add(new Refusal(made.rows[i], reason, true));
            }
        }
        all.sort(Comparator.comparingInt(Refusal::index));
        return all;
    }

    private ApplicationMessage message(SinkRecord record) {
        Map<String, @Nullable Object> row = record.row();
        QoS level = fixedQos == null ? qosOf(qos.value(row)) : fixedQos;
        if (level == null) {
            throw new IllegalArgumentException("the QoS is not 0, 1 or 2");
        }
        String name = topic.text(row);
        if (name.startsWith("$") && !isOfBroker) { // such as an event, which rules would believe
            throw new IllegalArgumentException("a placeholder has chosen a topic of the broker, which begins with $");
        }
        Object value = payload == null ? null : payload.value(row);
        return new ApplicationMessage(
                ApplicationMessage.NO_ID,
                topics.get(name),
                payload == null
                        ? Payload.of(RowText.json(row))
                        : value instanceof byte[] bytes ? Payload.of(bytes) : Payload.of(RowText.plain(value)),
                level,
                retain.isFixed() ? isRetained : isTrue(retain.text(row)),
                properties(record),
                ApplicationMessage.NEVER,
                0,
                null);
    }

    private PublishProperties properties(SinkRecord record) {
        ApplicationMessage origin = record.origin();
        if (properties.isEmpty() && origin.properties().isEmpty()) {
            return trail;
        }
        PublishProperties.Builder given = PublishProperties.builder();
        properties.forEach((name, template) -> given.userProperty(name, template.text(record.row())));
        return RuleTrail.add(given.build(), origin, context.rule());
    }

    private static @Nullable QoS qosOf(@Nullable Object value) {
        if (value instanceof Long number) { // as statements have it
            return number == 0
                    ? QoS.AT_MOST_ONCE
                    : number == 1 ? QoS.AT_LEAST_ONCE : number == 2 ? QoS.EXACTLY_ONCE : null;
        }
        return switch (RowText.plain(value)) {
            case "0" -> QoS.AT_MOST_ONCE;
            case "1" -> QoS.AT_LEAST_ONCE;
            case "2" -> QoS.EXACTLY_ONCE;
            default -> null;
        };
    }

    private static boolean isTrue(String text) {
        return text.equals("true") || text.equals("1");
    }

    /** A message that waits for room in the queue of a consumer is in that queue already. */
    @Override
    public boolean mayFallSilent() {
        return false;
    }

    @Override
    public Mono<Void> check() {
        return Mono.empty();
    }

    @Override
    public void close() {}
}
