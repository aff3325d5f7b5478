// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls a method of a bean with the messages of a topic filter: retained ones first, then those that are published from
 * the start of the broker on.
 *
 * <pre>{@code
 * @MqttListener(filter = "devices/{id}/state")
 * void stateOf(@TopicVariable String id, State state) { … }
 * }</pre>
 *
 * The method may take the payload as {@code byte[]}, {@code String}, {@link io.smqtt.message.Payload} or an object that a
 * {@link PayloadConverter} makes of it (JSON, where Jackson is there), the whole {@link io.smqtt.message.ApplicationMessage},
 * and levels of the topic by {@link TopicVariable}. It may return a {@code Mono}, {@code Flux}, {@code CompletionStage} or
 * another type that Spring's reactive adapters know; the message is done with when that ends. It is called on threads that may
 * block, never on an event loop. What it throws is logged and counted, and the next message comes.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface MqttListener {

    /**
     * The topic filter. A level {@code {name}} is {@code +} with a name; a last level {@code {*name}} is {@code #} with a name.
     *
     * @return a filter that is not shared; may have placeholders, <code>${…}</code>
     */
    String filter();

    /**
     * The highest quality of service with which messages are taken; that of the message is lowered to it.
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
}
