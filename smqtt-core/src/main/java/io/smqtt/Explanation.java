// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.LogText;
import io.smqtt.message.QoS;
import io.smqtt.spi.DropReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of {@link Broker#explain}: where a message would go. {@link #toString()} formats it as lines of text.
 *
 * @param topic the topic name
 * @param clientId the publishing client; null for the application
 * @param publish whether the publish is allowed
 * @param retained whether the topic has a retained message now
 * @param filters the filters that match, in alphabetical order
 * @param receivers the receivers, each once, in alphabetical order; at most 1,000 are examined
 * @param groups the shared groups; one member of each would get it
 * @param nodes the other nodes of the cluster that would get it, not counting members of groups
 * @param moreReceivers how many receivers were not examined
 */
public record Explanation(
        String topic,
        @Nullable String clientId,
        Verdict publish,
        boolean retained,
        List<FilterMatch> filters,
        List<Receiver> receivers,
        List<Group> groups,
        List<String> nodes,
        int moreReceivers) {

    /** Copies the lists. */
    public Explanation {
        filters = List.copyOf(filters);
        receivers = List.copyOf(receivers);
        groups = List.copyOf(groups);
        nodes = List.copyOf(nodes);
    }

    /** The decision of the access rules. */
    public enum Verdict {
        /** It is allowed. */
        ALLOWED,
        /** It is denied. */
        DENIED,
        /** No check applies: the application publishes, or no authorizer checks deliveries. */
        NOT_CHECKED,
        /** The client has no session here, so its identity is not known; or the authorizer failed. */
        UNKNOWN
    }

    /** The expected result of a delivery. */
    public enum Outcome {
        /** The message would be sent at once. */
        SENT,
        /** The message would be queued. */
        QUEUED,
        /** The message would be dropped. */
        DROPPED
    }

    /**
     * A filter that matches the topic.
     *
     * @param filter without the share name
     * @param path how the filter matches the topic: one element for each level, with the matched levels of a wildcard in brackets
     * @param subscribers number of subscribers, groups not counted
     */
    public record FilterMatch(String filter, List<String> path, int subscribers) {

        /** Copies the list. */
        public FilterMatch {
            path = List.copyOf(path);
        }
    }

    /**
     * A subscriber of this node that would get the message.
     *
     * @param id the client identifier, or the name of a consumer in this process
     * @param filters its filters that match
     * @param maximumQos the highest QoS of them
     * @param online whether it is connected
     * @param receive whether access rules allow the delivery
     * @param inFlight messages that it has not acknowledged
     * @param queued messages in its queue
     * @param outcome the expected result of the delivery
     * @param reason why it would be dropped; null if it would not
     */
    public record Receiver(
            String id,
            List<String> filters,
            QoS maximumQos,
            boolean online,
            Verdict receive,
            int inFlight,
            int queued,
            Outcome outcome,
            @Nullable DropReason reason) {

        /** Copies the list. */
        public Receiver {
            filters = List.copyOf(filters);
        }
    }

    /**
     * A shared group.
     *
     * @param name the share name
     * @param filter the filter
     * @param members client identifiers and nodes, at most 1,000
     * @param online how many of them can take messages now
     */
    public record Group(String name, String filter, List<String> members, int online) {

        /** Copies the list. */
        public Group {
            members = List.copyOf(members);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(LogText.escape(topic)).append(" by ");
        text.append(clientId == null ? "the application" : LogText.escape(clientId));
        text.append(": publish ").append(words(publish));
        text.append(retained ? ", the topic has a retained message" : "").append('\n');
        for (FilterMatch match : filters) {
            text.append("  filter ").append(LogText.escape(match.filter)).append(": ");
            text.append(LogText.escape(String.join(" > ", match.path)));
            text.append(", subscribers: ").append(match.subscribers).append('\n');
        }
        for (Receiver receiver : receivers) {
            text.append("  to ").append(LogText.escape(receiver.id)).append(" by ");
            text.append(LogText.escape(String.join(" ", receiver.filters)));
            text.append(", QoS ").append(receiver.maximumQos.level());
            text.append(receiver.online ? ", online" : ", offline");
            text.append(", receive ").append(words(receiver.receive));
            text.append(", in flight ")
                    .append(receiver.inFlight)
                    .append(", queued ")
                    .append(receiver.queued);
            text.append(": ").append(words(receiver.outcome));
            text.append(receiver.reason == null ? "" : " (" + receiver.reason + ")")
                    .append('\n');
        }
        for (Group group : groups) {
            text.append("  to one of group ").append(LogText.escape(group.name)).append(" by ");
            text.append(LogText.escape(group.filter));
            text.append(", online ")
                    .append(group.online)
                    .append(" of ")
                    .append(LogText.escape(group.members.toString()))
                    .append('\n');
        }
        for (String node : nodes) {
            text.append("  to node ").append(LogText.escape(node)).append('\n');
        }
        if (moreReceivers > 0) {
            text.append("  and ").append(moreReceivers).append(" more\n");
        }
        if (receivers.isEmpty() && groups.isEmpty() && nodes.isEmpty()) {
            text.append("  no subscribers\n");
        }
        return text.toString();
    }

    private static String words(Enum<?> value) {
        return value.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }
}
