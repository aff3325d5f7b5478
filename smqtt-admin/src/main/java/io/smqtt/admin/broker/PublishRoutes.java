// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.BrokerClosedException;
import io.smqtt.PublishResult;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicName;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /publish} and {@code /publish/bulk}: messages of the API's callers, for which access rules do not apply. */
@AnyThread
public final class PublishRoutes implements RouteGroup {

    private static final String STATUS = "$SYS/";
    private static final Logger LOG = LoggerFactory.getLogger(PublishRoutes.class);
    private static final int MOST_AT_ONCE = 10_000;
    private static final int MAX_BODY_BYTES = 8 << 20;
    private static final int MAX_TEXT_BYTES = 65_535;
    private static final int IN_PROGRESS = 16;
    private static final long MAX_SECONDS = 0xFFFF_FFFFL;

    /** Why a subscriber does not get a message although the broker does what it should. */
    private static final Set<DropReason> NOT_FAILED =
            EnumSet.of(DropReason.OFFLINE, DropReason.EXPIRED, DropReason.PACKET_TOO_LARGE, DropReason.NOT_AUTHORIZED);

    private final BrokerView view;

    /**
     * Creates the routes.
     *
     * @param view the broker
     */
    public PublishRoutes(BrokerView view) {
        this.view = view;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                new Route("POST", "/publish", Role.PUBLISHER, MAX_BODY_BYTES, this::one),
                new Route("POST", "/publish/bulk", Role.PUBLISHER, MAX_BODY_BYTES, this::several));
    }

    private Mono<ApiAnswer> one(ApiRequest request) {
        return publish(message(request.fields())).map(Outcome::answer);
    }

    private Mono<ApiAnswer> several(ApiRequest request) {
        List<ApplicationMessage> messages =
                request.array(MOST_AT_ONCE).stream().map(PublishRoutes::message).toList();
        if (messages.isEmpty()) {
            throw Problem.badRequest("the body has no message").exception();
        }
        return Flux.fromIterable(messages)
                .flatMapSequential(this::publish, IN_PROGRESS)
                .collectList()
                .map(all -> {
                    int status = all.stream().mapToInt(Outcome::status).max().orElse(200);
                    return ApiAnswer.json(
                            status, all.stream().map(Outcome::fields).toList());
                });
    }

    /**
     * The result of a message.
     *
     * @param status the HTTP status
     * @param fields the fields of the answer
     */
    private record Outcome(int status, Map<String, Object> fields) {

        static Outcome failed(int status, ReasonCode reason, String message) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("reason_code", reason.value());
            fields.put("message", message);
            return new Outcome(status, fields);
        }

        ApiAnswer answer() {
            return ApiAnswer.json(status, fields);
        }
    }

    private Mono<Outcome> publish(ApplicationMessage message) {
        return view.broker()
                .publish(message)
                .map(result -> outcome(message, result))
                .onErrorResume(error -> !(error instanceof BrokerClosedException), error -> {
                    LOG.debug("a message of the API was not kept", error);
                    return Mono.just(Outcome.failed(503, ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR, "not_stored"));
                });
    }

    private static Outcome outcome(ApplicationMessage message, PublishResult result) {
        if (message.retain() && !result.retained()) {
            return Outcome.failed(503, ReasonCode.QUOTA_EXCEEDED, "too_many_retained_messages");
        }
        if (result.matches() > 0) {
            byte[] id = new byte[16];
            ThreadLocalRandom.current().nextBytes(id);
            return new Outcome(200, Map.of("id", HexFormat.of().formatHex(id)));
        }
        return NOT_FAILED.containsAll(result.dropped().keySet())
                ? Outcome.failed(202, ReasonCode.NO_MATCHING_SUBSCRIBERS, "no_matching_subscribers")
                : Outcome.failed(503, ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR, "failed_to_dispatch");
    }

    private static Problem bad(ReasonCode reason, String message) {
        return new Problem(400, "BAD_REQUEST", message, Map.of("reason_code", reason.value()));
    }

    private static ApplicationMessage message(JsonFields fields) {
        ApplicationMessage.Builder message = ApplicationMessage.builder(topic(fields.text("topic")));
        String encoding = fields.has("payload_encoding") ? fields.text("payload_encoding") : "plain";
        switch (encoding) {
            case "plain" -> message.payload(fields.text("payload"));
            case "base64" -> message.payload(Payload.of(fields.bytes("payload")));
            default -> throw new InvalidFieldException("the field payload_encoding must be plain or base64");
        }
        message.qos(QoS.of(fields.has("qos") ? (int) fields.number("qos", 0, 2) : 0));
        message.retain(fields.has("retain") && fields.flag("retain"));
        if (fields.has("properties")) {
            properties(message, fields.object("properties"));
        }
        return message.build();
    }

    private static String topic(String topic) {
        try {
            TopicName.of(topic);
        } catch (InvalidTopicException e) {
            throw bad(ReasonCode.TOPIC_NAME_INVALID, "topic_name_invalid: " + e.getMessage())
                    .exception();
        }
        if (BrokerView.isHidden(topic) || topic.startsWith(STATUS)) {
            throw bad(ReasonCode.TOPIC_NAME_INVALID, "topic_name_invalid: it is one of the broker's own")
                    .exception();
        }
        return topic;
    }

    /** A text that MQTT can carry. */
    private static String text(String name, String text) {
        boolean wellFormed = text.indexOf(0) < 0
                && text.codePoints().noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
        if (!wellFormed || text.getBytes(StandardCharsets.UTF_8).length > MAX_TEXT_BYTES) {
            throw new InvalidFieldException("the field " + name + " is no text of MQTT");
        }
        return text;
    }

    private static void properties(ApplicationMessage.Builder message, JsonFields fields) {
        PublishProperties.Builder all = PublishProperties.builder();
        if (fields.has("payload_format_indicator") && fields.number("payload_format_indicator", 0, 1) == 1) {
            all.payloadUtf8();
        }
        if (fields.has("message_expiry_interval")) {
            message.expiryInterval(Duration.ofSeconds(fields.number("message_expiry_interval", 0, MAX_SECONDS)));
        }
        if (fields.has("response_topic")) {
            all.responseTopic(topic(fields.text("response_topic")));
        }
        if (fields.has("correlation_data")) {
            all.correlationData(
                    text("correlation_data", fields.text("correlation_data")).getBytes(StandardCharsets.UTF_8));
        }
        if (fields.has("content_type")) {
            all.contentType(text("content_type", fields.text("content_type")));
        }
        if (fields.has("user_properties")) {
            fields.object("user_properties").node().properties().forEach(entry -> {
                for (JsonNode value : entry.getValue().isArray() ? entry.getValue() : List.of(entry.getValue())) {
                    if (!value.isTextual()) {
                        throw new InvalidFieldException("the values of user_properties must be texts");
                    }
                    all.userProperty(
                            text("user_properties", entry.getKey()), text("user_properties", value.textValue()));
                }
            });
        }
        message.properties(all.build());
    }
}
