// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.config.AutoSubscriptionConfig;
import io.smqtt.message.QoS;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.SubscribeRequest;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicTemplate;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The subscriptions that a client gets when it connects. Immutable. */
final class AutoSubscriptions {

    private final List<Rule> rules;

    private record Rule(AutoSubscriptionConfig config, TopicTemplate topic) {}

    AutoSubscriptions(Collection<AutoSubscriptionConfig> configs) {
        rules = configs.stream()
                .map(config -> new Rule(config, config.template()))
                .toList();
    }

    /** Leaves out topics with a placeholder that has no value for the client, or one that could change the meaning of the topic. */
    @OnEventLoop
    List<SubscribeRequest> of(Connection connection) {
        if (rules.isEmpty()) {
            return List.of();
        }
        List<SubscribeRequest> requests = new ArrayList<>(rules.size());
        for (Rule rule : rules) {
            String topic = rule.topic.fill(name -> value(connection.client(), name));
            SubscribeRequest request = topic == null ? null : request(connection, rule.config, topic);
            if (request != null) {
                requests.add(request);
            }
        }
        return requests;
    }

    private static @Nullable String value(ClientIdentity client, String name) {
        InetSocketAddress address = client.remoteAddress();
        return switch (name) {
            case "clientid" -> client.clientId();
            case "username" -> client.userName();
            case "host" ->
                address.getAddress() == null
                        ? address.getHostString()
                        : address.getAddress().getHostAddress();
            default -> Integer.toString(address.getPort());
        };
    }

    private static @Nullable SubscribeRequest request(
            Connection connection, AutoSubscriptionConfig config, String topic) {
        boolean bridge = connection.client().bridge();
        try {
            SharedFilter shared = SharedFilter.isShared(topic) ? SharedFilter.of(topic) : null;
            return new SubscribeRequest(
                    shared == null ? TopicFilter.of(topic) : shared.filter(),
                    shared == null ? null : shared.shareName(),
                    QoS.of(config.qos()),
                    shared == null && (bridge || (connection.isV5() && config.noLocal())),
                    bridge || (connection.isV5() && config.retainAsPublished()),
                    connection.isV5() ? config.retainHandling() : 0);
        } catch (InvalidTopicException e) { // longer than a topic may be, with the names of this client
            return null;
        }
    }
}
