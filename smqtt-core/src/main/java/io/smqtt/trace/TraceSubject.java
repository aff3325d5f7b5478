// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a trace is about. Immutable. */
public sealed interface TraceSubject {

    /**
     * Whether the subject has an event.
     *
     * @param clientId the client identifier; null if it is not known
     * @param address the address of the client; null if it is not known
     * @param topic the topic of a message; null if the event has none
     * @param filters the topic filters of a SUBSCRIBE or UNSUBSCRIBE, as the client sent them; else empty
     * @return true if the event belongs to the trace
     */
    boolean includes(
            @Nullable String clientId, @Nullable InetAddress address, @Nullable TopicName topic, List<String> filters);

    /**
     * Everything that concerns one client.
     *
     * @param clientId the client identifier
     */
    record OfClient(String clientId) implements TraceSubject {

        @Override
        public boolean includes(
                @Nullable String client,
                @Nullable InetAddress address,
                @Nullable TopicName topic,
                List<String> filters) {
            return clientId.equals(client);
        }
    }

    /**
     * Everything that concerns the clients of one address.
     *
     * @param address the address of the clients, also behind a trusted proxy
     */
    record OfAddress(InetAddress address) implements TraceSubject {

        @Override
        public boolean includes(
                @Nullable String client, @Nullable InetAddress from, @Nullable TopicName topic, List<String> filters) {
            return address.equals(from);
        }
    }

    /**
     * The messages of some topics, of all clients, and the subscriptions to them. Acknowledgements have no topic, so they do not belong to it.
     *
     * @param filter the topics
     */
    record OfTopic(TopicFilter filter) implements TraceSubject {

        @Override
        public boolean includes(
                @Nullable String client,
                @Nullable InetAddress address,
                @Nullable TopicName topic,
                List<String> filters) {
            return topic == null ? filters.stream().anyMatch(this::meets) : filter.matches(topic);
        }

        private boolean meets(String requested) {
            try {
                TopicFilter other = SharedFilter.isShared(requested)
                        ? SharedFilter.of(requested).filter()
                        : TopicFilter.of(requested);
                return filter.covers(other) || other.covers(filter);
            } catch (InvalidTopicException e) { // the client gets the refusal
                return filter.value().equals(requested);
            }
        }
    }
}
