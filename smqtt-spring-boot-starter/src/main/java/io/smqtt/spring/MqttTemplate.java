// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.PublishResult;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Publishes messages in the name of the application. Nothing happens before the returned Mono is subscribed to. Access
 * rules do not apply. Any thread; nothing blocks.
 */
public final class MqttTemplate {

    private final BrokerLifecycle lifecycle;
    private final Supplier<@Nullable PayloadConverter> converter;

    MqttTemplate(BrokerLifecycle lifecycle, Supplier<@Nullable PayloadConverter> converter) {
        this.lifecycle = lifecycle;
        this.converter = converter;
    }

    /**
     * Publishes a message with QoS 1 that is not retained.
     *
     * @param topic a topic name
     * @param payload bytes, a text, a {@link Payload}, or an object that a {@link PayloadConverter} makes a payload of
     * @return as {@link #publish(ApplicationMessage)}; fails also if the topic is none or the payload cannot be made
     */
    public Mono<PublishResult> publish(String topic, Object payload) {
        return publish(topic, payload, QoS.AT_LEAST_ONCE, false);
    }

    /**
     * Publishes a message.
     *
     * @param topic a topic name
     * @param payload bytes, a text, a {@link Payload}, or an object that a {@link PayloadConverter} makes a payload of
     * @param qos its quality of service
     * @param retain whether it is the retained message of its topic from now on
     * @return as {@link #publish(ApplicationMessage)}; fails also if the topic is none or the payload cannot be made
     */
    public Mono<PublishResult> publish(String topic, Object payload, QoS qos, boolean retain) {
        return Mono.defer(() -> publish(ApplicationMessage.builder(topic)
                .payload(payload(payload))
                .qos(qos)
                .retain(retain)
                .build()));
    }

    /**
     * Publishes a message.
     *
     * @param message with all that it has
     * @return what became of it, once it is as safe as the acknowledgement of a client's message would be; an error if it
     *     could not be kept, or {@link io.smqtt.BrokerClosedException} if the broker does not run
     */
    public Mono<PublishResult> publish(ApplicationMessage message) {
        return Mono.defer(() -> lifecycle.broker().publish(message));
    }

    private Payload payload(Object value) {
        if (value instanceof Payload payload) {
            return payload;
        } else if (value instanceof byte[] bytes) {
            return Payload.of(bytes);
        } else if (value instanceof CharSequence text) {
            return Payload.of(text.toString());
        }
        PayloadConverter converts = converter.get();
        if (converts == null) {
            throw new IllegalArgumentException(
                    "a payload of " + value.getClass().getName() + " needs Jackson or a PayloadConverter");
        }
        return Payload.of(converts.write(value));
    }
}
