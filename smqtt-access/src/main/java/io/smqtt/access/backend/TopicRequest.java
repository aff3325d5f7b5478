// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import org.jspecify.annotations.Nullable;

/**
 * An action of a client of which a backend is asked. Later versions may add components: read them by name.
 *
 * @param client the client, without its password
 * @param action publish or subscribe
 * @param topic a topic name, or a topic filter for {@link AccessAction#SUBSCRIBE}
 * @param qos the QoS of the message, or the requested maximum of the subscription
 * @param retain the retain flag of the message; false for a subscription
 */
public record TopicRequest(BackendRequest client, AccessAction action, String topic, QoS qos, boolean retain)
        implements TemplateValues {

    @Override
    public @Nullable String value(String placeholder) {
        boolean publish = action == AccessAction.PUBLISH;
        return switch (placeholder) {
            case "action" -> publish ? "publish" : "subscribe";
            case "access" -> publish ? "2" : "1";
            case "topic" -> topic;
            case "qos" -> String.valueOf(qos.level());
            case "retain" -> String.valueOf(retain);
            default -> client.value(placeholder);
        };
    }
}
