// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Return;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message of RabbitMQ.
 *
 * @param place where it is published
 * @param properties its properties
 * @param body its body
 */
record RowMessage(Place place, BasicProperties properties, byte[] body) {

    /**
     * The address of messages that stay in order.
     *
     * @param exchange the exchange
     * @param routingKey the routing key
     */
    record Place(String exchange, String routingKey) {}

    /** Whether a message that the server has returned is this one, or one like it. */
    boolean isLike(Return returned) {
        return place.exchange().equals(returned.getExchange())
                && place.routingKey().equals(returned.getRoutingKey())
                && Objects.equals(
                        properties.getMessageId(), returned.getProperties().getMessageId())
                && Arrays.equals(body, returned.getBody())
                && areLike(properties.getHeaders(), returned.getProperties().getHeaders());
    }

    private static boolean areLike(@Nullable Map<String, Object> sent, @Nullable Map<String, Object> returned) {
        Map<String, Object> ours = sent == null ? Map.of() : sent;
        Map<String, Object> theirs = returned == null ? Map.of() : returned;
        return theirs.keySet().containsAll(ours.keySet()) // the server may add some
                && ours.entrySet().stream().allMatch(header -> isLike(header.getValue(), theirs.get(header.getKey())));
    }

    /** The client reads texts as objects of another type. */
    private static boolean isLike(Object sent, @Nullable Object returned) {
        return sent instanceof byte[] bytes
                ? returned instanceof byte[] others && Arrays.equals(bytes, others)
                : sent.toString().equals(String.valueOf(returned));
    }
}
