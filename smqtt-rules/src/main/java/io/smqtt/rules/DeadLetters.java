// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PublishProperties;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.RuleTrail;
import io.smqtt.rules.sink.SinkPublisher;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** The messages of a rule that an action has given up: in a file, and published to {@code $rule/dead/<rule>} for who subscribes. */
@AnyThread
final class DeadLetters {

    static final String TOPIC = "$rule/dead/";

    private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);
    private static final int LONGEST_REASON = 1_000;

    private final String rule;
    private final SinkPublisher publisher;
    private final DeadLetterFiles.@Nullable Writer file;
    private volatile boolean closed;

    DeadLetters(String rule, SinkPublisher publisher, DeadLetterFiles files, @Nullable Path path) {
        this.rule = rule;
        this.publisher = publisher;
        this.file = path == null ? null : files.open(path);
    }

    /** Keeps a message. Completes when it is in the file; a file that cannot be written is tried again and again, until the rule ends. */
    Mono<Void> keep(String action, ApplicationMessage message, String reason) {
        String why = reason.length() > LONGEST_REASON ? reason.substring(0, LONGEST_REASON) : reason;
        Mono<Void> published = Mono.defer(() -> publisher.publish(letter(action, message, why)))
                .onErrorResume(error ->
                        Mono.fromRunnable(() -> LOG.debug("rule {}: a dead letter was not published", rule, error)));
        return written(action, message, why).then(published);
    }

    private Mono<Void> written(String action, ApplicationMessage message, String reason) {
        DeadLetterFiles.Writer target = file;
        if (target == null) {
            return Mono.empty();
        }
        return Mono.<Void>fromRunnable(() -> append(target, line(action, message, reason)))
                .subscribeOn(Schedulers.boundedElastic())
                .doOnError(this::notWritten)
                .retryWhen(Retry.backoff(Long.MAX_VALUE, Duration.ofSeconds(1))
                        .maxBackoff(Duration.ofMinutes(1))
                        .filter(error -> !closed));
    }

    /** As many letters as an action may have in flight are tried again at the same time. */
    private void notWritten(Throwable error) {
        if (LINES.allows(rule)) {
            LOG.warn("rule {}: a dead letter cannot be written: {}", rule, error.getMessage());
        }
    }

    private static void append(DeadLetterFiles.Writer target, byte[] line) {
        try {
            target.append(line);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] line(String action, ApplicationMessage message, String reason) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("time", Instant.now().toString());
        fields.put("rule", rule);
        fields.put("action", action);
        fields.put("reason", reason);
        fields.put("topic", message.topic().value());
        fields.put("qos", message.qos().level());
        fields.put("clientid", message.publisherId());
        if (message.payload().isUtf8()) {
            fields.put("payload", message.payload().asString());
        } else {
            fields.put(
                    "payload_base64",
                    Base64.getEncoder().encodeToString(message.payload().toByteArray()));
        }
        return (RowText.json(fields) + '\n').getBytes(StandardCharsets.UTF_8);
    }

    private ApplicationMessage letter(String action, ApplicationMessage message, String reason) {
        PublishProperties properties = PublishProperties.builder()
                .userProperty("smqtt-action", action)
                .userProperty("smqtt-reason", reason)
                .userProperty("smqtt-topic", message.topic().value())
                .userProperty("smqtt-time", Instant.now().toString())
                .build();
        return ApplicationMessage.builder(TOPIC + rule)
                .payload(message.payload())
                .qos(message.qos())
                .properties(RuleTrail.add(properties, message, rule))
                .build();
    }

    void close() {
        closed = true;
        if (file != null) {
            file.close();
        }
    }
}
