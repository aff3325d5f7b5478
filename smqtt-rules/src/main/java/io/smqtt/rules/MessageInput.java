// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.BrokerModule;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PublishProperties;
import io.smqtt.rules.sql.RuleInput;
import io.smqtt.session.Session;
import io.smqtt.spi.ClientIdentity;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A published message as a statement sees it. User name and address are those of the client now; without its session there are none. */
final class MessageInput extends RuleInput {

    private static final List<String> NAMES = List.of(
            "id",
            "clientid",
            "username",
            "payload",
            "peerhost",
            "topic",
            "qos",
            "flags",
            "pub_props",
            "publish_received_at",
            "timestamp",
            "node",
            "event");

    private final BrokerModule.Core core;
    private final String node;
    private final ApplicationMessage message;
    private long nowMillis; // when it is first asked for; 0 before

    MessageInput(BrokerModule.Core core, String node, ApplicationMessage message) {
        this.core = core;
        this.node = node;
        this.message = message;
    }

    @Override
    public List<String> names() {
        return NAMES;
    }

    @Override
    public @Nullable Object field(String name) {
        return switch (name) {
            case "id" -> Long.toUnsignedString(message.id(), 16).toUpperCase(java.util.Locale.ROOT);
            case "clientid" -> message.publisherId();
            case "username" -> username();
            case "payload" -> message.payload().toByteArray();
            case "peerhost" -> peerhost();
            case "topic" -> message.topic().value();
            case "qos" -> message.qos().level();
            case "flags" -> Map.of("retain", message.retain());
            case "pub_props" -> properties(message.properties());
            case "publish_received_at" -> receivedAt();
            case "timestamp" -> now();
            case "node" -> node;
            case "event" -> "message.publish";
            default -> null;
        };
    }

    private @Nullable ClientIdentity publisher() {
        String id = message.publisherId();
        Session session = id == null ? null : core.sessions().find(id);
        return session == null ? null : session.client();
    }

    private @Nullable String username() {
        ClientIdentity client = publisher();
        return client == null ? null : client.userName();
    }

    private @Nullable String peerhost() {
        ClientIdentity client = publisher();
        return client == null || client.remoteAddress().getAddress() == null
                ? null
                : client.remoteAddress().getAddress().getHostAddress();
    }

    private long receivedAt() {
        long age = core.ticker().nanoTime() - message.acceptedAtNanos();
        return now() - TimeUnit.NANOSECONDS.toMillis(Math.max(0, age));
    }

    private long now() {
        if (nowMillis == 0) {
            nowMillis = System.currentTimeMillis();
        }
        return nowMillis;
    }

    private static Map<String, @Nullable Object> properties(PublishProperties properties) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        Map<String, Object> user = new LinkedHashMap<>();
        properties.userProperties().forEach(property -> user.put(property.name(), property.value()));
        if (properties.isPayloadUtf8()) {
            all.put("Payload-Format-Indicator", 1);
        }
        put(all, "Content-Type", properties.contentType());
        put(all, "Response-Topic", properties.responseTopic());
        byte[] correlation = properties.correlationData();
        put(all, "Correlation-Data", correlation == null ? null : text(correlation));
        all.put("User-Property", user);
        return all;
    }

    private static String text(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.indexOf('\uFFFD') < 0 ? text : Base64.getEncoder().encodeToString(bytes);
    }

    private static void put(Map<String, @Nullable Object> all, String name, @Nullable String value) {
        if (value != null) {
            all.put(name, value);
        }
    }
}
