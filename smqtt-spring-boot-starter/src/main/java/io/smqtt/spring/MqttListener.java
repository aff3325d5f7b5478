// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.ConsumerOptions;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls a method of a bean with the messages of a topic filter: retained ones first (if {@link #durable()}, only when
 * the name is new), then those that are published from the start of the broker on.
 *
 * <pre>{@code
 * import io.smqtt.spring.MqttListener;
 * import io.smqtt.spring.TopicVariable;
 *
 * @MqttListener(filter = "devices/{id}/state")
 * void stateOf(@TopicVariable String id, String state) {
 *     System.out.println(id + " is " + state);
 * }
 * }</pre>
 *
 * The method may take the payload as {@code byte[]}, {@code String}, {@link io.smqtt.message.Payload} or an object that a
 * {@link PayloadConverter} makes of it (JSON, where Jackson is there), the whole {@link io.smqtt.message.ApplicationMessage} or
 * {@link io.smqtt.ReceivedMessage},
 * and levels of the topic by {@link TopicVariable}. It may return a {@code Mono}, {@code Flux}, {@code CompletionStage} or
 * another type that Spring's reactive adapters know; the message is done with when that ends. It is called on threads that may
 * block, never on an event loop.
 *
 * <p>A message is acknowledged when the method has ended. What it throws, or a reactive result fails with, is logged and
 * counted, and the next message comes. A listener that is {@link #durable()} is called with the message again instead, after a
 * while that grows from a second to a minute; with a {@link #concurrency()} of 1 that is before any later one.
 *
 * <p>When the application stops, calls that run may end, and may still publish; those that are not begun stay unacknowledged.
 * A subscription that the broker refuses or ends is asked for again, with pauses of up to a minute. The bean must be a singleton.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface MqttListener {

    /**
     * The topic filter. A level {@code {name}} is {@code +} with a name; a last level {@code {*name}} is {@code #} with a name.
     *
     * @return a filter, or <code>$share/group/filter</code> to share the messages with other replicas of the application
     *     and with clients; may have placeholders, <code>${…}</code>
     */
    String filter();

    /**
     * The highest quality of service with which messages come to the method, as in a subscription. With 0 a message is lost if
     * the method is too slow.
     *
     * @return 0, 1 or 2
     */
    int qos() default 1;

    /**
     * How many messages are in the method at a time. With 1 they come in the order of each publisher.
     *
     * @return 1 or more
     */
    int concurrency() default 1;

    /**
     * How many QoS 1 and 2 messages wait for the method beyond those it has; with 256 at hand. Beyond that publishers are slowed, unless
     * {@link #overflow()} says otherwise.
     *
     * @return 1 to 100,000,000
     */
    int queue() default 100_000;

    /**
     * How many bytes may wait for the method, with topics, properties and some overhead.
     *
     * @return 1 byte to 1 TiB
     */
    long queueBytes() default 64L << 20;

    /**
     * What becomes of QoS 1 and 2 messages when as many wait as may.
     *
     * @return whether their publishers wait or the messages are dropped, see {@link ConsumerOptions.Overflow}
     */
    ConsumerOptions.Overflow overflow() default ConsumerOptions.Overflow.SLOW_PUBLISHERS;

    /**
     * The name under which messages are kept while the application is away. It takes a store
     * ({@code smqtt.storage.kind=rocksdb}).
     *
     * <p>In a cluster one replica has a name at a time, the one that asked last; the others ask again every minute, and so take
     * it from each other. Give each replica a name of its own, with a placeholder, and share the work by {@code $share/group/filter}.
     *
     * @return may have placeholders; then 1 to 128 of the characters {@code A-Z a-z 0-9 . _ : -}; empty for a listener that hears only what is published
     *     while it is there
     */
    String durable() default "";
}
